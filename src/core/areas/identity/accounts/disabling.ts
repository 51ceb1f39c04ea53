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
import { isAccount } from '../../../kernel/values/actor.ts'
import { lockMemberships } from '../../access/held-role.ts'
import { isInRegister } from '../../auth/token/ceiling.ts'
import { endCredentials, holdBearer, lockAccount } from '../../auth/token/ending.ts'
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

/** Refuses not_found, auth.unauthenticated, precondition.failed, membership.last_owner, admin.operator_last. */
export const disableAccount = (
  ctx: Ctx,
  { accountId }: Received<typeof ops.disableAccount>,
): Promise<Answer<typeof ops.disableAccount>> =>
  inWorkspaceOf(ctx, accountId, async (tenantId) => {
    await takeTurn(ctx, tenantId)
    const { state, version } = await lockState(ctx, { tenantId, accountId })
    ctx.unchanged(version)
    if (state !== 'DISABLED') await disable(ctx, { tenantId, accountId })
    return readAccount(ctx, tenantId, accountId)
  })

/** Refuses not_found, auth.unauthenticated, precondition.failed. */
export const enableAccount = (
  ctx: Ctx,
  { accountId }: Received<typeof ops.enableAccount>,
): Promise<Answer<typeof ops.enableAccount>> =>
  inWorkspaceOf(ctx, accountId, async (tenantId) => {
    await takeTurn(ctx, tenantId)
    const { state, version } = await lockState(ctx, { tenantId, accountId })
    ctx.unchanged(version)
    if (state === 'DISABLED') await enable(ctx, { tenantId, accountId })
    return readAccount(ctx, tenantId, accountId)
  })

/** Repeats an end that a rewind of the database undid. Refuses not_found, membership.last_owner, admin.operator_last. */
export async function disableAgain(ctx: Ctx, holder: Holder): Promise<void> {
  await takeTurn(ctx, holder.tenantId)
  const { state } = await lockState(ctx, holder)
  if (state !== 'DISABLED') await disable(ctx, holder)
}

/** States change in turns with roles. A caller who was ended while it waited for its turn changes nothing any more. */
async function takeTurn(ctx: Ctx, tenantId: string): Promise<void> {
  await lockMemberships(ctx, tenantId)
  if (isAccount(ctx.actor)) await holdBearer(ctx, ctx.actor)
}

async function lockState(ctx: Ctx, holder: Holder): Promise<StateRow & { readonly version: number }> {
  void lockAccount(ctx, holder)
  const [row] = await ctx.tx<(StateRow & { version: number })[]>`
    select kind, state, version from account
    where tenant_id = ${holder.tenantId} and id = ${holder.accountId} and state <> 'ERASED'`
  return row ?? refuse('not_found')
}

async function disable(ctx: Ctx, holder: Holder): Promise<void> {
  const { tx } = ctx
  const { tenantId, accountId } = holder
  if (await isOwner(ctx, holder)) await keepAnOwner(ctx, tenantId, accountId)
  if (await isInRegister(ctx, accountId)) await keepAnOperator(ctx, accountId)
  const [row] = await tx<StateRow[]>`
    update account set state_before = state, state = 'DISABLED', disabled_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${accountId} returning kind, state`
  if (!row) refuse('not_found')
  await endCredentials(ctx, holder, 'account_disabled')
  await disableWebhooksOf(ctx, tenantId, accountId)
  await ctx.record('identity.account.disabled', { id: accountId, ...row })
  await settle(ctx, 'account.disabled', holder)
}

async function enable(ctx: Ctx, holder: Holder): Promise<void> {
  const [row] = await ctx.tx<StateRow[]>`
    update account set state = coalesce(state_before, 'ACTIVE'), state_before = null, disabled_at = null, updated_at = now(), version = version + 1
    where tenant_id = ${holder.tenantId} and id = ${holder.accountId} returning kind, state`
  if (!row) refuse('not_found')
  await ctx.record('identity.account.enabled', { id: holder.accountId, ...row })
  await settle(ctx, 'account.enabled', holder)
}

/** In the ledger, and at the database in the journal, too. */
async function settle(
  ctx: Ctx,
  act: 'account.disabled' | 'account.enabled',
  { tenantId, accountId }: Holder,
): Promise<void> {
  ctx.recordObligation({ act, tenant_id: tenantId, account_id: accountId })
  if (isAccount(ctx.actor)) return
  await ctx.asInstallation(async () => {
    const [tenant] = await ctx.tx<{ id: string; slug: string }[]>`select id, slug from tenant where id = ${tenantId}`
    await ctx.journal(act, tenant ?? null, { subject: { kind: 'account', id: accountId } })
  })
}
