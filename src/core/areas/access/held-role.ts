/**
 * Whether an account has any role in its workspace: on the workspace itself or on a container, its own or by a group.
 *
 * An account without a role has no access: the gate refuses it, it cannot sign in, and the action that took its last
 * role ended its credentials (areas/auth/token/ending.ts). No other module decides this. Spec: decisions 7, Removed
 * means out.
 */

import { lockClasses } from '../../kernel/database/lock-classes.ts'
import { ownHolders } from '../../kernel/database/role-holders.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

/** A condition on the account `a`, for a statement that reads it. */
export const hasRole = (tx: Pick<Tx, 'part'>): Part => tx.part`exists (
  select from membership held where held.tenant_id = a.tenant_id and held.holder_id = any (${ownHolders(tx)}))`

/** Asks in a separate statement, which sees what was committed while the caller waited for the account's lock. */
export async function holdsRole({ tx }: Ctx, tenantId: string, accountId: string): Promise<boolean> {
  const [row] = await tx<{ has_role: boolean }[]>`
    select ${hasRole(tx)} as has_role from account a where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  return row?.has_role === true
}

/** Roles and groups of a workspace change in turns, until the commit: what one act reads, no other changes meanwhile. */
export const lockMemberships = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string): Promise<unknown> =>
  tx`select pg_advisory_xact_lock(${lockClasses.memberships}, hashtext(${tenantId}))`
