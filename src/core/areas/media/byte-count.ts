/**
 * How many bytes of files a workspace has, checked against its quota `media_bytes`.
 *
 * They are taken when an upload begins and given back when the file goes, so begun uploads count, too. One row counts
 * them, as for items (items/item-count.ts). A refused file has no bytes. Spec: Quota semantics; items 4, O6.
 */
import type { Ctx } from '../../kernel/transaction/context.ts'
import { ceilingIn, type Integer, type QuotaCounts, spend } from '../settings/quotas.ts'

export const mediaQuotas = {
  media_bytes: {
    async used({ tx }, tenantId) {
      const [row] = await tx<{ bytes: Integer }[]>`select bytes from media_tally where tenant_id = ${tenantId}`
      return row?.bytes ?? 0
    },

    /** The first count of a workspace counts all its files, the new one included. */
    take: (ctx, tenantId, amount) => ctx.tx`
      with raised as (update media_tally set bytes = bytes + ${amount} where tenant_id = ${tenantId} returning bytes),
      begun as (
        insert into media_tally as t (tenant_id, bytes)
        select ${tenantId}, (select coalesce(sum(size_bytes), 0) from media where tenant_id = ${tenantId} and state <> 'REFUSED' and withheld_at is null)
        where not exists (select from raised)
        on conflict (tenant_id) do update set bytes = t.bytes + ${amount} returning bytes)
      select keep_within('media_bytes', bytes, ${amount}, ${ceilingIn(ctx, tenantId, 'media_bytes')})
      from (select bytes from raised union all select bytes from begun) t`,
  },
} satisfies QuotaCounts<'media_bytes'>

/** Reserves a file's bytes. Sent and not awaited: the commit refuses quota.exceeded. */
export function reserveBytes(ctx: Ctx, amount: number): void {
  spend(ctx, mediaQuotas, 'media_bytes', { tenantId: ctx.account.tenantId, amount }).catch(() => {})
}

/** Gives a file's bytes back. Sent and not awaited. */
export function releaseBytes({ tx }: Ctx, tenantId: string, amount: Integer): void {
  void tx`update media_tally set bytes = greatest(0, bytes - ${amount}) where tenant_id = ${tenantId}`
}
