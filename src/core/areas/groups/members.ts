/**
 * Who is in a group: accounts that are put in, or taken out, one by one. So a repeated call changes nothing, and no
 * administrator undoes another's act, as a list would.
 *
 * What a provider decides is not decided here: a bound group takes nobody in by hand, and gives back nobody whom the next
 * sign-in would put in again. Spec: people 2, I7, I8; docs/decisions/0391.
 */
import type { GroupMember, groupOperations as ops } from '../../contract/groups/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { demandGrantable } from '../access/grantable.ts'
import { joinGroup, leaveGroups } from '../access/group-rows.ts'
import { lockMemberships } from '../access/held-role.ts'
import { keepCeilingOfEach } from '../auth/token/ceiling.ts'
import { endWithoutRole } from '../memberships/group-roles.ts'

/** Refuses auth.role_required, admin.operator_required, not_found, group.bound, structure.full. */
export async function addGroupMember(
  ctx: Ctx,
  { groupId, accountId }: Received<typeof ops.addGroupMember>,
): Promise<GroupMember> {
  const { tenantId } = ctx.account
  const { isBound, member, ...counted } = await lockMember(ctx, groupId, accountId)
  if (member) return member
  if (isBound) refuse('group.bound')
  await demandGrantable(ctx, groupId)

  return joinGroup(ctx, { tenantId, groupId, accountId, source: 'DIRECT' }, counted)
}

/** Refuses auth.role_required, admin.operator_required, not_found, group.bound, admin.operator_last. */
export async function removeGroupMember(
  ctx: Ctx,
  { groupId, accountId }: Received<typeof ops.removeGroupMember>,
): Promise<void> {
  const { tenantId } = ctx.account
  const { isBound, member } = await lockMember(ctx, groupId, accountId)
  if (!member) return
  if (isBound && member.source === 'PROVIDER') refuse('group.bound')

  await leaveGroups(ctx, { tenantId, accountId, groupIds: [groupId] })
  await endWithoutRole(ctx, tenantId, [accountId])
}

/** Those who are in a new group from the beginning: it has no role yet. Refuses as adding each does, at its pointer where unknown. */
export async function addFirstMembers(ctx: Ctx, groupId: string, accountIds: readonly string[]): Promise<void> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  if (accountIds.length === 0) return
  const found = await tx<{ id: string }[]>`
    select id from account where tenant_id = ${tenantId} and id in ${tx.list(accountIds)} and state <> 'ERASED'`
  const known = new Set(found.map(({ id }) => id))
  const unknown = accountIds.findIndex((id) => !known.has(id))
  if (unknown >= 0) refuseMember(`/member_ids/${unknown}`, 'reference.unknown')
  await keepCeilingOfEach(ctx, accountIds)
  await Promise.all(accountIds.map((accountId) => joinGroup(ctx, { tenantId, groupId, accountId, source: 'DIRECT' })))
}

interface Standing {
  /** Whether it follows a provider. */
  readonly isBound: boolean
  readonly members: number
  readonly member: GroupMember | undefined
  readonly groupsOfAccount: number
  /** The moment of the transaction. */
  readonly now: string
}

interface StandingRow {
  readonly member_count: number
  readonly is_bound: boolean
  readonly now: string
  readonly groups: number
  /** Null, as `source`: the account is not in the group. */
  readonly added_at: string | null
  readonly added_by: string | null
  readonly member_source: GroupMember['source'] | null
}

/**
 * The group, and the account's place in it if it has one; both stay as they are until the commit. The lock of the memberships
 * is taken by a statement of its own, so what is read behind it is of now. Refuses not_found.
 */
async function lockMember(ctx: Ctx, groupId: string, accountId: string): Promise<Standing> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  void lockMemberships(ctx, tenantId)
  const [row] = await tx<StandingRow[]>`
    select g.member_count, g.binding_provider_id is not null as is_bound, now() as now, m.added_at, m.added_by, m.source as member_source,
      (select count(*)::int from group_member o where o.tenant_id = ${tenantId} and o.account_id = ${accountId}) as groups
    from account_group g
    join account a on a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state <> 'ERASED'
    left join group_member m on m.tenant_id = ${tenantId} and m.group_id = ${groupId} and m.account_id = a.id
    where g.tenant_id = ${tenantId} and g.id = ${groupId} for update of g`
  if (!row) refuse('not_found')
  const { now, groups, added_at, added_by, member_source: source } = row
  const member =
    added_at !== null && source !== null ? { account_id: accountId, added_at, added_by, source } : undefined
  return { isBound: row.is_bound, members: row.member_count, member, groupsOfAccount: groups, now }
}
