/** Locks the workspace's own row, with which every change of its state begins. */

import { refuse } from '../../contract/problem.ts'
import type { TenantState } from '../../contract/tenants/operations.ts'
import type { Ctx } from './context.ts'

export interface TenantRow {
  readonly id: string
  readonly slug: string
  readonly display_name: string
  readonly state: TenantState
  readonly purge_started_at: string | null
}

/** Locks the row until the end of the transaction. Refuses not_found. */
export async function lockTenant(ctx: Ctx, tenantId: string): Promise<TenantRow> {
  const [tenant] = await ctx.tx<TenantRow[]>`
    select id, slug, display_name, state, purge_started_at from tenant where id = ${tenantId} for update`
  if (!tenant) refuse('not_found')
  return tenant
}
