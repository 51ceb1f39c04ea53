/** Reading, changing and deleting one item. Spec: Index, Items; decisions 1, Merge-patch; docs/decisions/0107. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { recount } from '../structure/buckets/tally.ts'
import { columnsOf, datesOf, dueOf } from './dates.ts'
import { keyTitle } from './filter/keying.ts'
import { changedMembers, fromSeen, lockItem, recorded, representation } from './item.ts'
import { discountItem } from './item-count.ts'

/** Refuses not_found. */
export async function getItem(ctx: Ctx, { itemId }: Received<typeof ops.getItem>): Promise<Item> {
  // Not visibleItem: this is the last statement, and the commit leaves in the same packet.
  const [item] = await ctx.tx.last<Item[]>`select ${representation(ctx)} ${fromSeen(ctx, itemId)}`
  return item ?? refuse('not_found')
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
export async function updateItem(ctx: Ctx, { itemId, body }: Received<typeof ops.updateItem>): Promise<Item> {
  const locked = await lockItem(ctx, itemId)
  const { item } = locked
  const title = body.title ?? item.title
  const description = body.description === undefined ? item.description : body.description
  const dates = body.due_at === undefined ? datesOf(item) : dueOf(item, body.due_at)
  const changed = changedMembers(item, { title, description, ...dates })
  if (changed.length === 0) return item

  void ctx.tx`
    update item set title = ${title}, description = ${description}, ${columnsOf(ctx, dates)}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`
  if (title !== item.title) keyTitle(ctx, itemId, title)

  return recorded(ctx, locked, { title, description, ...dates }, 'work.item.changed', { members: changed })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function deleteItem(ctx: Ctx, { itemId }: Received<typeof ops.deleteItem>): Promise<void> {
  const locked = await lockItem(ctx, itemId, { takes: 'archived', role: 'delete_role' })
  const { container_id, bucket_id: bucketId, archived_at } = locked.item

  void ctx.tx`
    update item set deleted_at = now(), deleted_by = ${ctx.account.accountId}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  await recorded(ctx, locked, {}, 'work.item.deleted', { container_id })
  // An archived item was taken off its bucket's count when it was archived.
  recount(ctx, { bucketId, by: archived_at === null ? -1 : 0 })
  void discountItem(ctx)
}
