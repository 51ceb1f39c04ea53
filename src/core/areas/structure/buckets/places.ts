/** The lock of a bucket's places: rules that give out ranks in the bucket take it. Spec: docs/decisions/0105. */

import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

/**
 * Locks the places of a bucket, or of the items in no bucket (null), until the commit. Both ids are queries for a uuid.
 * Answers the bucket that it found: while the lock is waited for, the query may come to find another.
 */
export async function holdPlaces(ctx: Ctx, containerId: Part, bucketId: Part): Promise<string | null> {
  const [held] = await ctx.tx<{ bucket_id: string | null; locked: string }[]>`
    select p.bucket_id,
           pg_advisory_xact_lock(${lockClasses.places}, hashtext(${ctx.account.tenantId} || (${containerId})::text || coalesce(p.bucket_id::text, '')))::text as locked
    from (select ${bucketId} as bucket_id) p`
  return held?.bucket_id ?? null
}
