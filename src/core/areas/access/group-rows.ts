/**
 * The members of groups, as rows: who joins, who leaves, how many there are, and `account.group_ids`, by which roles are
 * found (kernel/database/role-holders.ts). No other module writes them.
 *
 * Nothing is decided here: whether the caller may, and what becomes of an account that has no role left, is decided by whoever
 * calls (areas/groups, areas/memberships, areas/auth/providers), behind the lock of the memberships (held-role.ts), which
 * keeps the counts exact. Spec: people 2, Groups.
 */
import { type GroupMember, mostGroupsOfAnAccount, mostMembers } from '../../contract/groups/operations.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { accountIdOf } from '../../kernel/values/actor.ts'

type Source = GroupMember['source']

interface Joining {
  readonly tenantId: string
  readonly groupId: string
  readonly accountId: string
  readonly source: Source
}

/** What a caller has read behind the lock of the memberships: how many there are, and the moment of the transaction. */
interface Counted {
  readonly members: number
  readonly groupsOfAccount: number
  readonly now: string
}

/**
 * An account that is not in the group joins it. Where it is `counted` already, nothing is waited for. Refuses structure.full.
 */
export async function joinGroup(
  ctx: Ctx,
  { tenantId, groupId, accountId, source }: Joining,
  counted?: Counted,
): Promise<GroupMember> {
  const { tx } = ctx
  const addedBy = source === 'DIRECT' ? (accountIdOf(ctx.actor) ?? null) : null
  if (counted) demandRoom(counted.members + 1, counted.groupsOfAccount + 1)
  const joined = tx<[GroupMember & { readonly members: number; readonly groups: number }]>`
    with counted as (
      update account_group set member_count = member_count + 1 where tenant_id = ${tenantId} and id = ${groupId}
      returning member_count),
    made as (
      insert into group_member (tenant_id, group_id, account_id, added_by, source)
      values (${tenantId}, ${groupId}, ${accountId}, ${addedBy}, ${source}) returning account_id, added_at, added_by, source)
    update account
    set group_ids = array_append(group_ids, ${groupId}::uuid)
    from made, counted
    where tenant_id = ${tenantId} and id = ${accountId}
    returning made.account_id, made.added_at, made.added_by, made.source, counted.member_count as members, cardinality(group_ids) as groups`
  const event = ['identity.group.member_added', { group_id: groupId, account_id: accountId, source }] as const
  if (counted) {
    await record(ctx, ...event)
    return { account_id: accountId, added_at: counted.now, added_by: addedBy, source }
  }
  const [{ members, groups, ...row }] = await joined
  demandRoom(members, groups)
  await record(ctx, ...event)
  return row
}

/** Refuses structure.full. */
function demandRoom(members: number, groupsOfAccount: number): void {
  if (members > mostMembers) refuse('structure.full', { limit: mostMembers })
  if (groupsOfAccount > mostGroupsOfAnAccount) refuse('structure.full', { limit: mostGroupsOfAnAccount })
}

/** The account leaves those of the groups that it is in; all of them where none is named. Answers how many. */
export async function leaveGroups(
  ctx: Ctx,
  {
    tenantId,
    accountId,
    groupIds,
  }: { readonly tenantId: string; readonly accountId: string; readonly groupIds?: readonly string[] },
): Promise<number> {
  const { tx } = ctx
  const left = await tx<{ group_id: string; source: Source }[]>`
    delete from group_member where tenant_id = ${tenantId} and account_id = ${accountId}
      ${groupIds ? tx.part`and group_id in ${tx.list(groupIds)}` : tx.part``}
    returning group_id, source`
  if (left.length === 0) return 0
  void tx`
    update account_group set member_count = member_count - 1
    where tenant_id = ${tenantId} and id in ${tx.list(left.map(({ group_id }) => group_id))}`
  void writeGroupIds(ctx, tenantId, accountId)
  for (const one of left) await record(ctx, 'identity.group.member_removed', { ...one, account_id: accountId })
  return left.length
}

/** Removes all members. Their roles by the group end with this statement. */
export async function emptyGroup({ tx }: Ctx, tenantId: string, groupId: string): Promise<string[]> {
  void tx`
    update account set group_ids = array_remove(group_ids, ${groupId}::uuid)
    where tenant_id = ${tenantId} and id in (
      select account_id from group_member where tenant_id = ${tenantId} and group_id = ${groupId})`
  const members = await tx<{ account_id: string }[]>`
    delete from group_member where tenant_id = ${tenantId} and group_id = ${groupId} returning account_id`
  return members.map(({ account_id }) => account_id)
}

const writeGroupIds = ({ tx }: Ctx, tenantId: string, accountId: string): Promise<unknown> => tx`
  update account
  set group_ids = array(
    select group_id from group_member where tenant_id = ${tenantId} and account_id = ${accountId} order by group_id)
  where tenant_id = ${tenantId} and id = ${accountId}`

/** Groups follow no longer a provider that is removed; their members stay. */
export async function unbindGroups(ctx: Ctx, tenantId: string, providerId: string): Promise<void> {
  await ctx.tx`
    update account_group
    set binding_provider_id = null, binding_value = null, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and binding_provider_id = ${providerId}`
}

const record = (
  ctx: Ctx,
  event: 'identity.group.member_added' | 'identity.group.member_removed',
  member: { readonly group_id: string; readonly account_id: string; readonly source: Source },
) => ctx.record(event, member, { group_id: member.group_id, source: member.source })
