/**
 * Deletes a bucket, but not its entries. They move to the leftmost other bucket, or to no bucket
 * if there is no other.
 *
 *    more than a portion ──a portion moves, and is committed──▶ fewer ──▶ … ──▶ a portion at most
 *    a portion at most   ──it moves, and the bucket is deleted──▶ gone
 *
 * So most buckets are deleted in one transaction, and a bucket of a million entries holds no lock
 * for long. An interrupted deletion leaves a bucket with fewer entries, and a second call
 * continues it. Each portion has an entry in the trail. The answer counts all moved entries.
 *
 * Spec: Structure: buckets, rule 3; Resources, BucketDeletion; decision 0111.
 */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { bucketOperations as ops } from '../../../contract/structure/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { RunAsRule } from '../../../kernel/transaction/installation.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { writableContainer } from '../../access/access.ts'
import { lockBucket, readBucket } from './bucket-row.ts'
import { isMoreThanPortion, lockPortion, moveEntries } from './entries.ts'
import { holdOrder, readOrder } from './order.ts'

type Deletion = Received<typeof ops.deleteBucket>

/**
 * Moves portions before the deletion's own transaction, and answers the number of moved entries.
 * Refuses what deleteBucket refuses.
 */
export async function moveOut(deletion: Deletion, run: RunAsRule): Promise<number> {
  let moved = 0
  for (;;) {
    const portion = await run((ctx) => movePortion(ctx, deletion))
    if (portion === undefined) return moved
    moved += portion
  }
}

/** Undefined if the bucket has at most one portion, which the last transaction moves. */
async function movePortion(ctx: Ctx, { containerId, bucketId }: Deletion): Promise<number | undefined> {
  const to = await heirOf(ctx, containerId, bucketId)
  if (!(await isMoreThanPortion(ctx, bucketId))) return undefined
  const entries = await lockPortion(ctx, containerId, bucketId)
  await lockBucket(ctx, containerId, bucketId)
  const moved = await moveEntries(ctx, containerId, entries, { from: bucketId, to })

  const became = { moved_item_count: moved, moved_to_bucket_id: to }
  const bucket = { id: bucketId, container_id: containerId }
  await ctx.record('work.bucket.emptied', { ...bucket, ...became }, { container_id: containerId, ...became })
  return moved
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function deleteBucket(
  ctx: Ctx,
  { containerId, bucketId }: Deletion,
  movedBefore: number,
): Promise<Answer<typeof ops.deleteBucket>> {
  const to = await heirOf(ctx, containerId, bucketId)
  // Items are locked before their bucket, as in a move. Items that came meanwhile are seen under the bucket's lock.
  await lockPortion(ctx, containerId, bucketId)
  await lockBucket(ctx, containerId, bucketId, 'changes and entries')
  const bucket = await readBucket(ctx, containerId, bucketId)
  let moved = 0
  let entries = await lockPortion(ctx, containerId, bucketId)
  while (entries.length > 0) {
    moved += await moveEntries(ctx, containerId, entries, { from: bucketId, to })
    entries = await lockPortion(ctx, containerId, bucketId)
  }

  void ctx.tx`delete from bucket where tenant_id = ${ctx.account.tenantId} and id = ${bucketId}`

  const became = { moved_item_count: movedBefore + moved, moved_to_bucket_id: to }
  await ctx.record('work.bucket.deleted', { ...bucket, ...became }, { container_id: containerId, ...became })
  return { deleted_bucket_id: bucketId, ...became }
}

/**
 * The leftmost other bucket; it stays the leftmost while the order is locked.
 * Refuses not_found, auth.role_required, container.archived.
 */
async function heirOf(ctx: Ctx, containerId: string, bucketId: string): Promise<string | null> {
  const [, , order] = await together(
    writableContainer(ctx, containerId, 'MEMBER'),
    holdOrder(ctx, containerId),
    readOrder(ctx, containerId),
  )
  if (!order.some(({ id }) => id === bucketId)) refuse('not_found')
  return order.find(({ id }) => id !== bucketId)?.id ?? null
}
