/**
 * The return from a provider: the flow is spent, the code is exchanged for claims, and the person
 * that the claims name signs in, joins, or is turned away.
 *
 * Any fault in the provider's answer (a foreign issuer, nonce or audience, a bad signature, an
 * expired token, one that is too large or too late) is the same refusal, auth.sign_in_failed. A
 * person whom the provider knows but who is not admitted here is told so (auth.not_admitted).
 *
 * Spec: Index, Auth; IdentityProviderConfiguration.
 */

import type { Session } from '../../../contract/auth/operations.ts'
import type { Received } from '../../../contract/operation.ts'
import { Problem, refuse } from '../../../contract/problem.ts'
import type { providerSignInOperations as ops } from '../../../contract/providers/operations.ts'
import { admitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { refuseWhileGated } from '../../../kernel/transaction/gate.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { holdsRole } from '../../access/held-role.ts'
import { refusalOfFactor } from '../second-factor/verification.ts'
import { endChallengesOfFlow, withChallenge } from '../sign-in/challenge.ts'
import { startSession } from '../sign-in/session.ts'
import { admit, admitProved, type TurnedAwayPerson } from './admission.ts'
import { awaitFactor, type Returned, redeemFor } from './flow.ts'
import { followGroups, lockWhereBound } from './follow-groups.ts'
import { holdProviderInForce } from './in-force.ts'
import type { Arrival } from './joining.ts'
import { makeLink } from './link.ts'
import type { ProviderRow } from './provider-row.ts'

/** Refuses auth.sign_in_failed, secret.unavailable. */
export const redeemFlow = (
  installation: Installation,
  _: Actor,
  { body }: Received<typeof ops.finishOidc>,
): Promise<Returned> => redeemFor(installation, body, 'SIGN_IN')

/**
 * Returned, not thrown, so that the reason stays in the trail, where an administrator finds it. Whom the provider named gets a
 * link, whether there is an account or not.
 */
async function turnAway(
  ctx: Ctx,
  provider: ProviderRow,
  arrival: Arrival | undefined,
  { reason, accountId }: Pick<TurnedAwayPerson, 'reason' | 'accountId'>,
): Promise<Problem> {
  await ctx.audit('sign_in.turned_away', {
    subject: { kind: 'identity_provider', id: provider.id },
    params: { reason },
  })
  if (reason === 'no_role' || !arrival) return new Problem('auth.sign_in_failed')
  return new Problem('auth.not_admitted', { link_token: await makeLink(ctx, arrival, accountId) })
}

/**
 * Signs in the person that the claims name, after the account's own second factor if it has one. Refuses
 * auth.sign_in_failed, auth.not_admitted, auth.second_factor_required, auth.second_factor_failed,
 * auth.second_factor_locked, auth.invitation_invalid, tenant_suspended, installation.recovering.
 */
export async function finishOidc(
  ctx: Ctx,
  { body }: Received<typeof ops.finishOidc>,
  { flow, claims }: Returned,
): Promise<Session | Problem> {
  const { tenant_id: tenantId } = flow
  return ctx.inWorkspace(tenantId, () =>
    admitted(ctx.tx, { workspace: tenantId }, async () => {
      // Locked until the commit: after a withdrawal is answered, nobody signs in through the provider any more.
      const provider = await holdProviderInForce(ctx, tenantId, flow.provider_id)
      if (!provider) refuse('auth.sign_in_failed')
      const follows = claims !== undefined && (await lockWhereBound(ctx, tenantId, provider))
      const arrival = claims && { tenantId, provider, claims, invitationId: flow.invitation_id }
      const admission = arrival ? await admit(ctx, arrival) : await admitProved(ctx, tenantId, flow.proved_account_id)
      if (admission.is === 'turned away') return turnAway(ctx, provider, arrival, admission)
      const { accountId } = admission
      // What the provider says of the account's groups holds also where the account may not sign in then.
      if (arrival && follows) await followGroups(ctx, arrival, accountId)
      if (!(await holdsRole(ctx, tenantId, accountId))) return turnAway(ctx, provider, arrival, { reason: 'no_role' })
      await ctx.asInstallation(() => refuseWhileGated(ctx.tx, accountId))
      const refusal = await refusalOfFactor(ctx, { tenantId, accountId }, body, 'SECOND_FACTOR')
      if (refusal) {
        await awaitFactor(ctx, flow, accountId)
        return withChallenge(
          ctx,
          { tenantId, accountId, through: { providerId: provider.id, flowId: flow.id } },
          refusal,
        )
      }
      if (!arrival) await endChallengesOfFlow(ctx, tenantId, accountId, flow.id)
      return startSession(ctx, tenantId, accountId, { way: 'PROVIDER', providerId: provider.id })
    }),
  )
}
