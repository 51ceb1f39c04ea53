/** Lists workspaces for operators: whole, or paged by cursor. Spec: Admin: workspaces; decisions 4. */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { AdminTenant, tenantOperations as ops, TenantState } from '../../contract/tenants/operations.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { firstId, pageOfRows, pageStart } from '../../kernel/transaction/page.ts'

interface TenantFilter {
  readonly id?: string | undefined
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

/** Refuses not_found. */
export async function getTenant({ tx }: Ctx, { tenantId }: Received<typeof ops.getTenant>): Promise<AdminTenant> {
  const [tenant] = await readTenants(tx, { id: tenantId }, 1)
  return tenant ?? refuse('not_found')
}

/** One workspace as operators see it. */
export async function readTenant(tx: Tx, slug: string): Promise<AdminTenant> {
  const [tenant] = await readTenants(tx, { slug }, 1)
  if (!tenant) throw new Error('a workspace that was there a statement ago is gone')
  return tenant
}

type Opening = NonNullable<AdminTenant['password_opening']>
/** The opening's columns are all null if no opening is in force. */
type TenantRow = Omit<AdminTenant, 'password_opening'> & (Opening | { readonly [Name in keyof Opening]: null })

async function readTenants(
  tx: Tx,
  { id, state, slug, after }: TenantFilter,
  limit: number,
): Promise<readonly AdminTenant[]> {
  const rows = await tx<TenantRow[]>`
    select t.id, t.slug, t.display_name, t.state, t.state_before_deletion, t.default_locale, t.default_time_zone,
           (select count(*)::int from account a where a.tenant_id = t.id) as account_count,
           (select count(*)::int from legal_hold h where h.tenant_id = t.id and h.released_at is null) as hold_count,
           t.created_at, t.suspended_at, t.deletion_requested_at, t.purge_after, t.purge_started_at, t.version,
           o.until, o.opened_at, o.opened_by, o.requester, o.reason
    from tenant t
    left join password_opening o on o.tenant_id = t.id and now() >= o.opened_at and now() < o.until
    where t.id > ${after ?? firstId}::uuid
      ${id === undefined ? tx.part`` : tx.part`and t.id = ${id}`}
      ${state === undefined ? tx.part`` : tx.part`and t.state = ${state}`}
      ${slug === undefined ? tx.part`` : tx.part`and t.slug = ${slug}`}
    order by t.id
    limit ${limit}`
  return rows.map(({ until, opened_at, opened_by, requester, reason, ...tenant }) => ({
    ...tenant,
    password_opening: until === null ? null : { until, opened_at, opened_by, requester, reason },
  }))
}
