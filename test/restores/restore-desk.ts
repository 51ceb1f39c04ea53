/** An installation whose workspaces are backed up and restored: what the tests of restores share. */
import { randomUUIDv7 } from 'node:crypto'
import { restoreJob } from '../../src/core/areas/restores/restore-job.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import type { NewRestore, Restore } from '../../src/core/contract/backup/restores.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { type BackupDesk, backupDesk } from '../backup/backup-desk.ts'
import type { Furnished } from '../kit/leaving-workspace.ts'
import type { Way } from '../kit/two-ways.ts'

export interface RestoreDesk extends BackupDesk {
  /** Asks, and runs the job that plans. */
  plan(body: NewRestore, way?: Way): Promise<Restore>
  rewindTo(backup: Backup, way?: Way): Promise<Restore>
  /** Applies the plan as it is shown now, and runs the job. */
  apply(restore: Restore, way?: Way, by?: Installation): Promise<Restore>
  undo(restore: Restore, edited_since?: 'KEEP' | 'REPLACE', way?: Way): Promise<Restore>
  look(restoreId: string, way?: Way): Promise<Restore>
  run(restore: Restore, by?: Installation): Promise<void>
  /** Every row of a table of the workspace, as text, in the order of the texts; without some columns. */
  rows(tenantId: string, table: string, without?: readonly string[]): Promise<string[]>
  /** Names of the tables that lie in staging. */
  staged(): Promise<string[]>
}

export async function restoreDesk(): Promise<RestoreDesk> {
  const desk = await backupDesk()
  const { both } = desk
  const look: RestoreDesk['look'] = (restoreId, way = 'recovery') => both.call(way, ops.getRestore, { restoreId })
  const run: RestoreDesk['run'] = async ({ job_id }, by = both.installation) => {
    const [job] = await both.sql<{ tenant_id: string }[]>`select tenant_id from job where id = ${job_id}`
    await restoreJob.run(by, { tenantId: job?.tenant_id ?? '', jobId: job_id })
  }
  const plan: RestoreDesk['plan'] = async (body, way = 'recovery') => {
    const asked = await both.call(way, ops.createRestore, { body })
    await run(asked)
    return look(asked.id, way)
  }
  return {
    ...desk,
    async workspace() {
      const made = await desk.workspace()
      await both.sql`delete from restore_undo where tenant_id = ${made.id}`
      await both.sql`delete from restore where tenant_id = ${made.id}`
      return made
    },
    look,
    run,
    plan,
    rewindTo: (backup, way) =>
      plan({ into: 'REPLACE', tenant_id: backup.tenant_id, source: { backup_id: backup.id } }, way),
    async apply({ id }, way = 'recovery', by = both.installation) {
      const { plan: shown } = await look(id, way)
      const applying = await both.call(way, ops.applyRestore, { restoreId: id, body: { plan_hash: shown?.hash ?? '' } })
      await run(applying, by)
      return look(id, way)
    },
    async undo({ id }, edited_since = 'KEEP', way = 'recovery') {
      const undoing = await both.call(way, ops.undoRestore, { restoreId: id, body: { edited_since } })
      await run(undoing)
      return look(id, way)
    },
    async rows(tenantId, table, without = []) {
      const rows = await both.sql<{ row: string }[]>`
        select (to_jsonb(t) - ${[...without]}::text[])::text as row from ${both.sql(table)} t where t.tenant_id = ${tenantId} order by 1`
      return rows.map(({ row }) => row)
    },
    async staged() {
      const rows = await both.sql<{ name: string }[]>`
        select relname as name from pg_class where relnamespace = 'svc_staging'::regnamespace and relkind = 'r' order by 1`
      return rows.map(({ name }) => name)
    },
  }
}

/** The tables that a rewind is about. */
export const contentNames = Object.entries(workspaceTables).flatMap(([name, { content }]) => (content ? [name] : []))

/** Written rows have another version, and what is derived is made anew. */
export const notCompared = [
  'version',
  'kept_since',
  'without_keys',
  'without_labels',
  'without_members',
  'without_values',
  'loose_since',
  'enabled',
]

export interface Board extends Furnished {
  readonly buckets: readonly string[]
  readonly items: readonly string[]
}

/** Puts some items with labels, comments and values on the board of a workspace. */
export async function board({ both }: BackupDesk, made: Furnished): Promise<Board> {
  const { sql } = both
  const buckets = await sql<{ id: string }[]>`
    select id from bucket where tenant_id = ${made.id} and container_id = ${made.collectionId} order by rank`
  const items = Array.from({ length: 6 }, () => randomUUIDv7())
  for (const [at, id] of items.entries())
    await sql`
      insert into item (tenant_id, id, container_id, bucket_id, type, title, description, rank, created_by)
      values (${made.id}, ${id}, ${made.collectionId}, ${buckets[at % 2]?.id ?? null}, 'TASK', ${`item ${at}`}, 'as it was', ${`b${at}0`}, ${made.ownerId})`
  await sql`
    insert into item_label (tenant_id, item_id, label_id)
    select ${made.id}, i.id, (select id from label where tenant_id = ${made.id} order by id limit 1) from item i
    where i.tenant_id = ${made.id} and i.id in ${sql(items)}`
  await sql`
    insert into comment (tenant_id, id, item_id, body, created_by) values (${made.id}, ${randomUUIDv7()}, ${items[0] ?? ''}, 'first', ${made.ownerId})`
  return { ...made, buckets: buckets.map(({ id }) => id), items }
}

/** Takes a workspace away as a person with the database's password would: every row, and no evidence. */
export async function removeByHand(sql: RestoreDesk['both']['sql'], tenantId: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx`delete from operator where workspace_id = ${tenantId}`
    for (const name of Object.keys(workspaceTables)) await tx`delete from ${tx(name)} where tenant_id = ${tenantId}`
    await tx`delete from tenant where id = ${tenantId}`
  })
}
