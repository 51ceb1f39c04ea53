/** The way back from the trash. Spec: items 1, N11. */
import type { Item } from '../../../contract/items/operations.ts'
import type { itemTrashOperations as ops } from '../../../contract/items/trash.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { recorded } from '../item.ts'
import { countItems } from '../item-count.ts'
import { recountEach } from '../tree/branch.ts'
import { findParent } from '../tree/parent.ts'
import { endsFor } from '../tree/returning.ts'
import { atRoot, branchOf, crowding, lastUnder, type TreePlace } from '../tree/shape.ts'
import { lockTrashedBranch } from './branch.ts'

/**
 * Refuses not_found, auth.role_required, precondition.failed, container.deleted, container.archived, quota.exceeded.
 */
export async function restoreItem(ctx: Ctx, { itemId }: Received<typeof ops.restoreItem>): Promise<Item> {
  const { tenantId } = ctx.account
  const { top, below } = await lockTrashedBranch(ctx, itemId, 'MEMBER')
  const { item, container, deletedAt, now } = top
  const isContainerGone = container.deleted_at !== null || container.is_parent_deleted
  if (deletedAt === null) return isContainerGone ? refuse('not_found') : item
  if (isContainerGone) refuse('container.deleted')
  if (container.is_archived) refuse('container.archived')
  const items = [item, ...below]
  // An archived item holds no place, and keeps the rank that it had.
  const isPlaced = (one: Item) => one.archived_at === null
  const endOf = await endsFor(ctx, items.filter(isPlaced))
  const rankOf = (one: Item) => (isPlaced(one) ? endOf(one.id) : one.position)
  const place = await placeBack(ctx, item, below)
  const rootId = place.root_id ?? itemId

  for (const one of items) {
    const isTop = one.id === itemId
    void ctx.tx`
      update item set deleted_at = null, deleted_by = null, deleted_with = null, rank = ${rankOf(one)},
                      parent_id = ${isTop ? place.parent_id : one.parent_id}, root_id = ${isTop ? place.root_id : rootId},
                      sibling_rank = ${isTop ? place.sibling_position : one.sibling_position},
                      updated_at = now(), version = version + 1
      where tenant_id = ${tenantId} and id = ${one.id}`
  }

  const back = (one: Item) => ({ position: rankOf(one) })
  const { root_id: _, ...shown } = place
  const restored = await recorded(ctx, top, { ...back(item), ...shown }, 'work.item.restored')
  for (const one of below) await recorded(ctx, { item: one, now }, back(one), 'work.item.restored', { with: itemId })
  recountEach(ctx, items, 1)
  countItems(ctx, items.length)
  return restored
}

/** The last child of its parent; a root, if the parent is gone, archived or elsewhere, or has no room. */
async function placeBack(ctx: Ctx, item: Item, below: readonly Item[]): Promise<TreePlace> {
  if (item.parent_id === null) return atRoot
  const parent = await findParent(ctx, ctx.tx.part`${item.container_id}::uuid`, item.parent_id)
  if (!parent || (parent.isArchived && item.archived_at === null)) return atRoot
  if (crowding(parent.tree, parent.id, branchOf(item.id, below))) return atRoot
  return lastUnder(parent.tree, parent.id, parent.rootId)
}
