/** Hubs and collections: found by name and description. */
import { isSeen } from '../../access/access.ts'
import type { KindOfDocument } from '../kind.ts'

export const containerKind: KindOfDocument = {
  takesFilter: false,

  idsBehind: (tx, tenantId, after, most) => tx.part`
    select id from container where tenant_id = ${tenantId} and id > ${after}::uuid and deleted_at is null order by id limit ${most}`,

  named: (tx, tenantId, id) => tx.part`
    select c.id, c.id as shown_id, null::uuid as item_id, c.id as container_id, c.updated_at as changed_at, c.name as title,
      jsonb_build_array(jsonb_build_object('member', 'name', 'weight', 'A', 'text', c.name))
      || case when c.description is null then '[]'::jsonb
              else jsonb_build_array(jsonb_build_object('member', 'description', 'weight', 'C', 'text', c.description)) end as texts
    from container c where c.tenant_id = ${tenantId} and c.id = ${id} and c.deleted_at is null`,

  seen: (ctx, { archived }, score) => {
    const { tx } = ctx
    const isArchived = tx.part`(c.archived_at is not null or h.archived_at is not null)`
    const shelf = archived === 'INCLUDE' ? tx.part`true` : archived === 'ONLY' ? isArchived : tx.part`not ${isArchived}`
    return tx.part`
      select x.kind, y.id, y.id as container_id, null::uuid as assignee_id, null::text as state, null::text as type, x.score
      from (select h.kind, h.id, ${score} as score from hits h where h.kind = 'CONTAINER') x
      cross join lateral (
        select c.id from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
        where c.tenant_id = ${ctx.account.tenantId} and c.id = x.id
          and c.deleted_at is null and h.deleted_at is null and ${shelf} and ${isSeen(ctx)} offset 0) y`
  },
}
