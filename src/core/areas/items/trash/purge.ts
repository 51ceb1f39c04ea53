/**
 * Taking from the trash for good, by hand or by time.
 *
 *    in the trash ──:purge, :empty, trash days──▶ purged ──no legal hold covers it──▶ removed (removal.ts)
 *
 * The transaction that decides marks the row with `purged_at`. From then on it is in no answer, list or count, and there is
 * no way back. Whether its rows are still there, nobody but operators can tell: a purge under a hold answers as any other.
 * Spec: items 3; keeping, Two steps of removal; docs/decisions/0203.
 */
import type { itemTrashOperations as ops } from '../../../contract/items/trash.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { discountItems } from '../item-count.ts'
import { lockTrashedBranch } from './branch.ts'
import { removePurged } from './removal.ts'

/** Refuses not_found, auth.role_required, precondition.failed, item.not_in_trash, container.archived. */
export async function purgeItem(ctx: Ctx, { itemId }: Received<typeof ops.purgeItem>): Promise<void> {
  const { tenantId } = ctx.account
  const { top, below } = await lockTrashedBranch(ctx, itemId, 'ADMIN')
  const { item, container, deletedAt } = top
  const isContainerGone = container.deleted_at !== null || container.is_parent_deleted
  if (deletedAt === null) refuse(isContainerGone ? 'not_found' : 'item.not_in_trash')
  if (container.is_archived && !isContainerGone) refuse('container.archived')

  await markItems(ctx, tenantId, [item, ...below])
  await ctx.enqueue(removePurged, { tenantId }, { singletonKey: tenantId })
}

type PurgedItem = Parameters<typeof eventOf>[0]
const eventOf = ({ id, container_id }: { readonly id: string; readonly container_id: string }) => ({ id, container_id })

/** Marks items that are in the trash and locked. `params`: of their entries in the trail. */
export async function markItems(
  ctx: Ctx,
  tenantId: string,
  items: readonly PurgedItem[],
  params: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  if (items.length === 0) return
  void ctx.tx`
    update item set purged_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id in ${ctx.tx.list(items.map(({ id }) => id))}`
  for (const item of items) await ctx.record('work.item.purged', eventOf(item), params)
}

export interface PurgedContainer {
  readonly id: string
  readonly kind: 'HUB' | 'COLLECTION'
  readonly parent_id: string | null
}

/** Marks containers that are in the trash and locked; a hub with its collections. Their items are marked by them. */
export async function markContainers(
  ctx: Ctx,
  tenantId: string,
  containers: readonly PurgedContainer[],
  params: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  if (containers.length === 0) return
  const ids = ctx.tx.list(containers.map(({ id }) => id))
  const marked = await ctx.tx<{ id: string }[]>`
    update container set purged_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and (id in ${ids} or parent_id in ${ids}) and purged_at is null returning id`
  for (const { id, kind, parent_id } of containers)
    await ctx.record('work.container.purged', { id, kind, parent_id }, params)
  await discountAllOf(ctx, tenantId, ctx.tx.list(marked.map(({ id }) => id)))
}

/** What is purged counts against no ceiling. Items on the board and in the archive have indexes of their own. */
async function discountAllOf(ctx: Ctx, tenantId: string, containerIds: ReturnType<Ctx['tx']['list']>): Promise<void> {
  const [row] = await ctx.tx<{ items: number }[]>`
    select ((select count(*) from item where tenant_id = ${tenantId} and container_id in ${containerIds}
               and deleted_at is null and archived_at is null)
          + (select count(*) from item where tenant_id = ${tenantId} and container_id in ${containerIds}
               and deleted_at is null and archived_at is not null))::int as items`
  if (row && row.items > 0) void discountItems(ctx, tenantId, row.items)
}
