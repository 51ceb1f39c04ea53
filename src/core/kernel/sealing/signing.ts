/**
 * Signatures of this installation: Ed25519, under keys that are derived from the keyring, one for each purpose. So a signing
 * key is backed up with the keyring and is not stored itself (docs/decisions/0021).
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import type { Keyring } from './keyring.ts'

/** RFC 8410: the bytes before the 32 bytes of an Ed25519 key, private and public. */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')
const spki = Buffer.from('302a300506032b6570032100', 'hex')

export interface Signature {
  readonly key_id: string
  readonly public_key: Buffer
  readonly signature: Buffer
}

/** Signs under the current key. */
export function signed(keyring: Keyring, purpose: string, document: string | Buffer): Signature {
  const { current } = keyring
  return {
    key_id: current,
    public_key: publicKeyOf(keyring, current, purpose),
    signature: sign(null, Buffer.from(document), signingKey(keyring, current, purpose)),
  }
}

/** What is wrong with a signature; undefined: this installation made it for this purpose. */
export function signatureFaultOf(
  keyring: Keyring,
  purpose: string,
  document: string | Buffer,
  { key_id, public_key, signature }: Signature,
): 'signature.invalid' | 'signature.key_unknown' | 'signature.key_differs' | undefined {
  if (public_key.length !== 32 || !verify(null, Buffer.from(document), publicKeyFrom(public_key), signature))
    return 'signature.invalid'
  if (!keyring.serves(key_id, purpose)) return 'signature.key_unknown'
  return publicKeyOf(keyring, key_id, purpose).equals(public_key) ? undefined : 'signature.key_differs'
}

const signingKey = (keyring: Keyring, keyId: string, purpose: string): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([pkcs8, keyring.derive(keyId, purpose).export()]),
    format: 'der',
    type: 'pkcs8',
  })

const publicKeyFrom = (raw: Buffer) => createPublicKey({ key: Buffer.concat([spki, raw]), format: 'der', type: 'spki' })

const publicKeyOf = (keyring: Keyring, keyId: string, purpose: string) =>
  createPublicKey(signingKey(keyring, keyId, purpose))
    .export({ format: 'der', type: 'spki' })
    .subarray(spki.length)
