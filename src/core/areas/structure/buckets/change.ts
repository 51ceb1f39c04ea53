/** Creates buckets, and changes their names, limits and colours. Spec: Structure: buckets, rule 1; decisions 3. */

import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { type Bucket, mostOfAKind, type bucketOperations as ops } from '../../../contract/structure/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { newId } from '../../../kernel/values/id.ts'
import { writableContainer } from '../../access/access.ts'
import { changedMembers } from '../changed-members.ts'
import { type BucketRow, lockBucket, readBucket, recorded } from './bucket-row.ts'
import { holdOrder, rankAt, readOrder } from './order.ts'

/** Refuses not_found, auth.role_required, container.archived, request.invalid, bucket.name_taken, structure.full, order.exhausted. */
export async function createBucket(
  ctx: Ctx,
  { containerId, body }: Received<typeof ops.createBucket>,
): Promise<Bucket> {
  const [, , order] = await together(
    writableContainer(ctx, containerId, 'MEMBER'),
    holdOrder(ctx, containerId),
    readOrder(ctx, containerId),
  )
  const rank = rankAt(order, body.before_bucket_id)
  if (order.length >= mostOfAKind) refuse('structure.full', { limit: mostOfAKind })
  const id = newId()

  void ctx.tx`
    insert into bucket (tenant_id, id, container_id, name, name_fold, rank, wip_limit, is_done_bucket, color_token)
    values (${ctx.account.tenantId}, ${id}, ${containerId}, ${body.name}, ${caseFold(body.name)}, ${rank},
            ${body.wip_limit || null}, ${body.is_done_bucket}, ${body.color_token ?? null})`

  return recorded(ctx, containerId, id, 'work.bucket.created')
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, bucket.name_taken. */
export async function updateBucket(
  ctx: Ctx,
  { containerId, bucketId, body }: Received<typeof ops.updateBucket>,
): Promise<Bucket> {
  const [, row] = await together(writableContainer(ctx, containerId, 'MEMBER'), lockBucket(ctx, containerId, bucketId))
  const next = patched(row, body)
  const members = changedMembers(row, next)
  if (members.length === 0) return readBucket(ctx, containerId, bucketId)

  void ctx.tx`
    update bucket set name = ${next.name}, name_fold = ${caseFold(next.name)}, wip_limit = ${next.wip_limit},
           is_done_bucket = ${next.is_done_bucket}, color_token = ${next.color_token},
           updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${bucketId}`

  return recorded(ctx, containerId, bucketId, 'work.bucket.changed', { members })
}

type Patch = Received<typeof ops.updateBucket>['body']

const patched = (row: BucketRow, { name, wip_limit, is_done_bucket, color_token }: Patch) => ({
  name: name ?? row.name,
  wip_limit: wip_limit === undefined ? row.wip_limit : wip_limit || null,
  is_done_bucket: is_done_bucket ?? row.is_done_bucket,
  color_token: color_token === undefined ? row.color_token : color_token,
})
