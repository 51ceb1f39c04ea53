/**
 * Reads archives and trusts nothing in them: others can write to the target.
 *
 *    path ─▶ manifest.json (≤ 1 MiB) ─▶ each file: bytes, SHA-256, zstd, lines, counts
 *                 └─ of a backup: manifest.sig      └─ of a backup: age before zstd
 *
 * Memory is bounded for every archive: a file is read up to the length in the manifest, a line up
 * to 16 MiB, and the decompressor's window is at most 8 MiB. Every fault is archive.invalid with a
 * code as its reason; an invalid path is archive.path_refused. Neither repeats text of the archive.
 *
 * Spec: Admin: workspaces, rule 3 (`archive`); T-26; docs/archive-format.md.
 */
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { constants, createZstdDecompress } from 'node:zlib'
import { Problem, refuse } from '../../contract/problem.ts'
import { AgeFault, type AgeIdentity, decrypted, ringIdentity } from '../../kernel/sealing/age.ts'
import type { Keyring } from '../../kernel/sealing/keyring.ts'
import {
  type BackupManifest,
  fileNameOf,
  formatName,
  formatVersion,
  limits,
  Manifest,
  type ManifestFile,
  manifestName,
  readArchivePath,
  signatureName,
  storedOf,
} from './archive-format.ts'
import { isSignedByUs, signatureBytes } from './archive-manifest.ts'
import { type Store, StoreFailure } from './store.ts'

export interface Archive {
  readonly manifest: Manifest
  /** OWN: this installation signed it. An export is signed by nobody. */
  readonly origin: 'OWN' | 'FOREIGN'
  /** The SHA-256 of the manifest, which has the hashes of everything else. */
  readonly digest: string
  /**
   * The rows of an entity, each checked to be a JSON object; the last one comes only after the whole file is verified.
   */
  rows(entity: string): AsyncGenerator<Record<string, unknown>>
  /** The same, as the bytes of its lines, some at a time and never none. */
  lines(entity: string): AsyncGenerator<readonly Buffer[], undefined>
  /** Reads every file to its end. Refuses archive.invalid. */
  verify(): Promise<void>
  /** Bytes that lie at the target, as they were before they were encrypted. Throws Problem. */
  decrypted(stored: AsyncIterable<Buffer>): AsyncIterable<Buffer>
}

export type ArchiveFault =
  | 'incomplete' // no manifest
  | 'manifest'
  | 'newer_format'
  | 'other_workspace'
  | 'file_missing'
  | 'file_name'
  | 'truncated'
  | 'checksum'
  | 'count'
  | 'too_long'
  | 'line'
  | 'hold'
  | 'too_many_holds'
  | 'duplicate_id'
  | 'unsigned' // a backup without a signature of this installation
  | 'erasures' // the list of erasures beside it is not this installation's
  | 'media_missing'
  | 'media_differs'
  | 'value' // a column does not take it
  | 'keys' // a key is there twice, or what a row refers to is missing
  | 'differs' // what was loaded is not what comes out again
  | 'no_key' // the keyring lacks the key that it was encrypted for

export const invalid = (reason: ArchiveFault): never => refuse('archive.invalid', { reason })

/** How an archive may be opened that is not ours, or no longer: see Keeping, 3. */
export interface Opening {
  /** A text `AGE-SECRET-KEY-1…` of a recipient, in place of the keyring's. */
  readonly identity?: string | undefined
  /** Also a backup that this installation did not sign. */
  readonly acceptsForeign?: boolean
}

/**
 * Opens the archive of one workspace. A backup has to be signed by this installation, and encrypted for its keyring, unless
 * `opening` says otherwise. Refuses archive.path_refused, archive.invalid, backup.target_failed.
 */
