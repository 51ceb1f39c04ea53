/**
 * Challenges: a sign-in that waits for the second factor.
 *
 *    right password, or a provider ─▶ 401 with a challenge ──5 minutes──▶ over
 *                                        ├─ :verify, right code ─▶ a session; once
 *                                        └─ void: with the password, the factor, the account, or the way in
 *
 * So no page keeps the password until the person has found the phone. The token stands for what was shown before it, so it
 * ends with that. A wrong code is counted and leaves the challenge open. Whatever voids one holds the lock on the account's
 * row, and so does its use: nothing is voided between the check and the session. Spec: people 4, N17; docs/decisions/0420.
 */

import type { Session } from '../../../contract/auth/operations.ts'
import type { provingOperations as ops } from '../../../contract/auth/proving.ts'
import type { Received } from '../../../contract/operation.ts'
import { Problem, refuse, refuseMember } from '../../../contract/problem.ts'
import { admitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { refuseWhileGated } from '../../../kernel/transaction/gate.ts'
import { newId } from '../../../kernel/values/id.ts'
import { hashToken, isTokenShaped, mintToken } from '../../../kernel/values/token.ts'
import { holdsRole } from '../../access/held-role.ts'
import { holdProviderInForce } from '../providers/in-force.ts'
import { refusalOfFactor } from '../second-factor/verification.ts'
import { lockAccount } from '../token/ending.ts'
import { startSession } from './session.ts'
import { passwordsServeNow } from './sign-in-methods.ts'

const challengeMinutes = 5
/** A clock that jumps back by more than this must not make a challenge live longer. */
const backwardSeconds = 5

/** Whose sign-in it is, and what was shown. */
export interface Begun {
  readonly tenantId: string
  readonly accountId: string
  /** The provider and the flow that led to the account; undefined: the password was right. */
  readonly through?: { readonly providerId: string; readonly flowId: string }
}

export const asksForFactor = (outcome: unknown): outcome is Problem =>
  outcome instanceof Problem && outcome.code === 'auth.second_factor_required'

/**
 * Adds a challenge to a refusal that asks for the second factor; any other stays as it is. The account is locked, the
 * workspace's role in force.
 */
export async function withChallenge(ctx: Ctx, begun: Begun, refusal: Problem): Promise<Problem> {
  if (!asksForFactor(refusal)) return refusal
  const { tenantId, accountId, through } = begun
  const { token, hash } = mintToken('challenge')
  const [made] = await ctx.tx<{ expires_at: string }[]>`
    insert into sign_in_challenge (tenant_id, id, account_id, hash, way, provider_id, flow_id, expires_at)
    values (${tenantId}, ${newId()}, ${accountId}, ${hash}, ${through ? 'PROVIDER' : 'PASSWORD'}, ${through?.providerId ?? null},
            ${through?.flowId ?? null}, now() + make_interval(mins => ${challengeMinutes}))
    returning expires_at`
  return new Problem(refusal.code, { challenge_token: token, challenge_expires_at: made?.expires_at ?? '' })
}

interface ChallengeRow {
  readonly tenant_id: string
  readonly id: string
  readonly account_id: string
  readonly provider_id: string | null
  readonly flow_id: string | null
}

/**
 * Finishes the sign-in. Refuses auth.challenge_invalid, installation.recovering, tenant_suspended; and returns, so that the
 * count is committed, auth.second_factor_failed, auth.second_factor_locked.
 */
export async function verifySignIn(ctx: Ctx, { body }: Received<typeof ops.verifySignIn>): Promise<Session | Problem> {
  if (body.totp === undefined && body.recovery_code === undefined) refuseMember('/totp', 'member.required')
  const challenge = await findChallenge(ctx, body.challenge_token)
  const { tenant_id: tenantId, account_id: accountId } = challenge
  await refuseWhileGated(ctx.tx, accountId)
  return ctx.inWorkspace(tenantId, () =>
    admitted(ctx.tx, { workspace: tenantId }, async () => {
      if (!(await isWayOpen(ctx, challenge)) || !(await isAliveLocked(ctx, challenge))) refuse('auth.challenge_invalid')
      const refusal = await refusalOfFactor(ctx, { tenantId, accountId }, body, 'SECOND_FACTOR')
      if (refusal) return refusal

      await endWithFlow(ctx, challenge)
      const { provider_id: providerId } = challenge
      return startSession(
        ctx,
        tenantId,
        accountId,
        providerId === null ? { way: 'PASSWORD' } : { way: 'PROVIDER', providerId },
      )
    }),
  )
}

/** An unknown one answers as an ended one. */
async function findChallenge({ tx }: Ctx, token: string): Promise<ChallengeRow> {
  if (!isTokenShaped(token, 'challenge')) refuse('auth.challenge_invalid')
  const [found] = await tx<ChallengeRow[]>`
    select tenant_id, id, account_id, provider_id, flow_id from sign_in_challenge where hash = ${hashToken(token)}`
  return found ?? refuse('auth.challenge_invalid')
}

/** Whether whoever came this way could still. A provider stays in force until the commit. */
async function isWayOpen(ctx: Ctx, { tenant_id, provider_id }: ChallengeRow): Promise<boolean> {
  if (provider_id === null) return passwordsServeNow(ctx, tenant_id)
  return (await holdProviderInForce(ctx, tenant_id, provider_id)) !== undefined
}

/** Locks the account, and looks at the challenge behind the lock. */
async function isAliveLocked(ctx: Ctx, { tenant_id, id, account_id }: ChallengeRow): Promise<boolean> {
  const { tx } = ctx
  void lockAccount(ctx, { tenantId: tenant_id, accountId: account_id })
  const [alive, isHere] = await Promise.all([
    tx`
      select 1 from sign_in_challenge c join account a on a.tenant_id = c.tenant_id and a.id = c.account_id
      where c.tenant_id = ${tenant_id} and c.id = ${id} and c.used_at is null and c.expires_at > now()
        and c.issued_at <= now() + make_interval(secs => ${backwardSeconds}) and a.state = 'ACTIVE'`,
    holdsRole(ctx, tenant_id, account_id),
  ])
  return alive.length > 0 && isHere
}

/** One proof by a provider gives one session: the flow ends with its challenges, and they with it. */
async function endWithFlow({ tx }: Ctx, { tenant_id, id, account_id, flow_id }: ChallengeRow): Promise<void> {
  await Promise.all([
    tx`
      update sign_in_challenge set used_at = now()
      where tenant_id = ${tenant_id} and account_id = ${account_id} and used_at is null and (id = ${id} or flow_id = ${flow_id})`,
    flow_id === null
      ? undefined
      : tx`update sign_in_flow set used_at = now() where tenant_id = ${tenant_id} and id = ${flow_id} and used_at is null`,
  ])
}

/** Ends the challenges of a flow that has led to a session. The account is locked. */
export const endChallengesOfFlow = ({ tx }: Ctx, tenantId: string, accountId: string, flowId: string) =>
  tx`
    update sign_in_challenge set used_at = now()
    where tenant_id = ${tenantId} and account_id = ${accountId} and flow_id = ${flowId} and used_at is null`
