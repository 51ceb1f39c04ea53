/**
 * Suspension: from the next request on, the workspace's people are refused; its data stays.
 * Spec: Workspace states, rows 1 and 2; rule 1; decisions 4.
 */

import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { tenantOperations as ops, TenantState } from '../../contract/tenants/operations.ts'
import { closeWorkspace } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isAccount } from '../../kernel/values/actor.ts'
import { isRegisterKeptWithout } from '../operators/register.ts'

interface StateRow {
  readonly state: TenantState
  readonly slug: string
}

/**
 * Suspends a workspace; if it is suspended already, nothing changes. Refuses not_found, admin.tenant_leaving, and
 * admin.operator_last over the API where nobody who can act would be left: nobody could resume it there.
 */
export async function suspendTenant(ctx: Ctx, { tenantId }: Received<typeof ops.suspendTenant>): Promise<void> {
  // Waits for the changes of its people that are under way: after this answer, no such change commits.
  await closeWorkspace(ctx.tx, tenantId)
  const tenant = await lockTenant(ctx, tenantId)
  // A second :suspend is no conflict: the caller has what was asked for, and a retry after a lost answer must not look
  // like a failure. Nothing is journalled.
  if (tenant.state === 'SUSPENDED') return
  // Not at the database: there it can be resumed too, and a compromised workspace must be stopped in any case.
  if (isAccount(ctx.actor) && !(await isRegisterKeptWithout(ctx, tenantId))) refuse('admin.operator_last')

  await ctx.tx`update tenant set state = 'SUSPENDED', suspended_at = now(), version = version + 1 where id = ${tenantId}`
  const suspended = { id: tenantId, slug: tenant.slug, state: 'SUSPENDED' } as const
  await ctx.journal('tenant.suspended', suspended)
  await ctx.inWorkspace(tenantId, () => ctx.record('work.tenant.suspended', suspended))
}

/** Resumes a suspended workspace; if it is active, nothing changes. Refuses not_found, admin.tenant_leaving. */
export async function resumeTenant(ctx: Ctx, { tenantId }: Received<typeof ops.resumeTenant>): Promise<void> {
  const tenant = await lockTenant(ctx, tenantId)
  if (tenant.state === 'ACTIVE') return

  await ctx.tx`update tenant set state = 'ACTIVE', suspended_at = null, version = version + 1 where id = ${tenantId}`
  const resumed = { id: tenantId, slug: tenant.slug, state: 'ACTIVE' } as const
  await ctx.journal('tenant.resumed', resumed)
  await ctx.inWorkspace(tenantId, () => ctx.record('work.tenant.resumed', resumed))
}

async function lockTenant(ctx: Ctx, tenantId: string): Promise<StateRow> {
  const [tenant] = await ctx.tx<StateRow[]>`select state, slug from tenant where id = ${tenantId} for update`
  if (!tenant) refuse('not_found')
  if (tenant.state === 'PENDING_DELETION') refuse('admin.tenant_leaving')
  return tenant
}
