/**
 * How many items a workspace has, checked against its quota `items`.
 *
 * One row counts them, so the limit is exact for any number of simultaneous creations: they wait
 * for each other at that row, which is therefore written last before the commit. Deleted items are
 * not counted; a rule that restores one must count it again. Spec: Quota semantics; T-39;
 * docs/decisions/0106.
 */

import type { Ctx } from '../../kernel/transaction/context.ts'
import { ceilingIn, type Integer, type QuotaCounts, spend } from '../settings/quotas.ts'

export const itemQuotas = {
  items: {
    async used({ tx }, tenantId) {
      const [row] = await tx<{ items: Integer }[]>`select items from item_tally where tenant_id = ${tenantId}`
      return row?.items ?? 0
    },

    /**
     * The first count of a workspace, or of an imported one, counts all its items, the new ones included. Of two first
     * counts at once the second waits, and then raises the count of the first.
     */
    take: (ctx, tenantId, amount) => ctx.tx`
      with raised as (update item_tally set items = items + ${amount} where tenant_id = ${tenantId} returning items),
      begun as (
        insert into item_tally as t (tenant_id, items)
        select ${tenantId}, (
          select count(*) from item where tenant_id = ${tenantId} and deleted_at is null
            and container_id not in (select id from container where tenant_id = ${tenantId} and purged_at is not null))
        where not exists (select from raised)
        on conflict (tenant_id) do update set items = t.items + ${amount} returning items)
      select keep_within('items', items, ${amount}, ${ceilingIn(ctx, tenantId, 'items')}) from (select items from raised union all select items from begun) t`,
  },
} satisfies Partial<QuotaCounts>

/** Counts an item that this transaction writes. Sent and not awaited: the commit refuses quota.exceeded. */
export const countItem = (ctx: Ctx): void => countItems(ctx, 1)

/** The same for several. */
export function countItems(ctx: Ctx, amount: number): void {
  spend(ctx, itemQuotas, 'items', { tenantId: ctx.account.tenantId, amount }).catch(() => {})
}

/** Lowers the count of a workspace. */
export const discountItems = ({ tx }: Ctx, tenantId: string, by: number) =>
  tx`update item_tally set items = greatest(0, items - ${by}) where tenant_id = ${tenantId}`
