/**
 * The roles of groups: who may hold a role, and what becomes of the members when a group loses one.
 * Spec: people 2, Groups; docs/decisions/0390.
 */
import type { Membership } from '../../contract/memberships/operations.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { type Role, roles } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isAccount } from '../../kernel/values/actor.ts'
import { endAccess, lockWithoutRole } from '../auth/token/departure.ts'
import { keepAnOperator } from './last-owner.ts'

/** Whose role it is: an account's or a group's. */
export type RoleHolder =
  | { readonly account_id: string; readonly group_id: null }
  | { readonly account_id: null; readonly group_id: string }

interface Named {
  readonly account_id?: string | null | undefined
  readonly group_id?: string | null | undefined
  readonly role: Role
}

/** Refuses request.invalid where not exactly one is named, and where a group would be OWNER. */
export function holderNamed({ account_id, group_id, role }: Named): RoleHolder {
  if (account_id) {
    if (group_id) refuseMember('/group_id', 'member.conflicts', { with: ['account_id'] })
    return { account_id, group_id: null }
  }
  if (!group_id) refuseMember('/account_id', 'member.required')
  if (role === 'OWNER') refuseMember('/role', 'value.one_of', { values: roles.filter((one) => one !== 'OWNER') })
  return { account_id: null, group_id }
}

/** Refuses request.invalid where the workspace does not have it; an erased account is gone. */
export async function findHolder({ tx }: Ctx, tenantId: string, { account_id, group_id }: RoleHolder): Promise<void> {
  const [found] =
    account_id !== null
      ? await tx`select 1 from account where tenant_id = ${tenantId} and id = ${account_id} and state <> 'ERASED'`
      : await tx`select 1 from account_group where tenant_id = ${tenantId} and id = ${group_id}`
  if (!found) refuseMember(account_id !== null ? '/account_id' : '/group_id', 'reference.unknown')
}

/** Refuses admin.operator_required where another member of the group is in the operator register, unless a full operator acts. */
export async function demandRegisterOfMembers(ctx: Ctx, tenantId: string, groupId: string): Promise<void> {
  const { actor, tx } = ctx
  if (!isAccount(actor) || (actor.isOperator && !actor.probationUntil)) return
  const others = (await operatorsOf(ctx, tenantId)).filter((id) => id !== actor.accountId)
  if (others.length === 0) return
  const [operator] = await tx`
    select 1 from group_member where tenant_id = ${tenantId} and group_id = ${groupId} and account_id in ${tx.list(others)} limit 1`
  if (operator) refuse('admin.operator_required')
}

/** Removes a group's membership. Refuses admin.operator_last. */
export async function takeFromGroup(
  ctx: Ctx,
  tenantId: string,
  { id, group_id }: Pick<Membership, 'id'> & { readonly group_id: string },
): Promise<void> {
  const members = await membersOf(ctx, tenantId, group_id)
  await ctx.tx`delete from membership where tenant_id = ${tenantId} and id = ${id}`
  await endWithoutRole(ctx, tenantId, members)
}

async function membersOf({ tx }: Ctx, tenantId: string, groupId: string): Promise<string[]> {
  const rows = await tx<{ account_id: string }[]>`
    select account_id from group_member where tenant_id = ${tenantId} and group_id = ${groupId}`
  return rows.map(({ account_id }) => account_id)
}

/**
 * Each of the accounts that has no role left loses its credentials, as with its last membership. Refuses
 * admin.operator_last where nobody in the register could act any more.
 */
export async function endWithoutRole(ctx: Ctx, tenantId: string, accountIds: readonly string[]): Promise<void> {
  const lost = await lockWithoutRole(ctx, tenantId, accountIds)
  if (lost.length === 0) return
  for (const id of await operatorsOf(ctx, tenantId)) if (lost.includes(id)) await keepAnOperator(ctx, id)
  await endAccess(ctx, tenantId, lost)
}

/** The accounts of the workspace in the operator register. */
async function operatorsOf(ctx: Ctx, tenantId: string): Promise<string[]> {
  const rows = await ctx.asInstallationOnce(
    () => ctx.tx<{ account_id: string }[]>`select account_id from operator where workspace_id = ${tenantId}`,
  )
  return rows.map(({ account_id }) => account_id)
}
