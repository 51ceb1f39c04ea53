/**
 * Files encrypted with age (https://age-encryption.org/v1), as streams.
 *
 *    header | nonce 16 | chunks of 64 KiB, each with a tag of 16
 *
 * The header is the library's work. OpenSSL wraps the file's key for each recipient and encrypts the chunks: the library does
 * both in JavaScript, five and fourteen times as slow (docs/decisions/0401). Whoever has one of the identities reads the file
 * with the `age` command.
 *
 * age proves that a file is whole, not who wrote it: anybody can encrypt for a recipient. So a reader also needs a hash or
 * a signature from elsewhere.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  type webcrypto,
} from 'node:crypto'
import type { Keyring } from './keyring.ts'

/** An identity that opens files: one of the keyring, or a text `AGE-SECRET-KEY-1…`. */
export type AgeIdentity = webcrypto.CryptoKey | string

/** The bytes are no age file for this identity, or were changed. */
export class AgeFault extends Error {
  override readonly name = 'AgeFault'
  readonly reason: 'no_key' | 'damaged'
  constructor(reason: AgeFault['reason'], cause?: unknown) {
    super(`the file cannot be decrypted: ${reason}`, { cause })
    this.reason = reason
  }
}

/** Takes 60 ms to load, which only those pay who encrypt. */
const library = () => import('age-encryption')

const agePurpose = 'svc/backup-age/v1'
/** RFC 8410: the bytes before the 32 bytes of an X25519 private key, and before those of a public one. */
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex')
const spki = Buffer.from('302a300506032b656e032100', 'hex')

/** The identity that belongs to a key of the keyring. Throws on an id the keyring lacks. */
export function ringIdentity(keyring: Keyring, keyId: string): Promise<webcrypto.CryptoKey> {
  const secret = Buffer.concat([pkcs8, keyring.derive(keyId, agePurpose).export()])
  return crypto.subtle.importKey('pkcs8', secret, { name: 'X25519' }, false, ['deriveBits'])
}

/** The recipient of an identity: `age1…`, which may be shown. */
export async function recipientOf(identity: AgeIdentity): Promise<string> {
  return (await library()).identityToRecipient(identity)
}

/** Whether files can be encrypted for it: its checksum is right, and its point is one of the curve. */
export async function isRecipient(text: string): Promise<boolean> {
  try {
    await preambleFor([text])
    return true
  } catch {
    return false
  }
}

const chunkBytes = 64 * 1024
/** Of a file that may stay small: many are, and a whole chunk for each would be garbage. */
const smallBytes = 1024
const tagBytes = 16
const nonceBytes = 16
/** Of ChaCha20-Poly1305: each key encrypts chunks that are counted, or one alone. */
const nonceOfChunk = 12
/** More than a header of 20 recipients has. */
const mostHeaderBytes = 16 * 1024

interface Preamble {
  /** Header and nonce. */
  readonly bytes: Buffer
  readonly key: Buffer
}

/** A new file's beginning. The library encrypts an empty file; its key is known to those who wrap it. */
async function preambleFor(recipients: readonly string[]): Promise<Preamble> {
  const [{ Encrypter, Stanza }, { base64nopad, bech32 }] = await Promise.all([library(), import('@scure/base')])
  const encrypter = new Encrypter()
  let fileKey = new Uint8Array()
  for (const recipient of recipients) {
    const { prefix, bytes: point } = bech32.decodeToBytes(recipient)
    if (prefix !== 'age') throw new Error('the recipient is not one of X25519')
    encrypter.addRecipient({
      wrapFileKey(key) {
        fileKey = key.slice()
        const { share, wrapped } = wrappedFor(point, key)
        return [new Stanza(['X25519', base64nopad.encode(share)], wrapped)]
      },
    })
  }
  const empty = Buffer.from(await encrypter.encrypt(new Uint8Array()))
  const bytes = empty.subarray(0, empty.length - tagBytes)
  return { bytes, key: keyFrom(fileKey, bytes.subarray(-nonceBytes), 'payload') }
}

/** A file's key, encrypted for a point of the curve: for what its owner agrees on with a key of this one file. Throws. */
function wrappedFor(point: Uint8Array, fileKey: Uint8Array): { share: Uint8Array; wrapped: Uint8Array } {
  const { publicKey: ours, privateKey } = generateKeyPairSync('x25519')
  const publicKey = createPublicKey({ key: Buffer.concat([spki, point]), format: 'der', type: 'spki' })
  const share = pointOf(ours)
  const key = keyFrom(
    diffieHellman({ privateKey, publicKey }),
    Buffer.concat([share, point]),
    'age-encryption.org/v1/X25519',
  )
  return { share, wrapped: Uint8Array.from(Buffer.concat(sealedChunk(key, Buffer.alloc(nonceOfChunk), fileKey))) }
}

const pointOf = (publicKey: KeyObject) => publicKey.export({ format: 'der', type: 'spki' }).subarray(spki.length)

const keyFrom = (secret: Uint8Array, salt: Uint8Array, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32))

