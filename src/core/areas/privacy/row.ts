/** Rows of requests about personal data: who sees one, and how it is answered. Spec: Keeping, 2. */
import type { PrivacyRequest, RequestKind, RequestState } from '../../contract/privacy/requests.ts'
import { refuse } from '../../contract/problem.ts'
import { rankOf } from '../../contract/vocabulary.ts'
import { momentInJson } from '../../kernel/database/json-moment.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

/** What a rule reads of the row that it has locked. */
export interface RequestRow {
  readonly id: string
  readonly kind: RequestKind
  readonly state: RequestState
  readonly account_id: string | null
  readonly channel: 'SELF' | 'ENTERED'
  readonly identity_state: 'UNVERIFIED' | 'ASKED' | 'VERIFIED'
  readonly identity_how: string | null
  readonly identity_asked_at: string | null
  readonly identity_verified_at: string | null
  readonly handler_id: string | null
  readonly extended_months: number | null
  readonly due_at: string
  readonly is_past: boolean
  readonly version: number
  /** Whether its work has begun, from which nothing leads back. */
  readonly is_begun: boolean
}

/** The columns of an answer, of the request `r`. */
export const requestColumns = ({ tx }: Pick<Ctx, 'tx'>): Part => tx.part`
  r.id, r.kind, r.state, r.processing, r.details, r.channel, r.received_at, r.due_at,
  r.state in ('RECEIVED', 'GRANTED') and r.due_at < now() as is_overdue,
  json_build_object('account_id', r.account_id,
    'name', coalesce(r.subject_name, (select a.display_name from account a where a.tenant_id = r.tenant_id and a.id = r.account_id)),
    'contact', coalesce(r.subject_contact, (select a.email from account a where a.tenant_id = r.tenant_id and a.id = r.account_id))
  ) as subject,
  case when r.extended_at is not null then json_build_object('months', r.extended_months, 'reason', r.extended_reason,
    'at', ${momentInJson(tx, tx.part`r.extended_at`)}) end as extended,
  json_build_object('state', r.identity_state, 'how', r.identity_how, 'asked_at', ${momentInJson(tx, tx.part`r.identity_asked_at`)},
    'verified_at', ${momentInJson(tx, tx.part`r.identity_verified_at`)}, 'by', r.identity_by) as identity,
  r.handler_id, r.decision, r.refusal_ground, r.executes_at, r.held_parts, ${packageOf(tx)} as package, r.closed_at, r.created_at,
  r.version`

/** Of ACCESS and PORTABILITY; null until it can be fetched. */
const packageOf = (tx: Pick<Tx, 'part'>): Part => tx.part`(
  select json_build_object('ready_at', ${momentInJson(tx, tx.part`p.ready_at`)}, 'expires_at', ${momentInJson(tx, tx.part`p.expires_at`)},
    'size_bytes', p.size_bytes, 'sha256', p.sha256)
  from privacy_package p where p.tenant_id = r.tenant_id and p.request_id = r.id and p.state = 'READY' and p.expires_at > now())`

/** Whether the caller handles the requests of the workspace. */
export const isHandler = ({ account: { role, isGuest, scopes } }: Ctx): boolean =>
  !isGuest && rankOf[role] >= rankOf.ADMIN && scopes.includes('workspace:admin')

/** Refuses auth.role_required, auth.scope_required. */
export function demandHandler(ctx: Ctx): void {
  const { role, isGuest, scopes } = ctx.account
  if (isGuest || rankOf[role] < rankOf.ADMIN) refuse('auth.role_required', { role: 'ADMIN' })
  if (!scopes.includes('workspace:admin')) refuse('auth.scope_required', { scope: 'workspace:admin' })
}

/** A condition on the request `r`: that the caller sees it. */
export const isSeenRequest = (ctx: Ctx): Part =>
  isHandler(ctx) ? ctx.tx.part`true` : ctx.tx.part`r.account_id = ${ctx.account.accountId}`

/** The request, locked until the commit. Refuses not_found. */
export async function lockRequest(ctx: Ctx, requestId: string): Promise<RequestRow> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const [row] = await tx<Omit<RequestRow, 'is_begun'>[]>`
    select r.id, r.kind, r.state, r.account_id, r.channel, r.identity_state, r.identity_how, r.identity_asked_at,
           r.identity_verified_at, r.handler_id, r.extended_months, r.due_at, r.due_at < now() as is_past, r.version
    from privacy_request r
    where r.tenant_id = ${tenantId} and r.id = ${requestId} and ${isSeenRequest(ctx)} for update`
  if (!row) refuse('not_found')
  const begun = await tx`
    select 1 from erasure where tenant_id = ${tenantId} and request_id = ${requestId}
    union all select 1 from privacy_package where tenant_id = ${tenantId} and request_id = ${requestId} and attempt > 0`
  return { ...row, is_begun: begun.length > 0 }
}

/** Refuses not_found. */
export async function readRequest(
  ctx: Ctx,
  requestId: string,
  look: Ctx['tx'] | Ctx['tx']['last'] = ctx.tx,
): Promise<PrivacyRequest> {
  const [row] = await look<PrivacyRequest[]>`
    select ${requestColumns(ctx)} from privacy_request r
    where r.tenant_id = ${ctx.account.tenantId} and r.id = ${requestId} and ${isSeenRequest(ctx)}`
  return row ?? refuse('not_found')
}

/**
 * The deadline of the request `r`, from its columns as they are now. While identity is asked for, with the longest time that
 * the clock may stand: a month.
 */
export const dueOf = ({ part }: Pick<Tx, 'part'>): Part => part`
  privacy_due(received_at, 1 + coalesce(extended_months, 0), case
    when identity_asked_at is null then interval '0'
    when identity_verified_at is null then identity_asked_at + interval '1 month' - identity_asked_at
    else least(identity_verified_at, identity_asked_at + interval '1 month') - identity_asked_at end, time_zone)`
