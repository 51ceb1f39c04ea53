/**
 * Lays the rows of an archive out in staging, with their keys and references checked, and finds them there again.
 *
 * What a crash of the server emptied is laid out anew. Spec: Keeping, 3.
 */
import type { Client } from 'pg'
import { invalid } from '../backup/archive-reader.ts'
import { asKeys, asValue } from '../backup/loading/faults.ts'
import { type Loaded, Loader, type Rewrite } from '../backup/loading/loader.ts'
import { type LoadedTable, readShape } from '../backup/loading/shape.ts'
import {
  dropStaged,
  inStaging,
  type KeyColumns,
  makeChanges,
  markStaged,
  openRows,
  readStaged,
  rowsPrefix,
  type StagedColumns,
  stagingSchema,
} from '../backup/loading/staging.ts'
import { withArchive } from './source.ts'
import type { RestoreWork } from './work.ts'

export interface Laying {
  /** The tables of the archive that are taken, referenced ones first. */
  readonly tables: (shape: readonly LoadedTable[]) => readonly LoadedTable[]
  /** Those whose difference is asked for. */
  readonly compared: (shape: readonly LoadedTable[], staged: StagedColumns) => readonly KeyColumns[]
  readonly rewrite?: Rewrite | undefined
}

export interface LaidOut {
  readonly shape: readonly LoadedTable[]
  readonly staged: StagedColumns
}

/** Refuses archive.invalid, archive.path_refused, backup.target_failed. */
export async function layOut(work: RestoreWork, laying: Laying): Promise<LaidOut> {
  const { installation, job, tenantId, restoreId } = work
  const shape = await installation.transaction(job.actor, { tenantId, readOnly: true }, ({ tx }) => readShape(tx))
  const found = await inStaging(installation, (client) => readStaged(client, restoreId))
  if (found) return { shape, staged: found }
  return { shape, staged: await load(work, laying, shape) }
}

function load(work: RestoreWork, laying: Laying, shape: readonly LoadedTable[]): Promise<StagedColumns> {
  const { installation, job, tenantId, restoreId, row, identity } = work
  const place = { targetId: row.target_id, path: row.path, tenantId: row.source_tenant_id }
  const opening = { identity, acceptsForeign: row.origin === 'FOREIGN' }
  return withArchive(installation, job.actor, place, opening, async (archive) => {
    // Another archive has come under the same path.
    if (archive.digest !== row.archive_sha256) return invalid('differs')
    const entities = new Set(archive.manifest.files.map(({ entity }) => entity))
    const tables = laying.tables(shape).filter(({ name }) => entities.has(name))
    const total = archive.manifest.files.reduce((sum, { rows }) => sum + rows, 0)
    return inStaging(installation, async (client) => {
      await dropStaged(client, restoreId)
      const prefix = rowsPrefix(restoreId)
      const loader = new Loader(client, stagingSchema, tenantId, { prefix, rewrite: laying.rewrite, isDigested: false })
      await loader.make(tables)
      const loaded: Loaded[] = []
      let done = 0
      for (const table of tables) {
        job.signal.throwIfAborted()
        const one = await loader.load(archive, table, job.signal).catch(asValue)
        loaded.push(one)
        done += one.digest.count
        job.progress = { phase: 'READING', done, total }
      }
      await loader.validate(tables).catch(asKeys)
      await openRows(client, restoreId, tables)
      return finish(client, restoreId, laying, shape, loaded)
    })
  })
}

/** Makes the tables of the difference, those of tables that the archive lacks too, and says that all of it is there. */
async function finish(
  client: Client,
  restoreId: string,
  laying: Laying,
  shape: readonly LoadedTable[],
  loaded: readonly Loaded[],
): Promise<StagedColumns> {
  const staged = Object.fromEntries(
    loaded.map(({ table, columns }) => [table.table, columns.map(({ name }) => name)] as const),
  )
  await makeChanges(client, restoreId, laying.compared(shape, staged))
  await markStaged(client, restoreId, staged)
  return staged
}
