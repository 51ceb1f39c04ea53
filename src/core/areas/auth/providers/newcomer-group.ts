/**
 * The group that a provider puts newcomers into: who names it, and whether it admits anybody.
 *
 * Membership is all that a newcomer gets, so a group without a role admits nobody. An OWNER names it, who could grant all
 * that it has. Spec: people 2; docs/decisions/0391.
 */
import { refuseMember } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Claims } from '../../../kernel/egress/oidc.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { groupsIn } from './follow-groups.ts'
import type { ProviderRow } from './provider-row.ts'

/** Checks that the group belongs to the workspace, and keeps it until the commit. Refuses request.invalid. The workspace's role is in force. */
export async function checkGroup(ctx: Ctx, tenantId: string, groupId: string | null): Promise<void> {
  if (groupId === null) return
  const [group] = await ctx.tx`
    select 1 from account_group where tenant_id = ${tenantId} and id = ${groupId} for key share`
  if (!group) refuseMember('/newcomer_group_id', 'reference.unknown')
}

/** The ids of the providers that put newcomers into the group: own ones, and in single mode the installation's. */
export async function providersNaming(ctx: Ctx, tenantId: string, groupId: string): Promise<string[]> {
  const naming = (scope: string) => ctx.tx<{ id: string }[]>`
    select id from identity_provider where tenant_id = ${scope} and newcomer_group_id = ${groupId} order by id`
  const own = await naming(tenantId)
  const installations = await ctx.asInstallationOnce(() => naming(installationScope))
  return [...own, ...installations].map(({ id }) => id)
}

/**
 * Whether the provider's newcomers get a role: by its own word, or by a group that has one and that their claims do not deny them. At a
 * sign-in the memberships' lock keeps it so.
 */
export async function admitsNewcomers(
  { tx }: Ctx,
  tenantId: string,
  { id, newcomer_group_id: groupId }: Pick<ProviderRow, 'id' | 'newcomer_group_id'>,
  claims?: Claims,
): Promise<boolean> {
  if (groupId === null) return true
  const [group] = await tx<{ has_role: boolean; binding_provider_id: string | null; binding_value: string | null }[]>`
    select exists (select from membership m where m.tenant_id = g.tenant_id and m.holder_id = g.id) as has_role,
           g.binding_provider_id, g.binding_value
    from account_group g where g.tenant_id = ${tenantId} and g.id = ${groupId}`
  if (!group?.has_role) return false
  const values = claims && group.binding_provider_id === id ? groupsIn(claims) : undefined
  return values === undefined || values.has(group.binding_value ?? '')
}
