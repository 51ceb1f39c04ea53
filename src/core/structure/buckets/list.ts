/** Lists a container's buckets from the left. Spec: Structure: buckets; decisions 3. */
import { visibleContainer, visibleContainerIds } from '../../containers/access.ts'
import type { Ctx } from '../../context.ts'
import type { Answer, Received } from '../../operation.ts'
import type { bucketOperations as ops } from '../contract.ts'
import { readBuckets } from './bucket-row.ts'

/** Refuses not_found. */
export async function listBuckets(
  ctx: Ctx,
  { containerId }: Received<typeof ops.listBuckets>,
): Promise<Answer<typeof ops.listBuckets>> {
  const seen = ctx.tx.part`and b.container_id in (${visibleContainerIds(ctx)})`
  const data = await readBuckets(ctx, containerId, seen)
  // There are none, or he does not see them: asked for only then, because this list is what a board begins with.
  if (data.length === 0) await visibleContainer(ctx, containerId)
  return { data }
}
