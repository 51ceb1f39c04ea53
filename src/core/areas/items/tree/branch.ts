/** An item with all that is below it, locked for a change that takes them together. Spec: items 1, Tree. */
import type { Item } from '../../../contract/items/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { recountIn } from '../../structure/buckets/tally.ts'
import { type LockedItem, type Locking, lockItem, representation } from '../item.ts'
import { holdTreesOf, settled, treeOf } from './reading.ts'
import { below, type TreeRow } from './shape.ts'

export interface LockedBranch {
  readonly top: LockedItem
  /** What is below it, archived or not; parents first. */
  readonly below: readonly Item[]
  readonly tree: readonly TreeRow[]
}

/** Refuses as `lockItem` does. */
export async function lockBranch(ctx: Ctx, itemId: string, locking?: Locking): Promise<LockedBranch> {
  const [held, top, found] = await together(
    holdTreesOf(ctx, itemId),
    lockItem(ctx, itemId, locking),
    treeOf(ctx, itemId),
  )
  const tree = await settled(ctx, top.item, held, found)
  return { top, tree, below: await lockEach(ctx, below(tree, itemId)) }
}

/** Locks the items by their ids, and reads them as they are then, in the given order. */
export async function lockEach(ctx: Ctx, rows: readonly { readonly id: string }[]): Promise<readonly Item[]> {
  if (rows.length === 0) return []
  const { tx } = ctx
  const { tenantId } = ctx.account
  const ids = tx.list(rows.map(({ id }) => id))
  void tx`select 1 from item where tenant_id = ${tenantId} and id in ${ids} order by id for update`
  return readEach(ctx, rows)
}

/** The items as they are in this transaction, in the given order. */
export async function readEach(ctx: Ctx, rows: readonly { readonly id: string }[]): Promise<readonly Item[]> {
  if (rows.length === 0) return []
  const { tx } = ctx
  const items = await tx<Item[]>`
    select ${representation(ctx)} from item i
    where i.tenant_id = ${ctx.account.tenantId} and i.id in ${tx.list(rows.map(({ id }) => id))}`
  const byId = new Map(items.map((item) => [item.id, item]))
  return rows.flatMap(({ id }) => byId.get(id) ?? [])
}

/** Counts items into their buckets, or out of them; archived ones are counted in none. */
export function recountEach(
  ctx: Ctx,
  items: readonly Pick<Item, 'bucket_id' | 'archived_at'>[],
  by: 1 | -1,
  tenantId = ctx.account.tenantId,
): void {
  const onBoard = items.filter(({ archived_at }) => archived_at === null)
  const counts = [...Map.groupBy(onBoard, ({ bucket_id }) => bucket_id)]
  recountIn(ctx, tenantId, ...counts.map(([bucketId, some]) => ({ bucketId, by: by * some.length })))
}
