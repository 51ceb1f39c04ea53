/** Where an item stands that moves, as far as it follows from the item itself. Spec: Index, Items; decisions 3. */
import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { collectionFor } from './creation.ts'
import { placeAt, rankFor } from './position.ts'

/** The place of an item. */
export interface Standing {
  readonly container_id: string
  readonly bucket_id: string | null
  readonly position: string
}

export type MoveBody = Received<typeof ops.moveItem>['body']

/** Refuses request.invalid, auth.role_required, container.archived, order.exhausted. */
export async function standingFor(ctx: Ctx, item: Item, body: MoveBody): Promise<Standing> {
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

export const placeOf = ({ container_id, bucket_id }: Pick<Standing, 'container_id' | 'bucket_id'>) => ({
  container_id,
  bucket_id,
})
