/**
 * Comments: found by their texts, as the items that they are on.
 *
 * Comments of an item in the trash keep their documents, so that they are there when it comes back; nobody sees them meanwhile.
 * Those of an item that has gone to another container follow it (`follow` of items).
 */
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { inShelf } from '../../items/shelf.ts'
import type { KindOfDocument } from '../kind.ts'
import { isInSight } from '../sight.ts'

/** The comment `k` with an id, and its item `i`: in this order, whatever PostgreSQL thinks of their numbers (0522). */
const one = (tx: Tx, tenantId: string, id: Part): Part => tx.part`
  (select k.* from comment k where k.tenant_id = ${tenantId} and k.id = ${id} offset 0) k
  cross join lateral (select i.* from item i where i.tenant_id = k.tenant_id and i.id = k.item_id offset 0) i`

export const commentKind: KindOfDocument = {
  takesFilter: true,

  idsBehind: (tx, tenantId, after, most) => tx.part`
    select id from comment where tenant_id = ${tenantId} and id > ${after}::uuid and deleted_at is null order by id limit ${most}`,

  named: (tx, tenantId, id) => tx.part`
    select k.id, k.id as shown_id, k.item_id, i.container_id, coalesce(k.edited_at, k.created_at) as changed_at, i.title,
      jsonb_build_array(jsonb_build_object('member', 'body', 'weight', 'D', 'text', k.body)) as texts
    from ${one(tx, tenantId, id)}
    where k.deleted_at is null and i.purged_at is null`,

  seen: (ctx, { archived, filter }, score) => ctx.tx.part`
    select h.kind, x.id, x.container_id, x.assignee_id, x.state, x.type, ${score} as score
    from hits h cross join lateral (
      select k.id, i.container_id, i.assignee_id, i.state, i.type
      from ${one(ctx.tx, ctx.account.tenantId, ctx.tx.part`h.id`)}
      where k.deleted_at is null and ${inShelf(ctx, archived)}
        and ${isInSight(ctx)} and ${filter} offset 0) x
    where h.kind = 'COMMENT'`,
}
