/**
 * The installation's identity providers: listed, offered, changed, removed.
 *
 * Removing a provider also removes its connections, switches and secret; accounts and live sessions
 * stay. A change locks the provider's row, and so does a workspace that switches it on: a confirmed
 * count of workspaces cannot change before the change is made.
 *
 * Elsewhere: the end of an offer (withdrawal.ts), who could no longer sign in (withdrawal-plan.ts).
 * Spec: Admin: identity providers, rules 1 to 4.
 */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import type { OfferedProvider, identityProviderOperations as ops } from '../../../contract/providers/offered.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { newId } from '../../../kernel/values/id.ts'
import { checkChange, type Settled } from '../providers/configuration.ts'
import { inOrder, readProviders } from '../providers/in-force.ts'
import { checkGroup } from '../providers/newcomer-group.ts'
import {
  deleteProvider,
  insertProvider,
  lockProvider,
  type ProviderRow,
  updateProvider,
} from '../providers/provider-row.ts'
import { evidence } from '../providers/workspace-list.ts'

/** In the order of the buttons, at most 1,000. */
export async function listIdentityProviders(ctx: Ctx): Promise<Answer<typeof ops.listIdentityProviders>> {
  const rows = inOrder(await readProviders(ctx, installationScope))
  const counts = await ctx.tx<{ provider_id: string; count: number }[]>`
    select p.id as provider_id, (select count(s.tenant_id)::int from provider_switch s where s.provider_id = p.id) as count
    from identity_provider p where p.tenant_id = ${installationScope}`
  const on = new Map(counts.map(({ provider_id, count }) => [provider_id, count]))
  return { data: rows.map((row) => ({ ...row, workspaces_on: on.get(row.id) ?? 0 })) }
}

/**
 * Offers a provider. Refuses identity_provider.withdraw_instead, request.invalid, and what settleAndDiscover refuses.
 */
export async function createIdentityProvider(
  ctx: Ctx,
  _: Received<typeof ops.createIdentityProvider>,
  settled: Settled,
): Promise<OfferedProvider> {
  if (settled.enabled === false) refuse('identity_provider.withdraw_instead')
  await checkInstallationGroup(ctx, settled)
  const id = newId()

  await insertProvider(ctx, installationScope, id, settled)
  await ctx.journal('identity_provider.created', null, evidence(id, settled))

  return readOffered(ctx, id)
}

/**
 * Replaces a provider's whole configuration. Refuses not_found, precondition.failed,
 * identity_provider.withdraw_instead, request.invalid.
 */
export async function changeIdentityProvider(
  ctx: Ctx,
  { providerId }: Received<typeof ops.changeIdentityProvider>,
  settled: Settled,
): Promise<OfferedProvider> {
  const row = await lockOffered(ctx, providerId)
  ctx.unchanged(row.version)
  checkChange(settled, row)
  await checkInstallationGroup(ctx, settled)

  await updateProvider(ctx, installationScope, providerId, settled)
  await ctx.journal('identity_provider.changed', null, evidence(providerId, settled))

  return readOffered(ctx, providerId)
}

/**
 * Removes a provider. Refuses not_found, precondition.failed, identity_provider.withdraw_first,
 * identity_provider.remove_after_withdrawal.
 */
export async function removeIdentityProvider(
  ctx: Ctx,
  { providerId }: Received<typeof ops.removeIdentityProvider>,
): Promise<void> {
  const row = await lockOffered(ctx, providerId)
  ctx.unchanged(row.version)
  const count = await countWorkspacesOn(ctx, providerId)
  if (count > 0) refuseWhileRelied(row, count)

  const removed = await ctx.tx`delete from connected_identity where provider_id = ${providerId}`
  await ctx.tx`delete from provider_switch where provider_id = ${providerId}`
  await deleteProvider(ctx, installationScope, providerId)
  await ctx.journal('identity_provider.removed', null, {
    subject: { kind: 'identity_provider', id: providerId },
    params: { workspace_count: count, connection_count: removed.count },
  })
}

function refuseWhileRelied({ state, withdraw_at }: ProviderRow, count: number): void {
  if (state === 'OFFERED') refuse('identity_provider.withdraw_first', { workspace_count: count })
  if (state === 'WITHDRAWAL_ANNOUNCED') refuse('identity_provider.remove_after_withdrawal', { withdraw_at })
}

/** The provider, locked. Refuses not_found. */
export async function lockOffered(ctx: Ctx, providerId: string): Promise<ProviderRow> {
  return (await lockProvider(ctx, installationScope, providerId)) ?? refuse('not_found')
}

/** How many workspaces have it switched on, whatever the state of the offer. */
export async function countWorkspacesOn(ctx: Ctx, providerId: string): Promise<number> {
  const [row] = await ctx.tx<{ count: number }[]>`
    select count(tenant_id)::int as count from provider_switch where provider_id = ${providerId}`
  return row?.count ?? 0
}

/** The provider as operators see it. */
export async function readOffered(ctx: Ctx, providerId: string): Promise<OfferedProvider> {
  const [row] = await readProviders(ctx, installationScope, [providerId])
  if (!row) throw new Error('a provider that was there a statement ago is gone')
  return { ...row, workspaces_on: await countWorkspacesOn(ctx, providerId) }
}

/**
 * A group belongs to one workspace, so the installation may name a group only in single mode. Refuses request.invalid.
 */
async function checkInstallationGroup(ctx: Ctx, settled: Settled): Promise<void> {
  if (settled.newcomerGroupId === null) return
  const [only] =
    ctx.config.mode === 'single' ? await ctx.tx<{ id: string }[]>`select id from tenant order by id limit 1` : []
  if (!only) refuseMember('/newcomer_group_id', 'reference.unknown')
  await ctx.inWorkspace(only.id, () => checkGroup(ctx, only.id, settled.newcomerGroupId))
}
