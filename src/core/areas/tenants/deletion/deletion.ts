/**
 * Deletion: requested, and cancelled within 30 days or followed by the purge.
 *
 *    ACTIVE, SUSPENDED ──:delete──▶ PENDING_DELETION ──deadline, settled──▶ purge (purge.ts)
 *            ▲                             │
 *            └──────:cancel-deletion───────┘   until the purge has begun
 *
 * The row decides: `purge_after` is set exactly while the deletion is pending, and
 * `purge_started_at` after the purge has begun and the deletion cannot be cancelled any more.
 * Automations that the request switched off are marked, so that a cancellation switches on only
 * these.
 *
 * Spec: Workspace states, rows 3 and 4; rules 1 to 3; decisions 4.
 */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { graceDays } from '../../../contract/tenants/grace.ts'
import type { tenantOperations as ops, TenantState } from '../../../contract/tenants/operations.ts'
import { demandPlan } from '../../../kernel/request/plan.ts'
import { closeWorkspace } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { lockTenant } from '../../../kernel/transaction/workspace-row.ts'
import { isRegisterKeptWithout } from '../../operators/register.ts'
import { purgeTenant } from '../jobs.ts'
import { readTenant } from '../list.ts'
import { getDeletionPlan } from './deletion-plan.ts'

/**
 * Requests the deletion; if it is pending already, nothing changes, not even the deadline.
 * Refuses not_found, admin.confirmation_mismatch, plan.stale, admin.operator_last.
 */
export async function deleteTenant(
  ctx: Ctx,
  { tenantId, body }: Received<typeof ops.deleteTenant>,
): Promise<Answer<typeof ops.deleteTenant>> {
  // Waits for the changes of its people that are under way, as :suspend does.
  await closeWorkspace(ctx.tx, tenantId)
  const tenant = await lockTenant(ctx, tenantId)
  if (body.confirmation !== tenant.display_name) refuse('admin.confirmation_mismatch')
  if (tenant.state === 'PENDING_DELETION') return readTenant(ctx.tx, tenant.slug)
  await demandPlan(body.plan_hash, () => getDeletionPlan(ctx, { tenantId }))
  if (!(await isRegisterKeptWithout(ctx, tenantId))) refuse('admin.operator_last')

  const purgeAfter = await markLeaving(ctx, tenantId)
  await ctx.journal('tenant.deletion_requested', tenant, { params: { purge_after: purgeAfter } })
  await ctx.inWorkspace(tenantId, async () => {
    const rules = await ctx.tx`
      update automation_rule set enabled = false, disabled_by_deletion = true, version = version + 1, updated_at = now()
      where tenant_id = ${tenantId} and enabled`
    const params = { purge_after: purgeAfter, automations: rules.count }
    const leaving = { id: tenantId, slug: tenant.slug, state: 'PENDING_DELETION', purge_after: purgeAfter } as const
    await ctx.record('work.tenant.deletion_requested', leaving, params)
  })
  await ctx.enqueue(purgeTenant, { tenantId }, { startAfter: new Date(purgeAfter) })

  return readTenant(ctx.tx, tenant.slug)
}

/**
 * Marks the row and answers the deadline. The grace begins at the newest entry of the journal if
 * that is ahead of the clock (by the grace at most). So a clock that has fallen back does not
 * shorten the grace, and a clock that was ahead once does not extend it without limit.
 */
async function markLeaving(ctx: Ctx, tenantId: string): Promise<string> {
  const [marked] = await ctx.tx<{ purge_after: string }[]>`
    update tenant
    set state = 'PENDING_DELETION', state_before_deletion = state, deletion_requested_at = now(), version = version + 1,
        purge_after = make_interval(days => ${graceDays}) + greatest(now(),
          least(now() + make_interval(days => ${graceDays}), (select at from journal order by id desc limit 1)))
    where id = ${tenantId}
    returning purge_after`
  if (!marked) throw new Error('a workspace that is locked is gone')
  return marked.purge_after
}

/**
 * Cancels the deletion: the workspace gets its previous state. If no deletion is pending,
 * nothing changes. Refuses not_found, admin.tenant_deletion_underway.
 */
export async function cancelTenantDeletion(
  ctx: Ctx,
  { tenantId }: Received<typeof ops.cancelTenantDeletion>,
): Promise<void> {
  const tenant = await lockTenant(ctx, tenantId)
  if (tenant.state !== 'PENDING_DELETION') return
  if (tenant.purge_started_at !== null) refuse('admin.tenant_deletion_underway')

  const [back] = await ctx.tx<{ state: TenantState }[]>`
    update tenant
    set state = coalesce(state_before_deletion, 'SUSPENDED'), state_before_deletion = null, deletion_requested_at = null,
        purge_after = null, version = version + 1,
        suspended_at = case when state_before_deletion = 'ACTIVE' then null else coalesce(suspended_at, now()) end
    where id = ${tenantId}
    returning state`
  if (!back) throw new Error('an updated workspace was not returned')
  await ctx.journal('tenant.deletion_cancelled', tenant)
  await ctx.inWorkspace(tenantId, async () => {
    const rules = await ctx.tx`
      update automation_rule set enabled = true, disabled_by_deletion = false, version = version + 1, updated_at = now()
      where tenant_id = ${tenantId} and disabled_by_deletion`
    const stays = { id: tenantId, slug: tenant.slug, state: back.state }
    await ctx.record('work.tenant.deletion_cancelled', stays, { automations: rules.count })
  })
}
