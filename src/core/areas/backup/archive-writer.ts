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
import { constants, createZstdCompress } from 'node:zlib'
import { migrationNames } from '../../kernel/database/migration-names.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import { productVersion } from '../../kernel/values/product.ts'
import { fileNameOf, formatName, formatVersion, type Manifest, type ManifestFile } from './archive-format.ts'
import { copyRows, countRows, LineWriter, type SpareBuffers } from './copied-lines.ts'
import { type Entity, omittedTables, readEntities } from './entities.ts'
import { writeMediaList } from './media-list.ts'

export interface Writing {
  readonly tenantId: string
  readonly jobId: string
  /** An empty folder that nobody else reads. */
  readonly folder: string
  /** Called with the number of rows written. */
  readonly onRows: (done: number, total: number) => void
  readonly signal: AbortSignal
}

/** The size of the compressor's output chunks. */
const packedBytes = 64 * 1024

/** Writes every file except the manifest, and answers the manifest: it is put at the target last. */
export async function writeArchive(tx: Tx, writing: Writing): Promise<Manifest> {
  const { tenantId, jobId } = writing
  const [snapshot] = await tx<{ slug: string; at: string }[]>`
    select slug, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at from tenant where id = ${tenantId}`
  if (!snapshot) throw new Error('the workspace is gone')
  const entities = await readEntities(tx)
  // Sent together: most tables are empty, and the way to the server would cost more than the count.
  const counts = await Promise.all(entities.map((entity) => countRows(tx, entity, tenantId)))
  const total = counts.reduce((sum, count) => sum + count, 0)

  const files: ManifestFile[] = []
  const spare: SpareBuffers = []
  let done = 0
  for (const [at, entity] of entities.entries()) {
    const file = await writeEntity(tx, entity, writing, spare, (rows) => {
      done += rows
      writing.onRows(done, total)
    })
    // Both counts are of one snapshot: a difference means that a row was lost on the way.
    if (file.rows !== counts[at]) throw new Error(`${entity.name}: ${file.rows} rows of ${counts[at]}`)
    files.push(file)
  }
  const media = await writeMediaList(tx, tenantId, writing.folder)
  return {
    format: formatName,
    format_version: formatVersion,
    kind: 'TENANT_EXPORT',
    product_version: productVersion,
    schema_version: migrationNames().at(-1) ?? '',
    tenant: { id: tenantId, slug: snapshot.slug },
    job_id: jobId,
    snapshot_at: snapshot.at,
    files,
    media,
    omitted: omittedTables(),
  }
}

async function writeEntity(
  tx: Tx,
  entity: Entity,
  { tenantId, folder, signal }: Writing,
  spare: SpareBuffers,
  onRows: (rows: number) => void,
): Promise<ManifestFile> {
  const name = fileNameOf(entity.name)
  const plain = new Meter()
  const packed = new Meter()
  let rows = 0
  const packer = createZstdCompress({
    chunkSize: packedBytes,
    params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  })
  async function* measured(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) yield packed.passed(chunk)
  }
  const written = pipeline(packer, measured, createWriteStream(join(folder, name), { flags: 'wx', mode: 0o600 }), {
    signal,
  })
  written.catch(() => {}) // awaited below, after the copy has noticed as well
  const lines = new LineWriter(entity.columns, spare, (chunk, some) => {
    rows += some
    onRows(some)
    plain.passed(chunk)
    return new Promise((resolve, reject) => packer.write(chunk, (error) => (error ? reject(error) : resolve())))
  })
  try {
    await copyRows(tx, entity, tenantId, lines.row)
    await lines.end()
    packer.end()
  } catch (error) {
    packer.destroy(error as Error)
  }
  await written // the first failure, whichever side it came from
  return {
    name,
    entity: entity.name,
    rows,
    bytes: plain.bytes,
    sha256: plain.digest(),
    compressed_bytes: packed.bytes,
    compressed_sha256: packed.digest(),
  }
}

/** Counts and hashes what passes. */
class Meter {
  bytes = 0
  private readonly hash: Hash = createHash('sha256')

  passed(chunk: Buffer): Buffer {
    this.bytes += chunk.length
    this.hash.update(chunk)
    return chunk
  }

  digest(): string {
    return this.hash.digest('hex')
  }
}
