/**
 * Opens a request about personal data: for oneself, or as an administrator for somebody.
 *
 *    none ──POST──▶ RECEIVED, with its deadline ── an objection to AI or statistics: DONE at once
 *
 * The own request is of a person who is known: by the step-up that it takes, or else by the credential. One that is entered is
 * of somebody whom the handler has to make sure of. Spec: Keeping, 2, N2.
 */
import type { Received } from '../../contract/operation.ts'
import type { privacyRequestOperations as ops, PrivacyRequest } from '../../contract/privacy/requests.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { newId } from '../../kernel/values/id.ts'
import { recordObjection } from '../consents/acts.ts'
import { recordClosed } from './evidence.ts'
import { askForSearch } from './preview/search.ts'
import { demandHandler, readRequest } from './row.ts'
import { tellHandlers, tellSubject } from './telling.ts'

type Body = Received<typeof ops.openPrivacyRequest>['body']

const mostDaysBack = 90

interface Opened {
  readonly id: string
  readonly due_at: string
}

/**
 * Refuses request.invalid, auth.role_required, auth.scope_required, privacy.person_only, privacy.request_open.
 */
export async function openPrivacyRequest(
  ctx: Ctx,
  { body }: Received<typeof ops.openPrivacyRequest>,
): Promise<PrivacyRequest> {
  const { tenantId, accountId } = ctx.account
  checkBody(ctx, body)
  const isOwn = body.account_id === undefined && body.subject === undefined
  const subjectId = isOwn ? accountId : (body.account_id ?? null)
  if (subjectId !== null) await demandPerson(ctx, subjectId)
  if (body.received_at !== undefined) await demandReceived(ctx, body.received_at)

  const opened = await insert(ctx, body, { isOwn, subjectId })
  const { kind } = body
  await ctx.record('work.privacy_request.received', { id: opened.id, kind, state: 'RECEIVED' })
  if (kind === 'ERASURE') await askForSearch(ctx, tenantId, opened.id)
  const request = { tenantId, requestId: opened.id, accountId: subjectId, at: opened.due_at }
  const isErasureOfAnother = !isOwn && kind === 'ERASURE'
  await tellSubject(ctx, isErasureOfAnother ? 'privacy_entered' : 'privacy_received', request)
  await tellHandlers(ctx, 'privacy_arrived', request)
  if (body.processing === 'AI' || body.processing === 'STATISTICS')
    await objectAtOnce(ctx, opened.id, subjectId, body.processing)

  return readRequest(ctx, opened.id)
}

/** Refuses request.invalid, auth.role_required, auth.scope_required. */
function checkBody(ctx: Ctx, body: Body): void {
  const { kind, processing, account_id, subject, received_at } = body
  if (kind === 'OBJECTION' && processing === undefined) refuseMember('/processing', 'member.required')
  if (kind !== 'OBJECTION' && processing !== undefined)
    refuseMember('/processing', 'member.conflicts', { with: ['kind'] })
  if (account_id === undefined && subject === undefined && received_at === undefined) return
  demandHandler(ctx)
  if (account_id !== undefined && subject !== undefined)
    refuseMember('/subject', 'member.conflicts', { with: ['account_id'] })
  if (account_id === undefined && subject === undefined) refuseMember('/account_id', 'member.required')
  if (account_id === ctx.account.accountId) refuseMember('/account_id', 'value.not_taken')
}

/** Refuses request.invalid, privacy.person_only. */
async function demandPerson({ tx, account: { tenantId, accountId } }: Ctx, subjectId: string): Promise<void> {
  const [found] = await tx<{ kind: string }[]>`
    select kind from account where tenant_id = ${tenantId} and id = ${subjectId} and state <> 'ERASED' for key share`
  if (!found && subjectId !== accountId) refuseMember('/account_id', 'reference.unknown')
  if (found?.kind !== 'PERSON') refuse('privacy.person_only')
}

/** Refuses request.invalid. */
async function demandReceived({ tx }: Ctx, receivedAt: string): Promise<void> {
  const [found] = await tx<{ is_ahead: boolean; is_far: boolean }[]>`
    select ${receivedAt}::timestamptz > now() as is_ahead,
           ${receivedAt}::timestamptz < now() - make_interval(days => ${mostDaysBack}) as is_far`
  if (found?.is_ahead) refuseMember('/received_at', 'value.maximum', { maximum: 'now' })
  if (found?.is_far) refuseMember('/received_at', 'value.minimum', { minimum: `${mostDaysBack} days ago` })
}

/** Refuses privacy.request_open. */
async function insert(
  ctx: Ctx,
  { kind, details, processing, subject, received_at }: Body,
  { isOwn, subjectId }: { readonly isOwn: boolean; readonly subjectId: string | null },
): Promise<Opened> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const [place] = await tx<{ zone: string; now: string }[]>`
    select default_time_zone as zone, now() as now from tenant where id = ${tenantId}`
  const zone = place?.zone ?? 'UTC'
  const now = place?.now ?? (await ctx.now())
  const [made] = await tx<Opened[]>`
    insert into privacy_request (tenant_id, id, kind, account_id, subject_name, subject_contact, processing, details, channel,
      received_at, time_zone, due_at, identity_state, identity_verified_at, identity_by)
    values (${tenantId}, ${newId()}, ${kind}, ${subjectId}, ${subject?.name ?? null}, ${subject?.contact ?? null},
      ${processing ?? null}, ${details ?? null}, ${isOwn ? 'SELF' : 'ENTERED'}, ${received_at ?? now}, ${zone},
      privacy_due(${received_at ?? now}, 1, interval '0', ${zone}),
      ${isOwn ? 'VERIFIED' : 'UNVERIFIED'}, ${isOwn ? now : null}, ${isOwn ? accountId : null})
    on conflict (tenant_id, account_id, kind) where state in ('RECEIVED', 'GRANTED', 'PARTLY_DONE') do nothing
    returning id, due_at`
  return made ?? refuseOpen(ctx, kind, subjectId)
}

async function refuseOpen({ tx, account: { tenantId } }: Ctx, kind: string, subjectId: string | null): Promise<never> {
  const [open] = await tx<{ id: string }[]>`
    select id from privacy_request
    where tenant_id = ${tenantId} and account_id = ${subjectId} and kind = ${kind} and state in ('RECEIVED', 'GRANTED', 'PARTLY_DONE')`
  return refuse('privacy.request_open', { request_id: open?.id ?? null })
}

/** Nothing is to be decided: the objection counts from now on. */
async function objectAtOnce(
  ctx: Ctx,
  requestId: string,
  accountId: string | null,
  processing: 'AI' | 'STATISTICS',
): Promise<void> {
  const { tenantId } = ctx.account
  await ctx.tx`
    update privacy_request set state = 'DONE', decision = 'GRANTED', closed_at = now(), updated_at = now()
    where tenant_id = ${tenantId} and id = ${requestId}`
  if (accountId !== null) await recordObjection(ctx, { tenantId, accountId, processing })
  await recordClosed(ctx, { id: requestId, kind: 'OBJECTION' }, 'DONE')
}
