/**
 * Completing and reopening an item, and the bucket to which it then moves.
 *
 *    OPEN ──:complete──▶ DONE, in a done bucket where the container has one
 *    DONE ──:reopen────▶ OPEN, in none of the done buckets where the container has another
 *
 * Moving an item does neither: a board may also use its done bucket for items that are not done.
 * Spec: decisions 3.
 */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { recountMove } from '../structure/buckets/tally.ts'
import { type LockedItem, lockItem, recorded } from './item.ts'
import { placeInKind } from './position.ts'

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, order.exhausted. */
export async function completeItem(ctx: Ctx, { itemId }: Received<typeof ops.completeItem>): Promise<Item> {
  const locked = await lockItem(ctx, itemId)
  const { item, now } = locked
  if (item.state === 'DONE') return item
  const { bucketId, rank } = await placeWhere(ctx, locked, true)

  void ctx.tx`
    update item set state = 'DONE', completed_at = now(), bucket_id = ${bucketId}, rank = ${rank}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  recountMove(ctx, item.bucket_id, bucketId)
  const members = { state: 'DONE' as const, completed_at: now, bucket_id: bucketId, position: rank }
  return recorded(ctx, locked, members, 'work.item.completed', { from: item.bucket_id, to: bucketId })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, order.exhausted. */
export async function reopenItem(ctx: Ctx, { itemId }: Received<typeof ops.reopenItem>): Promise<Item> {
  const locked = await lockItem(ctx, itemId)
  const { item } = locked
  if (item.state === 'OPEN') return item
  const { bucketId, rank } = await placeWhere(ctx, locked, false)

  void ctx.tx`
    update item set state = 'OPEN', completed_at = null, bucket_id = ${bucketId}, rank = ${rank}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  recountMove(ctx, item.bucket_id, bucketId)
  const members = { state: 'OPEN' as const, completed_at: null, bucket_id: bucketId, position: rank }
  return recorded(ctx, locked, members, 'work.item.reopened', { from: item.bucket_id, to: bucketId })
}

/** The item's place after the change: its current place if that fits, or if no other bucket does. */
async function placeWhere(
  ctx: Ctx,
  { item, isInDoneBucket }: LockedItem,
  isDone: boolean,
): Promise<{ readonly bucketId: string | null; readonly rank: string }> {
  const stay = { bucketId: item.bucket_id, rank: item.position }
  if (isInDoneBucket === isDone) return stay
  return (await placeInKind(ctx, ctx.tx.part`${item.container_id}::uuid`, { isDone, moving: item.id })) ?? stay
}
