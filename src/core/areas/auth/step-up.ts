/**
 * Step-up: the proof that the account's own person is at the keyboard, for one call.
 *
 * A proof is valid for 300 seconds by the database's clock, and for one use. It is bound to the
 * account and the bearer (session or token) that asked for it, and to one operation and target if
 * the request named them. Spending is one conditional update in a transaction of its own: of two
 * concurrent uses exactly one succeeds, and a call that is then refused has spent it all the same.
 *
 * Five failures, of password or second factor, in 15 minutes lock step-up for the account for 15 minutes.
 * Spec: Authentication, 4; decisions 2, Step-up.
 */

import type { passwordOperations as ops } from '../../contract/auth/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { Problem } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { AccountActor, Actor } from '../../kernel/values/actor.ts'
import { isAccount } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { hashToken, isTokenShaped, mintToken } from '../../kernel/values/token.ts'
import { hasherFor } from './password/hashing-lane.ts'
import { isPassword } from './password/password.ts'
import { refusalOfFactor } from './second-factor/verification.ts'
import { countFailure, secondsLocked } from './sign-in/failed-attempts.ts'
import { holdBearer } from './token/ending.ts'
import { proofRequired } from './token/proof-required.ts'

const proofSeconds = 300
/**
 * A clock that jumps back by more than this must not make a proof live longer: a proof issued in the future is invalid.
 */
const backwardSeconds = 5

/** The result of checking the account's own password before the transaction. */
export type Verdict =
  | { readonly is: 'right'; readonly passwordHash: string | null }
  | { readonly is: 'wrong' }
  | { readonly is: 'locked'; readonly seconds: number }

/** Checks the account's own password with no transaction open; if the account is locked, it is not checked. */
export async function proveOwnPassword(installation: Installation, actor: Actor, password: string): Promise<Verdict> {
  if (!isAccount(actor)) return { is: 'wrong' }
  const { tenantId, accountId } = actor
  const { hash, seconds } = await installation.transaction(actor, { tenantId, readOnly: true }, async (ctx) => {
    const [row] = await ctx.tx<
      { password_hash: string | null }[]
    >`select password_hash from account where tenant_id = ${tenantId} and id = ${accountId}`
    return { hash: row?.password_hash ?? null, seconds: await secondsLocked(ctx, actor, 'STEP_UP') }
  })
  if (seconds > 0) return { is: 'locked', seconds }
  return (await isPassword(hasherFor(actor, tenantId), password, hash))
    ? { is: 'right', passwordHash: hash }
    : { is: 'wrong' }
}

/**
 * Creates a proof. Refuses auth.sign_in_failed and auth.second_factor_failed (and counts them),
 * auth.second_factor_required, auth.step_up_locked, auth.unauthenticated where the caller's credential has just ended.
 */
export async function stepUp(
  ctx: Ctx,
  { body }: Received<typeof ops.stepUp>,
  verdict: Verdict,
): Promise<Answer<typeof ops.stepUp> | Problem> {
  const actor = ctx.account
  const refusal = (await refusalOf(ctx, actor, verdict)) ?? (await refusalOfFactor(ctx, actor, body, 'STEP_UP'))
  if (refusal) return refusal

  return grantProof(ctx, body)
}

/**
 * Writes a proof of the caller, for what the request names, and answers its token. Refuses auth.unauthenticated where the
 * caller's credential has just ended.
 */
export async function grantProof(
  ctx: Ctx,
  body: Pick<Received<typeof ops.stepUp>['body'], 'operation' | 'target_id'>,
): Promise<Answer<typeof ops.stepUp>> {
  const actor = ctx.account
  const { token, hash } = mintToken('stepUp')
  const [, [row]] = await Promise.all([
    holdBearer(ctx, actor),
    ctx.tx<{ expires_at: string }[]>`
    insert into step_up (tenant_id, id, account_id, bearer_id, hash, operation, target_id, expires_at)
    values (${actor.tenantId}, ${newId()}, ${actor.accountId}, ${actor.bearerId}, ${hash}, ${body.operation ?? null}, ${body.target_id ?? null},
            now() + make_interval(secs => ${proofSeconds}))
    returning expires_at`,
  ])
  await ctx.audit('step_up.granted', {
    subject: { kind: 'account', id: actor.accountId },
    params: { operation: body.operation ?? null },
  })
  return { step_up_token: token, expires_at: row?.expires_at ?? '' }
}

/**
 * The refusal for a verdict, if any. A wrong password is counted under the account's lock, so many attempts at once
 * cannot exceed the limit.
 */
export async function refusalOf(ctx: Ctx, actor: AccountActor, verdict: Verdict): Promise<Problem | undefined> {
  if (verdict.is === 'locked') return locked(verdict.seconds)
  const [row] = await ctx.tx<{ password_hash: string | null }[]>`
    select password_hash from account where tenant_id = ${actor.tenantId} and id = ${actor.accountId} for update`
  const seconds = await secondsLocked(ctx, actor, 'STEP_UP')
  if (seconds > 0) return locked(seconds)
  if (verdict.is === 'right' && row?.password_hash === verdict.passwordHash) return undefined

  await countFailure(ctx, actor, 'STEP_UP')
  return new Problem('auth.sign_in_failed')
}

export const locked = (seconds: number) =>
  new Problem('auth.step_up_locked', {}, { headers: { 'retry-after': String(Math.ceil(seconds)) } })

/**
 * Spends a proof, in a transaction of its own. Refuses auth.step_up_required for a proof that is not right and fresh,
 * tenant_suspended.
 */
export async function spendStepUp(
  installation: Installation,
  actor: AccountActor,
  proof: string | undefined,
  call: { readonly operation: string; readonly targetId: string | undefined },
): Promise<void> {
  if (proof === undefined || !isTokenShaped(proof, 'stepUp')) throw proofRequired()
  const { tenantId } = actor
  const bound = installation.config.requiresBoundStepUp
  const spent = await installation.transaction(actor, { tenantId, admits: true }, async (ctx) => {
    const used = await ctx.tx`
      update step_up set used_at = now()
      where hash = ${hashToken(proof)} and tenant_id = ${tenantId} and account_id = ${actor.accountId} and bearer_id = ${actor.bearerId}
        and used_at is null and expires_at > now() and issued_at <= now() + make_interval(secs => ${backwardSeconds})
        and (operation = ${call.operation} or (operation is null and not ${bound}))
        and (target_id is null or target_id = ${call.targetId ?? null})`
    return used.count === 1
  })
  if (!spent) throw proofRequired()
}
