/**
 * How many items are in each bucket. The number is kept by the transaction that changes it, because
 * counting a million items for each list of buckets takes a third of a second.
 *
 * One row for each bucket, so changes of one bucket wait for each other here. They are sent last, and
 * in the order of the ids: two moves in opposite directions do not wait for each other.
 * Spec: Resources, Bucket; docs/decisions/0177.
 */
import type { Ctx } from '../../../kernel/transaction/context.ts'

interface Change {
  /** Null: no bucket, and nothing is kept. */
  readonly bucketId: string | null
  readonly by: number
}

/** Changes the kept numbers. Sent and not awaited: the commit fails if this fails. */
export function recount(ctx: Ctx, ...changes: readonly Change[]): void {
  recountIn(ctx, ctx.account.tenantId, ...changes)
}

/** The same for a job, which acts for no account. */
export function recountIn(ctx: Ctx, tenantId: string, ...changes: readonly Change[]): void {
  const sorted = [...changes].sort((one, other) => ((one.bucketId ?? '') < (other.bucketId ?? '') ? -1 : 1))
  for (const { bucketId, by } of sorted) if (bucketId !== null && by !== 0) void changeBy(ctx, tenantId, bucketId, by)
}

/** Records that an item left one bucket for another; the same bucket changes nothing. */
export function recountMove(ctx: Ctx, from: string | null, to: string | null): void {
  if (from !== to) recount(ctx, { bucketId: from, by: -1 }, { bucketId: to, by: 1 })
}

/** A bucket has no row before its first item. */
function changeBy({ tx }: Ctx, tenantId: string, bucketId: string, by: number): Promise<unknown> {
  if (by < 0)
    return tx`update bucket_tally set items = items + ${by} where tenant_id = ${tenantId} and bucket_id = ${bucketId}`
  return tx`
    insert into bucket_tally as t (tenant_id, bucket_id, items) values (${tenantId}, ${bucketId}, ${by})
    on conflict (tenant_id, bucket_id) do update set items = t.items + excluded.items`
}
