/**
 * Assignment to the person with the fewest open items.
 *
 * One at a time in a workspace: each picks behind what the one before has committed, so that 50 at once among five are ten
 * each. The lock comes first, before that of the item. Spec: items 1, N9; docs/decisions/0342.
 */
import {
  mostCandidates,
  mostCountedItems,
  type itemAutoAssignOperations as ops,
} from '../../contract/items/auto-assign.ts'
import type { Item } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { rankOf, roles } from '../../contract/vocabulary.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { accessOfEach } from '../access/account-access.ts'
import { lockItem, recorded } from './item.ts'
import { insertMember, refuseMoreMembers, writeAssignee } from './people.ts'

type Body = Received<typeof ops.autoAssignItem>['body']

/**
 * Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, request.invalid,
 * item.no_candidate, structure.full.
 */
export async function autoAssignItem(ctx: Ctx, { itemId, body }: Received<typeof ops.autoAssignItem>): Promise<Item> {
  void ctx.tx`select pg_advisory_xact_lock(${lockClasses.autoAssign}, hashtext(${ctx.account.tenantId}))`
  const locked = await lockItem(ctx, itemId)
  const { item, policies } = locked
  const candidates = await candidatesOf(ctx, item, body, policies.auto_assign_group_id)
  if (item.assignee_id !== null && !body.reassign) return item
  const accountId = await pick(ctx, item, candidates)
  if (accountId === undefined) refuse('item.no_candidate')
  if (accountId === item.assignee_id) return item
  const isMember = item.member_ids.includes(accountId)
  if (!isMember) refuseMoreMembers(item)

  if (!isMember) insertMember(ctx, itemId, accountId)
  writeAssignee(ctx, itemId, accountId)
  void ctx.tx`
    insert into assignment_turn (tenant_id, account_id, picked_at)
    values (${ctx.account.tenantId}, ${accountId}, clock_timestamp())
    on conflict (tenant_id, account_id) do update set picked_at = excluded.picked_at`

  const member_ids = isMember ? item.member_ids : [...item.member_ids, accountId].sort()
  const params = { account_id: accountId, before: item.assignee_id, by: 'auto' }
  return recorded(ctx, locked, { assignee_id: accountId, member_ids }, 'work.item.assigned', params)
}

/** Ids of accounts, the oldest first. Refuses request.invalid at what the body names and the workspace does not have. */
async function candidatesOf(
  ctx: Ctx,
  item: Item,
  body: Body,
  policyGroupId: string | null,
): Promise<readonly string[]> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  if (body.account_ids) {
    if (body.group_id) refuseMember('/group_id', 'member.conflicts', { with: ['account_ids'] })
    await refuseUnknown(ctx, body.account_ids)
    return body.account_ids
  }
  if (body.group_id) {
    const [group] = await tx`select 1 from account_group where tenant_id = ${tenantId} and id = ${body.group_id}`
    if (!group) refuseMember('/group_id', 'reference.unknown')
  }
  const groupId = body.group_id ?? policyGroupId
  const found = groupId === null ? await membersOf(ctx, item.container_id) : await inGroup(ctx, groupId)
  return found.map(({ id }) => id)
}

const inGroup = ({ tx, account: { tenantId } }: Ctx, groupId: string) => tx<{ id: string }[]>`
  select a.id from group_member g join account a on a.tenant_id = g.tenant_id and a.id = g.account_id
  where g.tenant_id = ${tenantId} and g.group_id = ${groupId} and a.kind = 'PERSON' and a.state = 'ACTIVE'
  order by a.id limit ${mostCandidates}`

/** Whoever has a role of the container itself that suffices, its own or a group's. */
const membersOf = ({ tx, account: { tenantId } }: Ctx, containerId: string) => tx<{ id: string }[]>`
  select a.id from account a where a.tenant_id = ${tenantId} and a.kind = 'PERSON' and a.state = 'ACTIVE' and a.id in (
    select coalesce(m.account_id, g.account_id) from membership m
    left join group_member g on g.tenant_id = m.tenant_id and g.group_id = m.group_id
    where m.tenant_id = ${tenantId} and m.container_id = ${containerId} and m.role in ${tx.list(enough)})
  order by a.id limit ${mostCandidates}`

const enough = roles.filter((role) => rankOf[role] >= rankOf.MEMBER)

async function refuseUnknown(ctx: Ctx, accountIds: readonly string[]): Promise<void> {
  const { tx } = ctx
  if (new Set(accountIds).size < accountIds.length) refuseMember('/account_ids', 'list.unique')
  const found = await tx<{ id: string }[]>`
    select id from account
    where tenant_id = ${ctx.account.tenantId} and id in ${tx.list(accountIds)} and state <> 'ERASED'`
  const known = new Set(found.map(({ id }) => id))
  const unknown = accountIds.findIndex((id) => !known.has(id))
  if (unknown >= 0) refuseMember(`/account_ids/${unknown}`, 'reference.unknown')
}

/** Whoever has the fewest open items, and access; undefined: nobody. */
async function pick(ctx: Ctx, item: Item, candidates: readonly string[]): Promise<string | undefined> {
  if (candidates.length === 0) return undefined
  const { tx } = ctx
  const { tenantId } = ctx.account
  const people = await tx<{ id: string }[]>`
    select a.id from account a left join assignment_turn t on t.tenant_id = a.tenant_id and t.account_id = a.id
    where a.tenant_id = ${tenantId} and a.id in ${tx.list(candidates)} and a.kind = 'PERSON' and a.state = 'ACTIVE'
    order by (select count(*) from (
        select from item i
        join container c on c.tenant_id = i.tenant_id and c.id = i.container_id
        left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
        where i.tenant_id = ${tenantId} and i.assignee_id = a.id and i.state = 'OPEN' and i.id <> ${item.id}
          and i.deleted_at is null and i.archived_at is null and c.deleted_at is null and h.deleted_at is null
        limit ${mostCountedItems}) n),
      t.picked_at nulls first, a.id`
  if (people.length === 0) return undefined
  const ids = people.map(({ id }) => id)
  const access = await accessOfEach(ctx, tx.part`${item.container_id}::uuid`, ids)
  return ids.find((id) => rankOf[access.get(id)?.role ?? 'VIEWER'] >= rankOf.MEMBER)
}
