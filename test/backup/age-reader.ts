/**
 * A reader of backups written from docs/archive-format.md alone: it imports nothing of svc. It decrypts with the `age` command
 * where there is one (Debian's package `age`, or SVC_TEST_AGE), else with the library of the format's author.
 */
import { execFileSync } from 'node:child_process'
import { createHash, createPublicKey, hkdfSync, verify } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { Decrypter } from 'age-encryption'

const ageCommand = findAge()

function findAge(): string | undefined {
  const named = process.env['SVC_TEST_AGE'] ?? 'age'
  try {
    execFileSync(named, ['--version'], { stdio: 'pipe' })
    return named
  } catch {
    process.stderr.write('age is not installed: backups are decrypted by a library instead of the command\n')
    return undefined
  }
}

interface BackupFile {
  readonly name: string
  readonly entity: string
  readonly rows: number
  readonly bytes: number
  readonly encrypted_bytes: number
  readonly encrypted_sha256: string
}
export interface BackupManifest {
  readonly format: string
  readonly format_version: number
  readonly kind: string
  readonly job_id: string
  readonly tenant: { readonly id: string; readonly slug: string }
  readonly snapshot_at: string
  readonly recipients: readonly { readonly kind: string; readonly id: string; readonly recipient: string }[]
  readonly sealed_under: readonly string[]
  readonly files: readonly BackupFile[]
  readonly media: { readonly count: number; readonly bytes: number }
  readonly omitted: Readonly<Record<string, string>>
}
export interface ReadBackup {
  readonly manifest: BackupManifest
  readonly entities: ReadonlyMap<string, readonly Record<string, unknown>[]>
  /** The bytes of files, by their SHA-256. */
  readonly contents: ReadonlyMap<string, Buffer>
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Reads a backup whole. `identity` is a line `AGE-SECRET-KEY-1…`. Throws where anything differs from what the page says. */
export async function readBackupArchive(folder: string, identity: string): Promise<ReadBackup> {
  const text = readFileSync(join(folder, 'manifest.json'))
  const manifest = JSON.parse(text.toString('utf8')) as BackupManifest
  if (manifest.format !== 'svc-archive' || manifest.format_version !== 2) throw new Error('another format')
  if (!isSigned(text, readFileSync(join(folder, 'manifest.sig'), 'utf8'))) throw new Error('the signature is wrong')
  const strangers = readdirSync(folder).filter(
    (name) => !['manifest.json', 'manifest.sig'].includes(name) && !manifest.files.some((file) => file.name === name),
  )
  if (strangers.length > 0) throw new Error(`files that the manifest does not name: ${strangers}`)
  const opened = withIdentity(identity)
  try {
    const entities = new Map<string, Record<string, unknown>[]>()
    for (const file of manifest.files) {
      const stored = readFileSync(join(folder, file.name))
      if (stored.length !== file.encrypted_bytes || sha256(stored) !== file.encrypted_sha256)
        throw new Error(`${file.name} was changed`)
      const plain = zstdDecompressSync(await opened.decrypt(stored))
      const lines = plain.toString('utf8').split('\n')
      if (plain.length !== file.bytes || lines.pop() !== '' || lines.length !== file.rows)
        throw new Error(`${file.name} has other lines`)
      entities.set(
        file.entity,
        lines.map((line) => JSON.parse(line) as Record<string, unknown>),
      )
    }
    const contents = new Map<string, Buffer>()
    for (const line of entities.get('media_files') ?? []) {
      const bytes = await opened.decrypt(readFileSync(join(folder, '..', 'media', String(line['name']))))
      if (bytes.length !== line['bytes'] || sha256(bytes) !== line['sha256']) throw new Error('a file was changed')
      contents.set(String(line['sha256']), bytes)
    }
    return { manifest, entities, contents }
  } finally {
    opened.close()
  }
}

function isSigned(manifest: Buffer, text: string): boolean {
  const { algorithm, public_key, value } = JSON.parse(text) as Record<string, string>
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: public_key! }, format: 'jwk' })
  return algorithm === 'Ed25519' && verify(null, manifest, key, Buffer.from(value!, 'base64url'))
}

function withIdentity(identity: string) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-age-'))
  const file = join(folder, 'identity.txt')
  writeFileSync(file, `${identity}\n`, { mode: 0o600 })
  return {
    async decrypt(bytes: Buffer): Promise<Buffer> {
      if (ageCommand !== undefined)
        return execFileSync(ageCommand, ['--decrypt', '--identity', file], {
          input: bytes,
          maxBuffer: 1024 ** 3,
          stdio: ['pipe', 'pipe', 'pipe'],
        })
      const decrypter = new Decrypter()
      decrypter.addIdentity(identity)
      return Buffer.from(await decrypter.decrypt(bytes))
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The identity that belongs to a master key, as the page derives it from the keyring file. */
export function identityOfRing(keyringFile: string, keyId: string): string {
  const { keys } = JSON.parse(readFileSync(keyringFile, 'utf8')) as { keys: Record<string, string> }
  const secret = Buffer.from(hkdfSync('sha256', Buffer.from(keys[keyId]!, 'base64url'), '', 'svc/backup-age/v1', 32))
  return bech32('age-secret-key-', secret).toUpperCase()
}

/** BIP 173. */
function bech32(prefix: string, bytes: Uint8Array): string {
  const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const words = (bits.match(/.{1,5}/g) ?? []).map((word) => Number.parseInt(word.padEnd(5, '0'), 2))
  const expanded = [...prefix]
    .map((c) => c.charCodeAt(0) >> 5)
    .concat(0, ...[...prefix].map((c) => c.charCodeAt(0) & 31))
  const polymod = (values: readonly number[]) =>
    values.reduce((sum, value) => {
      const top = sum >>> 25
      const next = (((sum & 0x1ffffff) << 5) ^ value) >>> 0
      const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
      return (
        generators.reduce((mixed, generator, at) => (((top >> at) & 1) === 1 ? mixed ^ generator : mixed), next) >>> 0
      )
    }, 1)
  const check = polymod([...expanded, ...words, 0, 0, 0, 0, 0, 0]) ^ 1
  const checksum = [0, 1, 2, 3, 4, 5].map((at) => (check >>> (5 * (5 - at))) & 31)
  return `${prefix}1${[...words, ...checksum].map((word) => alphabet[word]).join('')}`
}
