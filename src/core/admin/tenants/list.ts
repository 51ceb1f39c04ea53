/** Lists workspaces for operators: whole, or paged by cursor. Spec: Admin: workspaces; decisions 4. */
import type { Ctx } from '../../context.ts'
import type { Tx } from '../../database/transaction.ts'
import type { Answer, Received } from '../../operation.ts'
import { firstId, pageOfRows, pageStart } from '../../page.ts'
import type { AdminTenant, tenantOperations as ops, TenantState } from './contract.ts'

interface TenantFilter {
  readonly state?: TenantState | undefined
  readonly slug?: string | undefined
  readonly after?: string | undefined
}

/** Oldest first: ids are UUIDv7, so their order is the order of creation. Refuses cursor.invalid. */
export async function listTenants(
  ctx: Ctx,
  { state, slug, cursor, size = 500 }: Received<typeof ops.listTenants>,
): Promise<Answer<typeof ops.listTenants>> {
  const filters = { state, slug }
  const list = { operation: 'listTenants', filters }
  const after = pageStart(ctx, list, cursor)
  const rows = await readTenants(ctx.tx, { ...filters, after }, size + 1)
  return pageOfRows(ctx, list, rows, size)
}

/** One workspace as operators see it. */
export async function readTenant(tx: Tx, slug: string): Promise<AdminTenant> {
  const [tenant] = await readTenants(tx, { slug }, 1)
  if (!tenant) throw new Error('a workspace that was there a statement ago is gone')
  return tenant
}

function readTenants(tx: Tx, { state, slug, after }: TenantFilter, limit: number): Promise<readonly AdminTenant[]> {
  // hold_count and password_opening: no workspace can have one before the retention area and :open-password exist.
  return tx<AdminTenant[]>`
    select t.id, t.slug, t.display_name, t.state, t.state_before_deletion, t.default_locale, t.default_time_zone,
           (select count(*)::int from account a where a.tenant_id = t.id) as account_count, 0 as hold_count,
           t.created_at, t.suspended_at, t.deletion_requested_at, t.purge_after, t.purge_started_at,
           null as password_opening, t.version
    from tenant t
    where t.id > ${after ?? firstId}::uuid
      ${state === undefined ? tx.part`` : tx.part`and t.state = ${state}`}
      ${slug === undefined ? tx.part`` : tx.part`and t.slug = ${slug}`}
    order by t.id
    limit ${limit}`
}
