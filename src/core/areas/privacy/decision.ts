/**
 * What a decision begins.
 *
 *    REFUSED    told, with the right to complain
 *    GRANTED    ERASURE waits SVC_ERASURE_WAIT_HOURS, in which it can be withdrawn; ACCESS and PORTABILITY have their package
 *               made; for the rest the handler does the work, and says that it is done
 *
 * Spec: Keeping, 2, N3.
 */
import type { Received } from '../../contract/operation.ts'
import { Choices, type privacyRequestOperations as ops } from '../../contract/privacy/requests.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isKeptForClaims } from '../access/restriction.ts'
import { proofRequired } from '../auth/token/proof-required.ts'
import { isOwner, keepAnOwner } from '../memberships/last-owner.ts'
import { recordDecided } from './evidence.ts'
import { makePackagesJob } from './packages/making.ts'
import { demandShown } from './preview/preview.ts'
import type { RequestRow } from './row.ts'
import { tellSubject } from './telling.ts'

type Body = Received<typeof ops.changePrivacyRequest>['body']

/**
 * Refuses privacy.closed, privacy.identity_unverified, request.invalid, auth.step_up_required, privacy.restricted,
 * membership.last_owner, plan.stale.
 */
export async function decide(ctx: Ctx, row: RequestRow, body: Body): Promise<void> {
  const { state, kind } = row
  if (state !== 'RECEIVED') refuse('privacy.closed', { state })
  if (kind !== 'ERASURE' && body.choices !== undefined)
    refuseMember('/choices', 'member.conflicts', { with: ['decision'] })
  await (body.decision === 'REFUSED' ? refused(ctx, row, body) : granted(ctx, row, body))
  const ground = body.refusal_ground === undefined ? {} : { ground: body.refusal_ground }
  await recordDecided(ctx, row, body.decision === 'REFUSED' ? 'REFUSED' : 'GRANTED', ground)
}

async function refused(ctx: Ctx, { id, account_id: accountId }: RequestRow, body: Body): Promise<void> {
  const { tenantId } = ctx.account
  await ctx.tx`
    update privacy_request
    set state = 'REFUSED', decision = 'REFUSED', refusal_ground = ${body.refusal_ground ?? null}, closed_at = now(), updated_at = now(),
        version = version + 1
    where tenant_id = ${tenantId} and id = ${id}`
  await tellSubject(ctx, 'privacy_answered', { tenantId, requestId: id, accountId, at: await ctx.now() })
}

async function granted(ctx: Ctx, row: RequestRow, body: Body): Promise<void> {
  const { tenantId } = ctx.account
  if (row.identity_state !== 'VERIFIED') refuse('privacy.identity_unverified')
  if (row.kind === 'ERASURE') return erasureGranted(ctx, row, body)
  await ctx.tx`
    update privacy_request set state = 'GRANTED', decision = 'GRANTED', updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${row.id}`
  if (row.kind !== 'ACCESS' && row.kind !== 'PORTABILITY') return
  await ctx.tx`insert into privacy_package (tenant_id, request_id) values (${tenantId}, ${row.id})`
  await ctx.enqueue(makePackagesJob, {})
}

async function erasureGranted(ctx: Ctx, { id, account_id: accountId }: RequestRow, body: Body): Promise<void> {
  const { tx, config } = ctx
  const { tenantId, isProven } = ctx.account
  if (!isProven) throw proofRequired()
  if (body.plan_hash === undefined) refuseMember('/plan_hash', 'member.required')
  await demandShown(ctx, id, body.plan_hash)
  if (accountId !== null) {
    if (await isKeptForClaims(ctx, tenantId, accountId)) refuse('privacy.restricted')
    if (await isOwner(ctx, { tenantId, accountId })) await keepAnOwner(ctx, tenantId, accountId)
  }
  const choices = Choices.parse(body.choices ?? {})
  const [row] = await tx<{ executes_at: string | null }[]>`
    update privacy_request
    set state = 'GRANTED', decision = 'GRANTED', choices = ${tx.json(choices)},
        executes_at = now() + make_interval(hours => ${config.privacy.erasureWaitHours}), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${id} returning executes_at`
  await tellSubject(ctx, 'privacy_erasing', {
    tenantId,
    requestId: id,
    accountId,
    at: row?.executes_at ?? (await ctx.now()),
  })
}
