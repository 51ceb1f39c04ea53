/** Counts of overdue requests, for operators. Spec: Keeping, 2. */
import type { Answer } from '../../contract/operation.ts'
import type { overdueOperations as ops } from '../../contract/privacy/overdue.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

const most = 1_000

export async function listOverdueRequests({ tx }: Ctx): Promise<Answer<typeof ops.listOverdueRequests>> {
  const counts = await tx<{ tenant_id: string; overdue: number; oldest_due_at: string }[]>`
    select tenant_id, count(*)::int as overdue, min(due_at) as oldest_due_at from privacy_request
    where state in ('RECEIVED', 'GRANTED') and due_at < now() group by tenant_id order by min(due_at), tenant_id limit ${most}`
  const tenants = await tx.last<{ id: string; slug: string }[]>`
    select id, slug from tenant where id in ${tx.list(counts.map(({ tenant_id }) => tenant_id))}`
  const byId = new Map(tenants.map((tenant) => [tenant.id, tenant]))
  return {
    data: counts.flatMap(({ tenant_id, ...rest }) => {
      const tenant = byId.get(tenant_id)
      return tenant ? [{ tenant, ...rest }] : []
    }),
  }
}
