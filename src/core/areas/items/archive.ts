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
import { type LockedItem, recorded } from './item.ts'
import { lockBranch, recountEach } from './tree/branch.ts'
import { endsFor, leaveParent } from './tree/returning.ts'
import { below } from './tree/shape.ts'

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function archiveItem(ctx: Ctx, { itemId }: Received<typeof ops.archiveItem>): Promise<Item> {
  const { top, below } = await lockBranch(ctx, itemId, { takes: 'archived' })
  if (top.item.archived_at !== null) return top.item
  return archiveBranch(ctx, ctx.account.tenantId, top, below)
}

/** An item that is not archived, and what is below it, locked. Answers it after that. */
export async function archiveBranch(
  ctx: Ctx,
  tenantId: string,
  top: Pick<LockedItem, 'item' | 'now'>,
  below: readonly Item[],
  params: Readonly<Record<string, unknown>> = {},
): Promise<Item> {
  const { now } = top
  const others = below.filter(({ archived_at }) => archived_at === null)
  const items = [top.item, ...others]

  void ctx.tx`
    update item set archived_at = now(), archived_with = nullif(${top.item.id}::uuid, id), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id in ${ctx.tx.list(items.map(({ id }) => id))}`

  recountEach(ctx, items, -1, tenantId)
  const archived = await recorded(ctx, top, { archived_at: now }, 'work.item.archived', params)
  for (const item of others)
    await recorded(ctx, { item, now }, { archived_at: now }, 'work.item.archived', { ...params, with: top.item.id })
  return archived
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function unarchiveItem(ctx: Ctx, { itemId }: Received<typeof ops.unarchiveItem>): Promise<Item> {
  const { top, below: all, tree } = await lockBranch(ctx, itemId, { takes: 'archived' })
  const { item, now } = top
  if (item.archived_at === null) return item
  const rows = new Map(tree.map((row) => [row.id, row]))
  const act = rows.get(itemId)?.archived_with ?? itemId
  const came = tree.filter(({ archived_with }) => archived_with === act)
  const returning = new Set(below(came, itemId).map(({ id }) => id))
  const others = all.filter(({ id }) => returning.has(id))
  const leaves = item.parent_id !== null && rows.get(item.parent_id)?.is_archived === true
  const rankOf = await endsFor(ctx, [item, ...others])

  const place = leaves ? { parent_id: null, sibling_position: null } : {}
  if (leaves) leaveParent(ctx, itemId, all)
  const back = (one: Item) => ({ archived_at: null, position: rankOf(one.id) })
  for (const one of [item, ...others])
    void ctx.tx`
      update item set archived_at = null, archived_with = null, rank = ${back(one).position}, updated_at = now(), version = version + 1
      where tenant_id = ${ctx.account.tenantId} and id = ${one.id}`

  recountEach(
    ctx,
    [item, ...others].map((one) => ({ ...one, archived_at: null })),
    1,
  )
  const unarchived = await recorded(ctx, top, { ...back(item), ...place }, 'work.item.unarchived')
  for (const one of others) await recorded(ctx, { item: one, now }, back(one), 'work.item.unarchived', { with: itemId })
  return unarchived
}
