/** Moving an item: to another container, bucket or place. Spec: Index, Items; decisions 3. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { recountMove } from '../structure/buckets/tally.ts'
import { collectionFor } from './creation.ts'
import { type ItemRow, lockItem, readItem, recorded } from './item.ts'
import { placeAt, rankFor } from './position.ts'

/** The place of an item. */
interface Standing {
  readonly container_id: string
  readonly bucket_id: string | null
  readonly rank: string
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, request.invalid, order.exhausted. */
export async function moveItem(ctx: Ctx, { itemId, body }: Received<typeof ops.moveItem>): Promise<Item> {
  const row = await lockItem(ctx, itemId)
  const to = await standingFor(ctx, row, body)
  if (to.container_id === row.container_id && to.bucket_id === row.bucket_id && to.rank === row.rank)
    return readItem(ctx, itemId)

  void ctx.tx`
    update item set container_id = ${to.container_id}, bucket_id = ${to.bucket_id}, rank = ${to.rank},
                    updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  recountMove(ctx, row.bucket_id, to.bucket_id)
  return recorded(ctx, itemId, 'work.item.moved', { from: placeOf(row), to: placeOf(to) })
}

async function standingFor(ctx: Ctx, row: ItemRow, body: Received<typeof ops.moveItem>['body']): Promise<Standing> {
  const asked = body.container_id ?? row.container_id
  const isElsewhere = asked !== row.container_id
  const place = { containerId: asked, before: body.before_item_id, moving: row.id }
  if (!isElsewhere && (body.bucket_id === undefined || body.bucket_id === row.bucket_id)) {
    const rank = await rankFor(ctx, { ...place, bucketId: row.bucket_id }, row.rank)
    return { container_id: asked, bucket_id: row.bucket_id, rank }
  }
  const [, { bucketId, rank }] = await together(
    isElsewhere && collectionFor(ctx, asked),
    placeAt(ctx, { ...place, bucketId: body.bucket_id }),
  )
  return { container_id: asked, bucket_id: bucketId, rank }
}

const placeOf = ({ container_id, bucket_id }: Standing) => ({ container_id, bucket_id })
