/**
 * Comments: found by their texts, as the items that they are on.
 *
 * Comments of an item in the trash keep their documents, so that they are there when it comes back; nobody sees them meanwhile.
 * Those of an item that has gone to another container follow it (`follow` of items).
 */
import { visibleContainerIds } from '../../access/access.ts'
import { inShelf } from '../../items/shelf.ts'
import type { KindOfDocument } from '../kind.ts'

export const commentKind: KindOfDocument = {
  takesFilter: true,

  idsBehind: (tx, tenantId, after, most) => tx.part`
    select id from comment where tenant_id = ${tenantId} and id > ${after}::uuid and deleted_at is null order by id limit ${most}`,

  named: (tx, tenantId, ids) => tx.part`
    select k.id, k.id as shown_id, k.item_id, i.container_id, coalesce(k.edited_at, k.created_at) as changed_at, i.title,
      jsonb_build_array(jsonb_build_object('member', 'body', 'weight', 'D', 'text', k.body)) as texts
    from comment k join item i on i.tenant_id = k.tenant_id and i.id = k.item_id
    where k.tenant_id = ${tenantId} and k.id in (${ids}) and k.deleted_at is null and i.purged_at is null`,

  seen: (ctx, { archived, filter }, score) => ctx.tx.part`
    select h.kind, x.id, x.container_id, x.assignee_id, x.state, x.type, ${score} as score
    from hits h cross join lateral (
      select k.id, i.container_id, i.assignee_id, i.state, i.type
      from (select k.* from comment k where k.tenant_id = ${ctx.account.tenantId} and k.id = h.id offset 0) k
      cross join lateral (select i.* from item i where i.tenant_id = k.tenant_id and i.id = k.item_id offset 0) i
      where k.deleted_at is null and ${inShelf(ctx, archived)}
        and (i.container_id in (${visibleContainerIds(ctx)})) is true and ${filter} offset 0) x
    where h.kind = 'COMMENT'`,
}
