/**
 * Holds the trees of a container, and reads one.
 *
 * Whoever gives an item a parent, or changes an item together with what is below it, holds the trees of its container until
 * the commit. So a ring, or a 501st item, cannot be made by two at once. The lock comes before those of the items, and of two
 * containers in the order of their ids. Spec: items 1, Tree; docs/decisions/0340.
 */
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { TreeRow } from './shape.ts'

/** The containers whose trees are held. */
export type Held = readonly { readonly id: string }[]

/** Holds the trees of these containers. `containers`: a query for their ids, `id`. */
function hold(ctx: Ctx, containers: Part): Promise<Held> {
  const { tx } = ctx
  return tx<{ id: string; locked: string }[]>`
    select o.id, pg_advisory_xact_lock(${lockClasses.trees}, hashtext(${ctx.account.tenantId} || o.id::text))::text as locked
    from (select distinct c.id from (${containers}) c order by c.id offset 0) o`
}

export const holdTrees = (ctx: Ctx, containerId: string): Promise<Held> =>
  hold(ctx, ctx.tx.part`select ${containerId}::uuid as id`)

/** Holds the trees of the items' containers, as far as the items have parents or children. */
export const holdTreesOf = (ctx: Ctx, ...itemIds: readonly string[]): Promise<Held> =>
  hold(
    ctx,
    ctx.tx.part`
      select x.container_id as id from item x
      where x.tenant_id = ${ctx.account.tenantId} and x.id in ${ctx.tx.list(itemIds)} and (x.parent_id is not null
        or exists (select from item k where k.tenant_id = ${ctx.account.tenantId} and k.parent_id = x.id))`,
  )

/** Holds the trees of the item's container, and of the one that it goes to. */
export const holdTreesBetween = (ctx: Ctx, itemId: string, containerId: string | undefined): Promise<Held> => {
  const { tx } = ctx
  const target = containerId === undefined ? tx.part`` : tx.part`union all select ${containerId}::uuid`
  return hold(
    ctx,
    tx.part`select x.container_id as id from item x where x.tenant_id = ${ctx.account.tenantId} and x.id = ${itemId} ${target}`,
  )
}

/** The tree of an item, without what is deleted. */
export function treeOf({ tx, account: { tenantId } }: Ctx, itemId: string): Promise<readonly TreeRow[]> {
  const row = tx.part`i.id, i.parent_id, i.sibling_rank, i.archived_at is not null as is_archived, i.archived_with`
  const root = tx.part`(select coalesce(x.root_id, x.id) from item x where x.tenant_id = ${tenantId} and x.id = ${itemId})`
  return tx<TreeRow[]>`
    select ${row} from item i where i.tenant_id = ${tenantId} and i.id = ${root} and i.deleted_at is null
    union all
    select ${row} from item i where i.tenant_id = ${tenantId} and i.root_id = ${root} and i.deleted_at is null`
}

/**
 * The tree, certainly held. An item without relatives is not held first, and may have got its first child while its own lock
 * was waited for: then its trees are held now, behind it. Of two that meet so, PostgreSQL ends one, which is repeated.
 */
export async function settled(
  ctx: Ctx,
  { id, container_id }: { readonly id: string; readonly container_id: string },
  held: Held,
  tree: readonly TreeRow[],
): Promise<readonly TreeRow[]> {
  if (tree.length <= 1 || held.some((one) => one.id === container_id)) return tree
  await holdTrees(ctx, container_id)
  return treeOf(ctx, id)
}
