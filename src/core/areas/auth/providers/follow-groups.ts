/**
 * Groups that follow a provider: at each sign-in through it, its claim `groups` decides who is in the groups that are bound
 * to it. A claim that is absent or cut off says nothing, so it changes nothing.
 *
 * The caller holds the memberships' lock from before the account's (`lockWhereBound`), as everything that takes both. An
 * account in the operator register follows nobody: its roles are changed by operators alone. The workspace's role is in
 * force. Spec: people 2, binding; docs/decisions/0391.
 */
import { mostGroupsOfAnAccount, mostMembers } from '../../../contract/groups/operations.ts'
import type { Claims } from '../../../kernel/egress/oidc.ts'
import { isPublicProvider } from '../../../kernel/egress/oidc-presets.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { joinGroup, leaveGroups } from '../../access/group-rows.ts'
import { lockMemberships } from '../../access/held-role.ts'
import { endAccess, lockWithoutRole } from '../token/departure.ts'
import type { Arrival } from './joining.ts'
import type { ProviderRow } from './provider-row.ts'

/** A longer claim may be cut off, as directories do. */
const mostValues = 500

/** The values of the claim; undefined where it is absent, cut off or no list of texts. */
export function groupsIn({ groups }: Claims): ReadonlySet<string> | undefined {
  if (!Array.isArray(groups) || groups.length > mostValues) return undefined
  return groups.every((one) => typeof one === 'string') ? new Set(groups as string[]) : undefined
}

/**
 * Takes the memberships' lock where a sign-in through the provider may change groups; answers whether groups follow it. Nobody's
 * groups follow a provider where anybody can have an account: one may have become such after the binding was made.
 */
export async function lockWhereBound(
  ctx: Ctx,
  tenantId: string,
  provider: Pick<ProviderRow, 'id' | 'newcomer_group_id' | 'issuer' | 'allowed_directories'>,
): Promise<boolean> {
  const [bound] = await ctx.tx`
    select 1 from account_group where tenant_id = ${tenantId} and binding_provider_id = ${provider.id} limit 1`
  if (bound || provider.newcomer_group_id !== null) await lockMemberships(ctx, tenantId)
  return bound !== undefined && !isPublicProvider(ctx.config.providerPresets, provider)
}

interface BoundRow {
  readonly id: string
  readonly binding_value: string | null
  readonly member_count: number
  readonly is_member: boolean
}

/** Puts the account into the groups that the claim names, and takes it out of the others that are bound to the provider. */
export async function followGroups(
  ctx: Ctx,
  { tenantId, provider, claims }: Arrival,
  accountId: string,
): Promise<void> {
  const values = groupsIn(claims)
  if (!values) return
  const bound = await ctx.tx<BoundRow[]>`
    select g.id, g.binding_value, g.member_count, m.account_id is not null as is_member from account_group g
    left join group_member m on m.tenant_id = g.tenant_id and m.group_id = g.id and m.account_id = ${accountId}
    where g.tenant_id = ${tenantId} and g.binding_provider_id = ${provider.id} order by g.id`
  const left = bound.filter((one) => one.is_member && !values.has(one.binding_value ?? ''))
  const joined = bound.filter((one) => !one.is_member && values.has(one.binding_value ?? ''))
  if (left.length + joined.length === 0 || (await isOperator(ctx, accountId))) return

  if (left.length > 0) await leaveGroups(ctx, { tenantId, accountId, groupIds: left.map(({ id }) => id) })
  for (const one of await withRoom(ctx, tenantId, accountId, joined))
    await joinGroup(ctx, { tenantId, groupId: one.id, accountId, source: 'PROVIDER' })
  await endAccess(ctx, tenantId, await lockWithoutRole(ctx, tenantId, [accountId]))
}

/** Those that have room, as many as the account may have: a full group keeps nobody from signing in. */
async function withRoom(
  { tx }: Ctx,
  tenantId: string,
  accountId: string,
  groups: readonly BoundRow[],
): Promise<readonly BoundRow[]> {
  if (groups.length === 0) return groups
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from group_member where tenant_id = ${tenantId} and account_id = ${accountId}`
  const room = Math.max(mostGroupsOfAnAccount - (row?.count ?? 0), 0)
  return groups.filter(({ member_count }) => member_count < mostMembers).slice(0, room)
}

const isOperator = async (ctx: Ctx, accountId: string): Promise<boolean> =>
  (await ctx.asInstallationOnce(() => ctx.tx`select 1 from operator where account_id = ${accountId}`)).length > 0
