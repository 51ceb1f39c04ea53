/**
 * The people of an item: at most one assignee, who is responsible, and members, who take part.
 *
 *    nobody ──:assign──▶ assignee and member ──:unassign──▶ member ──DELETE──▶ nobody
 *
 * The assignee is always a member. Who is added has access to the item at that moment. Who loses it later stays, so that a
 * role taken by mistake and given back changes no item; anybody who may change the item may take such an account off.
 * Spec: items 1, People; docs/decisions/0201.
 */

import type { Item } from '../../contract/items/operations.ts'
import type { itemPeopleOperations as ops } from '../../contract/items/people.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { type Role, rankOf } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { type AccountAccess, accessOf } from '../access/account-access.ts'
import { containerOf, lockItem, recorded } from './item.ts'

const mostMembers = 100

/**
 * Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, request.invalid,
 * item.account_no_access, structure.full.
 */
export async function assignItem(ctx: Ctx, { itemId, body }: Received<typeof ops.assignItem>): Promise<Item> {
  const accountId = body.account_id
  const [locked, access] = await together(lockItem(ctx, itemId), accessOf(ctx, containerOf(ctx, itemId), accountId))
  const { item } = locked
  if (item.assignee_id === accountId) return item
  if (!isThere(access)) refuseMember('/account_id', 'reference.unknown')
  demandAccess(access, 'MEMBER')
  const isMember = item.member_ids.includes(accountId)
  if (!isMember) refuseMoreMembers(item)

  if (!isMember) insertMember(ctx, itemId, accountId)
  writeAssignee(ctx, itemId, accountId)

  const member_ids = isMember ? item.member_ids : [...item.member_ids, accountId].sort()
  const params = { account_id: accountId, before: item.assignee_id }
  return recorded(ctx, locked, { assignee_id: accountId, member_ids }, 'work.item.assigned', params)
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, request.invalid. */
export async function unassignItem(ctx: Ctx, { itemId, body }: Received<typeof ops.unassignItem>): Promise<Item> {
  const named = body.account_id ?? undefined
  const [locked, access] = await together(
    lockItem(ctx, itemId),
    named !== undefined && accessOf(ctx, containerOf(ctx, itemId), named),
  )
  const { item } = locked
  if (named !== undefined && !access) refuseMember('/account_id', 'reference.unknown')
  const isMeant = (named ?? item.assignee_id) === item.assignee_id
  if (item.assignee_id === null || !isMeant) return item

  writeAssignee(ctx, itemId, null)

  return recorded(ctx, locked, { assignee_id: null }, 'work.item.unassigned', { account_id: item.assignee_id })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, item.account_no_access, structure.full. */
export async function addItemMember(
  ctx: Ctx,
  { itemId, accountId }: Received<typeof ops.addItemMember>,
): Promise<Item> {
  const [locked, access] = await together(
    lockItem(ctx, itemId, { role: roleToChange(ctx, accountId) }),
    accessOf(ctx, containerOf(ctx, itemId), accountId),
  )
  const { item } = locked
  if (item.member_ids.includes(accountId)) return item
  if (!isThere(access)) refuse('not_found')
  demandAccess(access, 'VIEWER')
  refuseMoreMembers(item)

  insertMember(ctx, itemId, accountId)
  writeAssignee(ctx, itemId, item.assignee_id)

  const member_ids = [...item.member_ids, accountId].sort()
  return recorded(ctx, locked, { member_ids }, 'work.item.member_added', { account_id: accountId })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
export async function removeItemMember(
  ctx: Ctx,
  { itemId, accountId }: Received<typeof ops.removeItemMember>,
): Promise<void> {
  const { tenantId } = ctx.account
  const [locked, access] = await together(
    lockItem(ctx, itemId, { role: roleToChange(ctx, accountId) }),
    accessOf(ctx, containerOf(ctx, itemId), accountId),
  )
  const { item } = locked
  if (!access) refuse('not_found')
  if (!item.member_ids.includes(accountId)) return
  const assignee_id = item.assignee_id === accountId ? null : item.assignee_id

  void ctx.tx`
    delete from item_member where tenant_id = ${tenantId} and item_id = ${itemId} and account_id = ${accountId}`
  writeAssignee(ctx, itemId, assignee_id)

  const member_ids = item.member_ids.filter((id) => id !== accountId)
  await recorded(ctx, locked, { member_ids, assignee_id }, 'work.item.member_removed', { account_id: accountId })
}

/** Oneself is a reader's to add and to take off. */
const roleToChange = ({ account }: Ctx, accountId: string): Role =>
  accountId === account.accountId ? 'VIEWER' : 'MEMBER'

/** An erased account is unknown to whoever would add it; to be taken off, it is there. */
const isThere = (access: AccountAccess | undefined): access is AccountAccess =>
  access !== undefined && access.state !== 'ERASED'

/** Refuses item.account_no_access. */
function demandAccess({ state, role }: AccountAccess, needed: Role): void {
  const takesPart = state === 'ACTIVE' || state === 'INVITED'
  if (!takesPart || role === undefined || rankOf[role] < rankOf[needed])
    refuse('item.account_no_access', { role: needed })
}

/** Refuses structure.full. */
export function refuseMoreMembers({ member_ids }: Item): void {
  if (member_ids.length >= mostMembers) refuse('structure.full', { limit: mostMembers })
}

export function insertMember({ tx, account: { tenantId } }: Ctx, itemId: string, accountId: string): void {
  void tx`insert into item_member (tenant_id, item_id, account_id) values (${tenantId}, ${itemId}, ${accountId})`
}

/** Ends every change of an item's people. From the first one on, its row says that it may have members (docs/decisions/0187). */
export function writeAssignee({ tx, account: { tenantId } }: Ctx, itemId: string, assigneeId: string | null): void {
  void tx`
    update item set assignee_id = ${assigneeId}, without_members = false, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${itemId}`
}
