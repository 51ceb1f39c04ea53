/**
 * The end of an account, and its return.
 *
 *    INVITED, ACTIVE ──disable──▶ DISABLED ──enable──▶ the state from before, without a credential
 *
 * Disabling ends in one transaction all that lets the account in: sessions, tokens and what these made, proofs, links of
 * resets, flows, the invitation (areas/auth/token/ending.ts). Whatever would make one at this moment waits for the
 * account's row, and then finds it DISABLED; the gate admits ACTIVE accounts only. Roles, assignments and connected
 * identities stay. It is an obligation: a rewind of the database brings nobody back.
 *
 * Spec: people 1, I2 and I3; docs/decisions/0377.
 */
import type { AccountState, accountOperations as ops } from '../../../contract/identity/accounts.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { isAccount } from '../../../kernel/values/actor.ts'
import { lockMemberships } from '../../access/held-role.ts'
import { isInRegister } from '../../auth/token/ceiling.ts'
import { endCredentialsOf, holdBearer } from '../../auth/token/ending.ts'
import { isOwner, keepAnOperator, keepAnOwner } from '../../memberships/last-owner.ts'
import { disableWebhooksOf } from '../../webhooks/disabling.ts'
import { readAccount } from './account-row.ts'
import { inWorkspaceOf } from './workspace.ts'

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

interface StateRow {
  readonly kind: 'PERSON' | 'SERVICE'
  readonly state: AccountState
}

interface LockedRow extends StateRow {
  readonly version: number
}

/** Refuses not_found, auth.unauthenticated, precondition.failed, membership.last_owner, admin.operator_last. */
export const disableAccount = (
  ctx: Ctx,
  { accountId }: Received<typeof ops.disableAccount>,
): Promise<Answer<typeof ops.disableAccount>> =>
  inWorkspaceOf(ctx, accountId, async (tenantId) => {
    const holder = { tenantId, accountId }
    const { state, version, ...standing } = await lockStanding(ctx, holder)
    ctx.unchanged(version)
    if (state === 'DISABLED') return readAccount(ctx, tenantId, accountId)
    return disable(ctx, holder, standing, () => readAccount(ctx, tenantId, accountId))
  })

/** Refuses not_found, auth.unauthenticated, precondition.failed. */
export const enableAccount = (
  ctx: Ctx,
  { accountId }: Received<typeof ops.enableAccount>,
): Promise<Answer<typeof ops.enableAccount>> =>
  inWorkspaceOf(ctx, accountId, async (tenantId) => {
    const { state, version } = await lockState(ctx, { tenantId, accountId })
    ctx.unchanged(version)
    if (state === 'DISABLED') await enable(ctx, { tenantId, accountId })
    return readAccount(ctx, tenantId, accountId)
  })

/** Repeats an end that a rewind of the database undid. Refuses not_found, membership.last_owner, admin.operator_last. */
export async function disableAgain(ctx: Ctx, holder: Holder): Promise<void> {
  const { state, ...standing } = await lockStanding(ctx, holder)
  if (state !== 'DISABLED') await disable(ctx, holder, standing, async () => {})
}

/** States change in turns with roles. A caller who was ended while it waited for its turn changes nothing any more. */
async function lockState(ctx: Ctx, holder: Holder): Promise<LockedRow> {
  void lockMemberships(ctx, holder.tenantId)
  const [, [row]] = await together(
    isAccount(ctx.actor) ? holdBearer(ctx, ctx.actor) : undefined,
    ctx.tx<LockedRow[]>`
      select kind, state, version from account
      where tenant_id = ${holder.tenantId} and id = ${holder.accountId} and state <> 'ERASED' for update`,
  )
  return row ?? refuse('not_found')
}

interface Standing {
  readonly owns: boolean
  readonly operates: boolean
}

async function lockStanding(ctx: Ctx, holder: Holder): Promise<LockedRow & Standing> {
  const asked = [lockState(ctx, holder), isOwner(ctx, holder), isInRegister(ctx, holder.accountId)] as const
  ctx.expectsObligation()
  const [row, owns, operates] = await together(...asked)
  return { ...row, owns, operates }
}

/** Ends the account; `read` is asked in the packet of the changes, behind them. */
async function disable<T>(ctx: Ctx, holder: Holder, { owns, operates }: Standing, read: () => Promise<T>): Promise<T> {
  const { tx } = ctx
  const { tenantId, accountId } = holder
  if (owns) await keepAnOwner(ctx, tenantId, accountId)
  if (operates) await keepAnOperator(ctx, accountId)
  const changed = tx<StateRow[]>`
    update account set state_before = state, state = 'DISABLED', disabled_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${accountId} returning kind, state`
  const others = Promise.all([
    endCredentialsOf(ctx, tenantId, [accountId], 'account_disabled'),
    disableWebhooksOf(ctx, tenantId, accountId),
    read(),
  ])
  oblige(ctx, 'account.disabled', holder)
  ctx.writeAhead()
  const [[row], [, , answer]] = await Promise.all([changed, others])
  if (!row) refuse('not_found')
  await ctx.record('identity.account.disabled', { id: accountId, ...row })
  await journal(ctx, 'account.disabled', holder)
  return answer
}

async function enable(ctx: Ctx, holder: Holder): Promise<void> {
  const [row] = await ctx.tx<StateRow[]>`
    update account set state = coalesce(state_before, 'ACTIVE'), state_before = null, disabled_at = null, updated_at = now(), version = version + 1
    where tenant_id = ${holder.tenantId} and id = ${holder.accountId} returning kind, state`
  if (!row) refuse('not_found')
  await ctx.record('identity.account.enabled', { id: holder.accountId, ...row })
  oblige(ctx, 'account.enabled', holder)
  await journal(ctx, 'account.enabled', holder)
}

type Act = 'account.disabled' | 'account.enabled'

const oblige = (ctx: Ctx, act: Act, { tenantId, accountId }: Holder): void =>
  ctx.recordObligation({ act, tenant_id: tenantId, account_id: accountId })

/** What is done at the database stands in the journal, too. */
async function journal(ctx: Ctx, act: Act, { tenantId, accountId }: Holder): Promise<void> {
  if (isAccount(ctx.actor)) return
  await ctx.asInstallation(async () => {
    const [tenant] = await ctx.tx<{ id: string; slug: string }[]>`select id, slug from tenant where id = ${tenantId}`
    await ctx.journal(act, tenant ?? null, { subject: { kind: 'account', id: accountId } })
  })
}
