/**
 * Places: which bucket an item goes to, and its rank there.
 *
 * A transaction that assigns a rank in a bucket, or among the items without a bucket, holds the
 * places of that bucket until the commit, so that two at once do not assign the same one. Only the
 * row that moves is written. One transaction assigns one rank, and waits for places last, so there
 * is no deadlock. The neighbours need no lock: removing one makes room and keeps the order.
 *
 * Spec: `before_item_id`; decisions 3; docs/decisions/0105.
 */

import { refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { rankBetween } from '../../kernel/values/rank.ts'
import { holdPlaces } from '../structure/buckets/places.ts'

interface Place {
  readonly containerId: string
  readonly bucketId: string | null
  /** Absent or null: the end. */
  readonly before?: string | null | undefined
  /** The item that moves, which does not count as a neighbour; absent for a new one. */
  readonly moving?: string
}

/** The neighbours of a place; null is the open end. */
interface Neighbours {
  readonly left: string | null
  readonly right: string | null
}

/** The rank of a place. Refuses request.invalid at /before_item_id, order.exhausted. */
export async function rankAt(ctx: Ctx, place: Place): Promise<string> {
  const { left, right } = await neighboursAt(ctx, place)
  return rankBetween(left, right)
}

/** The same, but keeps the old rank if the item is already at that place. */
export async function rankFor(ctx: Ctx, place: Place, current: string): Promise<string> {
  const { left, right } = await neighboursAt(ctx, place)
  const isThere = (left === null || left < current) && (right === null || current < right)
  return isThere ? current : rankBetween(left, right)
}

async function neighboursAt(ctx: Ctx, place: Place): Promise<Neighbours> {
  const { containerId, bucketId, before, moving } = place
  if (before && before === moving) refuseMember('/before_item_id', 'reference.itself')
  // Sent together: the second statement sees what the previous holder of the places committed.
  const [, [found]] = await Promise.all([
    holdPlaces(ctx, containerId, bucketId),
    before ? besides(ctx, place, before) : atTheEnd(ctx, place),
  ])
  return found ?? (before ? refuseMember('/before_item_id', 'reference.unknown') : { left: null, right: null })
}

const besides = (ctx: Ctx, place: Place, before: string) => ctx.tx<Neighbours[]>`
  select (select i.rank ${among(ctx, place)} and i.rank < n.rank order by i.rank desc limit 1) as left, n.rank as right
  from (select i.rank ${among(ctx, place)} and i.id = ${before}) n`

const atTheEnd = (ctx: Ctx, place: Place) => ctx.tx<Neighbours[]>`
  select i.rank as left, null as right ${among(ctx, place)} order by i.rank desc limit 1`

/** The items of the bucket, except the one that moves. */
const among = (ctx: Ctx, { containerId, bucketId, moving }: Place) => {
  const { tenantId } = ctx.account
  const { tx } = ctx
  const bucket = bucketId === null ? tx.part`i.bucket_id is null` : tx.part`i.bucket_id = ${bucketId}`
  return tx.part`
    from item i where i.tenant_id = ${tenantId} and i.container_id = ${containerId} and ${bucket}
      and i.deleted_at is null and i.id <> ${moving ?? tenantId}`
}

/**
 * The bucket that a request body names: absent means the leftmost, null means none. It does not
 * change until the commit. Refuses request.invalid at /bucket_id.
 */
export async function bucketFor(
  ctx: Ctx,
  containerId: string,
  bucketId: string | null | undefined,
): Promise<string | null> {
  if (bucketId === null) return null
  if (bucketId === undefined) return leftmostBucket(ctx, containerId)
  const [bucket] = await ctx.tx`
    select 1 from bucket b where b.tenant_id = ${ctx.account.tenantId} and b.container_id = ${containerId} and b.id = ${bucketId}
    for share`
  return bucket ? bucketId : refuseMember('/bucket_id', 'reference.unknown')
}

/**
 * The leftmost bucket; with `isDone`, the leftmost done bucket (true) or other bucket (false). Null if there is none.
 * It does not change until the commit.
 */
export async function leftmostBucket(ctx: Ctx, containerId: string, isDone?: boolean): Promise<string | null> {
  const { tenantId } = ctx.account
  const { tx } = ctx
  const ofKind = isDone === undefined ? tx.part`` : tx.part`and b.is_done_bucket = ${isDone}`
  const look = () => tx<{ id: string }[]>`
    select b.id from bucket b
    where b.tenant_id = ${tenantId} and b.container_id = ${containerId} ${ofKind}
    order by b.rank limit 1 for share`
  const [bucket] = await look()
  if (bucket) return bucket.id
  // The bucket may have been deleted while this statement waited for its lock; a second look finds the next one.
  const [next] = await look()
  return next?.id ?? null
}

/** Whether a bucket is a done bucket. */
export async function isDoneBucket(ctx: Ctx, bucketId: string | null): Promise<boolean> {
  if (bucketId === null) return false
  const [bucket] = await ctx.tx<{ is_done_bucket: boolean }[]>`
    select is_done_bucket from bucket where tenant_id = ${ctx.account.tenantId} and id = ${bucketId}`
  return bucket?.is_done_bucket ?? false
}
