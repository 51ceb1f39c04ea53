/**
 * Fills a workspace that is not there from an archive: as itself, or as another one.
 *
 *    row of the workspace, closed ──▶ bytes of files ──▶ each table in one statement ──▶ what the ledger remembers ──▶ opened
 *
 * Rows come by `insert … select` in the role of the workspace, so that no line lands elsewhere. Killed, the next attempt fills what
 * is not there yet; until the last transaction nobody is let in. Spec: Keeping, 3.
 */
import type { RestoreResult } from '../../../contract/backup/restores.ts'
import { Problem } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { recoveryActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { timeNow } from '../../../kernel/values/time.ts'
import type { LoadedTable } from '../../backup/loading/shape.ts'
import { stagedRows } from '../../backup/loading/staging.ts'
import { tellAdministrators } from '../../mail/jobs.ts'
import { repeatSteps } from '../../recovery/apply.ts'
import { planReconciliation, readLedgers } from '../../recovery/reconcile.ts'
import { endCursors, open, recount } from '../closing.ts'
import { longSeconds } from '../difference.ts'
import type { LaidOut } from '../laying-out.ts'
import { bringBytes, type ComingFile } from '../media-back.ts'
import { listed } from '../sql.ts'
import { type RestoreWork, step, writeEnd } from '../work.ts'
import { inviteOwner } from './owner.ts'
import { cleanWhole, layOutWhole } from './planning.ts'
import { takenOf } from './taken.ts'

/** Refuses archive.invalid, backup.target_failed, restore.workspace_present, admin.slug_taken: before anything is there. */
export async function fillWhole(work: RestoreWork): Promise<void> {
  const laid = await layOutWhole(work)
  await step(work, (ctx) => cleanWhole(ctx, work, laid))
  failpoint('restore.ready')
  await makeTenant(work)
  failpoint('restore.closed')
  const media = await bringBytes(work, await readComing(work, laid))
  const tables = takenOf(work.row)(laid.shape).filter(({ table }) => (laid.staged[table] ?? []).length > 0)
  for (const table of tables) {
    if (table.table === 'tenant') continue
    await step(work, (ctx) => fill(ctx, work, table, laid))
    failpoint('restore.batch')
  }
  await step(work, (ctx) => derive(ctx, work))
  failpoint('restore.written')
  if (work.row.mode === 'ITSELF') await repeatLedger(work)
  await end(work, tables, media)
}

interface StagedTenant {
  readonly display_name: string
  readonly state: string
  readonly state_before_deletion: string | null
  readonly default_locale: string
  readonly default_time_zone: string
  readonly created_at: string
  readonly suspended_at: string | null
  readonly version: number
}

/** The workspace's own row, closed. One of an earlier attempt at this restore is there already. */
async function makeTenant(work: RestoreWork): Promise<void> {
  const { tenantId, restoreId, row } = work
  const [staged] = await step(work, ({ tx }) =>
    tx.text<StagedTenant[]>(
      `select display_name, state, state_before_deletion, default_locale, default_time_zone, created_at, suspended_at, version
       from ${stagedRows(restoreId, 'tenant')} where id = $1`,
      [tenantId],
    ),
  )
  if (!staged) throw new Problem('archive.invalid', { reason: 'manifest' })
  const slug = row.new_tenant?.slug ?? row.source_slug
  const name = row.new_tenant?.display_name ?? staged.display_name
  const before = staged.state === 'PENDING_DELETION' ? staged.state_before_deletion : staged.state
  const state = row.mode === 'ITSELF' && before === 'SUSPENDED' ? 'SUSPENDED' : 'ACTIVE'
  const version = row.mode === 'ITSELF' ? staged.version + 1_000_000 : 1
  const createdAt = row.mode === 'ITSELF' ? staged.created_at : null
  await step(work, (ctx) =>
    ctx.asInstallation(async () => {
      const { tx } = ctx
      const [there] = await tx<
        { restoring_at: string | null }[]
      >`select restoring_at from tenant where id = ${tenantId}`
      if (there && there.restoring_at === null) throw new Problem('restore.workspace_present')
      if (there) return
      await tx`
        insert into tenant (id, slug, display_name, state, default_locale, default_time_zone, created_at, suspended_at, version, restoring_at)
        values (${tenantId}, ${slug}, ${name}, ${state}, ${staged.default_locale}, ${staged.default_time_zone},
                coalesce(${createdAt}::timestamptz, now()), ${state === 'SUSPENDED' ? (staged.suspended_at ?? new Date(timeNow())) : null},
                ${version}, now())`
    }),
  )
}

function readComing(work: RestoreWork, { staged }: LaidOut): Promise<ComingFile[]> {
  if ((staged['media'] ?? []).length === 0) return Promise.resolve([])
  return step(work, ({ tx }) =>
    tx.text<ComingFile[]>(
      `select s.id, s.sha256, s.size_bytes from ${stagedRows(work.restoreId, 'media')} s where s.tenant_id = $1 and s.state = 'READY'`,
      [work.tenantId],
    ),
  )
}

/** All rows of a table that are not there yet. */
async function fill({ tx }: Ctx, work: RestoreWork, table: LoadedTable, { staged }: LaidOut): Promise<void> {
  const { tenantId, restoreId, job } = work
  await tx.patience(longSeconds)
  const columns = staged[table.table] ?? []
  const key = table.keys.find(({ isPrimary }) => isPrimary)?.columns ?? ['tenant_id']
  const { count } = await tx.text(
    `insert into "${table.table}" (tenant_id, ${listed(columns)})
     select s.tenant_id, ${listed(columns, 's')} from ${stagedRows(restoreId, table.table)} s where s.tenant_id = $1
     on conflict (${listed(key)}) do nothing`,
    [tenantId],
  )
  job.progress = { phase: 'WORKING', done: Number(job.progress.done) + count, total: null }
}

/** What no archive holds, because it is made of the rest. */
async function derive({ tx }: Ctx, { tenantId }: RestoreWork): Promise<void> {
  await tx.patience(longSeconds)
  void tx`
    update account a set group_ids = g.ids from (
      select account_id, array_agg(group_id order by group_id) as ids from group_member where tenant_id = ${tenantId} group by account_id) g
    where a.tenant_id = ${tenantId} and a.id = g.account_id`
  void tx`
    update account_group g set member_count = m.count from (
      select group_id, count(*)::int as count from group_member where tenant_id = ${tenantId} group by group_id) m
    where g.tenant_id = ${tenantId} and g.id = m.group_id`
  await tx`
    delete from media_removal r where r.tenant_id = ${tenantId} and exists (
      select from media m where m.tenant_id = ${tenantId} and m.id = r.media_id)`
}

/** Acts behind the snapshot that a restore must not undo. */
const remembered = [
  'hold.place',
  'account.leave',
  'account.disable',
  'account.restrict',
  'account.erase',
  'consent.withdraw',
  'token.revoke',
]

/** Repeats what the ledger says of this workspace, each by the rule that did it the first time. */
async function repeatLedger({ installation, tenantId, row }: RestoreWork): Promise<void> {
  const { desired } = await readLedgers(installation)
  const planned = await planReconciliation(installation, desired)
  const steps = planned.filter(({ tenant_id, what }) => tenant_id === tenantId && remembered.includes(what))
  if (steps.length === 0) return
  await repeatSteps({ installation, actor: recoveryActor(), recoveryPoint: row.snapshot_at, desired }, steps)
}

async function end(work: RestoreWork, tables: readonly LoadedTable[], media: number): Promise<void> {
  const { job, tenantId, row } = work
  job.rest()
  await job.succeeded({}, 0, async (ctx) => {
    const { tx } = ctx
    await recount(ctx, tenantId)
    // Behind every number that the workspace may have given out before it was gone.
    await endCursors(ctx, tenantId, row.mode === 'ITSELF' ? timeNow() : 0)
    if (row.mode === 'NEW') await inviteOwner(ctx, work)
    const byEntity = row.plan?.by_entity ?? {}
    const counts = { comes_back: await countFilled(ctx, work, tables), changes_back: 0, goes_away: 0 }
    const told = { action: 'tenant.restored', mail: 'workspace_restored', snapshotAt: row.snapshot_at, counts } as const
    const { closedSeconds } = await open(ctx, work, told)
    if (row.mode === 'NEW' && work.isSourcePresent) await tellSource(ctx, work)
    const result: RestoreResult = { by_entity: byEntity, media, closed_seconds: closedSeconds }
    await writeEnd(tx, work, { state: 'DONE', more: tx.part`result = ${tx.json(result)}` })
  })
}

async function countFilled({ tx }: Ctx, { tenantId, restoreId }: RestoreWork, tables: readonly LoadedTable[]) {
  const counts = await Promise.all(
    tables.map(async ({ table, owner }) => {
      const [row] = await tx.text<{ count: number }[]>(
        `select count(*)::int as count from ${stagedRows(restoreId, table)} s where s.${owner} = $1`,
        [tenantId],
      )
      return row?.count ?? 0
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The workspace that was copied learns of it. */
async function tellSource(ctx: Ctx, { tenantId, restoreId, row }: RestoreWork): Promise<void> {
  const { source_tenant_id: sourceId } = row
  await ctx.inWorkspace(sourceId, async () => {
    const evidence = {
      subject: { kind: 'restore', id: restoreId },
      params: { snapshot_at: row.snapshot_at, into: tenantId },
    }
    const noticeId = await ctx.audit('tenant.copied', evidence)
    const at = await ctx.now()
    await ctx.enqueue(tellAdministrators, { tenantId: sourceId, noticeId, name: 'workspace_copied', at })
  })
}
