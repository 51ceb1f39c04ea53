/**
 * Items: found by title, names of labels, values of custom fields, and description, as an answer shows them.
 *
 * A label that was deleted, or that is not of the item's container, is not shown, and neither found (items/item.ts).
 */
import type { SearchKind } from '../../../contract/search/kinds.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import { inShelf } from '../../items/shelf.ts'
import type { KindOfDocument } from '../kind.ts'
import { isInSight } from '../sight.ts'

export const itemKind: KindOfDocument = {
  takesFilter: true,

  idsBehind: (tx, tenantId, after, most) => tx.part`
    (select id from item where tenant_id = ${tenantId} and id > ${after}::uuid and deleted_at is null and archived_at is null
     order by id limit ${most})
    union all
    (select id from item where tenant_id = ${tenantId} and id > ${after}::uuid and deleted_at is null and archived_at is not null
     order by id limit ${most})
    order by id limit ${most}`,

  named: (tx, tenantId, id) => tx.part`
    select i.id, i.id as shown_id, i.id as item_id, i.container_id, i.updated_at as changed_at, i.title,
      jsonb_build_array(jsonb_build_object('member', 'title', 'weight', 'A', 'text', i.title))
      || case when i.without_labels then '[]'::jsonb else coalesce((
        select jsonb_agg(jsonb_build_object('member', 'label', 'weight', 'B', 'text', v.name) order by v.name_fold, v.id)
        from item_label l join label v on v.tenant_id = l.tenant_id and v.id = l.label_id
        where l.tenant_id = i.tenant_id and l.item_id = i.id and v.container_id = i.container_id and v.deleted_at is null
      ), '[]'::jsonb) end
      || case when i.without_values then '[]'::jsonb else coalesce((
        select jsonb_agg(jsonb_build_object('member', 'custom.' || f.key, 'weight', 'B', 'text', t.text) order by f.key, t.n)
        from item_field_value w join custom_field f on f.tenant_id = w.tenant_id and f.id = w.field_id
        cross join lateral (
          select value as text, n from jsonb_array_elements_text(
            case jsonb_typeof(w.value) when 'array' then w.value else jsonb_build_array(w.value) end) with ordinality v (value, n)) t
        where w.tenant_id = i.tenant_id and w.item_id = i.id and f.deleted_at is null and f.applies_to ? i.type
          and f.kind in ('TEXT', 'URL', 'SELECT', 'MULTI_SELECT', 'NUMBER')
          and (f.collection_id = i.container_id or f.collection_id is null and not exists (
            select from custom_field s
            where s.tenant_id = f.tenant_id and s.collection_id = i.container_id and s.key = f.key and s.deleted_at is null))
      ), '[]'::jsonb) end
      || case when i.description is null then '[]'::jsonb
              else jsonb_build_array(jsonb_build_object('member', 'description', 'weight', 'C', 'text', i.description)) end as texts
    from item i where i.tenant_id = ${tenantId} and i.id = ${id} and i.deleted_at is null`,

  naming: (tx, tenantId, { subject, id }, after, most) =>
    subject === 'LABEL'
      ? tx.part`
        select item_id as id from item_label where tenant_id = ${tenantId} and label_id = ${id} and item_id > ${after}::uuid
        order by item_id limit ${most}`
      : // A field of a collection may hide or show one of the workspace under the same key, so all of the key are looked at.
        tx.part`
        select distinct w.item_id as id from item_field_value w
        where w.tenant_id = ${tenantId} and w.item_id > ${after}::uuid and w.field_id in (
          select f.id from custom_field d join custom_field f on f.tenant_id = d.tenant_id and f.key = d.key
          where d.tenant_id = ${tenantId} and d.id = ${id})
        order by w.item_id limit ${most}`,

  // Only of those whose own document is elsewhere, or is none: comments and files come more often than an item moves.
  follow: (tx, tenantId, written) => {
    const following = (kind: SearchKind, table: Part) => tx.part`
      update search_document d set container_id = m.container_id
      from moved m cross join lateral (
        select k.id from ${table} k where k.tenant_id = ${tenantId} and k.item_id = m.id offset 0) k
      where d.tenant_id = ${tenantId} and d.generation = m.generation and d.kind = ${kind} and d.id = k.id
        and d.container_id <> m.container_id`
    return tx.part`
      with moved as materialized (
        select w.generation, w.id, i.container_id from (${written}) w
        cross join lateral (
          select i.container_id from item i where i.tenant_id = ${tenantId} and i.id = w.id offset 0) i
        where not exists (
          select from search_document o
          where o.tenant_id = ${tenantId} and o.generation = w.generation and o.kind = 'ITEM' and o.id = w.id
            and o.container_id = i.container_id offset 0)),
      followed as (${following('COMMENT', tx.part`comment`)}) ${following('MEDIA', tx.part`media_reference`)}`
  },

  seen: (ctx, { archived, filter }, score) => {
    const { tx } = ctx
    return tx.part`
      select h.kind, x.id, x.container_id, x.assignee_id, x.state, x.type, ${score} as score
      from hits h cross join lateral (
        select i.id, i.container_id, i.assignee_id, i.state, i.type
        from (select i.* from item i where i.tenant_id = ${ctx.account.tenantId} and i.id = h.id offset 0) i
        where ${inShelf(ctx, archived)} and ${isInSight(ctx)} and ${filter} offset 0) x
      where h.kind = 'ITEM'`
  },
}
