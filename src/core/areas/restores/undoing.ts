/**
 * Takes a rewind back: what it replaced is what was kept (`restore_undo`).
 *
 *    kept rows ──▶ staging ──▶ closed: what of them differs ──▶ written as a rewind is (writing.ts) ──▶ opened
 *
 * KEEP leaves alone what somebody edited since; REPLACE brings that back as well. What refers to something that was removed since
 * does not come back alone, and of people who were erased nothing does. Killed, it goes on: what was written already is not as the rewind left it. Spec: Keeping, 3, K8.
 */
import type { RestoreResult } from '../../contract/backup/restores.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { type LoadedTable, readShape } from '../backup/loading/shape.ts'
import {
  dropStaged,
  inStaging,
  makeChanges,
  makeRows,
  markStaged,
  readStaged,
  stagedChanges,
  stagedRows,
} from '../backup/loading/staging.ts'
import { close, endCursors, open, recount } from './closing.ts'
import { type ContentTable, contentOf, undoneTables } from './content.ts'
import { countDifference, isHeld, longSeconds, sumOf } from './difference.ts'
import { erasedOf, eraseSince, eraseStaged } from './erasures.ts'
import { noteHeld } from './held.ts'
import { write } from './rewind.ts'
import { makeRoom } from './room.ts'
import { listed, quoted, sameKey } from './sql.ts'
import { type RestoreWork, step, writeEnd } from './work.ts'
import { byIndex, signatureOf } from './writing.ts'

type Edited = 'KEEP' | 'REPLACE'

/** Refuses admin.tenant_leaving. */
export async function undo(work: RestoreWork): Promise<void> {
  const { tables, keptEdits } = await takeBack(work, work.row.edited_since ?? 'KEEP')
  const { job, tenantId, restoreId } = work
  job.rest()
  await job.succeeded({}, 0, async (ctx) => {
    const { tx } = ctx
    await recount(ctx, tenantId)
    await endCursors(ctx, tenantId)
    const byEntity = await countDifference(ctx, work, tables)
    const told = {
      action: 'tenant.rewind_undone',
      mail: 'workspace_rewind_undone',
      snapshotAt: await ctx.now(),
    } as const
    const { closedSeconds } = await open(ctx, work, { ...told, counts: sumOf(byEntity) })
    const result: RestoreResult = {
      by_entity: byEntity,
      media: 0,
      closed_seconds: closedSeconds,
      kept_edits: work.row.result?.kept_edits ?? keptEdits,
    }
    await tx`
      update restore set state = 'UNDONE', result = ${tx.json(result)}, undo_until = now(), version = version + 1
      where tenant_id = ${tenantId} and id = ${restoreId}`
  })
}

/** What a rewind that cannot be done has written goes back; the restore is FAILED. The workspace is closed. */
export async function goBack(work: RestoreWork, failure: string): Promise<void> {
  await takeBack(work, 'REPLACE')
  const { job, tenantId } = work
  job.rest()
  await job.failed(failure, null, async (ctx) => {
    await recount(ctx, tenantId)
    await ctx.asInstallation(async () => {
      await ctx.tx`update tenant set restoring_at = null where id = ${tenantId}`
    })
    await writeEnd(ctx.tx, work, { state: 'FAILED', more: ctx.tx.part`failure = ${failure}, undo_until = now()` })
  })
}

async function takeBack(work: RestoreWork, edited: Edited) {
  const { installation, job, tenantId } = work
  const shape = await installation.transaction(job.actor, { tenantId, readOnly: true }, ({ tx }) => readShape(tx))
  const tables = undoneTables(shape)
  const staged = Object.fromEntries(tables.map((table) => [table.table, namesOf(table)]))
  await layKept(work, shape, tables)
  const erased = await step(work, async (ctx) => {
    const known = await erasedOf(ctx, work)
    await eraseStaged(ctx, work, staged, known)
    return known
  })
  failpoint('restore.ready')
  await close(work)
  failpoint('restore.closed')
  await step(work, (ctx) => eraseSince(ctx, work, staged, erased))
  const keptEdits = await step(work, (ctx) => compareKept(ctx, work, tables, edited))
  await step(work, (ctx) => makeRoom(ctx, work, tables))
  await write(work, tables, true)
  failpoint('restore.written')
  return { tables, keptEdits }
}

