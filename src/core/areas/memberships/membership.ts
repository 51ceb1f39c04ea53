/**
 * Memberships of accounts and of groups: granted, changed, removed.
 *
 *    none ──grant──▶ a role on the workspace or in a container ──grant──▶ another role
 *                                   └──remove──▶ none
 *
 * The caller can neither grant nor change a role above its own role in that place. Only an operator
 * gives or changes a role of an account in the operator register (areas/auth/token/ceiling.ts), or changes one of a group
 * with such a member (group-roles.ts).
 * The workspace keeps an OWNER that can sign in (last-owner.ts). A lock serialises the changes of
 * one workspace: if two OWNERs remove each other, one stays. An account that loses its last role
 * loses every credential in the same transaction (areas/auth/token/ending.ts). A later grant
 * restores the right to sign in, and nothing else. An account that leaves the workspace leaves its containers and groups.
 *
 * Elsewhere: what a role lets an account see (areas/access/access.ts), and the check of the role
 * (gate.ts). Both read the rows at each request. Spec: Index, Identity; decisions 2; people 2; decisions 0101, 0390.
 */

import type { Membership, membershipOperations as ops } from '../../contract/memberships/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { type Role, rankOf } from '../../contract/vocabulary.ts'
import { ownHolders } from '../../kernel/database/role-holders.ts'
import type { EventName } from '../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { firstId, pageOfRows, pageStart } from '../../kernel/transaction/page.ts'
import { newId } from '../../kernel/values/id.ts'
import { findVisibleContainer, visibleContainerIds } from '../access/access.ts'
import { leaveGroups } from '../access/group-rows.ts'
import { holdsRole, lockMemberships } from '../access/held-role.ts'
import { isInRegister } from '../auth/token/ceiling.ts'
import { endAccess } from '../auth/token/departure.ts'
import { holdBearer, lockAccount } from '../auth/token/ending.ts'
import { demandRegisterOfMembers, endWithoutRole, findHolder, holderNamed, takeFromGroup } from './group-roles.ts'
import { keepAnOperator, keepAnOwner } from './last-owner.ts'

