/**
 * Completing and reopening an item, and the bucket to which it then moves.
 *
 *    OPEN ──:complete──▶ DONE, in a done bucket where the container has one
 *    DONE ──:reopen────▶ OPEN, in none of the done buckets where the container has another
 *
 * The container's policies decide what an item below it means: `complete_needs_children` refuses while one is open,
 * `complete_children` completes them with it. Moving an item does neither: a board may also use its done bucket for items that are not done.
 * Spec: decisions 3.
 */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { rankBehind } from '../../kernel/values/rank.ts'
import { recountMove } from '../structure/buckets/tally.ts'
import { type LockedItem, lockItem, recorded } from './item.ts'
import { placeInKind } from './position.ts'
import { lockEach } from './tree/branch.ts'
import { type Held, holdTreesOf, settled, treeOf } from './tree/reading.ts'
import { below } from './tree/shape.ts'

/**
 * Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, item.children_open.
 */
export async function completeItem(ctx: Ctx, { itemId }: Received<typeof ops.completeItem>): Promise<Item> {
  const [held, locked] = await together(holdTreesOf(ctx, itemId), lockItem(ctx, itemId))
  const { item, now, policies } = locked
  if (item.state === 'DONE') return item
  const open = policies.complete_needs_children || policies.complete_children ? await openBelow(ctx, item, held) : []
  if (!policies.complete_children && open.length > 0) refuse('item.children_open', { count: open.length })
  const { bucketId, rank } = await placeWhere(ctx, locked, true)

  void ctx.tx`
    update item set state = 'DONE', completed_at = now(), bucket_id = ${bucketId}, rank = ${rank}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  recountMove(ctx, item.bucket_id, bucketId)
  const members = { state: 'DONE' as const, completed_at: now, bucket_id: bucketId, position: rank }
  const completed = await recorded(ctx, locked, members, 'work.item.completed', { from: item.bucket_id, to: bucketId })
  await completeEach(ctx, locked, open, { bucketId, rank })
  return completed
}

/** What is below the item, on the board and open; locked. */
async function openBelow(ctx: Ctx, item: Item, held: Held): Promise<readonly Item[]> {
  const tree = await settled(ctx, item, held, await treeOf(ctx, item.id))
  const rows = await lockEach(ctx, below(tree, item.id))
  return rows.filter(({ state, archived_at }) => state === 'OPEN' && archived_at === null)
}

/** Completes what was open below an item, behind the place that it has taken itself. */
async function completeEach(ctx: Ctx, top: LockedItem, open: readonly Item[], first: Place): Promise<void> {
  if (open.length === 0) return
  const { tx, account } = ctx
  const container = tx.part`${top.item.container_id}::uuid`
  const done = await tx<{ id: string }[]>`
    select id from bucket where tenant_id = ${account.tenantId} and container_id = ${container} and is_done_bucket`
  const end = await placeInKind(ctx, container, { isDone: true, moving: top.item.id })
  let rank = end && first.bucketId === end.bucketId && first.rank > end.rank ? first.rank : (end?.rank ?? '')
  for (const item of open) {
    const stays = end === undefined || done.some(({ id }) => id === item.bucket_id)
    if (!stays) rank = rankBehind(rank)
    const place = stays ? { bucketId: item.bucket_id, rank: item.position } : { bucketId: end.bucketId, rank }

    void tx`
      update item set state = 'DONE', completed_at = now(), bucket_id = ${place.bucketId}, rank = ${place.rank}, updated_at = now(), version = version + 1
      where tenant_id = ${account.tenantId} and id = ${item.id}`

    recountMove(ctx, item.bucket_id, place.bucketId)
    const members = { state: 'DONE' as const, completed_at: top.now, bucket_id: place.bucketId, position: place.rank }
    const params = { from: item.bucket_id, to: place.bucketId, with: top.item.id }
    await recorded(ctx, { item, now: top.now }, members, 'work.item.completed', params)
  }
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
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

interface Place {
  readonly bucketId: string | null
  readonly rank: string
}

/** The item's place after the change: its current place if that fits, or if no other bucket does. */
async function placeWhere(ctx: Ctx, { item, isInDoneBucket }: LockedItem, isDone: boolean): Promise<Place> {
  const stay = { bucketId: item.bucket_id, rank: item.position }
  if (isInDoneBucket === isDone) return stay
  return (await placeInKind(ctx, ctx.tx.part`${item.container_id}::uuid`, { isDone, moving: item.id })) ?? stay
}
