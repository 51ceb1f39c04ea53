/** The places of a bucket: what gives out ranks in it takes turns. Spec: docs/decisions/0105. */

import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

/** Holds the places of a bucket, or of the items in no bucket (null), until the commit. */
export const holdPlaces = (ctx: Ctx, containerId: string, bucketId: string | null) =>
  ctx.tx`select pg_advisory_xact_lock(${lockClasses.places}, hashtext(${ctx.account.tenantId + containerId + (bucketId ?? '')}))`
