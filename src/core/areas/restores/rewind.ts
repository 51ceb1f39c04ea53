/**
 * A rewind: the rows that people made become those of the backup, in the workspace that is in use.
 *
 *    open     staging there? bytes of files brought back?
 *    closed   what differs now ──▶ written in batches, the old rows kept (writing.ts)
 *    one transaction opens it, and the restore is DONE
 *
 * What is being written goes on after every crash: what is left of the difference is computed again. Where an attempt fails three
 * times, the rows go back as they were kept, and the restore is FAILED. Spec: Keeping, 3 (In use).
 */
import type { RestoreChanges, RestoreResult } from '../../contract/backup/restores.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { stagedRows } from '../backup/loading/staging.ts'
import { close, endCursors, open, recount } from './closing.ts'
import { type ContentTable, contentTables } from './content.ts'
import { computeDifference, longSeconds, sumOf } from './difference.ts'
import { eraseSince } from './erasures.ts'
import { noteHeld } from './held.ts'
import { type LaidOut, layOut } from './laying-out.ts'
import { bringBytes, type ComingFile } from './media-back.ts'
import { clean, ofContent } from './planning.ts'
import { readReferrers } from './referrers.ts'
import { makeRoom } from './room.ts'
import { type RestoreWork, step, writeEnd } from './work.ts'
import { byIndex, writeDifference } from './writing.ts'

/** Refuses archive.invalid, archive.path_refused, backup.target_failed, admin.tenant_leaving: before it is closed, nothing has changed. */
export async function rewind(work: RestoreWork): Promise<void> {
  const laid = await layOut(work, ofContent)
  const { erased } = await step(work, (ctx) => clean(ctx, work, laid))
  const media = await bringBytes(work, await readComing(work, laid))
  failpoint('restore.ready')
  await close(work)
  failpoint('restore.closed')
  await step(work, (ctx) => eraseSince(ctx, work, laid.staged, erased))
  const tables = contentTables(laid.shape, laid.staged)
  await step(work, (ctx) => compare(ctx, work, tables))
  await write(work, tables, false)
  failpoint('restore.written')
  await end(work, tables, media)
}

/** Files that come back: whole in the archive, and not there now. */
function readComing(work: RestoreWork, { staged }: LaidOut): Promise<ComingFile[]> {
  if ((staged['media'] ?? []).length === 0) return Promise.resolve([])
  return step(work, ({ tx }) =>
    tx.text<ComingFile[]>(
      `select s.id, s.sha256, s.size_bytes from ${stagedRows(work.restoreId, 'media')} s
       where s.tenant_id = $1 and s.state = 'READY' and not exists (select from media m where m.tenant_id = $1 and m.id = s.id)`,
      [work.tenantId],
    ),
  )
}

async function compare(ctx: Ctx, work: RestoreWork, tables: readonly ContentTable[]): Promise<void> {
  const isHeld = await noteHeld(ctx, work)
  await computeDifference(ctx, work, tables)
  if (isHeld) await makeRoom(ctx, work, tables)
  await makeShells(ctx, work, tables)
}

/** Whom rows name that the workspace does not have (any more): an id that leads nowhere, as after an erasure. */
async function makeShells(
  { tx }: Ctx,
  { tenantId, restoreId }: RestoreWork,
  tables: readonly ContentTable[],
): Promise<void> {
  const named: Readonly<Record<string, string>> = {
    media: 'created_by',
    media_reference: 'added_by',
    item_view: 'created_by',
  }
  for (const { table, columns } of tables) {
    const column = named[table]
    if (column === undefined || !columns.includes(column)) continue
    await tx.text(
      `insert into account (tenant_id, id, kind, state)
       select distinct $1::uuid, s.${column}, 'PERSON', 'ERASED' from ${stagedRows(restoreId, table)} s
       where s.tenant_id = $1 and not exists (select from account a where a.tenant_id = $1 and a.id = s.${column})`,
      [tenantId],
    )
  }
}

/** Writes what was computed. `isUndo`: nothing is kept. */
export async function write(work: RestoreWork, tables: readonly ContentTable[], isUndo: boolean): Promise<void> {
  const { installation, job, tenantId, restoreId } = work
  const { restoreUndoDays, media } = installation.config
  const referrers = await step(work, ({ tx }) => readReferrers(tx))
  let done = 0
  await writeDifference({
    tenantId,
    restoreId,
    tables,
    referrers,
    isUndo,
    mediaDays: media.keepDays + (isUndo ? 0 : restoreUndoDays),
    step: (one) =>
      step(work, (ctx) => {
        void ctx.tx.switch(byIndex)
        return one(ctx)
      }),
    onRows(rows) {
      done += rows
      job.progress = { phase: 'WORKING', done, total: null }
    },
  })
}

async function end(work: RestoreWork, tables: readonly ContentTable[], media: number): Promise<void> {
  const { job, tenantId, row, installation } = work
  job.rest()
  await job.succeeded({}, 0, async (ctx) => {
    const { tx } = ctx
    await switchRulesOff(ctx, work)
    await recount(ctx, tenantId)
    await endCursors(ctx, tenantId)
    const byEntity = await countWritten(ctx, work, tables)
    const told = { action: 'tenant.rewound', mail: 'workspace_rewound', snapshotAt: row.snapshot_at } as const
    const { closedSeconds } = await open(ctx, work, { ...told, counts: sumOf(byEntity) })
    const result: RestoreResult = { by_entity: byEntity, media, closed_seconds: closedSeconds }
    const undoUntil = tx.part`now() + make_interval(days => ${installation.config.restoreUndoDays})`
    await writeEnd(tx, work, { state: 'DONE', more: tx.part`result = ${tx.json(result)}, undo_until = ${undoUntil}` })
  })
}

/** Rules that were on are off, so that nothing acts on what came back before somebody has looked. */
async function switchRulesOff({ tx }: Ctx, { tenantId, restoreId }: RestoreWork): Promise<void> {
  void tx`
    insert into restore_undo (tenant_id, restore_id, table_name, key, was, became)
    select r.tenant_id, ${restoreId}, 'automation_rule', jsonb_build_array(r.id)::text, to_jsonb(r), (r.version + 1)::text from automation_rule r
    where r.tenant_id = ${tenantId} and r.enabled
    on conflict do nothing`
  await tx`
    update automation_rule set enabled = false, version = version + 1, updated_at = now()
    where tenant_id = ${tenantId} and enabled`
}

/** Counted by what was kept, so that a crash changes no number. */
async function countWritten(
  { tx }: Ctx,
  { tenantId, restoreId }: RestoreWork,
  tables: readonly ContentTable[],
): Promise<Record<string, RestoreChanges>> {
  await tx.patience(longSeconds)
  const rows = await tx<(RestoreChanges & { table_name: string })[]>`
    select table_name, count(*) filter (where was is null)::int as comes_back,
           count(*) filter (where was is not null and became is not null)::int as changes_back,
           count(*) filter (where was is not null and became is null)::int as goes_away
    from restore_undo where tenant_id = ${tenantId} and restore_id = ${restoreId} group by table_name`
  const entityOf = new Map(tables.map(({ table, entity }) => [table, entity]))
  return Object.fromEntries(
    rows.map(({ table_name, ...changes }) => [entityOf.get(table_name) ?? table_name, changes] as const),
  )
}
