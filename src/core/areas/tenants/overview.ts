/** The overview has only counts and states, never rows. Spec: Admin: overview; decisions 4. */

import type { Answer } from '../../contract/operation.ts'
import type { overviewOperations as ops } from '../../contract/overview/operations.ts'
import type { TenantState } from '../../contract/tenants/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

export async function getOverview(ctx: Ctx): Promise<Answer<typeof ops.getOverview>> {
  const counted = ctx.tx<
    { state: TenantState; count: number }[]
  >`select state, count(*)::int as count from tenant group by state`
  const [accounts] = await ctx.tx.last<{ count: number }[]>`select count(*)::int as count from account`
  const tenants = { ACTIVE: 0, SUSPENDED: 0, PENDING_DELETION: 0 }
  for (const { state, count } of await counted) tenants[state] = count
  return { mode: ctx.config.mode, tenants, accounts: accounts?.count ?? 0 }
}
