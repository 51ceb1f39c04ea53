/**
 * Moves that may change a tree: to another parent, or to another container.
 *
 *    another parent        the item is the last of its children; what is below it stays where it stands
 *    another container     the item leaves its parent, and what is below it goes along, to the end of its new bucket
 *
 * Spec: items 1, Tree; docs/decisions/0340.
 */
import type { Item } from '../../../contract/items/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { rankBehind } from '../../../kernel/values/rank.ts'
import { parentIn } from '../creation.ts'
import { containerOf, lockItem, recorded, recordedAs } from '../item.ts'
import { placeAt } from '../position.ts'
import { type MoveBody, placeOf, type Standing, standingFor } from '../standing.ts'
import { lockEach, readEach, recountEach } from './branch.ts'
import { findParent, placeUnder } from './parent.ts'
import { holdTreesBetween, settled, treeOf } from './reading.ts'
import { takeRoot } from './returning.ts'
import { atRoot, below, branchOf, type TreePlace } from './shape.ts'

/**
 * Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, item.circular,
 * item.tree_full, request.invalid, order.exhausted.
 */
export async function moveInTree(ctx: Ctx, itemId: string, body: MoveBody): Promise<Item> {
  const { container_id: containerId, parent_id: parentId } = body
  const target = containerId === undefined ? containerOf(ctx, itemId) : ctx.tx.part`${containerId}::uuid`
  const [held, locked, found, foundParent] = await together(
    holdTreesBetween(ctx, itemId, containerId),
    lockItem(ctx, itemId),
    treeOf(ctx, itemId),
    parentId ? findParent(ctx, target, parentId) : undefined,
  )
  const { item } = locked
  // The item may have come to this container while its lock was waited for: then the trees that it joins are held now.
  const isHeld = held.some(({ id }) => id === (containerId ?? item.container_id))
  const parent = parentId && !isHeld ? await parentIn(ctx, item.container_id, parentId) : foundParent
  const tree = await settled(ctx, item, held, found)
  const rows = below(tree, itemId)
  const isParentAlone = Object.keys(body).length === 1 && parentId !== undefined
  const to = isParentAlone ? { ...placeOf(item), position: item.position } : await standingFor(ctx, item, body)
  const isElsewhere = to.container_id !== item.container_id
  const isKept = parentId === undefined ? !isElsewhere : parentId === item.parent_id && !isElsewhere
  const place = isKept ? undefined : parentId ? placeUnder(parent, branchOf(itemId, rows), itemId) : atRoot
  const isMoved = isElsewhere || to.bucket_id !== item.bucket_id || to.position !== item.position
  if (!isMoved && place === undefined) return item

  if (place) takeRoot(ctx, place.root_id ?? itemId, rows)
  if (isElsewhere) return moveElsewhere(ctx, item, rows, to, place ?? atRoot)
  write(ctx, itemId, to, place)
  recountEach(ctx, [item], -1)
  recountEach(ctx, [{ ...item, ...to }], 1)
  const params = { from: whereOf(item), to: whereOf({ ...to, parent_id: place ? place.parent_id : item.parent_id }) }
  const { root_id: _, ...shown } = place ?? atRoot
  return recorded(ctx, locked, place ? { ...to, ...shown } : to, 'work.item.moved', params)
}

/** With what is below it. Other labels and fields apply in another container, so all are read again. */
async function moveElsewhere(
  ctx: Ctx,
  item: Item,
  rows: readonly { readonly id: string }[],
  to: Standing,
  place: TreePlace,
): Promise<Item> {
  const others = await lockEach(ctx, rows)
  const ranks = await ranksBehind(ctx, item.id, others, to)
  const items = [item, ...others]

  write(ctx, item.id, to, place)
  for (const one of others) write(ctx, one.id, { ...to, position: ranks.get(one.id) ?? one.position }, undefined)
  recountEach(ctx, items, -1)
  recountEach(
    ctx,
    items.map((one) => ({ ...one, bucket_id: to.bucket_id })),
    1,
  )

  const after = await readEach(ctx, items)
  for (const [at, one] of after.entries()) {
    const before = items[at] ?? one
    const params = { from: whereOf(before), to: whereOf(one), ...(one.id === item.id ? {} : { with: item.id }) }
    await recordedAs(ctx, before, one, 'work.item.moved', params)
  }
  return after[0] ?? item
}

/** Ranks at the end of the bucket, behind the item itself if it goes there. Archived items hold no place. */
async function ranksBehind(ctx: Ctx, itemId: string, others: readonly Item[], to: Standing) {
  const placed = others.filter(({ archived_at }) => archived_at === null)
  if (placed.length === 0) return new Map<string, string>()
  const container = ctx.tx.part`${to.container_id}::uuid`
  const end = await placeAt(ctx, container, { bucketId: to.bucket_id, moving: itemId })
  let rank = end.rank > to.position ? end.rank : to.position
  return new Map(
    placed.map(({ id }) => {
      rank = rankBehind(rank)
      return [id, rank]
    }),
  )
}

function write(ctx: Ctx, itemId: string, { container_id, bucket_id, position }: Standing, place?: TreePlace): void {
  const { tx } = ctx
  const inTree = place
    ? tx.part`, parent_id = ${place.parent_id}, root_id = ${place.root_id}, sibling_rank = ${place.sibling_position}`
    : tx.part``
  void tx`
    update item set container_id = ${container_id}, bucket_id = ${bucket_id}, rank = ${position} ${inTree},
                    updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`
}

const whereOf = (one: Pick<Item, 'container_id' | 'bucket_id' | 'parent_id'>) => ({
  ...placeOf(one),
  parent_id: one.parent_id,
})
