/** Lengthens the deadline of a request, once. Spec: Keeping, 2, N4. */
import type { Received } from '../../contract/operation.ts'
import type { privacyRequestOperations as ops, PrivacyRequest } from '../../contract/privacy/requests.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { dueOf, lockRequest, readRequest } from './row.ts'
import { tellSubject } from './telling.ts'

/** Refuses not_found, precondition.failed, privacy.closed, privacy.extended_already, privacy.too_late. */
export async function extendPrivacyRequest(
  ctx: Ctx,
  { requestId, body }: Received<typeof ops.extendPrivacyRequest>,
): Promise<PrivacyRequest> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const row = await lockRequest(ctx, requestId)
  ctx.unchanged(row.version)
  const { state, extended_months, is_past, due_at } = row
  if (state !== 'RECEIVED' && state !== 'GRANTED') refuse('privacy.closed', { state })
  if (extended_months !== null) refuse('privacy.extended_already')
  if (is_past) refuse('privacy.too_late', { due_at })

  await tx`
    update privacy_request
    set extended_months = ${body.months}, extended_reason = ${body.reason}, extended_text = ${body.text}, extended_at = now(),
        updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${requestId}`
  await tx`
    update privacy_request set due_at = ${dueOf(tx)}, reminded = null where tenant_id = ${tenantId} and id = ${requestId}`

  const request = await readRequest(ctx, requestId)
  await ctx.audit('privacy_request.extended', {
    subject: { kind: 'privacy_request', id: requestId },
    params: { months: body.months, reason: body.reason, due_at: request.due_at },
  })
  await tellSubject(ctx, 'privacy_extended', { tenantId, requestId, accountId: row.account_id, at: request.due_at })
  return request
}
