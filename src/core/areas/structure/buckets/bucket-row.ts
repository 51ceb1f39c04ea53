/**
 * Locking, reading and recording a bucket.
 *
 * `position` and `over_limit` are computed at each read and not stored, and `item_count` is kept
 * beside the row (tally.ts). So reordering writes one row, and the version changes only with the
 * bucket's own members.
 *
 * Locks are taken in this order: the container (areas/access/access.ts), the order of its buckets
 * (order.ts), a bucket, its entries. Spec: Structure: buckets; decisions 3.
 */

import { refuse } from '../../../contract/problem.ts'
import type { Bucket } from '../../../contract/structure/operations.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { EventName } from '../../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

/** The stored members of a bucket. */
export interface BucketRow {
  readonly id: string
  readonly name: string
  readonly rank: string
  readonly wip_limit: number | null
  readonly is_done_bucket: boolean
  readonly color_token: string | null
  readonly version: number
}

/**
 * Locks the bucket for a change; or for its deletion, and then no entry can come into it until
 * the commit. Refuses not_found, precondition.failed.
 */
export async function lockBucket(
  ctx: Ctx,
  containerId: string,
  bucketId: string,
  against: 'changes' | 'changes and entries' = 'changes',
): Promise<BucketRow> {
  const { tx } = ctx
  const [row] = await tx<BucketRow[]>`
    select id, name, rank, wip_limit, is_done_bucket, color_token, version from bucket
    where tenant_id = ${ctx.account.tenantId} and container_id = ${containerId} and id = ${bucketId}
    ${against === 'changes' ? tx.part`for no key update` : tx.part`for update`}`
  if (!row) refuse('not_found')
  ctx.unchanged(row.version)
  return row
}

/** The buckets of a container, for a statement's `from (…)`. */
export function bucketsOf(ctx: Ctx, containerId: string): Part {
  const { tenantId } = ctx.account
  return ctx.tx.part`
    select b.id, b.container_id, b.name, (row_number() over (order by b.rank, b.id))::int - 1 as position, b.wip_limit,
           coalesce(held.items > b.wip_limit, false) as over_limit, b.is_done_bucket, b.color_token,
           coalesce(held.items, 0) as item_count, b.created_at, b.updated_at, b.version
    from bucket b left join bucket_tally held on held.tenant_id = b.tenant_id and held.bucket_id = b.id
    where b.tenant_id = ${tenantId} and b.container_id = ${containerId}`
}

/** One bucket of a container. Refuses not_found. */
export async function readBucket(ctx: Ctx, containerId: string, bucketId: string): Promise<Bucket> {
  const [bucket] = await ctx.tx<Bucket[]>`select * from (${bucketsOf(ctx, containerId)}) b where id = ${bucketId}`
  return bucket ?? refuse('not_found')
}

type BucketEvent = Extract<EventName, `work.bucket.${string}`>

/** Writes the trail's entry and the event of a change, which may still be on its way, and answers the changed bucket. */
export async function recorded(
  ctx: Ctx,
  containerId: string,
  bucketId: string,
  name: Exclude<BucketEvent, 'work.bucket.emptied' | 'work.bucket.deleted'>,
  params: Readonly<Record<string, unknown>> = {},
): Promise<Bucket> {
  const bucket = await readBucket(ctx, containerId, bucketId)
  await ctx.record(name, bucket, { container_id: bucket.container_id, ...params })
  return bucket
}