/** Refuses cursor.invalid. */
export async function listMemberships(
  ctx: Ctx,
  { account_id, group_id, container_id, cursor, size }: Received<typeof ops.listMemberships>,
): Promise<Answer<typeof ops.listMemberships>> {
  const list = { operation: 'listMemberships', filters: { account_id, container_id, ...(group_id && { group_id }) } }
  const { tenantId, isGuest } = ctx.account
  const after = pageStart(ctx, list, cursor)
  const { tx } = ctx
  const rows = await tx.last<Membership[]>`
    select m.id, m.account_id, m.group_id, m.container_id, m.role, m.created_at, m.updated_at, m.version from membership m
    where m.tenant_id = ${tenantId} and m.id > ${after ?? firstId}::uuid
      ${account_id === undefined ? tx.part`` : tx.part`and m.holder_id = ${account_id} and m.account_id is not null`}
      ${group_id === undefined ? tx.part`` : tx.part`and m.holder_id = ${group_id} and m.group_id is not null`}
      ${container_id === undefined ? tx.part`` : tx.part`and m.container_id = ${container_id}`}
      and ((m.container_id is null and not ${isGuest === true}) or m.container_id in (${visibleContainerIds(ctx)}))
    order by m.id limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size)
}

/** Refuses request.invalid, auth.role_required, membership.last_owner. */
export async function grantMembership(
  ctx: Ctx,
  { body }: Received<typeof ops.grantMembership>,
): Promise<Answer<typeof ops.grantMembership>> {
  const { tenantId } = ctx.account
  const holder = holderNamed(body)
  await lockMemberships(ctx, tenantId)
  const mine = await roleAt(ctx, body.container_id ?? null)
  if (mine === undefined) refuseMember('/container_id', 'reference.unknown')
  demand(mine, 'ADMIN')
  demand(mine, body.role)
  const place = { ...holder, container_id: body.container_id ?? null, role: body.role }
  await findHolder(ctx, tenantId, holder)

  const held = await findMembership(ctx, tenantId, place)
  if (!held) return addMembership(ctx, place)
  if (held.role === body.role) return held
  if (held.group_id !== null) await demandRegisterOfMembers(ctx, tenantId, held.group_id)
  demand(mine, held.role)
  if (isOwner(held)) await keepAnOwner(ctx, tenantId, held.account_id)
  const [changed] = await ctx.tx<Membership[]>`
    update membership set role = ${body.role}, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${held.id} returning ${columns(ctx)}`
  if (!changed) refuse('not_found')
  await record(ctx, 'identity.membership.changed', changed, { from: held.role })
  return changed
}

/** Refuses not_found, auth.role_required, precondition.failed, membership.last_owner, admin.operator_last. */
export async function removeMembership(
  ctx: Ctx,
  { membershipId }: Received<typeof ops.removeMembership>,
): Promise<void> {
  const { tenantId } = ctx.account
  await lockMemberships(ctx, tenantId)
  const [held] = await ctx.tx<HeldMembership[]>`
    select ${columns(ctx)} from membership where tenant_id = ${tenantId} and id = ${membershipId}`
  const mine = held && (await roleAt(ctx, held.container_id))
  if (!held || mine === undefined) refuse('not_found')
  demand(mine, 'ADMIN')
  if (held.group_id !== null) await demandRegisterOfMembers(ctx, tenantId, held.group_id)
  demand(mine, held.role)
  ctx.unchanged(held.version)
  if (held.group_id !== null) {
    await takeFromGroup(ctx, tenantId, held)
    await record(ctx, 'identity.membership.removed', held)
    return
  }

  const along = await takeAway(ctx, tenantId, held)

  await record(ctx, 'identity.membership.removed', held, { ...along })
}

/**
 * Removes an account's membership. With that of the workspace, those of its containers and its groups go too. With the
 * account's last role, its credentials end. Answers how much else was removed.
 * Refuses membership.last_owner, admin.operator_last.
 */
async function takeAway(ctx: Ctx, tenantId: string, held: OwnMembership): Promise<Along> {
  const { account_id: accountId } = held
  if (isOwner(held)) await keepAnOwner(ctx, tenantId, accountId)
  if ((await isAllItHas(ctx, tenantId, held)) && (await isInRegister(ctx, accountId)))
    await keepAnOperator(ctx, accountId)
  // Under the account's lock: a container that the account creates at this moment adds a membership.
  await lockAccount(ctx, { tenantId, accountId })
  await ctx.tx`delete from membership where tenant_id = ${tenantId} and id = ${held.id}`
  const along = held.container_id === null ? await leaveTheRest(ctx, tenantId, accountId) : {}
  if (!(await holdsRole(ctx, tenantId, accountId))) await endAccess(ctx, tenantId, [accountId])
  return along
}

/** What went with a role of the workspace, as its entry in the trail says it: counts above 0. */
interface Along {
  readonly containers?: number
  readonly groups?: number
}

async function leaveTheRest(ctx: Ctx, tenantId: string, accountId: string): Promise<Along> {
  const containers = await leaveContainers(ctx, tenantId, accountId)
  const groups = await leaveGroups(ctx, { tenantId, accountId })
  return { ...(containers > 0 && { containers }), ...(groups > 0 && { groups }) }
}

/**
 * Repeats a departure that a rewind of the database undid: removes every role that the account had before it left, and takes
 * it out of the groups that it was in.
 * Refuses membership.last_owner, admin.operator_last.
 */
export async function leaveAgain(
  ctx: Ctx,
  { tenantId, accountId, leftAt }: { readonly tenantId: string; readonly accountId: string; readonly leftAt: string },
): Promise<void> {
  await lockMemberships(ctx, tenantId)
  await leaveGroups(ctx, { tenantId, accountId, groupIds: await groupsBefore(ctx, tenantId, accountId, leftAt) })
  const had = await ctx.tx<Membership[]>`
    select ${columns(ctx)} from membership
    where tenant_id = ${tenantId} and holder_id = ${accountId} and created_at <= ${leftAt}::timestamptz
    order by container_id nulls first`
  for (const held of had.filter(isOwn)) {
    const along = await takeAway(ctx, tenantId, held)
    await record(ctx, 'identity.membership.removed', held, { ...along })
    if (held.container_id === null) return
  }
  if (had.length === 0) await endWithoutRole(ctx, tenantId, [accountId]) // all that it had was of groups
}

async function groupsBefore({ tx }: Ctx, tenantId: string, accountId: string, leftAt: string): Promise<string[]> {
  const rows = await tx<{ group_id: string }[]>`
    select group_id from group_member
    where tenant_id = ${tenantId} and account_id = ${accountId} and added_at <= ${leftAt}::timestamptz`
  return rows.map(({ group_id }) => group_id)
}

/** Adds a membership without a check of the caller's role, e.g. for the account that creates a container. */
export async function addMembership(
  ctx: Ctx,
  granted: Pick<Membership, 'account_id' | 'container_id' | 'role'> & { readonly group_id?: string | null },
): Promise<Membership> {
  const actor = ctx.account
  // An account that is removed at this moment must not give itself a role after the removal.
  const held = granted.account_id === actor.accountId ? holdBearer(ctx, actor) : undefined
  const [[membership]] = await Promise.all([
    ctx.tx<Membership[]>`
      insert into membership (tenant_id, id, account_id, group_id, container_id, role)
      values (${actor.tenantId}, ${newId()}, ${granted.account_id}, ${granted.group_id ?? null}, ${granted.container_id}, ${granted.role}) returning ${columns(ctx)}`,
    held,
  ])
  if (!membership) throw new Error('an insert answers its row')
  await record(ctx, 'identity.membership.granted', membership)
  return membership
}

const columns = ({ tx }: Ctx) => tx.part`id, account_id, group_id, container_id, role, created_at, updated_at, version`

/** A membership as it is held: an account's, or a group's. */
type OwnMembership = Membership & { readonly account_id: string; readonly group_id: null }
type HeldMembership = OwnMembership | (Membership & { readonly account_id: null; readonly group_id: string })

/** The caller's role on the workspace or in a container; undefined if the caller does not see the place. */
async function roleAt(ctx: Ctx, containerId: string | null): Promise<Role | undefined> {
  if (containerId !== null) return (await findVisibleContainer(ctx, containerId))?.role
  const { role, isGuest } = ctx.account
  return isGuest ? undefined : role
}

function demand(mine: Role, role: Role): void {
  if (rankOf[mine] < rankOf[role]) refuse('auth.role_required', { role })
}

async function findMembership(
  ctx: Ctx,
  tenantId: string,
  { account_id, group_id, container_id }: Pick<Membership, 'account_id' | 'group_id' | 'container_id'>,
): Promise<HeldMembership | undefined> {
  const { tx } = ctx
  const place = container_id === null ? tx.part`container_id is null` : tx.part`container_id = ${container_id}`
  const [row] = await tx<HeldMembership[]>`
    select ${columns(ctx)} from membership where tenant_id = ${tenantId} and holder_id = ${account_id ?? group_id} and ${place}`
  return row
}

const isOwn = (held: Membership): held is OwnMembership => held.account_id !== null
const isOwner = (held: HeldMembership): held is OwnMembership => held.container_id === null && held.role === 'OWNER'

async function isAllItHas(
  { tx }: Ctx,
  tenantId: string,
  { id, account_id, container_id }: OwnMembership,
): Promise<boolean> {
  if (container_id === null) return true
  const others = await tx`
    select 1 from account a join membership m on m.tenant_id = a.tenant_id and m.holder_id = any (${ownHolders(tx)}) and m.id <> ${id}
    where a.tenant_id = ${tenantId} and a.id = ${account_id} limit 1`
  return others.length === 0
}

async function leaveContainers({ tx }: Ctx, tenantId: string, accountId: string): Promise<number> {
  const left = await tx`
    delete from membership where tenant_id = ${tenantId} and holder_id = ${accountId} and container_id is not null`
  return left.count
}

const record = (
  ctx: Ctx,
  event: Extract<EventName, `identity.membership.${string}`>,
  membership: Membership,
  more: Readonly<Record<string, unknown>> = {},
) =>
  ctx.record(event, membership, {
    account_id: membership.account_id,
    ...(membership.group_id !== null && { group_id: membership.group_id }),
    container_id: membership.container_id,
    role: membership.role,
    ...more,
  })