/** The rows as they were, in staging. */
async function layKept(
  work: RestoreWork,
  shape: readonly LoadedTable[],
  tables: readonly ContentTable[],
): Promise<void> {
  const { installation, restoreId, tenantId, job } = work
  // What lies there may be the archive's, of the attempt that goes back.
  await inStaging(installation, async (client) => {
    const found = await readStaged(client, restoreId)
    if (found?.['undo']) return
    await dropStaged(client, restoreId)
    await makeRows(client, restoreId, contentOf(shape))
    await makeChanges(client, restoreId, tables)
    await markStaged(client, restoreId, { undo: ['undo'] })
  })
  for (const table of tables) {
    job.signal.throwIfAborted()
    await step(work, (ctx) => fill(ctx, { tenantId, restoreId }, table))
  }
}

const namesOf = ({ key, columns }: Pick<ContentTable, 'key' | 'columns'>) => [
  ...new Set([...key.map(({ name }) => name), ...columns]),
]

async function fill(
  { tx }: Ctx,
  { tenantId, restoreId }: Pick<RestoreWork, 'tenantId' | 'restoreId'>,
  { table, key, columns }: ContentTable,
): Promise<void> {
  await tx.patience(longSeconds)
  const staged = stagedRows(restoreId, table)
  const names = namesOf({ key, columns })
  await tx.text(`delete from ${staged} where tenant_id = $1`, [tenantId])
  await tx.text(
    `insert into ${staged} (tenant_id, ${listed(names)})
     select $1, ${listed(names, 'p')} from restore_undo u cross join lateral jsonb_populate_record(null::${quoted(table)}, u.was) p
     where u.tenant_id = $1 and u.restore_id = $2 and u.table_name = $3 and u.was is not null`,
    [tenantId, restoreId, table],
  )
}

/** What of the kept rows differs now. Answers how many were edited since, and stay. */
async function compareKept(
  ctx: Ctx,
  work: RestoreWork,
  tables: readonly ContentTable[],
  edited: Edited,
): Promise<number> {
  const { tx } = ctx
  const { tenantId, restoreId } = work
  await noteHeld(ctx, work)
  await tx.patience(longSeconds)
  void tx.switch(byIndex)
  let kept = 0
  for (const table of tables) {
    await tx.text(`delete from ${stagedChanges(restoreId, table.table)} where tenant_id = $1`, [tenantId])
    const written = await tx.text(keptText(restoreId, table), [tenantId, restoreId, table.table, edited === 'REPLACE'])
    const [row] = await tx<{ count: number }[]>`
      select count(*)::int as count from restore_undo
      where tenant_id = ${tenantId} and restore_id = ${restoreId} and table_name = ${table.table}`
    kept += Math.max(0, (row?.count ?? 0) - written.count)
  }
  if (work.row.state === 'UNDOING' && work.row.result?.kept_edits === undefined)
    await tx`
      update restore set result = result || jsonb_build_object('kept_edits', ${kept}::integer)
      where tenant_id = ${tenantId} and id = ${restoreId}`
  return kept
}

/** The keys are taken out of their JSON first: under row-level security no index serves what a function makes of a column. */
function keptText(restoreId: string, table: ContentTable): string {
  const key = table.key.map(({ name }) => name)
  const [first = 'id'] = key
  const values = table.key
    .map(({ name, type }, at) => `(u.key::jsonb ->> ${at})::${type} as ${quoted(name)}`)
    .join(', ')
  const parent = table.parent ? `u.was ->> '${table.parent}'` : 'null::text'
  const order = table.parent ? `order by coalesce(k.parent, t.${quoted(table.parent)}::text) is not null` : ''
  return `
    insert into ${stagedChanges(restoreId, table.table)} (tenant_id, op, ${listed(key)})
    with k as materialized (
      select ${values}, u.was is null as is_new, u.became, ${parent} as parent from restore_undo u
      where u.tenant_id = $1 and u.restore_id = $2 and u.table_name = $3)
    select $1, case when k.is_new then 'D' when t.${quoted(first)} is null then 'I' else 'U' end, ${listed(key, 'k')}
    from k left join ${quoted(table.table)} t on t.tenant_id = $1 and ${sameKey(key, 't', 'k')}
    where not (k.is_new and t.${quoted(first)} is null)
      and ($4 or k.became is not distinct from case when t.${quoted(first)} is not null then ${signatureOf(table, 't')} end)
      and not (t.${quoted(first)} is not null and ${isHeld(restoreId, table)})
    ${order}`
}
