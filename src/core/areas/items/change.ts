/** Reading, changing and deleting one item. Spec: Index, Items; decisions 1, Merge-patch; docs/decisions/0107. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { recount } from '../structure/buckets/tally.ts'
import { fromSeen, lockItem, readItem, recorded, representation } from './item.ts'
import { discountItem } from './item-count.ts'

/** Refuses not_found. */
export async function getItem(ctx: Ctx, { itemId }: Received<typeof ops.getItem>): Promise<Item> {
  // Not visibleItem: this is the last statement, and the commit leaves in the same packet.
  const [item] = await ctx.tx.last<Item[]>`select ${representation(ctx)} ${fromSeen(ctx, itemId)}`
  return item ?? refuse('not_found')
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function updateItem(ctx: Ctx, { itemId, body }: Received<typeof ops.updateItem>): Promise<Item> {
  const row = await lockItem(ctx, itemId)
  const title = body.title ?? row.title
  const description = body.description === undefined ? row.description : body.description
  const dueAt = body.due_at === undefined ? row.due_at : body.due_at
  const changed = [
    ...(title === row.title ? [] : ['title']),
    ...(description === row.description ? [] : ['description']),
    ...(isSameMoment(dueAt, row.due_at) ? [] : ['due_at']),
  ]
  if (changed.length === 0) return readItem(ctx, itemId)

  void ctx.tx`
    update item set title = ${title}, description = ${description}, due_at = ${dueAt}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  return recorded(ctx, itemId, 'work.item.changed', { members: changed })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function deleteItem(ctx: Ctx, { itemId }: Received<typeof ops.deleteItem>): Promise<void> {
  const { container_id, bucket_id: bucketId } = await lockItem(ctx, itemId)

  void ctx.tx`
    update item set deleted_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  await recorded(ctx, itemId, 'work.item.deleted', { container_id })
  recount(ctx, { bucketId, by: -1 })
  void discountItem(ctx)
}

/** Compares to the millisecond, as in answers; the caller may send a moment with any offset. */
const isSameMoment = (one: string | null, other: string | null) =>
  one === other || (one !== null && other !== null && Date.parse(one) === Date.parse(other))
