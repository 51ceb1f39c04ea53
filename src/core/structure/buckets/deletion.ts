/**
 * A bucket is deleted; its entries are not. They move to the leftmost bucket that is left,
 * behind the entries it has and in the order they had, or out of any bucket.
 *
 * Spec: Structure: buckets, rule 3; Resources, BucketDeletion; decision 0111.
 */
import { account } from '../../auth/session.ts'
import { writableContainer } from '../../containers/access.ts'
import type { Ctx } from '../../context.ts'
import type { Answer, Received } from '../../operation.ts'
import type { bucketOperations as ops } from '../contract.ts'
import { lockBucket, readBucket, record } from './bucket-row.ts'
import { holdOrder, readOrder } from './order.ts'

/** Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function deleteBucket(
  ctx: Ctx,
  { containerId, bucketId }: Received<typeof ops.deleteBucket>,
): Promise<Answer<typeof ops.deleteBucket>> {
  await writableContainer(ctx, containerId, 'MEMBER')
  await holdOrder(ctx, containerId)
  await lockBucket(ctx, containerId, bucketId)
  const bucket = await readBucket(ctx, containerId, bucketId)
  const leftmost = (await readOrder(ctx, containerId)).find(({ id }) => id !== bucketId)?.id ?? null

  await ctx.tx`delete from bucket where tenant_id = ${account(ctx).tenantId} and id = ${bucketId}`

  const became = { moved_item_count: 0, moved_to_bucket_id: leftmost }
  await record(ctx, 'work.bucket.deleted', bucket, { ...bucket, ...became }, became)
  return { deleted_bucket_id: bucketId, ...became }
}
