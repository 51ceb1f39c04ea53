/**
 * How many items a workspace has, held against its ceiling `items`.
 *
 * One row counts them, so the ceiling is exact however many create at once: they take their turns
 * at that row, which is therefore written last before the commit. Deleted items are not counted;
 * whoever brings one back counts it again. Spec: Quota semantics; T-39; docs/decisions/0106.
 */

import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { readCeiling } from '../settings/quotas.ts'

type Integer = number | bigint

/** Counts the item that this transaction has written. Refuses quota.exceeded. */
export async function countItem(ctx: Ctx): Promise<void> {
  const { tenantId } = ctx.account
  const limit = await readCeiling(ctx, 'items', await ownCeiling(ctx, tenantId))
  if (await raised(ctx, tenantId, limit)) return
  const used = (await countedItems(ctx, tenantId)) ?? (await begun(ctx, tenantId, limit))
  if (used !== undefined) refuse('quota.exceeded', { quota: 'items', limit, used })
}

/**
 * The first count of a workspace, or of one that was imported: what is there, the new one too. Answers what is
 * used when that is too much. Of two that begin at once the second waits here, and then raises what the first wrote.
 */
async function begun(ctx: Ctx, tenantId: string, limit: Integer): Promise<Integer | undefined> {
  const [first] = await ctx.tx<{ items: Integer }[]>`
    insert into item_tally (tenant_id, items)
    values (${tenantId}, (select count(*) from item where tenant_id = ${tenantId} and deleted_at is null))
    on conflict (tenant_id) do nothing returning items`
  if (first) return Number(limit) === 0 || first.items <= limit ? undefined : first.items
  return (await raised(ctx, tenantId, limit)) ? undefined : ((await countedItems(ctx, tenantId)) ?? 0)
}

/** Counts one less. */
export const discountItem = (ctx: Ctx) =>
  ctx.tx`update item_tally set items = greatest(0, items - 1) where tenant_id = ${ctx.account.tenantId}`

/** What the workspace has; undefined where nothing was ever counted. */
export async function countedItems({ tx }: Ctx, tenantId: string): Promise<Integer | undefined> {
  const [row] = await tx<{ items: Integer }[]>`select items from item_tally where tenant_id = ${tenantId}`
  return row?.items
}

async function raised({ tx }: Ctx, tenantId: string, limit: Integer): Promise<boolean> {
  const { count } = await tx`
    update item_tally set items = items + 1
    where tenant_id = ${tenantId} and (${limit}::bigint = 0 or items < ${limit}::bigint)`
  return count === 1
}

async function ownCeiling({ tx }: Ctx, tenantId: string): Promise<Integer | null> {
  const [row] = await tx<{ ceiling: Integer }[]>`
    select ceiling from tenant_quota where tenant_id = ${tenantId} and quota = 'items'`
  return row?.ceiling ?? null
}
