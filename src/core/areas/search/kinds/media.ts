/**
 * Files: found by their names and by what was written of them, on the items that carry them.
 *
 * A document is of an attachment, so a file that two items carry is found twice, by whoever sees both. What nothing carries has
 * no document: `GET /media` lists it. Attachments of an item in the trash keep theirs, as its comments do.
 * docs/decisions/0516.
 */
import { visibleContainerIds } from '../../access/access.ts'
import { inShelf } from '../../items/shelf.ts'
import type { KindOfDocument } from '../kind.ts'

export const mediaKind: KindOfDocument = {
  takesFilter: true,

  idsBehind: (tx, tenantId, after, most) => tx.part`
    select id from media_reference where tenant_id = ${tenantId} and id > ${after}::uuid order by id limit ${most}`,

  named: (tx, tenantId, ids) => tx.part`
    select r.id, m.id as shown_id, r.item_id, i.container_id, r.added_at as changed_at, coalesce(r.name, m.filename) as title,
      jsonb_build_array(jsonb_build_object('member', 'filename', 'weight', 'A', 'text', m.filename))
      || case when r.name is null then '[]'::jsonb
              else jsonb_build_array(jsonb_build_object('member', 'name', 'weight', 'A', 'text', r.name)) end
      || case when r.alt is null then '[]'::jsonb
              else jsonb_build_array(jsonb_build_object('member', 'alt', 'weight', 'C', 'text', r.alt)) end as texts
    from media_reference r join media m on m.tenant_id = r.tenant_id and m.id = r.media_id
    join item i on i.tenant_id = r.tenant_id and i.id = r.item_id
    where r.tenant_id = ${tenantId} and r.id in (${ids}) and i.purged_at is null and m.withheld_at is null`,

  seen: (ctx, { archived, filter }, score) => ctx.tx.part`
    select h.kind, x.id, x.container_id, x.assignee_id, x.state, x.type, ${score} as score
    from hits h cross join lateral (
      select r.id, i.container_id, i.assignee_id, i.state, i.type
      from media_reference r join media m on m.tenant_id = r.tenant_id and m.id = r.media_id
      join item i on i.tenant_id = r.tenant_id and i.id = r.item_id
      where r.tenant_id = ${ctx.account.tenantId} and r.id = h.id and m.withheld_at is null and ${inShelf(ctx, archived)}
        and (i.container_id in (${visibleContainerIds(ctx)})) is true and ${filter} offset 0) x
    where h.kind = 'MEDIA'`,
}
