/**
 * Step-up without a password: the provider says that the person has signed in there just now.
 *
 *    oidc:start, purpose STEP_UP (prompt=login, max_age=0) ─▶ provider ─▶ step-up:provider ─▶ a proof, as with a password
 *
 * The proof is `auth_time` of the signed token: when the person showed themselves to the provider. It lies between 60 s before
 * the flow began and 60 s ahead, by the database's clock. Without it there is no proof; `iat` only says when the token was
 * written, which may follow from a session of last month. `acr` decides nothing: the account's own second factor is asked for
 * besides. The identity has to be one of the caller's account. An operator steps up by the installation's providers only: a
 * workspace's owner decides what the workspace's own say. Spec: people 4, N21; docs/decisions/0423.
 */

import type { provingOperations as ops } from '../../../contract/auth/proving.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { type Problem, refuse } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Claims } from '../../../kernel/egress/oidc.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type Actor, isAccount } from '../../../kernel/values/actor.ts'
import { refusalOfFactor } from '../second-factor/verification.ts'
import { secondsLocked } from '../sign-in/failed-attempts.ts'
import { grantProof, locked } from '../step-up.ts'
import { isInRegister } from '../token/ceiling.ts'
import { lockAccount } from '../token/ending.ts'
import { awaitFactor, type FlowRow, type Returned, redeemFor } from './flow.ts'
import { holdProviderInForce } from './in-force.ts'
import type { ProviderRow } from './provider-row.ts'

const slackSeconds = 60

/** Asks the provider, with no transaction open. Refuses auth.sign_in_failed, secret.unavailable. */
export const redeemForStepUp = (
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.stepUpByProvider>,
): Promise<Returned> =>
  redeemFor(installation, body, 'STEP_UP', ({ tenant_id, proved_account_id: proved }) => {
    if (!isAccount(actor) || tenant_id !== actor.tenantId) refuse('auth.sign_in_failed')
    if (proved !== null && proved !== actor.accountId) refuse('auth.sign_in_failed')
  })

/**
 * Creates a proof. Refuses auth.sign_in_failed, identity_provider.no_fresh_sign_in, auth.step_up_locked, auth.unauthenticated
 * where the caller's credential has just ended; and returns, so that the count is committed, auth.second_factor_required,
 * auth.second_factor_failed.
 */
export async function stepUpByProvider(
  ctx: Ctx,
  { body }: Received<typeof ops.stepUpByProvider>,
  { flow, claims }: Returned,
): Promise<Answer<typeof ops.stepUpByProvider> | Problem> {
  const actor = ctx.account
  const provider = await holdProviderInForce(ctx, actor.tenantId, flow.provider_id)
  if (!provider) refuse('auth.sign_in_failed')
  void lockAccount(ctx, actor)
  const seconds = await secondsLocked(ctx, actor, 'STEP_UP')
  if (seconds > 0) throw locked(seconds)
  if (claims) await proveIdentity(ctx, provider, flow, claims)

  const refusal = await refusalOfFactor(ctx, actor, body, 'STEP_UP')
  if (refusal) {
    await awaitFactor(ctx, flow, actor.accountId)
    return refusal
  }
  return grantProof(ctx, body)
}

async function proveIdentity(ctx: Ctx, provider: ProviderRow, flow: FlowRow, claims: Claims): Promise<void> {
  const { tenantId, accountId } = ctx.account
  const [own] = await ctx.tx`
    select 1 from connected_identity
    where tenant_id = ${tenantId} and provider_id = ${provider.id} and issuer = ${claims.iss} and subject = ${claims.sub}
      and account_id = ${accountId}`
  if (!own) refuse('auth.sign_in_failed')
  if (provider.tenant_id !== installationScope && (await isInRegister(ctx, accountId))) refuse('auth.sign_in_failed')
  if (!(await isFresh(ctx, flow, claims['auth_time']))) refuse('identity_provider.no_fresh_sign_in')
}

/** Whether the person showed themselves for this flow. */
async function isFresh({ tx }: Ctx, { tenant_id, id }: FlowRow, authTime: unknown): Promise<boolean> {
  if (typeof authTime !== 'number' || !Number.isFinite(authTime)) return false
  const [fresh] = await tx`
    select 1 from sign_in_flow
    where tenant_id = ${tenant_id} and id = ${id}
      and ${authTime}::float8 between date_part('epoch', began_at) - ${slackSeconds}
                                  and date_part('epoch', now()) + ${slackSeconds}`
  return fresh !== undefined
}