/** The size of a file of `plain` bytes, for as many recipients; each has a header line of the same length. */
export function encryptedSize(recipients: number, plain: number): number {
  const chunks = Math.max(1, Math.ceil(plain / chunkBytes))
  return 22 + recipients * 98 + 48 + nonceBytes + plain + chunks * tagBytes
}

/** Encrypts what passes, in memory of one chunk. The pieces that it yields are not used again. */
export async function* encrypted(
  recipients: readonly string[],
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const { bytes, key } = await preambleFor(recipients)
  yield bytes
  const nonces = new ChunkNonces()
  let chunk: Buffer = Buffer.allocUnsafe(smallBytes)
  let used = 0
  for await (const piece of source)
    for (let from = 0; from < piece.length; ) {
      // A full chunk waits: whether it is the last one is known when another byte comes.
      if (used === chunkBytes) {
        yield* sealedChunk(key, nonces.next(false), chunk)
        used = 0
      }
      if (used === chunk.length) chunk = Buffer.concat([chunk], chunkBytes)
      const some = Math.min(chunk.length - used, piece.length - from)
      chunk.set(piece.subarray(from, from + some), used)
      used += some
      from += some
    }
  yield* sealedChunk(key, nonces.next(true), chunk.subarray(0, used))
}

/** Decrypts what passes; each piece is authenticated before it is yielded. Throws AgeFault. */
export async function* decrypted(identity: AgeIdentity, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]()
  try {
    const { key, rest } = await readPreamble(identity, pieces)
    yield* openedChunks(key, rest, pieces)
  } finally {
    await pieces.return?.()
  }
}

async function readPreamble(
  identity: AgeIdentity,
  pieces: AsyncIterator<Buffer>,
): Promise<{ key: Buffer; rest: Buffer }> {
  let read: Buffer = Buffer.alloc(0)
  for (;;) {
    const end = endOfHeader(read)
    if (end !== undefined && read.length >= end + nonceBytes) {
      const fileKey = await fileKeyOf(identity, read.subarray(0, end))
      return {
        key: keyFrom(fileKey, read.subarray(end, end + nonceBytes), 'payload'),
        rest: read.subarray(end + nonceBytes),
      }
    }
    const next = await pieces.next()
    if (next.done === true || (end === undefined && read.length > mostHeaderBytes)) throw new AgeFault('damaged')
    read = Buffer.concat([read, next.value])
  }
}

/** The header ends with the line that begins with `---`. */
function endOfHeader(bytes: Buffer): number | undefined {
  const at = bytes.indexOf('\n---')
  const end = at < 0 ? -1 : bytes.indexOf('\n', at + 1)
  return end < 0 ? undefined : end + 1
}

async function fileKeyOf(identity: AgeIdentity, header: Buffer): Promise<Uint8Array> {
  const { Decrypter } = await library()
  const decrypter = new Decrypter()
  decrypter.addIdentity(identity)
  try {
    return await decrypter.decryptHeader(header)
  } catch (error) {
    throw new AgeFault(/no identity matched/.test(String(error)) ? 'no_key' : 'damaged', error)
  }
}

async function* openedChunks(key: Buffer, first: Buffer, pieces: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  const nonces = new ChunkNonces()
  const chunk = Buffer.allocUnsafe(chunkBytes + tagBytes)
  let used = 0
  for (let piece: Buffer | undefined = first; piece; ) {
    for (let from = 0; from < piece.length; ) {
      if (used === chunk.length) {
        yield openedChunk(key, nonces.next(false), chunk)
        used = 0
      }
      const some = piece.copy(chunk, used, from)
      used += some
      from += some
    }
    const next: IteratorResult<Buffer> = await pieces.next()
    piece = next.done === true ? undefined : next.value
  }
  const last = openedChunk(key, nonces.next(true), chunk.subarray(0, used))
  if (last.length === 0 && nonces.count > 1) throw new AgeFault('damaged')
  yield last
}

/** 11 bytes that count the chunks, and one that says which is the last. */
class ChunkNonces {
  count = 0
  private readonly nonce = Buffer.alloc(nonceOfChunk)

  next(isLast: boolean): Buffer {
    this.nonce.writeUIntBE(this.count, 5, 6)
    this.nonce[11] = isLast ? 1 : 0
    this.count += 1
    return this.nonce
  }
}

/** Bytes, and their tag. In one buffer they would be copied once more. */
function sealedChunk(key: Buffer, nonce: Buffer, chunk: Uint8Array): readonly Buffer[] {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: tagBytes })
  const bytes = cipher.update(chunk)
  cipher.final() // has no bytes: the cipher is one of streams
  return [bytes, cipher.getAuthTag()]
}

function openedChunk(key: Buffer, nonce: Buffer, chunk: Buffer): Buffer {
  if (chunk.length < tagBytes) throw new AgeFault('damaged')
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: tagBytes })
  decipher.setAuthTag(chunk.subarray(-tagBytes))
  const plain = decipher.update(chunk.subarray(0, -tagBytes))
  try {
    decipher.final()
  } catch (error) {
    throw new AgeFault('damaged', error)
  }
  return plain
}
