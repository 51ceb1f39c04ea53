/**
 * The providers through which people may sign in now: those that the workspace has switched on, its
 * own, or the installation's while they are offered.
 *
 * Read in the caller's transaction, never cached: an offer ends exactly at its time, and a switch
 * takes effect at the next call. The workspace's role is in force.
 */

import { installationScope } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { readSwitches } from '../../settings/settings.ts'
import { inScope, lockProvider, type ProviderRow, providerColumns } from './provider-row.ts'

/** The text of the provider's button. */
export const shownAs = ({ display_name, issuer }: ProviderRow) => display_name ?? URL.parse(issuer)?.host ?? issuer

interface SwitchRow {
  readonly provider_id: string
  readonly provider_scope: string
}

/** In the order of the buttons. */
export async function providersInForce(ctx: Ctx, tenantId: string): Promise<ProviderRow[]> {
  if (!(await mayServe(ctx))) return []
  const rows = await providersOn(ctx, tenantId)
  return inOrder(rows.filter(({ state }) => state !== 'ENDED'))
}

/** Whether the installation allows providers at all: it may allow passwords only. */
const mayServe = async (ctx: Ctx) => (await readSwitches(ctx)).methods.value.includes('PROVIDER')

/** The providers that the workspace has switched on, whatever the state of their offers. */
export async function providersOn(ctx: Ctx, tenantId: string): Promise<ProviderRow[]> {
  const switches = await ctx.tx<SwitchRow[]>`
    select provider_id, provider_scope from provider_switch where tenant_id = ${tenantId}`
  const readOf = (scope: string) => {
    const ids = switches.filter((one) => one.provider_scope === scope).map(({ provider_id }) => provider_id)
    return ids.length === 0 ? [] : inScope(ctx, scope, () => readProviders(ctx, scope, ids))
  }
  return [...(await readOf(tenantId)), ...(await readOf(installationScope))]
}

/**
 * Whether the end of an offer has left the workspace without a provider: its accounts that have a password may then
 * sign in with it, whatever the switches say (Offered identity provider, row 3). False for a workspace that never had a
 * provider switched on: there the switches apply.
 */
export async function isLeftOutside(ctx: Ctx, tenantId: string): Promise<boolean> {
  const rows = await providersOn(ctx, tenantId)
  return rows.length > 0 && rows.every(({ state }) => state === 'ENDED')
}

/**
 * The provider, if the workspace has it switched on and its offer has not ended. This does not change until the commit.
 */
export async function holdProviderInForce(
  ctx: Ctx,
  tenantId: string,
  providerId: string,
): Promise<ProviderRow | undefined> {
  const [on] = await ctx.tx<SwitchRow[]>`
    select provider_id, provider_scope from provider_switch where tenant_id = ${tenantId} and provider_id = ${providerId} for share`
  if (!on || !(await mayServe(ctx))) return undefined
  const row = await inScope(ctx, on.provider_scope, () => lockProvider(ctx, on.provider_scope, providerId, 'share'))
  return row?.state === 'ENDED' ? undefined : row
}

/** The scope's role is in force. */
export async function readProviders(ctx: Ctx, scope: string, ids?: readonly string[]): Promise<ProviderRow[]> {
  const { tx } = ctx
  const rows = await tx<ProviderRow[]>`
    select ${providerColumns(tx)} from identity_provider p
    where p.tenant_id = ${scope} ${ids ? tx.part`and p.id in ${tx.list(ids)}` : tx.part``}
    order by p.position, p.id limit 1000`
  return [...rows]
}

/** By position, then by name, as a list of buttons is read. */
export const inOrder = <Row extends Pick<ProviderRow, 'position' | 'display_name' | 'id'>>(
  rows: readonly Row[],
): Row[] =>
  [...rows].sort(
    (a, b) =>
      a.position - b.position ||
      (a.display_name ?? '').localeCompare(b.display_name ?? '', 'en') ||
      (a.id < b.id ? -1 : 1),
  )
