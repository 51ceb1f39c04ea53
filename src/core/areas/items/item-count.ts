/**
 * How many items a workspace has, held against its ceiling `items`.
 *
 * One row counts them, so the ceiling is exact however many create at once: they take their turns
 * at that row, which is therefore written last before the commit. Deleted items are not counted;
 * whoever brings one back counts it again. Spec: Quota semantics; T-39; docs/decisions/0106.
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
 * The first count of a workspace, or of one that was imported: what is there, the new ones too. Answers whether that is
 * within the limit. Of two that begin at once the second waits here, and then raises what the first wrote.
 */
async function begun(ctx: Ctx, tenantId: string, amount: number, limit: Integer): Promise<boolean> {
  const [first] = await ctx.tx<{ items: Integer }[]>`
    insert into item_tally (tenant_id, items)
    values (${tenantId}, (select count(*) from item where tenant_id = ${tenantId} and deleted_at is null))
    on conflict (tenant_id) do nothing returning items`
  return first ? Number(limit) === 0 || first.items <= limit : raised(ctx, tenantId, amount, limit)
}

/** Counts one less. */
export const discountItem = (ctx: Ctx) =>
  ctx.tx`update item_tally set items = greatest(0, items - 1) where tenant_id = ${ctx.account.tenantId}`

/** What the workspace has; undefined where nothing was ever counted. */
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
