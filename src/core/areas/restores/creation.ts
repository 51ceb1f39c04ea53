/**
 * `POST /restores`: notes what is to be restored, and queues the job that plans it. Nothing of the workspace changes yet.
 * Spec: Keeping, 3, N19.
 */
import type { restoreOperations as ops, Restore } from '../../contract/backup/restores.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { storeSealed } from '../../kernel/transaction/sealed-values.ts'
import { accountIdOf } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { openWorkspace } from '../backup/backups/row.ts'
import { exportQuotas } from '../backup/export-quota.ts'
import { spend } from '../settings/quotas.ts'
import type { LedgerFacts } from './erasures.ts'
import { queueStep } from './job-row.ts'
import { type RestoreRow, restoreColumns, restoreOf } from './row.ts'
import type { FoundSource, Prepared } from './source.ts'
import { demandAbsent, vetNewTenant } from './whole/newcomer.ts'

/** What the restore goes into. */
interface Goal {
  readonly tenantId: string
  /** Of the workspace that the evidence names; the journal's alone where it is not there. */
  readonly slug: string
  readonly isPresent: boolean
}

/**
 * Refuses not_found, admin.tenant_leaving, restore.underway, restore.workspace_present, restore.purged, admin.slug_taken,
 * admin.multi_mode_required, quota.exceeded.
 */
export async function createRestore(
  ctx: Ctx,
  { body }: Received<typeof ops.createRestore>,
  { source, facts }: Prepared,
): Promise<Restore> {
  const goal = await goalOf(ctx, body, source, facts)
  const { tenantId } = goal
  await makeWay(ctx, tenantId)
  if (goal.isPresent) await spend(ctx, exportQuotas, 'export_jobs', { tenantId })

  const id = newId()
  const jobId = await queueStep(ctx, { tenantId, restoreId: id, step: 'PLAN' })
  const fresh = body.new ? ctx.tx.json(body.new) : null
  void ctx.tx`
    insert into restore (tenant_id, id, mode, job_id, backup_id, target_id, path, source_tenant_id, source_slug, snapshot_at, origin,
                         product_version, archive_sha256, new_tenant, created_by)
    values (${tenantId}, ${id}, ${body.into}, ${jobId}, ${source.backupId}, ${source.targetId}, ${source.path},
            ${source.sourceTenantId}, ${source.sourceSlug}, ${source.snapshotAt}, ${source.origin}, ${source.productVersion},
            ${source.archiveSha256}, ${fresh}, ${accountIdOf(ctx.actor)})`
  if (body.identity !== undefined)
    void storeSealed(ctx, { tenantId, kind: 'restore.identity', ownerId: id }, body.identity)
  await record(ctx, goal, id, source)

  return answered(ctx, tenantId, id, facts)
}

/** Refuses not_found, admin.tenant_leaving, and what hinders a workspace to be made. */
async function goalOf(
  ctx: Ctx,
  { into, tenant_id, new: fresh }: Received<typeof ops.createRestore>['body'],
  source: FoundSource,
  facts: LedgerFacts,
): Promise<Goal> {
  switch (into) {
    case 'REPLACE': {
      const { id, slug, purge_started_at } = await openWorkspace(ctx, tenant_id ?? source.tenantId)
      const [state] = await ctx.tx<{ state: string }[]>`select state from tenant where id = ${id}`
      if (purge_started_at !== null || state?.state === 'PENDING_DELETION') refuse('admin.tenant_leaving')
      return { tenantId: id, slug, isPresent: true }
    }
    case 'ITSELF':
      await demandAbsent(ctx, { id: source.sourceTenantId, slug: source.sourceSlug }, facts)
      return { tenantId: source.sourceTenantId, slug: source.sourceSlug, isPresent: false }
    case 'NEW':
      if (!fresh) throw new Error('the body of NEW has its workspace')
      await vetNewTenant(ctx, fresh)
      return { tenantId: newId(), slug: fresh.slug, isPresent: false }
  }
}

/** One that was planned and not applied gives way; any other that has not ended refuses. Refuses restore.underway. */
async function makeWay({ tx }: Ctx, tenantId: string): Promise<void> {
  const [open] = await tx<{ id: string; state: string }[]>`
    select id, state from restore
    where tenant_id = ${tenantId} and state in ('PLANNING', 'PLANNED', 'APPLYING', 'UNDOING') for update`
  if (open && open.state !== 'PLANNED') refuse('restore.underway', { restore_id: open.id })
  if (open)
    await tx`update restore set state = 'CANCELLED', version = version + 1 where tenant_id = ${tenantId} and id = ${open.id}`
}

/** The identity stays out of it, and so does the owner's address. */
async function record(ctx: Ctx, goal: Goal, id: string, { targetId, snapshotAt }: FoundSource): Promise<void> {
  const evidence = { subject: { kind: 'restore', id }, params: { target_id: targetId, snapshot_at: snapshotAt } }
  const tenant = { id: goal.tenantId, slug: goal.slug }
  await ctx.asInstallation(() => ctx.journal('tenant.restore_requested', tenant, evidence))
  if (goal.isPresent) await ctx.inWorkspace(goal.tenantId, () => ctx.audit('tenant.restore_requested', evidence))
}

export async function answered(ctx: Ctx, tenantId: string, id: string, facts: LedgerFacts): Promise<Restore> {
  const [row] = await ctx.tx<RestoreRow[]>`
    select ${restoreColumns(ctx)} from restore r where r.tenant_id = ${tenantId} and r.id = ${id}`
  return row ? restoreOf(row, facts) : refuse('not_found')
}
