/**
 * How many items a workspace has, checked against its quota `items`.
 *
 * One row counts them, so the limit is exact for any number of simultaneous creations: they wait
 * for each other at that row, which is therefore written last before the commit. Deleted items are
 * not counted; a rule that restores one must count it again. Spec: Quota semantics; T-39;
 * docs/decisions/0106.
 */

import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Integer, type QuotaCounts, spend } from '../settings/quotas.ts'

export const itemQuotas = {
  items: {
    used: async (ctx, tenantId) => (await countedItems(ctx, tenantId)) ?? 0,

    async take(ctx, tenantId, amount, limit) {
      if (await raised(ctx, tenantId, amount, limit)) return true
      if ((await countedItems(ctx, tenantId)) !== undefined) return false
      return begun(ctx, tenantId, amount, limit)
    },
  },
} satisfies Partial<QuotaCounts>

/** Counts the item that this transaction has written. Refuses quota.exceeded. */
export const countItem = (ctx: Ctx) => spend(ctx, itemQuotas, 'items', ctx.account)

/**
 * The first count of a workspace, or of an imported one: all its items, the new ones included. Answers whether the
 * count is within the limit. Of two first counts at once the second waits here, and then raises the count of the first.
 */
async function begun(ctx: Ctx, tenantId: string, amount: number, limit: Integer): Promise<boolean> {
  const [first] = await ctx.tx<{ items: Integer }[]>`
    insert into item_tally (tenant_id, items)
    values (${tenantId}, (select count(*) from item where tenant_id = ${tenantId} and deleted_at is null))
    on conflict (tenant_id) do nothing returning items`
  return first ? Number(limit) === 0 || first.items <= limit : raised(ctx, tenantId, amount, limit)
}

/** Lowers the count by one. */
export const discountItem = (ctx: Ctx) =>
  ctx.tx`update item_tally set items = greatest(0, items - 1) where tenant_id = ${ctx.account.tenantId}`

/** The count of the workspace; undefined if nothing was ever counted. */
async function countedItems({ tx }: Ctx, tenantId: string): Promise<Integer | undefined> {
  const [row] = await tx<{ items: Integer }[]>`select items from item_tally where tenant_id = ${tenantId}`
  return row?.items
}

async function raised({ tx }: Ctx, tenantId: string, amount: number, limit: Integer): Promise<boolean> {
  const { count } = await tx`
    update item_tally set items = items + ${amount}
    where tenant_id = ${tenantId} and (${limit}::bigint = 0 or items + ${amount} <= ${limit}::bigint)`
  return count === 1
}
