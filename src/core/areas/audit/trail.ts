/**
 * The workspace's own trail, newest first.
 *
 * Ordered by time and id, not by id alone: ids come from the daemons' clocks, the time comes from the database's. Each
 * filter alone has an index in that order (migration 0019), so a page costs the same at any length of the trail. Spec:
 * ours; decision 0103.
 */

import type { AuditEntry, auditOperations as ops } from '../../contract/audit/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lastId, pageOfRows } from '../../kernel/transaction/page.ts'

interface EntryRow extends AuditEntry {
  /** To the microsecond, which an answer's `at` is not. */
  readonly exact: string
}

/** Refuses cursor.invalid. */
export const listAuditEntries = (
  ctx: Ctx,
  { cursor, size, ...filters }: Received<typeof ops.listAuditEntries>,
): Promise<TrailPage> => pageOfTrail(ctx, 'listAuditEntries', filters, { cursor, size })

/** A page of the list `operation`; the last statement of its transaction. Refuses cursor.invalid. */
export async function pageOfTrail(
  ctx: Ctx,
  operation: string,
  filters: Filters,
  { cursor, size }: { readonly cursor?: string | undefined; readonly size: number },
): Promise<TrailPage> {
  const { tenantId } = ctx.account
  const [at = 'infinity', id = lastId] = cursor === undefined ? [] : ctx.cursor.read(operation, filters, cursor)
  const rows = await ctx.tx.last<EntryRow[]>`
    select id, at, at::text as exact, action,
           json_build_object('kind', actor_kind, 'account_id', actor_account_id, 'via', via) as actor,
           case when subject_id is not null then json_build_object('kind', subject_kind, 'id', subject_id) end as subject,
           params
    from audit_entry
    where tenant_id = ${tenantId} and (at, id) < (${at}::timestamptz, ${id}::uuid) ${narrowed(ctx, filters)}
    order by at desc, id desc limit ${size + 1}`
  return pageOfRows(ctx, { operation, filters }, rows, size, (last) => [last.exact, last.id])
}

type TrailPage = Answer<typeof ops.listAuditEntries>
type Filters = Omit<Received<typeof ops.listAuditEntries>, 'cursor' | 'size'>

function narrowed({ tx }: Ctx, { from, until, action, subject_id, actor_id }: Filters) {
  return tx.part`
    ${from === undefined ? tx.part`` : tx.part`and at >= ${from}::timestamptz`}
    ${until === undefined ? tx.part`` : tx.part`and at < ${until}::timestamptz`}
    ${action === undefined ? tx.part`` : tx.part`and action = ${action}`}
    ${subject_id === undefined ? tx.part`` : tx.part`and subject_id = ${subject_id}`}
    ${actor_id === undefined ? tx.part`` : tx.part`and actor_account_id = ${actor_id}`}`
}
