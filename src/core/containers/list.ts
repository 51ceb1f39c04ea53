/** Lists the workspace's hubs and collections. Spec: Index, Containers; decisions 3. */
import { account } from '../auth/session.ts'
import type { Ctx } from '../context.ts'
import type { Answer, Received } from '../operation.ts'
import { firstId, pageOfRows, pageStart } from '../page.ts'
import type { Container, containerOperations as ops } from './contract.ts'

const list = { operation: 'listContainers' }

/** Oldest first; `position` is 0..n-1 among the siblings. Refuses cursor.invalid. */
export async function listContainers(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listContainers>,
): Promise<Answer<typeof ops.listContainers>> {
  const { tenantId } = account(ctx)
  const after = pageStart(ctx, list, cursor)
  const rows = await ctx.tx.last<Container[]>`
    select c.id, c.kind, c.parent_id, c.name, c.description, c.is_private, c.archived_at, c.deleted_at, c.created_at, c.updated_at, c.version,
           (select count(*)::int from container s
            where s.tenant_id = ${tenantId} and s.parent_id is not distinct from c.parent_id and s.rank < c.rank and s.deleted_at is null) as position
    from container c
    where c.tenant_id = ${tenantId} and c.deleted_at is null and c.id > ${after ?? firstId}::uuid
    order by c.id limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size)
}
