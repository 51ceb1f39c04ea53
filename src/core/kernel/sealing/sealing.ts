/**
 * Sealing: the storage format of a secret.
 *
 * Each value has its own random data key, which the keyring's current key wraps. So
 * re-wrapping under another master key never needs the plaintext, and rows can be counted by
 * key without decrypting them.
 *
 *    wrap       = 0x01 | nonce 12 | wrapped data key 32 | tag 16   under HKDF(keyring key, svc/wrap/v1)
 *    ciphertext = 0x01 | nonce 12 | ciphertext | tag 16            under the data key
 *
 * Both bind the value to its place (workspace, kind, owner) as length-prefixed associated
 * data, so that a row in another place cannot be decrypted. GCM does not commit to its key:
 * therefore a value names its key, and no other key is ever tried.
 *
 * Spec: Admin: encryption keyring; decisions 4, Keyring.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { Problem } from '../../contract/problem.ts'
import type { SealedKind } from '../../contract/sealed-kinds.ts'
import type { Keyring } from './keyring.ts'

const format = Buffer.from([1])
export const nonceBytes = 12
const tagBytes = 16
/** Of each wrap. */
export const wrapBytes = 1 + nonceBytes + 32 + tagBytes
/** The nonce of a wrap, which no other wrap has. */
export const nonceOf = (wrap: Buffer): Buffer => wrap.subarray(1, 1 + nonceBytes)

/** Where a sealed value belongs; it opens nowhere else. */
export interface Place {
  readonly tenantId: string
  readonly kind: SealedKind
  readonly ownerId: string
}

export interface Sealed {
  readonly key_id: string
  readonly wrap: Buffer
  readonly ciphertext: Buffer
}

export function seal(keyring: Keyring, place: Place, plaintext: string): Sealed {
  const dataKey = randomBytes(32)
  return {
    key_id: keyring.current,
    wrap: wrapUnder(keyring, keyring.current, place, dataKey),
    ciphertext: encrypt(createSecretKey(dataKey), Buffer.from(plaintext, 'utf8'), valueContext(place)),
  }
}

/** Opens a value. Refuses secret.unavailable when the key is missing or anything was altered. */
export function unseal(keyring: Keyring, place: Place, sealed: Sealed): string {
  return decrypt(createSecretKey(unwrap(keyring, place, sealed)), sealed.ciphertext, valueContext(place)).toString(
    'utf8',
  )
}

/**
 * The data key wrapped under another key of the keyring; the value itself is not decrypted. Refuses secret.unavailable.
 */
export function rewrap(keyring: Keyring, place: Place, sealed: Omit<Sealed, 'ciphertext'>, target: string): Buffer {
  return wrapUnder(keyring, target, place, unwrap(keyring, place, sealed))
}

/** The data key of a value. Refuses secret.unavailable when the master key is missing or the wrap was altered. */
function unwrap(keyring: Keyring, place: Place, { key_id, wrap }: Omit<Sealed, 'ciphertext'>): Buffer {
  if (!keyring.has(key_id)) throw new Problem('secret.unavailable')
  return decrypt(keyring.derive(key_id, wrapping), wrap, wrapContext(key_id, place))
}

const wrapping = 'svc/wrap/v1'
const wrapUnder = (keyring: Keyring, keyId: string, place: Place, dataKey: Buffer) =>
  encrypt(keyring.derive(keyId, wrapping), dataKey, wrapContext(keyId, place))

const wrapContext = (keyId: string, place: Place) =>
  lengthPrefixed('svc.wrap.v1', keyId, place.tenantId, place.kind, place.ownerId)
const valueContext = (place: Place) => lengthPrefixed('svc.value.v1', place.tenantId, place.kind, place.ownerId)

/**
 * Joins texts so that different lists never give the same bytes: a length of 4 bytes precedes each text. One buffer,
 * because resealing does this twice for each value.
 */
export function lengthPrefixed(...texts: readonly string[]): Buffer {
  const joined = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + 4 + Buffer.byteLength(text), 0))
  let at = 0
  for (const text of texts) {
    const length = joined.write(text, at + 4)
    joined.writeUInt32BE(length, at)
    at += 4 + length
  }
  return joined
}

/**
 * Fetching twelve random bytes costs more than the encryption. So they are fetched for many values at a time, and each
 * nonce is used once.
 */
let nonces = Buffer.alloc(0)
let noncesUsed = 0
function nextNonce(): Buffer {
  if (noncesUsed === nonces.length) {
    nonces = randomBytes(256 * nonceBytes)
    noncesUsed = 0
  }
  noncesUsed += nonceBytes
  return nonces.subarray(noncesUsed - nonceBytes, noncesUsed)
}

const wholeTag = { authTagLength: tagBytes }

/**
 * AES-256-GCM with a random nonce: `0x01 | nonce | ciphertext | tag`. The key is an object: from bytes, each call would
 * make one, which costs four times the rest.
 */
export function encrypt(key: KeyObject, plaintext: Buffer, context: Buffer): Buffer {
  const nonce = nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, wholeTag).setAAD(context)
  const bytes = cipher.update(plaintext)
  cipher.final() // has no bytes: the mode is one of streams
  return Buffer.concat([format, nonce, bytes, cipher.getAuthTag()])
}

/** Refuses secret.unavailable for anything but what `encrypt` made with this key and context. */
export function decrypt(key: KeyObject, sealed: Buffer, context: Buffer): Buffer {
  if (sealed.length < 1 + nonceBytes + tagBytes || sealed[0] !== format[0]) throw new Problem('secret.unavailable')
  const nonce = sealed.subarray(1, 1 + nonceBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, wholeTag).setAAD(context)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  try {
    const bytes = decipher.update(sealed.subarray(1 + nonceBytes, -tagBytes))
    decipher.final() // verifies the tag
    return bytes
  } catch {
    throw new Problem('secret.unavailable')
  }
}
