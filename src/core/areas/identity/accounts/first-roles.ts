/**
 * The roles and groups that a new account begins with, by an invitation or as a managed account. As `POST /memberships`
 * gives roles and `PUT /groups/{groupId}/members/{accountId}` members: nobody gives what it could not give by itself.
 * The lock of the memberships is held. Spec: people 1, N1; 2, Groups.
 */
import { refuse, refuseMember } from '../../../contract/problem.ts'
import { type Role, rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { findVisibleContainer } from '../../access/access.ts'
import { demandGrantable } from '../../access/grantable.ts'
import { joinGroup } from '../../access/group-rows.ts'
import { holdsRole } from '../../access/held-role.ts'
import { addMembership } from '../../memberships/membership.ts'

export interface FirstRoles {
  readonly role: Role | null
  readonly memberships: readonly { readonly container_id: string; readonly role: Role }[]
  readonly group_ids: readonly string[]
}

/** Refuses request.invalid, auth.role_required, group.bound. */
export async function demandFirstRoles(ctx: Ctx, { role, memberships, group_ids }: FirstRoles): Promise<void> {
  if (role === null && memberships.length === 0 && group_ids.length === 0) refuseMember('/role', 'member.required')
  if (role !== null) demand(ctx.account.role, role)
  demandUnique(
    memberships.map(({ container_id }) => container_id),
    '/memberships',
  )
  demandUnique(group_ids, '/group_ids')
  const places = await Promise.all(memberships.map(({ container_id }) => findVisibleContainer(ctx, container_id)))
  for (const [at, place] of places.entries()) {
    if (!place) refuseMember(`/memberships/${at}/container_id`, 'reference.unknown')
    demand(place.role, 'ADMIN')
    demand(place.role, memberships[at]?.role ?? 'OWNER')
  }
  await demandGroups(ctx, group_ids)
}

async function demandGroups(ctx: Ctx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { tx } = ctx
  const found = await tx<{ id: string; is_bound: boolean }[]>`
    select id, binding_provider_id is not null as is_bound from account_group
    where tenant_id = ${ctx.account.tenantId} and id in ${tx.list(ids)}`
  for (const [at, id] of ids.entries()) {
    const group = found.find((one) => one.id === id)
    if (!group) refuseMember(`/group_ids/${at}`, 'reference.unknown')
    if (group.is_bound) refuse('group.bound')
    await demandGrantable(ctx, id)
  }
}

/** Gives them to the account, which is new. Refuses request.invalid where they let it nowhere, structure.full. */
export async function giveFirstRoles(
  ctx: Ctx,
  accountId: string,
  { role, memberships, group_ids }: FirstRoles,
): Promise<void> {
  const { tenantId } = ctx.account
  if (role !== null) await addMembership(ctx, { account_id: accountId, container_id: null, role })
  for (const place of memberships) await addMembership(ctx, { account_id: accountId, ...place })
  for (const groupId of group_ids) await joinGroup(ctx, { tenantId, groupId, accountId, source: 'DIRECT' })
  // Groups may have no role.
  if (role === null && memberships.length === 0 && !(await holdsRole(ctx, tenantId, accountId)))
    refuseMember('/role', 'member.required')
}

function demandUnique(ids: readonly string[], pointer: string): void {
  if (new Set(ids).size < ids.length) refuseMember(pointer, 'list.unique')
}

function demand(mine: Role, role: Role): void {
  if (rankOf[mine] < rankOf[role]) refuse('auth.role_required', { role })
}
