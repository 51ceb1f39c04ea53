/** The lock of a bucket's places: rules that give out ranks in the bucket take it. Spec: docs/decisions/0105. */

import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

/** Locks the places of a bucket, or of the items in no bucket (null), until the commit. `bucketId`: a query for a uuid. */
export const holdPlaces = (ctx: Ctx, containerId: string, bucketId: Part) =>
  ctx.tx`
    select pg_advisory_xact_lock(${lockClasses.places}, hashtext(${ctx.account.tenantId + containerId} || coalesce(${bucketId}::text, '')))`
