/**
 * Files: found by their names and by what was written of them, on the items that carry them.
 *
 * A document is of an attachment, so a file that two items carry is found twice, by whoever sees both. What nothing carries has
 * no document: `GET /media` lists it. Attachments of an item in the trash keep theirs, as its comments do.
 * docs/decisions/0516.
 */
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { inShelf } from '../../items/shelf.ts'
import type { KindOfDocument } from '../kind.ts'
import { isInSight } from '../sight.ts'

/** The attachment `r` with an id, its file `m` and its item `i`: in this order, whatever PostgreSQL thinks of their numbers (0522). */
const one = (tx: Tx, tenantId: string, id: Part): Part => tx.part`
  (select r.* from media_reference r where r.tenant_id = ${tenantId} and r.id = ${id} offset 0) r
  cross join lateral (select m.* from media m where m.tenant_id = r.tenant_id and m.id = r.media_id offset 0) m
  cross join lateral (select i.* from item i where i.tenant_id = r.tenant_id and i.id = r.item_id offset 0) i`

export const mediaKind: KindOfDocument = {
  takesFilter: true,

  idsBehind: (tx, tenantId, after, most) => tx.part`
    select id from media_reference where tenant_id = ${tenantId} and id > ${after}::uuid order by id limit ${most}`,

  named: (tx, tenantId, id) => tx.part`
    select r.id, m.id as shown_id, r.item_id, i.container_id, r.added_at as changed_at, coalesce(r.name, m.filename) as title,
      jsonb_build_array(jsonb_build_object('member', 'filename', 'weight', 'A', 'text', m.filename))
      || case when r.name is null then '[]'::jsonb
              else jsonb_build_array(jsonb_build_object('member', 'name', 'weight', 'A', 'text', r.name)) end
      || case when r.alt is null then '[]'::jsonb
              else jsonb_build_array(jsonb_build_object('member', 'alt', 'weight', 'C', 'text', r.alt)) end as texts
    from ${one(tx, tenantId, id)}
    where i.purged_at is null and m.withheld_at is null`,

  seen: (ctx, { archived, filter }, score) => ctx.tx.part`
    select h.kind, x.id, x.container_id, x.assignee_id, x.state, x.type, ${score} as score
    from hits h cross join lateral (
      select r.id, i.container_id, i.assignee_id, i.state, i.type
      from ${one(ctx.tx, ctx.account.tenantId, ctx.tx.part`h.id`)}
      where m.withheld_at is null and ${inShelf(ctx, archived)}
        and ${isInSight(ctx)} and ${filter} offset 0) x
    where h.kind = 'MEDIA'`,
}
