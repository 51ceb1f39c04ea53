/**
 * The end of an offer, and its return.
 *
 *    OFFERED ──:withdraw, a day ahead or more──▶ WITHDRAWAL_ANNOUNCED ──its moment──▶ ENDED
 *      ▲ └─────────:withdraw, sooner, with the count─────────────────────────────────▶ │
 *      └──────────────:cancel-withdrawal──────────────────────────────────────────────┘
 *
 * A provider works until its `withdraw_at`, by the database's clock. The workspaces' switches stay
 * on, so a cancelled withdrawal restores the provider for them. The administrators of each of these
 * workspaces get a mail when the withdrawal is announced, when the offer ends and when the
 * withdrawal is cancelled.
 *
 * Spec: Offered identity provider; Admin: identity providers, rule 5.
 */

import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type {
  OfferedProvider,
  identityProviderOperations as ops,
  Withdrawal,
} from '../../../contract/providers/offered.ts'
import { demandPlan } from '../../../kernel/request/plan.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { endOffer, tellWorkspaces } from './jobs.ts'
import { countWorkspacesOn, lockOffered, readOffered } from './offered.ts'
import { getWithdrawalPlan } from './withdrawal-plan.ts'

const defaultDaysAhead = 14

interface Moment {
  readonly withdraw_at: string
  /** Less than a day ahead: too soon to warn anybody in time, so the offer ends now. */
  readonly is_now: boolean
}

/**
 * Announces the end, or ends the offer. Refuses not_found, identity_provider.already_withdrawn, plan.stale,
 * identity_provider.withdraw_count_mismatch.
 */
export async function withdrawIdentityProvider(
  ctx: Ctx,
  { providerId, body }: Received<typeof ops.withdrawIdentityProvider>,
): Promise<OfferedProvider> {
  const row = await lockOffered(ctx, providerId)
  if (row.state === 'ENDED') refuse('identity_provider.already_withdrawn')
  await demandPlan(body.plan_hash, () => getWithdrawalPlan(ctx, { providerId }))
  const { withdraw_at: at, is_now: isNow } = await momentOf(ctx, body)
  const count = await countWorkspacesOn(ctx, providerId)
  if (isNow && body.confirm_count !== count) refuse('identity_provider.withdraw_count_mismatch', { expected: count })

  await ctx.tx`
    update identity_provider
    set withdraw_at = ${at}, ended_at = case when ${isNow} then now() end, updated_at = now(), version = version + 1
    where tenant_id = ${row.tenant_id} and id = ${providerId}`
  await ctx.journal('identity_provider.withdrawn', null, {
    subject: { kind: 'identity_provider', id: providerId },
    params: { withdraw_at: at, workspace_count: count },
  })
  await ctx.enqueue(tellWorkspaces, { providerId, name: isNow ? 'provider_ended' : 'provider_withdrawn', at })
  if (!isNow) await ctx.enqueue(endOffer, { providerId }, { startAfter: new Date(at) })

  return readOffered(ctx, providerId)
}

/** The requested moment, and whether it counts as now, by the database's clock. */
async function momentOf(ctx: Ctx, { withdraw_at }: Withdrawal): Promise<Moment> {
  const [moment] = await ctx.tx<Moment[]>`
    select case when wanted < now() + interval '1 day' then now() else wanted end as withdraw_at, wanted < now() + interval '1 day' as is_now
    from (select coalesce(${withdraw_at ?? null}::timestamptz, now() + make_interval(days => ${defaultDaysAhead})) as wanted) asked`
  if (!moment) throw new Error('the database did not say what time it is')
  return moment
}

/** Cancels a withdrawal. Without one, nothing changes and nothing is recorded. Refuses not_found. */
export async function cancelIdentityProviderWithdrawal(
  ctx: Ctx,
  { providerId }: Received<typeof ops.cancelIdentityProviderWithdrawal>,
): Promise<OfferedProvider> {
  const row = await lockOffered(ctx, providerId)
  if (row.state === 'OFFERED') return readOffered(ctx, providerId)

  const [changed] = await ctx.tx<{ updated_at: string }[]>`
    update identity_provider set withdraw_at = null, ended_at = null, updated_at = now(), version = version + 1
    where tenant_id = ${row.tenant_id} and id = ${providerId} returning updated_at`
  const count = await countWorkspacesOn(ctx, providerId)
  await ctx.journal('identity_provider.withdrawal_cancelled', null, {
    subject: { kind: 'identity_provider', id: providerId },
    params: { had_ended: row.state === 'ENDED', workspace_count: count },
  })
  await ctx.enqueue(tellWorkspaces, {
    providerId,
    name: 'provider_restored',
    at: changed?.updated_at ?? row.updated_at,
  })

  return readOffered(ctx, providerId)
}
