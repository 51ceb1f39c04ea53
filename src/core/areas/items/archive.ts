/**
 * The archive of items.
 *
 *    active ──:archive──▶ archived, read only ──:unarchive──▶ active, at the end of its bucket
 *                                └──DELETE──▶ trash, from which it comes back archived
 *
 * An archived item holds no place: others may take its rank meanwhile. It stays in its bucket, where lists that ask for
 * archived items show it, and is not counted there. Spec: items 1; docs/decisions/0202.
 */

import type { itemArchiveOperations as ops } from '../../contract/items/archive.ts'
import type { Item } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { recount } from '../structure/buckets/tally.ts'
import { containerOf, lockItem, recorded } from './item.ts'
import { placeAt } from './position.ts'

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function archiveItem(ctx: Ctx, { itemId }: Received<typeof ops.archiveItem>): Promise<Item> {
  const locked = await lockItem(ctx, itemId, { takes: 'archived' })
  const { item, now } = locked
  if (item.archived_at !== null) return item

  void ctx.tx`
    update item set archived_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  recount(ctx, { bucketId: item.bucket_id, by: -1 })
  return recorded(ctx, locked, { archived_at: now }, 'work.item.archived')
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, order.exhausted. */
export async function unarchiveItem(ctx: Ctx, { itemId }: Received<typeof ops.unarchiveItem>): Promise<Item> {
  const locked = await lockItem(ctx, itemId, { takes: 'archived' })
  const { item } = locked
  if (item.archived_at === null) return item
  const { rank } = await placeAt(ctx, containerOf(ctx, itemId), { bucketId: item.bucket_id, moving: itemId })

  void ctx.tx`
    update item set archived_at = null, rank = ${rank}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${itemId}`

  recount(ctx, { bucketId: item.bucket_id, by: 1 })
  return recorded(ctx, locked, { archived_at: null, position: rank }, 'work.item.unarchived')
}
