/**
 * Groups of accounts: made, changed, deleted.
 *
 *    none ──POST──▶ a group, which has roles by POST /memberships ──DELETE──▶ none, its roles with it
 *
 * What a group gives its members ends with the group, and an account that has no role left loses its credentials in the
 * same transaction, as with its own last membership. Groups and roles change in turns (access/held-role.ts).
 *
 * Elsewhere: its roles (areas/memberships), its members (members.ts), what the roles mean (areas/access).
 * Spec: people 2, N9, N11, N12; docs/decisions/0390, 0391.
 */
import { type Group, mostGroups, type groupOperations as ops } from '../../contract/groups/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { isPublicProvider } from '../../kernel/egress/oidc-presets.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { caseFold } from '../../kernel/values/case-fold.ts'
import { newId } from '../../kernel/values/id.ts'
import { emptyGroup } from '../access/group-rows.ts'
import { lockMemberships } from '../access/held-role.ts'
import { providersOn } from '../auth/providers/in-force.ts'
import { providersNaming } from '../auth/providers/newcomer-group.ts'
import { demandRegisterOfMembers, endWithoutRole } from '../memberships/group-roles.ts'
import { groupColumns, lockGroup } from './group-row.ts'
import { addFirstMembers } from './members.ts'

/**
 * Refuses request.invalid, group.name_taken, structure.full; for its members auth.role_required, admin.operator_required;
 * for a binding auth.role_required.
 */
export async function createGroup(ctx: Ctx, { body }: Received<typeof ops.createGroup>): Promise<Group> {
  const { tenantId } = ctx.account
  const { member_ids: memberIds, binding = null } = body
  if (new Set(memberIds).size < memberIds.length) refuseMember('/member_ids', 'list.unique')
  if (binding && memberIds.length > 0) refuseMember('/member_ids', 'member.conflicts', { with: ['binding'] })
  if (binding) await checkBinding(ctx, binding)
  await lockMemberships(ctx, tenantId)
  await refuseFull(ctx)
  const id = newId()

  await ctx.tx`
    insert into account_group (tenant_id, id, name, name_fold, description, external_id, binding_provider_id, binding_value)
    values (${tenantId}, ${id}, ${body.name}, ${caseFold(body.name)}, ${body.description ?? null}, ${body.external_id ?? null},
            ${binding?.provider_id ?? null}, ${binding?.value ?? null})`
  await addFirstMembers(ctx, id, memberIds)

  const group = await readGroup(ctx, id)
  await ctx.record('identity.group.created', group, { members: memberIds.length })
  return group
}

/** Refuses not_found, precondition.failed, request.invalid, group.name_taken; for a binding auth.role_required. */
export async function updateGroup(ctx: Ctx, { groupId, body }: Received<typeof ops.updateGroup>): Promise<Group> {
  const { tenantId } = ctx.account
  // A sign-in that follows a binding holds it, too.
  if (body.binding !== undefined) await lockMemberships(ctx, tenantId)
  const now = await lockGroup(ctx, groupId)
  ctx.unchanged(now.version)
  const next = {
    name: body.name ?? now.name,
    description: body.description === undefined ? now.description : body.description,
    external_id: body.external_id === undefined ? now.external_id : body.external_id,
    binding: body.binding === undefined ? now.binding : body.binding,
  }
  const members = (['name', 'description', 'external_id', 'binding'] as const).filter((one) =>
    differs(now[one], next[one]),
  )
  if (members.length === 0) return now
  if (members.includes('binding')) await checkBinding(ctx, next.binding)

  await ctx.tx`
    update account_group
    set name = ${next.name}, name_fold = ${caseFold(next.name)}, description = ${next.description}, external_id = ${next.external_id},
        binding_provider_id = ${next.binding?.provider_id ?? null}, binding_value = ${next.binding?.value ?? null},
        updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${groupId}`

  const group = await readGroup(ctx, groupId)
  await ctx.record('identity.group.changed', group, { members })
  return group
}

/** Refuses not_found, precondition.failed, group.in_use, admin.operator_required, admin.operator_last. */
export async function deleteGroup(ctx: Ctx, { groupId }: Received<typeof ops.deleteGroup>): Promise<void> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  await lockMemberships(ctx, tenantId)
  const group = await lockGroup(ctx, groupId)
  ctx.unchanged(group.version)
  const naming = await providersNaming(ctx, tenantId, groupId)
  if (naming.length > 0) refuse('group.in_use', { provider_ids: naming.join(', ') })
  await demandRegisterOfMembers(ctx, tenantId, groupId)

  const roles = await tx`delete from membership where tenant_id = ${tenantId} and holder_id = ${groupId}`
  const members = await emptyGroup(ctx, tenantId, groupId)
  await tx`delete from account_group where tenant_id = ${tenantId} and id = ${groupId}`
  await endWithoutRole(ctx, tenantId, members)

  await ctx.record('identity.group.deleted', group, { members: members.length, memberships: roles.count })
}

const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other)

/**
 * A binding decides about members by what a provider says, so only an OWNER, who could grant everything, makes or ends one.
 * Refuses auth.role_required, request.invalid.
 */
async function checkBinding(ctx: Ctx, binding: Group['binding']): Promise<void> {
  const { role, tenantId } = ctx.account
  if (role !== 'OWNER') refuse('auth.role_required', { role: 'OWNER' })
  if (!binding) return
  const provider = (await providersOn(ctx, tenantId)).find(({ id }) => id === binding.provider_id)
  if (!provider) refuseMember('/binding/provider_id', 'reference.unknown')
  if (isPublicProvider(ctx.config.providerPresets, provider)) refuseMember('/binding/provider_id', 'provider.public')
}

/** Refuses structure.full. The memberships' lock keeps the count exact. */
async function refuseFull({ tx, account: { tenantId } }: Ctx): Promise<void> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from account_group where tenant_id = ${tenantId}`
  if ((row?.count ?? 0) >= mostGroups) refuse('structure.full', { limit: mostGroups })
}

async function readGroup(ctx: Ctx, id: string): Promise<Group> {
  const [group] = await ctx.tx<Group[]>`
    select ${groupColumns(ctx)} from account_group g where g.tenant_id = ${ctx.account.tenantId} and g.id = ${id}`
  if (!group) throw new Error('a group that was written is gone')
  return group
}
