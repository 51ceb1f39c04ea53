/**
 * Handles a request: who has it, who the person is, the decision, its end by hand.
 *
 *    RECEIVED ──REFUSED──▶ REFUSED
 *        └─────GRANTED, identity VERIFIED──▶ GRANTED ──the work──▶ DONE, PARTLY_DONE
 *        └─────────────────────────────────────┴──before the work──▶ WITHDRAWN
 *
 * The person withdraws; all else is for administrators, and none handles the request of somebody with a higher role or of an
 * operator (auth/token/ceiling.ts). Elsewhere: what granting begins (decision.ts). Spec: Keeping, 2, N3.
 */
import type { Received } from '../../contract/operation.ts'
import type { privacyRequestOperations as ops, PrivacyRequest } from '../../contract/privacy/requests.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { administratorsOf } from '../access/workspace-role.ts'
import { keepCeilingOfEach } from '../auth/token/ceiling.ts'
import { decide } from './decision.ts'
import { recordClosed } from './evidence.ts'
import { demandHandler, dueOf, isHandler, lockRequest, type RequestRow, readRequest } from './row.ts'
import { tellSubject } from './telling.ts'

type Body = Received<typeof ops.changePrivacyRequest>['body']

/**
 * Refuses not_found, precondition.failed, request.invalid, auth.role_required, auth.scope_required, auth.step_up_required,
 * admin.operator_required, privacy.identity_unverified, privacy.closed, privacy.restricted, membership.last_owner, plan.stale.
 */
export async function changePrivacyRequest(
  ctx: Ctx,
  { requestId, body }: Received<typeof ops.changePrivacyRequest>,
): Promise<PrivacyRequest> {
  checkBody(body)
  const row = await lockRequest(ctx, requestId)
  await demandMay(ctx, row, body)
  ctx.unchanged(row.version)

  const isHandled = await handle(ctx, row, body)
  if (body.decision !== undefined) await decide(ctx, await relocked(ctx, row, isHandled), body)
  if (body.state === 'WITHDRAWN') await withdraw(ctx, row)
  if (body.state === 'DONE') await finishByHand(ctx, row)

  return readRequest(ctx, requestId)
}

/** Refuses request.invalid. */
function checkBody({ decision, refusal_ground, state, identity, choices, plan_hash }: Body): void {
  if (decision === 'REFUSED' && refusal_ground === undefined) refuseMember('/refusal_ground', 'member.required')
  if (decision !== 'REFUSED' && refusal_ground !== undefined)
    refuseMember('/refusal_ground', 'member.conflicts', { with: ['decision'] })
  if (decision !== undefined && state !== undefined) refuseMember('/state', 'member.conflicts', { with: ['decision'] })
  if (decision !== 'GRANTED' && (choices !== undefined || plan_hash !== undefined))
    refuseMember(choices === undefined ? '/plan_hash' : '/choices', 'member.conflicts', { with: ['decision'] })
  if (identity?.state === 'VERIFIED' && identity.how === undefined) refuseMember('/identity/how', 'member.required')
}

/** Refuses auth.role_required, auth.scope_required, admin.operator_required. */
async function demandMay(ctx: Ctx, { account_id }: RequestRow, body: Body): Promise<void> {
  const isOwn = account_id === ctx.account.accountId
  const withdrawsOnly = Object.entries(body).every(([name, value]) => name === 'state' && value === 'WITHDRAWN')
  if (isOwn && withdrawsOnly) return
  demandHandler(ctx)
  if (account_id !== null && !isOwn) await keepCeilingOfEach(ctx, [account_id])
}

