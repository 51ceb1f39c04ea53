/** Lists a container's buckets from the left. Spec: Structure: buckets; decisions 3. */
import { account } from '../../auth/session.ts'
import type { Ctx } from '../../context.ts'
import type { Answer, Received } from '../../operation.ts'
import { refuse } from '../../problem.ts'
import type { Bucket, bucketOperations as ops } from '../contract.ts'

type BucketRow = { readonly [Member in keyof Bucket]: Bucket[Member] | null }

/** One statement tells an empty container from an unknown one: the container is its left side. Refuses not_found. */
export async function listBuckets(
  ctx: Ctx,
  { containerId }: Received<typeof ops.listBuckets>,
): Promise<Answer<typeof ops.listBuckets>> {
  const { tenantId } = account(ctx)
  const rows = await ctx.tx.last<BucketRow[]>`
    select b.id, b.container_id, b.name, (row_number() over (order by b.rank))::int - 1 as position,
           b.wip_limit, b.is_done_bucket, b.color_token, 0 as item_count, b.created_at, b.updated_at, b.version
    from container c
    left join bucket b on b.tenant_id = ${tenantId} and b.container_id = c.id
    where c.tenant_id = ${tenantId} and c.id = ${containerId} and c.deleted_at is null
    order by b.rank limit 1000`
  if (rows.length === 0) refuse('not_found')
  return { data: rows.filter((row): row is Bucket => row.id !== null) }
}
