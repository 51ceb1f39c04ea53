/** Lists a container's buckets from the left. Spec: Structure: buckets; decisions 3. */
import { visibleContainer } from '../../containers/access.ts'
import type { Ctx } from '../../context.ts'
import type { Answer, Received } from '../../operation.ts'
import type { bucketOperations as ops } from '../contract.ts'
import { readBuckets } from './bucket-row.ts'

/** Refuses not_found. */
export async function listBuckets(
  ctx: Ctx,
  { containerId }: Received<typeof ops.listBuckets>,
): Promise<Answer<typeof ops.listBuckets>> {
  const [, data] = await Promise.all([visibleContainer(ctx, containerId), readBuckets(ctx, containerId)])
  return { data }
}