/** Who has it, and who the person is. Answers whether anything changed. */
async function handle(ctx: Ctx, row: RequestRow, { handler_id, identity }: Body): Promise<boolean> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const changed: string[] = []
  if (handler_id !== undefined && handler_id !== row.handler_id) {
    if (handler_id !== null) await demandAdministrator(ctx, handler_id)
    changed.push('handler_id')
  }
  const isNewIdentity =
    identity !== undefined && (identity.state !== row.identity_state || (identity.how ?? null) !== row.identity_how)
  if (isNewIdentity) {
    // An own request is of whoever called, and what was made sure stays so.
    if (row.identity_state === 'VERIFIED' && (row.channel === 'SELF' || identity.state === 'ASKED'))
      refuseMember('/identity/state', 'value.not_taken')
    changed.push('identity')
  }
  if (changed.length === 0) return false
  if (row.state !== 'RECEIVED' && row.state !== 'GRANTED') refuse('privacy.closed', { state: row.state })

  if (handler_id !== undefined && changed.includes('handler_id'))
    await tx`
      update privacy_request set handler_id = ${handler_id} where tenant_id = ${tenantId} and id = ${row.id}`
  if (isNewIdentity) {
    const isVerified = identity.state === 'VERIFIED'
    const now = await ctx.now()
    await tx`
      update privacy_request
      set identity_state = ${identity.state}, identity_how = ${identity.how ?? null}, identity_by = ${isVerified ? accountId : null},
          identity_asked_at = ${row.identity_asked_at ?? (isVerified ? null : now)},
          identity_verified_at = ${isVerified ? (row.identity_verified_at ?? now) : null}
      where tenant_id = ${tenantId} and id = ${row.id}`
  }
  await tx`
    update privacy_request set due_at = ${dueOf(tx)}, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${row.id}`
  await ctx.audit('privacy_request.changed', {
    subject: { kind: 'privacy_request', id: row.id },
    params: { members: changed, ...(isNewIdentity ? { identity: identity.state } : {}) },
  })
  return true
}

const relocked = (ctx: Ctx, row: RequestRow, isChanged: boolean): Promise<RequestRow> | RequestRow =>
  isChanged ? lockRequest(ctx, row.id) : row

/** Refuses request.invalid. */
async function demandAdministrator({ tx, account: { tenantId } }: Ctx, accountId: string): Promise<void> {
  const [found] = await tx`
    select 1 from account a where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state = 'ACTIVE'
      and a.id in (${administratorsOf(tx, tenantId)})`
  if (!found) refuseMember('/handler_id', 'reference.unknown')
}

/** Refuses privacy.closed. */
async function withdraw(ctx: Ctx, row: RequestRow): Promise<void> {
  const { id, state, is_begun } = row
  if (state === 'WITHDRAWN') return
  if ((state !== 'RECEIVED' && state !== 'GRANTED') || is_begun) refuse('privacy.closed', { state })
  await close(ctx, row, 'WITHDRAWN')
  await ctx.tx`delete from privacy_package where tenant_id = ${ctx.account.tenantId} and request_id = ${id}`
  await recordClosed(ctx, row, 'WITHDRAWN')
}

/** What people do by hand, and then say so: erasures and packages say it themselves. Refuses privacy.closed, request.invalid. */
async function finishByHand(ctx: Ctx, row: RequestRow): Promise<void> {
  const { id, kind, state, account_id: accountId } = row
  const { tenantId } = ctx.account
  if (!isHandler(ctx)) demandHandler(ctx)
  if (kind === 'ERASURE' || kind === 'ACCESS' || kind === 'PORTABILITY') refuseMember('/state', 'value.not_taken')
  if (state === 'DONE') return
  if (state !== 'GRANTED') refuse('privacy.closed', { state })
  await close(ctx, row, 'DONE')
  await recordClosed(ctx, row, 'DONE')
  await tellSubject(ctx, 'privacy_answered', { tenantId, requestId: id, accountId, at: await ctx.now() })
}

const close = ({ tx, account: { tenantId } }: Ctx, { id }: RequestRow, state: 'WITHDRAWN' | 'DONE') =>
  tx`
    update privacy_request
    set state = ${state}, executes_at = null, closed_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${id}`
