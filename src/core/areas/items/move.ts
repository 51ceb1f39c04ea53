/** Moving an item: to another container, bucket or place. Spec: Index, Items; decisions 3. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { collectionFor } from './creation.ts'
import { type ItemRow, lockItem, readItem, recorded } from './item.ts'
import { bucketFor, rankAt, rankFor } from './position.ts'

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

  await ctx.tx`
    update item set container_id = ${to.container_id}, bucket_id = ${to.bucket_id}, rank = ${to.rank},
                    updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  return recorded(ctx, itemId, 'work.item.moved', { from: placeOf(row), to: placeOf(to) })
}

async function standingFor(ctx: Ctx, row: ItemRow, body: Received<typeof ops.moveItem>['body']): Promise<Standing> {
  const asked = body.container_id ?? row.container_id
  const isElsewhere = asked !== row.container_id
  const containerId = isElsewhere ? await collectionFor(ctx, asked) : asked
  const stays = body.bucket_id === undefined && !isElsewhere
  const bucketId = stays ? row.bucket_id : await bucketFor(ctx, containerId, body.bucket_id)
  const place = { containerId, bucketId, before: body.before_item_id, moving: row.id }
  const isWithin = !isElsewhere && bucketId === row.bucket_id
  const rank = isWithin ? await rankFor(ctx, place, row.rank) : await rankAt(ctx, place)
  return { container_id: containerId, bucket_id: bucketId, rank }
}

const placeOf = ({ container_id, bucket_id }: Standing) => ({ container_id, bucket_id })
