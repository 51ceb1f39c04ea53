/** Groups and their members, read. Spec: people 2, N8, N10, I6. */
import type { Group, GroupMember, groupOperations as ops } from '../../contract/groups/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { firstId, pageOfRows, pageStart } from '../../kernel/transaction/page.ts'
import { caseFold } from '../../kernel/values/case-fold.ts'
import { groupColumns, isGroupSeen } from './group-row.ts'

/** By the folded name, which is unique in the workspace. Refuses cursor.invalid. */
export async function listGroups(
  ctx: Ctx,
  { account_id, q, cursor, size }: Received<typeof ops.listGroups>,
): Promise<Answer<typeof ops.listGroups>> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const list = { operation: 'listGroups', filters: { account_id, q } }
  const after = pageStart(ctx, list, cursor)
  const rows = await tx.last<(Group & { readonly name_fold: string })[]>`
    select ${groupColumns(ctx)}, g.name_fold from account_group g
    where g.tenant_id = ${tenantId} and g.name_fold > ${after ?? ''} and ${isGroupSeen(ctx)}
      ${q === undefined ? tx.part`` : tx.part`and position(${caseFold(q)} in g.name_fold) > 0`}
      ${
        account_id === undefined
          ? tx.part``
          : tx.part`and exists (
              select from group_member m where m.tenant_id = ${tenantId} and m.account_id = ${account_id} and m.group_id = g.id)`
      }
    order by g.name_fold limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size, ({ name_fold }) => [name_fold])
}

/** Refuses not_found. */
export async function getGroup(ctx: Ctx, { groupId }: Received<typeof ops.getGroup>): Promise<Group> {
  const [group] = await ctx.tx.last<Group[]>`
    select ${groupColumns(ctx)} from account_group g
    where g.tenant_id = ${ctx.account.tenantId} and g.id = ${groupId} and ${isGroupSeen(ctx)}`
  return group ?? refuse('not_found')
}

/** Refuses not_found, cursor.invalid. */
export async function listGroupMembers(
  ctx: Ctx,
  { groupId, cursor, size }: Received<typeof ops.listGroupMembers>,
): Promise<Answer<typeof ops.listGroupMembers>> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const list = { operation: 'listGroupMembers', filters: { groupId } }
  const after = pageStart(ctx, list, cursor)
  // One statement, because a second one takes a fifth of the page's time: a group that has no member here is a row without one.
  const rows = await tx.last<(GroupMember | { readonly account_id: null })[]>`
    select m.account_id, m.added_at, m.added_by, m.source from account_group g
    left join lateral (
      select account_id, added_at, added_by, source from group_member
      where tenant_id = ${tenantId} and group_id = ${groupId} and account_id > ${after ?? firstId}::uuid
      order by account_id limit ${size + 1}) m on true
    where g.tenant_id = ${tenantId} and g.id = ${groupId} and ${isGroupSeen(ctx)}`
  if (rows.length === 0) refuse('not_found')
  // They come in order, though a join promises none: to sort them here takes nothing, and there a twentieth of the page's time.
  const members = rows.filter(isMember).sort(byAccount)
  return pageOfRows(ctx, list, members, size, ({ account_id }) => [account_id])
}

const isMember = (row: GroupMember | { readonly account_id: null }): row is GroupMember => row.account_id !== null
const byAccount = (one: GroupMember, other: GroupMember) => (one.account_id < other.account_id ? -1 : 1)
