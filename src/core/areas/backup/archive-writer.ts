/**
 * Writes one workspace's archive into a folder of this machine: the files of one
 * snapshot, and the manifest that belongs to them.
 *
 * The folder is a spool. While a snapshot is open, PostgreSQL cannot clean up rows that die
 * meanwhile. So the snapshot lasts only while the rows are read, not while a target receives them
 * (docs/decisions/0031).
 *
 * Spec: Admin: workspaces, rule 4; docs/archive-format.md.
 */
import { createHash, type Hash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib'
import { Problem } from '../../contract/problem.ts'
import { migrationNames } from '../../kernel/database/migration-names.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { ArchiveForm } from './archive-form.ts'
import { fileNameOf, type ManifestFile } from './archive-format.ts'
import { copyRows, estimateRows, LineWriter, type SpareBuffers } from './copied-lines.ts'
import { type Entity, omittedTables, readEntities } from './entities.ts'
import { inLanes } from './lanes.ts'
import { writeMediaList } from './media-list.ts'

export interface Writing {
  readonly tenantId: string
  readonly form: ArchiveForm
  /** An empty folder that nobody else reads. */
  readonly folder: string
  /** Called with the number of rows written; the total is an estimate where there are many. */
  readonly onRows: (done: number, total: number) => void
  readonly signal: AbortSignal
}

/** What was written, and of which moment. */
export interface WrittenArchive {
  readonly slug: string
  readonly snapshotAt: string
  readonly schemaVersion: string
  readonly files: readonly ManifestFile[]
  readonly media: { readonly count: number; readonly bytes: number }
  readonly omitted: Readonly<Record<string, string>>
  /** The keys under which sealed values of the archive are. */
  readonly sealedUnder: readonly string[]
}

/** The size of the compressor's output chunks; of those for a file that stays empty, the smallest that it takes. */
const packedBytes = 64 * 1024
const emptyPackedBytes = 64

/** How many files of empty tables are written at a time. */
const emptyAtOnce = 8

/** Writes every file of rows; the manifest, which says what they are, is put at the target last. */
export async function writeArchive(tx: Tx, writing: Writing): Promise<WrittenArchive> {
  const { tenantId, form } = writing
  const [snapshot] = await tx<{ slug: string; at: string; is_restoring: boolean }[]>`
    select slug, restoring_at is not null as is_restoring, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from tenant where id = ${tenantId}`
  if (!snapshot) throw new Error('the workspace is gone')
  // Its rows are between two states: an archive of them would be of neither.
  if (snapshot.is_restoring) throw new Problem('workspace.restoring')
  const entities = await readEntities(tx, form.kind)
  // Sent together: most tables are empty, and the way to the server would cost more than the count.
  const estimates = await Promise.all(entities.map((entity) => estimateRows(tx, entity, tenantId)))
  const total = estimates.reduce((sum, count) => sum + count, 0)

  const files = new Array<ManifestFile>(entities.length)
  // Most tables of a workspace are empty. Their files wait for the disk and for keys, not for the server, and not for each other.
  await inLanes(emptyAtOnce, entities.entries(), async ([at, { name }]) => {
    if (estimates[at] === 0)
      files[at] = await new ArchiveFile(writing.folder, name, form, writing.signal, emptyPackedBytes).end()
  })
  const spare: SpareBuffers = []
  let done = 0
  for (const [at, entity] of entities.entries()) {
    if (estimates[at] === 0) continue
    const file = await writeEntity(tx, entity, writing, spare, (rows) => {
      done += rows
      writing.onRows(done, Math.max(done, total))
    })
    files[at] = file
  }
  const media = await writeMediaList(tx, tenantId, writing.folder)
  return {
    slug: snapshot.slug,
    snapshotAt: snapshot.at,
    schemaVersion: migrationNames().at(-1) ?? '',
    files,
    media,
    omitted: omittedTables(form.kind),
    sealedUnder: form.kind === 'TENANT_BACKUP' ? await keysOfSealed(tx, tenantId) : [],
  }
}

async function keysOfSealed(tx: Tx, tenantId: string): Promise<string[]> {
  const keys = await tx<{ key_id: string }[]>`
    select distinct key_id from sealed_value where tenant_id = ${tenantId} order by key_id`
  return keys.map(({ key_id }) => key_id)
}

async function writeEntity(
  tx: Tx,
  entity: Entity,
  { tenantId, folder, signal, form }: Writing,
  spare: SpareBuffers,
  onRows: (rows: number) => void,
): Promise<ManifestFile> {
  const file = new ArchiveFile(folder, entity.name, form, signal)
  const lines = new LineWriter(entity.columns, spare, (chunk, some) => {
    onRows(some)
    return file.write(chunk, some)
  })
  let sent = 0
  try {
    sent = await copyRows(tx, entity, tenantId, lines.row)
    await lines.end()
  } catch (error) {
    file.fail(error as Error)
  }
  const written = await file.end() // the first failure, whichever side it came from
  if (written.rows !== sent) throw new Error(`${entity.name}: ${written.rows} rows of ${sent}`)
  return written
}

/** A file of lines on its way into the spool: compressed, in the archive's form, counted. */
export class ArchiveFile {
  private readonly described: { readonly name: string; readonly entity: string }
  private readonly isEncrypted: boolean
  private readonly packer: ZstdCompress
  private readonly stored = new Meter()
  private readonly plain: Meter
  private readonly written: Promise<void>
  private rows = 0

  constructor(folder: string, entity: string, form: ArchiveForm, signal: AbortSignal, chunkSize = packedBytes) {
    const name = fileNameOf(entity, form.kind)
    const params = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 }
    this.packer = createZstdCompress({ chunkSize, params })
    this.described = { name, entity }
    this.isEncrypted = form.kind === 'TENANT_BACKUP'
    // What is encrypted is authenticated as it is: a second hash would cost time and tell of the content.
    this.plain = new Meter(!this.isEncrypted)
    const { stored } = this
    async function* measured(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) yield stored.passed(chunk)
    }
    const into = createWriteStream(join(folder, name), { flags: 'wx', mode: 0o600 })
    this.written = pipeline(this.packer, (chunks: AsyncIterable<Buffer>) => form.stored(chunks), measured, into, {
      signal,
    })
    this.written.catch(() => {}) // awaited at the end, after the copy has noticed as well
  }

  /** Takes whole lines. They stay unchanged until the promise is settled. */
  write(lines: Buffer, rows: number): Promise<void> {
    this.rows += rows
    this.plain.passed(lines)
    return new Promise((resolve, reject) => this.packer.write(lines, (error) => (error ? reject(error) : resolve())))
  }

  fail(error: Error): void {
    this.packer.destroy(error)
  }

  async end(): Promise<ManifestFile> {
    if (!this.packer.destroyed) this.packer.end()
    await this.written
    const file = { ...this.described, rows: this.rows, bytes: this.plain.bytes }
    return this.isEncrypted
      ? { ...file, encrypted_bytes: this.stored.bytes, encrypted_sha256: this.stored.digest() }
      : {
          ...file,
          sha256: this.plain.digest(),
          compressed_bytes: this.stored.bytes,
          compressed_sha256: this.stored.digest(),
        }
  }
}

/** Counts and hashes what passes. */
class Meter {
  bytes = 0
  private readonly hash: Hash | undefined

  constructor(hashes = true) {
    this.hash = hashes ? createHash('sha256') : undefined
  }

  passed(chunk: Buffer): Buffer {
    this.bytes += chunk.length
    this.hash?.update(chunk)
    return chunk
  }

  digest(): string {
    return this.hash?.digest('hex') ?? ''
  }
}
