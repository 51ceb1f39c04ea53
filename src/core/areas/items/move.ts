/** Moving an item: to another container, bucket or place, or to another parent. Spec: Index, Items; decisions 3; items 1. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { recountMove } from '../structure/buckets/tally.ts'
import { containerOf, lockItem, recorded } from './item.ts'
import { gapFor, rankFrom } from './position.ts'
import { type MoveBody, placeOf, type Standing, standingFor } from './standing.ts'
import { moveInTree } from './tree/moving.ts'

/**
 * Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, item.circular,
 * item.tree_full, request.invalid, order.exhausted.
 */
export async function moveItem(ctx: Ctx, { itemId, body }: Received<typeof ops.moveItem>): Promise<Item> {
  if (body.container_id !== undefined || body.parent_id !== undefined) return moveInTree(ctx, itemId, body)
  const [locked, near] = await together(lockItem(ctx, itemId), gapNear(ctx, itemId, body))
  const { item } = locked
  const to = near ? standingIn(near, item) : await standingFor(ctx, item, body)
  if (to.bucket_id === item.bucket_id && to.position === item.position) return item

  void ctx.tx`
    update item set bucket_id = ${to.bucket_id}, rank = ${to.position}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  recountMove(ctx, item.bucket_id, to.bucket_id)
  return recorded(ctx, locked, to, 'work.item.moved', { from: placeOf(item), to: placeOf(to) })
}

type Found = Awaited<ReturnType<typeof gapFor>>

/** The place in a bucket of the item's container that the body names; it follows from the request alone. */
async function gapNear(ctx: Ctx, itemId: string, body: MoveBody): Promise<Found | undefined> {
  const { bucket_id: bucketId, before_item_id: before } = body
  if (bucketId === undefined) return undefined
  return gapFor(ctx, containerOf(ctx, itemId), { bucketId, before, moving: itemId })
}

function standingIn({ bucketId, gap }: Found, { container_id, bucket_id, position }: Item): Standing {
  return { container_id, bucket_id: bucketId, position: rankFrom(gap, bucketId === bucket_id ? position : undefined) }
}
