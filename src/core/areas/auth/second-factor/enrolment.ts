/**
 * Enrolment: how an account gets a second factor, and moves it to another app.
 *
 *    none ──:enroll──▶ pending ──:confirm──▶ in force ──:replace──▶ in force + pending
 *                        │ 15 min              ▲  └─ :disable ─▶ none        │
 *                        ▼                     └──── replacement:confirm ────┘
 *                       void
 *
 * An account has at most one factor in force and one pending, by two unique indexes. A second call
 * of :enroll before the confirmation makes a new secret, because the old one may be lost.
 *
 * Every change of the factor voids the account's unspent step-ups. Confirming a first factor also
 * ends the other sessions, because they signed in without it.
 *
 * Spec: Index, Auth; docs/decisions/0054.
 */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { secondFactorOperations as ops, SecondFactor } from '../../../contract/second-factor/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { openSealed, removeSealed, storeSealed } from '../../../kernel/transaction/sealed-values.ts'
import type { AccountActor } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { tellAccount } from '../../mail/jobs.ts'
import { endOtherSessions, voidProofs } from '../sign-in/session.ts'
import { makeCodes } from './recovery-codes.ts'
import { newSecret, stepOf, uriOf } from './totp.ts'
import { findFactor, placeOf } from './verification.ts'

const pendingMinutes = 15

/** Refuses auth.second_factor_person, auth.second_factor_enrolled. */
export async function enrollTotp(ctx: Ctx): Promise<Answer<typeof ops.enrollTotp>> {
  const actor = await lockOwn(ctx)
  if (actor.kind === 'SERVICE') refuse('auth.second_factor_person')
  if (await findFactor(ctx, actor, 'in force')) refuse('auth.second_factor_enrolled')
  return begin(ctx, actor)
}

/** Refuses auth.second_factor_absent. */
export async function replaceTotp(ctx: Ctx): Promise<Answer<typeof ops.replaceTotp>> {
  const actor = await lockOwn(ctx)
  if (!(await findFactor(ctx, actor, 'in force'))) refuse('auth.second_factor_absent')
  return begin(ctx, actor)
}

/** Refuses auth.second_factor_failed, auth.second_factor_not_begun. */
export async function confirmTotp(
  ctx: Ctx,
  { body }: Received<typeof ops.confirmTotp>,
): Promise<Answer<typeof ops.confirmTotp>> {
  const actor = await lockOwn(ctx)
  if (await findFactor(ctx, actor, 'in force')) refuse('auth.second_factor_not_begun')
  await putInForce(ctx, actor, body.code)
  await endOtherSessions(ctx, { ...actor, except: actor.sessionId, because: 'second_factor_confirmed' })
  const codes = await makeCodes(ctx, actor)
  await tellConfirmed(ctx, actor, 'confirmed')
  return { recovery_codes: codes }
}

/** Refuses auth.second_factor_failed, auth.second_factor_not_begun. */
export async function confirmTotpReplacement(
  ctx: Ctx,
  { body }: Received<typeof ops.confirmTotpReplacement>,
): Promise<Answer<typeof ops.confirmTotpReplacement>> {
  const actor = await lockOwn(ctx)
  const old = await findFactor(ctx, actor, 'in force')
  if (!old) refuse('auth.second_factor_not_begun')
  await removeFactor(ctx, actor, old.id)
  await putInForce(ctx, actor, body.code)
  await tellConfirmed(ctx, actor, 'replaced')
  const factor = await readFactor(ctx, actor)
  if (!factor) throw new Error('a second factor that was put in force is gone')
  return factor
}

/** Locks the caller's account, so that changes of its second factor run one after another. */
export async function lockOwn(ctx: Ctx): Promise<AccountActor> {
  const actor = ctx.account
  await ctx.tx`select 1 from account where tenant_id = ${actor.tenantId} and id = ${actor.accountId} for update`
  return actor
}

/** The account's second factor; undefined if none is in force. */
export async function readFactor(
  ctx: Ctx,
  { tenantId, accountId }: Pick<AccountActor, 'tenantId' | 'accountId'>,
): Promise<SecondFactor | undefined> {
  const [row] = await ctx.tx<SecondFactor[]>`
    select f.confirmed_at as enrolled_at,
           (select count(*)::int from recovery_code c where c.tenant_id = ${tenantId} and c.account_id = ${accountId} and c.used_at is null) as recovery_codes_left
    from second_factor f where f.tenant_id = ${tenantId} and f.account_id = ${accountId} and f.confirmed_at is not null`
  return row
}

async function begin(ctx: Ctx, actor: AccountActor): Promise<Answer<typeof ops.enrollTotp>> {
  const { tenantId, accountId } = actor
  const pending = await findFactor(ctx, actor, 'pending')
  if (pending) await removeFactor(ctx, actor, pending.id)
  const secret = newSecret()
  const id = newId()
  const [begun] = await ctx.tx<{ expires_at: string }[]>`
    insert into second_factor (tenant_id, id, account_id) values (${tenantId}, ${id}, ${accountId})
    returning created_at + make_interval(mins => ${pendingMinutes}) as expires_at`
  const [names] = await ctx.tx<{ email: string | null; display_name: string }[]>`
    select coalesce(a.email, a.sign_in_name) as email, t.display_name from account a join tenant t on t.id = a.tenant_id
    where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  if (!begun || !names) throw new Error('an enrolment that was begun is gone')
  await storeSealed(ctx, placeOf(actor, id), secret)
  return {
    secret,
    otpauth_uri: uriOf(secret, names.display_name, names.email ?? accountId),
    expires_at: begun.expires_at,
  }
}

/** Refuses auth.second_factor_not_begun, auth.second_factor_failed; the code's own time step is used up. */
async function putInForce(ctx: Ctx, actor: AccountActor, code: string): Promise<void> {
  const pending = await findFactor(ctx, actor, 'pending')
  if (!pending) refuse('auth.second_factor_not_begun')
  const step = stepOf(await openSealed(ctx, placeOf(actor, pending.id)), code, pending.at_seconds)
  if (step === undefined) refuse('auth.second_factor_failed')
  const confirmed = await ctx.tx`
    update second_factor set confirmed_at = now(), last_step = ${step}
    where tenant_id = ${actor.tenantId} and id = ${pending.id} and created_at > now() - make_interval(mins => ${pendingMinutes})`
  if (confirmed.count === 0) refuse('auth.second_factor_not_begun')
  await voidProofs(ctx, actor)
}

/** Removes the row and its sealed secret. */
export async function removeFactor(ctx: Ctx, { tenantId }: Pick<AccountActor, 'tenantId'>, id: string): Promise<void> {
  await ctx.tx`delete from second_factor where tenant_id = ${tenantId} and id = ${id}`
  await removeSealed(ctx, { tenantId, kind: 'mfa.totp', ownerId: id })
}

const eventOf = {
  confirmed: 'identity.second_factor.confirmed',
  replaced: 'identity.second_factor.replaced',
} as const

async function tellConfirmed(
  ctx: Ctx,
  { tenantId, accountId }: AccountActor,
  what: keyof typeof eventOf,
): Promise<void> {
  const noticeId = await ctx.record(eventOf[what], { account_id: accountId })
  await tellAccount(ctx, { tenantId, accountId, noticeId, name: 'second_factor_on', at: dateNow().toISOString() })
}
