/** Another place for an item in one of its two orders: in its bucket, or among its siblings. Spec: items 1, N14. */
import type { Item } from '../../contract/items/operations.ts'
import type { itemTreeOperations as ops } from '../../contract/items/tree.ts'
import type { Received } from '../../contract/operation.ts'
import { refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { lockItem, recorded } from './item.ts'
import { rankFor, rankFrom } from './position.ts'
import { holdTreesOf, settled, treeOf } from './tree/reading.ts'
import type { TreeRow } from './tree/shape.ts'

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, request.invalid, order.exhausted. */
export async function reorderItem(ctx: Ctx, { itemId, body }: Received<typeof ops.reorderItem>): Promise<Item> {
  const before = body.before_item_id ?? undefined
  if (body.within === 'PARENT') return reorderSibling(ctx, itemId, before)
  const locked = await lockItem(ctx, itemId)
  const { item } = locked
  const container = ctx.tx.part`${item.container_id}::uuid`
  const position = await rankFor(ctx, container, { bucketId: item.bucket_id, before, moving: itemId }, item.position)
  if (position === item.position) return item

  void ctx.tx`
    update item set rank = ${position}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  return recorded(ctx, locked, { position }, 'work.item.reordered', { within: 'BUCKET' })
}

async function reorderSibling(ctx: Ctx, itemId: string, before: string | undefined): Promise<Item> {
  const [held, locked, found] = await together(holdTreesOf(ctx, itemId), lockItem(ctx, itemId), treeOf(ctx, itemId))
  const { item } = locked
  if (item.parent_id === null || item.sibling_position === null) return refuseMember('/within', 'value.not_taken')
  const tree = await settled(ctx, item, held, found)
  const sibling_position = rankAmong(tree, item.parent_id, itemId, before, item.sibling_position)
  if (sibling_position === item.sibling_position) return item

  void ctx.tx`
    update item set sibling_rank = ${sibling_position}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  return recorded(ctx, locked, { sibling_position }, 'work.item.reordered', { within: 'PARENT' })
}

/** Refuses request.invalid at /before_item_id, order.exhausted. */
function rankAmong(
  tree: readonly TreeRow[],
  parentId: string,
  itemId: string,
  before: string | undefined,
  current: string,
): string {
  if (before === itemId) refuseMember('/before_item_id', 'reference.itself')
  const others = tree
    .filter(({ id, parent_id }) => parent_id === parentId && id !== itemId)
    .flatMap(({ id, sibling_rank: rank }) => (rank === null ? [] : [{ id, rank }]))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1))
  const at = before === undefined ? others.length : others.findIndex(({ id }) => id === before)
  if (at < 0) refuseMember('/before_item_id', 'reference.unknown')
  const gap = { left: others[at - 1]?.rank ?? null, right: others[at]?.rank ?? null }
  return rankFrom(gap, current)
}
