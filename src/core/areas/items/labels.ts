/** Labels on an item. Spec: Index, Items; Structure: labels; decisions 3. */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { containerOf, lockItem, readItem, recorded, touch } from './item.ts'

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function addItemLabel(ctx: Ctx, { itemId, labelId }: Received<typeof ops.addItemLabel>): Promise<Item> {
  const { tenantId } = ctx.account
  await together(lockItem(ctx, itemId), refuseForeignLabel(ctx, itemId, labelId))
  const { count } = await ctx.tx`
    insert into item_label (tenant_id, item_id, label_id) values (${tenantId}, ${itemId}, ${labelId})
    on conflict (tenant_id, item_id, label_id) do nothing`
  if (count === 0) return readItem(ctx, itemId)

  void touch(ctx, tenantId, itemId)

  return recorded(ctx, itemId, 'work.item.label_added', { label_id: labelId })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function removeItemLabel(
  ctx: Ctx,
  { itemId, labelId }: Received<typeof ops.removeItemLabel>,
): Promise<void> {
  const { tenantId } = ctx.account
  await together(lockItem(ctx, itemId), refuseForeignLabel(ctx, itemId, labelId))
  const { count } = await ctx.tx`
    delete from item_label where tenant_id = ${tenantId} and item_id = ${itemId} and label_id = ${labelId}`
  if (count === 0) return

  void touch(ctx, tenantId, itemId)

  await recorded(ctx, itemId, 'work.item.label_removed', { label_id: labelId })
}

/** A label is only for items of its container, and only until it is deleted. Refuses not_found. */
async function refuseForeignLabel(ctx: Ctx, itemId: string, labelId: string): Promise<void> {
  const [label] = await ctx.tx`
    select 1 from label
    where tenant_id = ${ctx.account.tenantId} and id = ${labelId} and container_id = ${containerOf(ctx, itemId)} and deleted_at is null
    for key share`
  if (!label) refuse('not_found')
}
