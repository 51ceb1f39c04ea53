/**
 * Which legal holds cover an item, a container or a template.
 *
 *    TENANT      everything
 *    CONTAINER   the container and what is in it; of a hub also its collections
 *    ITEM        the item, and all that is below it
 *    ACCOUNT     the items that the account created, deleted, is responsible for, takes part in or has commented on, those
 *                with a file that it uploaded or attached, the templates that it made, and the containers in which it or a
 *                group of it has a role, or in which it made a template
 *
 * Spec: items 3; docs/decisions/0203, 0270.
 */
import { holdersOf } from '../../../kernel/database/role-holders.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'

/** A condition on the item `i`. */
export const isItemHeld = (tx: Tx, tenantId: string): Part => tx.part`exists (
  select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null and (
    l.scope_kind = 'TENANT'
    or l.scope_kind = 'ITEM' and (l.scope_id = i.id or i.parent_id is not null and l.scope_id in (${aboves(tx, tenantId)}))
    or l.scope_kind = 'CONTAINER' and (l.scope_id = i.container_id
      or l.scope_id = (select k.parent_id from container k where k.tenant_id = ${tenantId} and k.id = i.container_id))
    or l.scope_kind = 'ACCOUNT' and (l.scope_id in (i.created_by, i.deleted_by, i.assignee_id) or exists (
      select from item_member m where m.tenant_id = ${tenantId} and m.item_id = i.id and m.account_id = l.scope_id)
      or exists (select from comment k where k.tenant_id = ${tenantId} and k.item_id = i.id and k.created_by = l.scope_id)
      or exists (
        select from media_reference r join media f on f.tenant_id = r.tenant_id and f.id = r.media_id
        where r.tenant_id = ${tenantId} and r.item_id = i.id and l.scope_id in (r.added_by, f.created_by)))))`

/** The items above the item `i`: a tree has five levels. What is held is not removed, so the way up to it is there. */
function aboves(tx: Tx, tenantId: string): Part {
  const above = (id: Part) => tx.part`(select p.parent_id from item p where p.tenant_id = ${tenantId} and p.id = ${id})`
  const parent = tx.part`i.parent_id`
  const second = above(parent)
  const third = above(second)
  return tx.part`${parent}, ${second}, ${third}, ${above(third)}`
}

/** A condition on the container `c`, whose items are asked for apart. */
export const isContainerHeld = (tx: Tx, tenantId: string): Part => tx.part`exists (
  select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null and (
    l.scope_kind = 'TENANT'
    or l.scope_kind = 'CONTAINER' and l.scope_id in (c.id, c.parent_id)
    or l.scope_kind = 'ACCOUNT' and (l.scope_id = c.deleted_by or exists (
      select from membership m where m.tenant_id = ${tenantId} and m.container_id = c.id
        and m.holder_id = any (${holdersOf(tx, tx.part`l.tenant_id`, tx.part`l.scope_id`)}))
      or exists (select from template t where t.tenant_id = ${tenantId} and t.container_id = c.id and t.created_by = l.scope_id))))`

/** A condition on the template `t`. */
export const isTemplateHeld = (tx: Tx, tenantId: string): Part => tx.part`exists (
  select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null and (
    l.scope_kind = 'TENANT'
    or l.scope_kind = 'ACCOUNT' and l.scope_id = t.created_by
    or l.scope_kind = 'CONTAINER' and (l.scope_id = t.container_id
      or l.scope_id = (select k.parent_id from container k where k.tenant_id = ${tenantId} and k.id = t.container_id))))`
