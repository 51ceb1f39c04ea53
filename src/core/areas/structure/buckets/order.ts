/**
 * The order of a container's buckets: a bucket is placed to the left of a neighbour, or at the
 * right-hand end. Only the row of the moved bucket is written.
 *
 * A rule that gives out a rank, or needs the leftmost bucket, takes the lock of the container's
 * order, so that two concurrent calls do not take the same place. Spec: Structure: buckets,
 * rule 2; decision 0100.
 */

import type { Received } from '../../../contract/operation.ts'
import { refuseMember } from '../../../contract/problem.ts'
import type { Bucket, bucketOperations as ops } from '../../../contract/structure/operations.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { rankBetween } from '../../../kernel/values/rank.ts'
import { writableContainer } from '../../access/access.ts'
import { lockBucket, readBucket, recorded } from './bucket-row.ts'

/** Locks the order of a container's buckets until the transaction ends. */
export const holdOrder = (ctx: Ctx, containerId: string) =>
  ctx.tx`select pg_advisory_xact_lock(${lockClasses.buckets}, hashtext(${ctx.account.tenantId + containerId}))`

interface Placed {
  readonly id: string
  readonly rank: string
}

/** The buckets from the left. Needs the lock of the order. */
export const readOrder = (ctx: Ctx, containerId: string): Promise<Placed[]> =>
  ctx.tx<Placed[]>`
    select id, rank from bucket where tenant_id = ${ctx.account.tenantId} and container_id = ${containerId}
    order by rank, id`

/**
 * The rank between `before` and its left neighbour, or behind all.
 * Refuses request.invalid at /before_bucket_id, order.exhausted.
 */
export function rankAt(others: readonly Placed[], before: string | null | undefined): string {
  const at = before ? others.findIndex(({ id }) => id === before) : others.length
  if (at < 0) refuseMember('/before_bucket_id', 'reference.unknown')
  return rankBetween(others[at - 1]?.rank ?? null, others[at]?.rank ?? null)
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, request.invalid, order.exhausted. */
export async function reorderBucket(
  ctx: Ctx,
  { containerId, bucketId, body }: Received<typeof ops.reorderBucket>,
): Promise<Bucket> {
  const [, , , order] = await together(
    writableContainer(ctx, containerId, 'MEMBER'),
    holdOrder(ctx, containerId),
    lockBucket(ctx, containerId, bucketId),
    readOrder(ctx, containerId),
  )
  const before = body.before_bucket_id ?? null
  if (before === bucketId) refuseMember('/before_bucket_id', 'reference.itself')
  const rank = rankAt(
    order.filter(({ id }) => id !== bucketId),
    before,
  )
  const next = order[order.findIndex(({ id }) => id === bucketId) + 1]
  if ((next?.id ?? null) === before) return readBucket(ctx, containerId, bucketId)

  void ctx.tx`
    update bucket set rank = ${rank}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${bucketId}`

  return recorded(ctx, containerId, bucketId, 'work.bucket.reordered', { before_bucket_id: before })
}
