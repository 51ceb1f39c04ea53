/** Requests about personal data, read. Spec: Keeping, 2, N1 and K1. */
import type { Answer, Received } from '../../contract/operation.ts'
import type { privacyRequestOperations as ops, PrivacyRequest } from '../../contract/privacy/requests.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lastId, pageOfRows, pageStart } from '../../kernel/transaction/page.ts'
import { isSeenRequest, readRequest, requestColumns } from './row.ts'

/** Newest first. Refuses cursor.invalid. */
export async function listPrivacyRequests(
  ctx: Ctx,
  { state, kind, account_id, overdue, cursor, size }: Received<typeof ops.listPrivacyRequests>,
): Promise<Answer<typeof ops.listPrivacyRequests>> {
  const { tx } = ctx
  const list = { operation: 'listPrivacyRequests', filters: { state, kind, account_id, overdue } }
  const before = pageStart(ctx, list, cursor) ?? lastId
  const isPast = tx.part`(r.state in ('RECEIVED', 'GRANTED') and r.due_at < now())`
  const rows = await tx.last<PrivacyRequest[]>`
    select ${requestColumns(ctx)} from privacy_request r
    where r.tenant_id = ${ctx.account.tenantId} and r.id < ${before}::uuid and ${isSeenRequest(ctx)}
      ${state === undefined ? tx.part`` : tx.part`and r.state = ${state}`}
      ${kind === undefined ? tx.part`` : tx.part`and r.kind = ${kind}`}
      ${account_id === undefined ? tx.part`` : tx.part`and r.account_id = ${account_id}`}
      ${overdue === undefined ? tx.part`` : tx.part`and ${isPast} = ${overdue === 'true'}`}
    order by r.id desc limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size)
}

/** Refuses not_found. */
export const getPrivacyRequest = (
  ctx: Ctx,
  { requestId }: Received<typeof ops.getPrivacyRequest>,
): Promise<PrivacyRequest> => readRequest(ctx, requestId, ctx.tx.last)
