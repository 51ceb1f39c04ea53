/** Reading, changing and deleting one item. Spec: Index, Items; decisions 1, Merge-patch; docs/decisions/0107. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { columnsOf, datesOf, dueOf } from './dates.ts'
import { keyTitle } from './filter/keying.ts'
import { changedMembers, fromSeen, lockItem, recorded, representation } from './item.ts'
import { discountItems } from './item-count.ts'
import { lockBranch, recountEach } from './tree/branch.ts'

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
  const { tenantId, accountId } = ctx.account
  const isReworded = title !== item.title || description !== item.description

  void ctx.tx`
    update item set title = ${title}, description = ${description}, text_by = case when ${isReworded} then ${accountId}::uuid else text_by end, ${columnsOf(ctx, dates)}, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${itemId}`
  if (title !== item.title) keyTitle(ctx, itemId, title)

  return recorded(ctx, locked, { title, description, ...dates }, 'work.item.changed', { members: changed })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function deleteItem(ctx: Ctx, { itemId }: Received<typeof ops.deleteItem>): Promise<void> {
  const { tenantId, accountId } = ctx.account
  const { top, below } = await lockBranch(ctx, itemId, { takes: 'archived', role: 'delete_role' })
  const { container_id } = top.item
  const items = [top.item, ...below]

  void ctx.tx`
    update item set deleted_at = now(), deleted_by = ${accountId}, deleted_with = nullif(${itemId}::uuid, id),
                    updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id in ${ctx.tx.list(items.map(({ id }) => id))}`

  await recorded(ctx, top, {}, 'work.item.deleted', { container_id })
  for (const item of below)
    await recorded(ctx, { item, now: top.now }, {}, 'work.item.deleted', { container_id, with: itemId })
  // An archived item was taken off its bucket's count when it was archived.
  recountEach(ctx, items, -1)
  void discountItems(ctx, tenantId, items.length)
}
