/** Labels on an item. Spec: Index, Items; Structure: labels; decisions 3. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { containerOf, lockItem, recorded, touch } from './item.ts'

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
export async function addItemLabel(ctx: Ctx, { itemId, labelId }: Received<typeof ops.addItemLabel>): Promise<Item> {
  const { tenantId } = ctx.account
  const [locked] = await together(lockItem(ctx, itemId), refuseForeignLabel(ctx, itemId, labelId))
  const { item } = locked
  const { count } = await ctx.tx`
    insert into item_label (tenant_id, item_id, label_id) values (${tenantId}, ${itemId}, ${labelId})
    on conflict (tenant_id, item_id, label_id) do nothing`
  if (count === 0) return item

  void touch(ctx, itemId, 'labels')

  const label_ids = [...item.label_ids, labelId].sort()
  return recorded(ctx, locked, { label_ids }, 'work.item.label_added', { label_id: labelId })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
export async function removeItemLabel(
  ctx: Ctx,
  { itemId, labelId }: Received<typeof ops.removeItemLabel>,
): Promise<void> {
  const { tenantId } = ctx.account
  const [locked] = await together(lockItem(ctx, itemId), refuseForeignLabel(ctx, itemId, labelId))
  const { count } = await ctx.tx`
    delete from item_label where tenant_id = ${tenantId} and item_id = ${itemId} and label_id = ${labelId}`
  if (count === 0) return

  void touch(ctx, itemId, 'labels')

  const label_ids = locked.item.label_ids.filter((id) => id !== labelId)
  await recorded(ctx, locked, { label_ids }, 'work.item.label_removed', { label_id: labelId })
}

/** A label is only for items of its container, and only until it is deleted. Refuses not_found. */
async function refuseForeignLabel(ctx: Ctx, itemId: string, labelId: string): Promise<void> {
  const [label] = await ctx.tx`
    select 1 from label
    where tenant_id = ${ctx.account.tenantId} and id = ${labelId} and container_id = ${containerOf(ctx, itemId)} and deleted_at is null
    for key share`
  if (!label) refuse('not_found')
}
