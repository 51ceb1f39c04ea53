/** The way back from the trash. Spec: items 1, N11. */
import type { Item } from '../../../contract/items/operations.ts'
import type { itemTrashOperations as ops } from '../../../contract/items/trash.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { recount } from '../../structure/buckets/tally.ts'
import { containerOf, lockInTrash, recorded } from '../item.ts'
import { countItem } from '../item-count.ts'
import { placeAt } from '../position.ts'

/**
 * Refuses not_found, auth.role_required, precondition.failed, container.deleted, container.archived, order.exhausted,
 * quota.exceeded.
 */
export async function restoreItem(ctx: Ctx, { itemId }: Received<typeof ops.restoreItem>): Promise<Item> {
  const locked = await lockInTrash(ctx, itemId, 'MEMBER')
  const { item, container, deletedAt } = locked
  const isContainerGone = container.deleted_at !== null || container.is_parent_deleted
  if (deletedAt === null) return isContainerGone ? refuse('not_found') : item
  if (isContainerGone) refuse('container.deleted')
  if (container.is_archived) refuse('container.archived')
  // An archived item holds no place.
  const isOnBoard = item.archived_at === null
  const { rank } = isOnBoard
    ? await placeAt(ctx, containerOf(ctx, itemId), { bucketId: item.bucket_id, moving: itemId })
    : { rank: item.position }

  void ctx.tx`
    update item set deleted_at = null, deleted_by = null, rank = ${rank}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  const restored = await recorded(ctx, locked, { position: rank }, 'work.item.restored')
  recount(ctx, { bucketId: item.bucket_id, by: isOnBoard ? 1 : 0 })
  countItem(ctx)
  return restored
}
