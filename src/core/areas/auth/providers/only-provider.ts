/**
 * The workspace's only own provider, for clients from before a workspace had several. With more than one there is none that
 * could be meant. Spec: people 4, N22 and N23.
 */

import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { onlyProviderOperations as ops, WorkspaceProvider } from '../../../contract/providers/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Settled } from './configuration.ts'
import { readProviders } from './in-force.ts'
import type { ProviderRow } from './provider-row.ts'
import { changeProvider, createProvider, lockList, shownIn } from './workspace-list.ts'

/** Refuses not_found, identity_provider.many. */
export async function getOnlyProvider(ctx: Ctx): Promise<WorkspaceProvider> {
  return shownIn(ctx, (await findOnly(ctx)) ?? refuse('not_found'))
}

/** Creates it where there is none. Refuses identity_provider.many, precondition.failed, and what creating and changing refuse. */
export async function setOnlyProvider(
  ctx: Ctx,
  { body }: Received<typeof ops.setOnlyProvider>,
  settled: Settled,
): Promise<WorkspaceProvider> {
  await lockList(ctx)
  const only = await findOnly(ctx)
  if (only) return changeProvider(ctx, { providerId: only.id, body }, settled)
  ctx.absent()
  return createProvider(ctx, { body }, settled)
}

async function findOnly(ctx: Ctx): Promise<ProviderRow | undefined> {
  const own = await readProviders(ctx, ctx.account.tenantId)
  if (own.length > 1) refuse('identity_provider.many', { count: own.length })
  return own[0]
}
