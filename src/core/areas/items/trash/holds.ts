/**
 * Which legal holds cover an item, a comment, a container or a template.
 *
 *    TENANT      everything
 *    CONTAINER   the container and what is in it; of a hub also its collections
 *    ITEM        the item, and all that is below it, with their comments
 *    ACCOUNT     the items that the account created, deleted, is responsible for, takes part in or has commented on, those
 *                with a file that it uploaded or attached, the templates that it made, and the containers in which it or a
 *                group of it has a role, or in which it made a template
 *
 * Spec: items 3; docs/decisions/0203, 0270.
 */
import { holdersOf } from '../../../kernel/database/role-holders.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'

/** A condition on the comment `k`: a hold on an account covers what it wrote. */
export const isCommentHeld = (tx: Tx, tenantId: string): Part => tx.part`exists (
  select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null and (
    ${coversPlace(tx, tenantId, tx.part`k.item_id`, tx.part`(select x.container_id from item x where x.tenant_id = ${tenantId} and x.id = k.item_id)`)}
    or l.scope_kind = 'ACCOUNT' and l.scope_id = k.created_by))`

/** A condition on the item `i`. */
export const isItemHeld = (tx: Tx, tenantId: string): Part => tx.part`exists (
  select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null and (
    ${coversPlace(tx, tenantId, tx.part`i.id`, tx.part`i.container_id`)}
    or l.scope_kind = 'ACCOUNT' and (l.scope_id in (i.created_by, i.deleted_by, i.assignee_id) or exists (
      select from item_member m where m.tenant_id = ${tenantId} and m.item_id = i.id and m.account_id = l.scope_id)
      or exists (select from comment k where k.tenant_id = ${tenantId} and k.item_id = i.id and k.created_by = l.scope_id)
      or exists (
        select from media_reference r join media f on f.tenant_id = r.tenant_id and f.id = r.media_id
        where r.tenant_id = ${tenantId} and r.item_id = i.id and l.scope_id in (r.added_by, f.created_by)))))`

/** A condition on the hold `l`: by where the item is, whoever has to do with it. Both are queries for an id. */
const coversPlace = (tx: Tx, tenantId: string, itemId: Part, containerId: Part): Part => tx.part`
  l.scope_kind = 'TENANT'
  or l.scope_kind = 'ITEM' and (l.scope_id = ${itemId} or l.scope_id in (${idsAbove(tx, tenantId, itemId)}))
  or l.scope_kind = 'CONTAINER' and (l.scope_id = ${containerId}
    or l.scope_id = (select y.parent_id from container y where y.tenant_id = ${tenantId} and y.id = ${containerId}))`

/**
 * The ids of all above an item, as the inside of an `in (…)`. More than five levels: what is in the trash keeps its parent,
 * which may move down meanwhile. What is held is not removed, so the way up to it is there. `itemId`: a query for the id.
 */
const idsAbove = (tx: Tx, tenantId: string, itemId: Part): Part => tx.part`
  with recursive line as (
    select x.id, x.parent_id as above from item x where x.tenant_id = ${tenantId} and x.id = ${itemId}
    union
    select p.id, p.parent_id from line n join item p on p.id = n.above where p.tenant_id = ${tenantId})
  select n.above from line n`

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
