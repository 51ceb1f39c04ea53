/** Moving an item: to another container, bucket or place. Spec: Index, Items; decisions 3. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { recountMove } from '../structure/buckets/tally.ts'
import { collectionFor } from './creation.ts'
import { containerOf, lockItem, readItem, recorded } from './item.ts'
import { gapFor, placeAt, rankFor, rankFrom } from './position.ts'

/** The place of an item. */
interface Standing {
  readonly container_id: string
  readonly bucket_id: string | null
  readonly position: string
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, request.invalid, order.exhausted. */
export async function moveItem(ctx: Ctx, { itemId, body }: Received<typeof ops.moveItem>): Promise<Item> {
  const [locked, near] = await together(lockItem(ctx, itemId), gapNear(ctx, itemId, body))
  const { item } = locked
  const to = near ? standingIn(near, item) : await standingFor(ctx, item, body)
  const isElsewhere = to.container_id !== item.container_id
  if (!isElsewhere && to.bucket_id === item.bucket_id && to.position === item.position) return item

  void ctx.tx`
    update item set container_id = ${to.container_id}, bucket_id = ${to.bucket_id}, rank = ${to.position},
                    updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  recountMove(ctx, item.bucket_id, to.bucket_id)
  const params = { from: placeOf(item), to: placeOf(to) }
  if (!isElsewhere) return recorded(ctx, locked, to, 'work.item.moved', params)
  // Other labels and fields apply in another container.
  const moved = await readItem(ctx, itemId)
  await ctx.record('work.item.moved', moved, params)
  return moved
}

type Body = Received<typeof ops.moveItem>['body']
type Found = Awaited<ReturnType<typeof gapFor>>

/** The place in a bucket of the item's container that the body names; it follows from the request alone. */
async function gapNear(ctx: Ctx, itemId: string, body: Body): Promise<Found | undefined> {
  const { container_id, bucket_id: bucketId, before_item_id: before } = body
  if (container_id !== undefined || bucketId === undefined) return undefined
  return gapFor(ctx, containerOf(ctx, itemId), { bucketId, before, moving: itemId })
}

function standingIn({ bucketId, gap }: Found, { container_id, bucket_id, position }: Item): Standing {
  return { container_id, bucket_id: bucketId, position: rankFrom(gap, bucketId === bucket_id ? position : undefined) }
}

async function standingFor(ctx: Ctx, item: Item, body: Body): Promise<Standing> {
  const asked = body.container_id ?? item.container_id
  const isElsewhere = asked !== item.container_id
  const container = ctx.tx.part`${asked}::uuid`
  const place = { before: body.before_item_id, moving: item.id }
  if (!isElsewhere && (body.bucket_id === undefined || body.bucket_id === item.bucket_id)) {
    const position = await rankFor(ctx, container, { ...place, bucketId: item.bucket_id }, item.position)
    return { container_id: asked, bucket_id: item.bucket_id, position }
  }
  const [, { bucketId, rank }] = await together(
    isElsewhere && collectionFor(ctx, asked),
    placeAt(ctx, container, { ...place, bucketId: body.bucket_id }),
  )
  return { container_id: asked, bucket_id: bucketId, position: rank }
}

const placeOf = ({ container_id, bucket_id }: Pick<Standing, 'container_id' | 'bucket_id'>) => ({
  container_id,
  bucket_id,
})
