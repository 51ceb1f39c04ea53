/** Lists the workspace's hubs and collections. Spec: Index, Containers; decisions 3. */
import { account } from '../auth/session.ts'
import type { Ctx } from '../context.ts'
import type { Answer, Received } from '../operation.ts'
import type { Container, containerOperations as ops } from './contract.ts'

/** Oldest first; `position` is 0..n-1 among the siblings. Refuses cursor.invalid. */
export async function listContainers(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listContainers>,
): Promise<Answer<typeof ops.listContainers>> {
  const { tenantId } = account(ctx)
  const [after] = cursor === undefined ? [] : ctx.cursor.read('listContainers', {}, cursor)
  const rows = await ctx.tx.last<Container[]>`
    select c.id, c.kind, c.parent_id, c.name, c.description, c.is_private, c.archived_at, c.deleted_at, c.created_at, c.updated_at, c.version,
           (select count(*)::int from container s
            where s.tenant_id = ${tenantId} and s.parent_id is not distinct from c.parent_id and s.rank < c.rank and s.deleted_at is null) as position
    from container c
    where c.tenant_id = ${tenantId} and c.deleted_at is null and c.id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid
    order by c.id limit ${size + 1}`
  const data = rows.slice(0, size)
  const last = data.at(-1)
  return { data, next_cursor: rows.length > size && last ? ctx.cursor.write('listContainers', {}, [last.id]) : null }
}
