/** Lists a container's buckets from the left. Spec: Structure: buckets; decisions 3. */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Bucket, bucketOperations as ops } from '../../../contract/structure/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { visibleContainerIds } from '../../access/access.ts'
import { bucketsOf } from './bucket-row.ts'

/**
 * One statement, because a board loads this list first. A container without buckets gives one row of nulls.
 * Refuses not_found.
 */
export async function listBuckets(
  ctx: Ctx,
  { containerId }: Received<typeof ops.listBuckets>,
): Promise<Answer<typeof ops.listBuckets>> {
  const rows = await ctx.tx.last<(Bucket | Record<keyof Bucket, null>)[]>`
    select b.* from (${visibleContainerIds(ctx)} and c.id = ${containerId}) seen left join (${bucketsOf(ctx, containerId)}) b on true
    order by b.position`
  if (rows.length === 0) refuse('not_found')
  return { data: rows.filter((row) => row.id !== null) }
}