export async function openArchive(
  store: Store,
  path: string,
  tenantId: string,
  keyring: Keyring,
  opening: Opening = {},
): Promise<Archive> {
  const name = readArchivePath(path)
  if (!name) refuse('archive.path_refused')
  if (name.tenantId !== tenantId) return invalid('other_workspace')
  const text = await readSmall(store, `${path}/${manifestName}`, limits.manifestBytes, ['incomplete', 'manifest'])
  const manifest = manifestOf(text)
  if (manifest.tenant.id !== tenantId || manifest.job_id !== name.jobId) return invalid('other_workspace')
  const isBackup = manifest.kind === 'TENANT_BACKUP'
  const isOwn = isBackup && (await isSigned(store, path, keyring, text))
  if (isBackup && !isOwn && !opening.acceptsForeign) return invalid('unsigned')
  const identity = isBackup ? await identityFor(keyring, manifest, opening) : undefined

  const lines = (entity: string) => heldLines({ store, path, manifest, identity }, entity)
  async function* rows(entity: string) {
    for await (const some of lines(entity)) for (const line of some) yield rowOf(line)
  }
  return {
    manifest,
    origin: isOwn ? 'OWN' : 'FOREIGN',
    digest: createHash('sha256').update(text).digest('hex'),
    rows,
    lines,
    async verify() {
      for (const { entity } of manifest.files) for await (const _ of rows(entity));
    },
    decrypted: (stored) => (identity ? translated(decrypted(identity, stored)) : stored),
  }
}

/** Whether this installation signed the backup. One without a signature was signed by nobody. */
async function isSigned(store: Store, path: string, keyring: Keyring, text: Buffer): Promise<boolean> {
  const signature = await readSmall(store, `${path}/${signatureName}`, signatureBytes, ['unsigned', 'unsigned']).catch(
    (error: unknown) => {
      if (error instanceof Problem && error.params['reason'] === 'unsigned') return undefined
      throw error
    },
  )
  return signature !== undefined && isSignedByUs(keyring, text, signature.toString('utf8'))
}

/** The identity that decrypts a backup. */
async function identityFor(
  keyring: Keyring,
  { recipients }: BackupManifest,
  { identity }: Opening,
): Promise<AgeIdentity> {
  if (identity !== undefined) return identity
  const ring = recipients.find(({ kind, id }) => kind === 'RING' && keyring.has(id))
  return ring ? ringIdentity(keyring, ring.id) : invalid('no_key')
}

async function* translated(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* source
  } catch (error) {
    throw asProblem(error)
  }
}

/** The manifest of an archive, unsigned as it may be. Refuses archive.invalid where it is missing, too large or not of our format. */
export const readManifest = async (store: Store, path: string): Promise<Manifest> =>
  manifestOf(await readSmall(store, `${path}/${manifestName}`, limits.manifestBytes, ['incomplete', 'manifest']))

/** A file of at most `most` bytes. The faults: it is missing; it is longer. */
export async function readSmall(
  store: Store,
  path: string,
  most: number,
  [missing, long]: readonly [ArchiveFault, ArchiveFault],
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of await fetched(store, path, missing)) {
      length += chunk.length
      if (length > most) return invalid(long)
      chunks.push(chunk)
    }
  } catch (error) {
    throw asProblem(error)
  }
  return Buffer.concat(chunks)
}

function manifestOf(bytes: Buffer): Manifest {
  const value = parsed(bytes.toString('utf8'))
  if (value === undefined) return invalid('manifest')
  const { format, format_version } = value as { format?: unknown; format_version?: unknown }
  // Checked first: a newer format may look different in every other member.
  if (format === formatName && typeof format_version === 'number' && format_version > formatVersion)
    return invalid('newer_format')
  const manifest = Manifest.safeParse(value)
  if (!manifest.success) return invalid('manifest')
  const entities = manifest.data.files.map(({ entity }) => entity)
  if (new Set(entities).size < entities.length) return invalid('manifest')
  // File names follow from entities; any other name may be a path that an attacker chose.
  const { files, kind } = manifest.data
  if (files.some(({ name, entity }) => name !== fileNameOf(entity, kind))) return invalid('file_name')
  return manifest.data
}

interface Opened {
  readonly store: Store
  readonly path: string
  readonly manifest: Manifest
  readonly identity: AgeIdentity | undefined
}

