/**
 * A workspace's list of identity providers: its own, which it changes, and the
 * installation's, which it reads and switches on or off.
 *
 * Spec: Index, Auth; Admin: identity providers, rules 1 and 2; decisions 4, IdentityProvider.
 */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type {
  providerOperations as ops,
  PresetAnswer,
  WorkspaceProvider,
} from '../../../contract/providers/operations.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { newId } from '../../../kernel/values/id.ts'
import { unbindGroups } from '../../access/group-rows.ts'
import { checkChange, type Settled } from './configuration.ts'
import { inOrder, readProviders } from './in-force.ts'
import { checkGroup } from './newcomer-group.ts'
import {
  deleteProvider,
  inScope,
  insertProvider,
  lockProvider,
  type ProviderRow,
  updateProvider,
} from './provider-row.ts'

/** Own ones and the installation's, at most 1,000 of each. */
export async function listProviders(ctx: Ctx): Promise<Answer<typeof ops.listProviders>> {
  const { tenantId } = ctx.account
  const own = await readProviders(ctx, tenantId)
  const installations = await ctx.asInstallation(() => readProviders(ctx, installationScope))
  const on = await switchedOn(ctx, tenantId)
  return { data: inOrder([...own, ...installations]).map((row) => shown(row, on.has(row.id))) }
}

async function switchedOn(ctx: Ctx, tenantId: string): Promise<ReadonlySet<string>> {
  const rows = await ctx.tx<
    { provider_id: string }[]
  >`select provider_id from provider_switch where tenant_id = ${tenantId}`
  return new Set(rows.map(({ provider_id }) => provider_id))
}

/** A provider as the workspace has it. */
export const shownIn = async (ctx: Ctx, row: ProviderRow): Promise<WorkspaceProvider> =>
  shown(row, (await switchedOn(ctx, ctx.account.tenantId)).has(row.id))

/** Own providers come one after another, until the commit. */
export const lockList = ({ tx, account }: Ctx): Promise<unknown> =>
  tx`select pg_advisory_xact_lock(${lockClasses.ownProviders}, hashtext(${account.tenantId}))`

const shown = (row: ProviderRow, offered: boolean): WorkspaceProvider => ({
  ...row,
  owner: row.tenant_id === installationScope ? 'INSTALLATION' : 'WORKSPACE',
  offered,
})

/** Adds a provider of the workspace's own, switched on. Refuses request.invalid, and what settleAndDiscover refuses. */
export async function createProvider(
  ctx: Ctx,
  _: Received<typeof ops.createProvider>,
  settled: Settled,
): Promise<WorkspaceProvider> {
  const { tenantId } = ctx.account
  if (settled.enabled === false) refuse('identity_provider.withdraw_instead')
  void lockList(ctx)
  await checkGroup(ctx, tenantId, settled.newcomerGroupId)
  const id = newId()

  await insertProvider(ctx, tenantId, id, settled)
  await ctx.tx`insert into provider_switch (tenant_id, provider_scope, provider_id) values (${tenantId}, ${tenantId}, ${id})`
  await ctx.audit('identity_provider.created', evidence(id, settled))

  return shown(await reread(ctx, tenantId, id), true)
}

/**
 * Replaces the whole configuration of one of the workspace's own providers. Refuses not_found, precondition.failed,
 * identity_provider.withdraw_instead, request.invalid.
 */
export async function changeProvider(
  ctx: Ctx,
  { providerId }: Received<typeof ops.changeProvider>,
  settled: Settled,
): Promise<WorkspaceProvider> {
  const { tenantId } = ctx.account
  const row = await lockProvider(ctx, tenantId, providerId)
  if (!row) refuse('not_found')
  ctx.unchanged(row.version)
  checkChange(settled, row)
  await checkGroup(ctx, tenantId, settled.newcomerGroupId)

  await updateProvider(ctx, tenantId, providerId, settled)
  await ctx.audit('identity_provider.changed', evidence(providerId, settled))

  return shownIn(ctx, await reread(ctx, tenantId, providerId))
}

/**
 * Removes one of the workspace's own providers; accounts and their live sessions stay. Refuses not_found,
 * precondition.failed.
 */
export async function removeProvider(ctx: Ctx, { providerId }: Received<typeof ops.removeProvider>): Promise<void> {
  const { tenantId } = ctx.account
  const row = await lockProvider(ctx, tenantId, providerId)
  if (!row) refuse('not_found')
  ctx.unchanged(row.version)

  await ctx.tx`delete from connected_identity where tenant_id = ${tenantId} and provider_id = ${providerId}`
  await ctx.tx`delete from provider_switch where tenant_id = ${tenantId} and provider_id = ${providerId}`
  await unbindGroups(ctx, tenantId, providerId)
  await deleteProvider(ctx, tenantId, providerId)
  await ctx.audit('identity_provider.removed', { subject: { kind: 'identity_provider', id: providerId } })
}

/** Switches a provider on or off for the workspace. Refuses not_found, identity_provider.already_withdrawn. */
export async function offerProvider(
  ctx: Ctx,
  { providerId, body: { offered } }: Received<typeof ops.offerProvider>,
): Promise<WorkspaceProvider> {
  const { tenantId } = ctx.account
  // A shared lock: the installation counts the workspaces under its own lock on the row.
  const own = await lockProvider(ctx, tenantId, providerId, 'share')
  const row = own ?? (await ctx.asInstallation(() => lockProvider(ctx, installationScope, providerId, 'share')))
  if (!row) refuse('not_found')
  const isOn = (await switchedOn(ctx, tenantId)).has(providerId)
  if (isOn === offered) return shown(row, offered)
  if (offered && row.state === 'ENDED') refuse('identity_provider.already_withdrawn')

  if (offered)
    await ctx.tx`
      insert into provider_switch (tenant_id, provider_scope, provider_id) values (${tenantId}, ${row.tenant_id}, ${providerId})
      on conflict (tenant_id, provider_id) do nothing`
  else await ctx.tx`delete from provider_switch where tenant_id = ${tenantId} and provider_id = ${providerId}`
  await ctx.audit(offered ? 'identity_provider.switched_on' : 'identity_provider.switched_off', {
    subject: { kind: 'identity_provider', id: providerId },
  })
  return shown(row, offered)
}

async function reread(ctx: Ctx, scope: string, id: string): Promise<ProviderRow> {
  const [row] = await inScope(ctx, scope, () => readProviders(ctx, scope, [id]))
  if (!row) throw new Error('a provider that was written is gone')
  return row
}

/** What is recorded of a configuration for ever: where it points, never the secret. */
export const evidence = (id: string, { issuer, kind, provisioning, newcomerRole, newcomerGroupId }: Settled) => ({
  subject: { kind: 'identity_provider', id },
  params: { issuer, kind, provisioning, newcomer_role: newcomerRole, newcomer_group_id: newcomerGroupId },
})

/** The presets of known providers, and the form of their issuers. */
export async function listPresets({ config }: Ctx): Promise<{ data: PresetAnswer[] }> {
  return {
    data: config.providerPresets.map(({ kind, displayName, issuer, directoryClaim }) => ({
      kind,
      display_name: displayName,
      issuer,
      directory_claim: directoryClaim,
    })),
  }
}
