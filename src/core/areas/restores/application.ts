/**
 * `:apply` carries out the plan that was shown, `:undo` takes a rewind back: each is a job, and the row says which.
 *
 * What the plan's hash binds is read again under the row's lock. Spec: Keeping, 3, K7 and K8.
 */
import type { restoreOperations as ops, Restore } from '../../contract/backup/restores.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { openWorkspace } from '../backup/backups/row.ts'
import { exportQuotas } from '../backup/export-quota.ts'
import { spend } from '../settings/quotas.ts'
import { answered } from './creation.ts'
import type { LedgerFacts } from './erasures.ts'
import { queueStep, type Step } from './job-row.ts'
import { demandHash, demandState, lockRestore, type RestoreRow } from './row.ts'
import { demandAbsent, vetNewTenant } from './whole/newcomer.ts'

/**
 * Refuses not_found, restore.state, plan.stale, admin.tenant_leaving, restore.workspace_present, restore.purged,
 * admin.slug_taken, quota.exceeded.
 */
export async function applyRestore(
  ctx: Ctx,
  { restoreId, body: { plan_hash } }: Received<typeof ops.applyRestore>,
  facts: LedgerFacts,
): Promise<Restore> {
  const row = await lockRestore(ctx, restoreId)
  demandState(row.state, 'PLANNED')
  demandHash(row, facts, plan_hash)
  if (row.mode === 'REPLACE') await demandStaying(ctx, row.tenant_id)
  if (row.mode === 'ITSELF') await demandAbsent(ctx, { id: row.tenant_id, slug: row.source_slug }, facts)
  if (row.mode === 'NEW' && row.new_tenant) await vetNewTenant(ctx, row.new_tenant)

  return begin(ctx, row, 'APPLY', facts)
}

/** Refuses not_found, restore.state, restore.underway, admin.tenant_leaving, quota.exceeded. */
export async function undoRestore(
  ctx: Ctx,
  { restoreId, body: { edited_since } }: Received<typeof ops.undoRestore>,
  facts: LedgerFacts,
): Promise<Restore> {
  const { tx } = ctx
  const row = await lockRestore(ctx, restoreId)
  demandState(row.state, 'DONE')
  const [window] = await tx<{ is_open: boolean }[]>`
    select undo_until > now() as is_open from restore where tenant_id = ${row.tenant_id} and id = ${row.id}`
  // One that can no longer be undone is as one that never could.
  if (row.mode !== 'REPLACE' || window?.is_open !== true) refuse('restore.state', { state: row.state })
  await demandStaying(ctx, row.tenant_id)
  await demandNewest(ctx, row)

  void tx`update restore set edited_since = ${edited_since} where tenant_id = ${row.tenant_id} and id = ${row.id}`
  return begin(ctx, row, 'UNDO', facts)
}

async function begin(ctx: Ctx, row: RestoreRow, step: Step, facts: LedgerFacts): Promise<Restore> {
  const { tenant_id: tenantId, id: restoreId } = row
  if (row.slug !== null) await spend(ctx, exportQuotas, 'export_jobs', { tenantId })
  const jobId = await queueStep(ctx, { tenantId, restoreId, step })
  void ctx.tx`
    update restore set state = ${step === 'APPLY' ? 'APPLYING' : 'UNDOING'}, job_id = ${jobId}, version = version + 1
    where tenant_id = ${tenantId} and id = ${restoreId}`
  return answered(ctx, tenantId, restoreId, facts)
}

/** Refuses admin.tenant_leaving. */
async function demandStaying(ctx: Ctx, tenantId: string): Promise<void> {
  await openWorkspace(ctx, tenantId)
  const [tenant] = await ctx.tx<{ state: string }[]>`select state from tenant where id = ${tenantId}`
  if (tenant?.state === 'PENDING_DELETION') refuse('admin.tenant_leaving')
}

/** Only the latest rewind is undone: what an earlier one replaced is not what is there now. Refuses restore.underway, restore.state. */
async function demandNewest({ tx }: Ctx, { tenant_id, id, state }: RestoreRow): Promise<void> {
  const [open] = await tx<{ id: string }[]>`
    select id from restore where tenant_id = ${tenant_id} and state in ('PLANNING', 'APPLYING', 'UNDOING') limit 1`
  if (open) refuse('restore.underway', { restore_id: open.id })
  const [later] = await tx`
    select from restore where tenant_id = ${tenant_id} and id > ${id} and mode = 'REPLACE' and state = 'DONE' limit 1`
  if (later) refuse('restore.state', { state })
  await tx`
    update restore set state = 'CANCELLED', version = version + 1 where tenant_id = ${tenant_id} and state = 'PLANNED'`
}