/** The last lines come only after the whole file is verified. */
async function* heldLines(
  { store, path, manifest, identity }: Opened,
  entity: string,
): AsyncGenerator<readonly Buffer[], undefined> {
  const file = manifest.files.find((one) => one.entity === entity)
  if (!file) return
  let held: readonly Buffer[] | undefined
  let rows = 0
  try {
    const source = await fetched(store, `${path}/${file.name}`, 'file_missing')
    for await (const lines of linesOf(file, source, identity)) {
      rows += lines.length
      if (rows > file.rows) return invalid('count')
      if (held) yield held
      held = lines
    }
  } catch (error) {
    throw asProblem(error)
  }
  if (rows !== file.rows) return invalid('count')
  if (held) yield held
}

function rowOf(line: Buffer): Record<string, unknown> {
  const value = parsed(line.toString('utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid('line')
  return value as Record<string, unknown>
}

/** Each piece costs a turn of a thread, and is worked on at once: so much that neither is felt. */
const pieceBytes = 32 * 1024

/** The lines of a file. At its end, size and checksums are compared with the manifest. */
async function* linesOf(
  file: ManifestFile,
  source: Readable,
  identity: AgeIdentity | undefined,
): AsyncGenerator<readonly Buffer[]> {
  const stored = storedOf(file)
  const packed = createHash('sha256')
  const plain = createHash('sha256')
  let packedBytes = 0
  let plainBytes = 0
  let rest: Buffer[] = []
  let restBytes = 0
  const params = { [constants.ZSTD_d_windowLogMax]: limits.windowLog }
  const unpacked = createZstdDecompress({ chunkSize: pieceBytes, params })
  async function* counted() {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      packedBytes += chunk.length
      if (packedBytes > stored.bytes) return invalid('too_long')
      packed.update(chunk)
      yield chunk
    }
  }
  const feeding = feed(identity ? decrypted(identity, counted()) : counted(), unpacked)
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      plainBytes += chunk.length
      if (plainBytes > file.bytes) return invalid('too_long')
      plain.update(chunk)
      const lines: Buffer[] = []
      let from = 0
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        const line = chunk.subarray(from, end)
        lines.push(rest.length === 0 ? line : Buffer.concat([...rest, line]))
        rest = []
        restBytes = 0
        from = end + 1
      }
      if (lines.length > 0) yield lines
      if (from < chunk.length) {
        rest.push(Buffer.from(chunk.subarray(from)))
        restBytes += chunk.length - from
        if (restBytes > limits.lineBytes) return invalid('line')
      }
    }
    await feeding
  } finally {
    source.destroy()
    unpacked.destroy()
  }
  if (restBytes > 0 || packedBytes !== stored.bytes || plainBytes !== file.bytes) return invalid('truncated')
  if (packed.digest('hex') !== stored.sha256) return invalid('checksum')
  if ('sha256' in file && plain.digest('hex') !== file.sha256) return invalid('checksum')
}

/** Writes a source into a stream at the stream's own pace. The stream's reader gets the error that stops the source. */
async function feed(source: AsyncIterable<Buffer>, into: ReturnType<typeof createZstdDecompress>): Promise<void> {
  const ended = new Promise<void>((resolve) => into.once('close', resolve))
  try {
    for await (const chunk of source) {
      if (into.destroyed) return
      if (!into.write(chunk)) await Promise.race([new Promise<void>((resolve) => into.once('drain', resolve)), ended])
    }
    into.end()
  } catch (error) {
    into.destroy(error as Error)
  }
}

async function fetched(store: Store, path: string, missing: ArchiveFault): Promise<Readable> {
  try {
    return await store.get(path)
  } catch (error) {
    if (error instanceof StoreFailure && error.reason === 'missing') return invalid(missing)
    if (error instanceof StoreFailure && error.reason === 'refused') refuse('archive.path_refused')
    throw error
  }
}

/** An error of the decompressor is a fault of the archive; an error of the store is a fault of the target. */
function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof StoreFailure) return new Problem('backup.target_failed', { reason: error.reason })
  if (error instanceof AgeFault)
    return new Problem('archive.invalid', { reason: error.reason === 'no_key' ? 'no_key' : 'checksum' })
  if (/^Z(STD)?_/.test(String((error as NodeJS.ErrnoException).code)))
    return new Problem('archive.invalid', { reason: 'checksum' })
  return new Problem('backup.target_failed', { reason: 'failed' })
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
