/**
 * Whether an account has a role in its workspace at all, of the workspace or of a container.
 *
 * Who has none is nobody there: the gate refuses it, no way in opens for it, and the act that took its last role has
 * ended its credentials (areas/auth/token/ending.ts). Asked here and nowhere else. Spec: decisions 7, Removed means out.
 */

import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

/** The same as a condition on the account `a`, in a statement that reads it. */
export const hasRole = (tx: Tx): Part =>
  tx.part`exists (select from membership held where held.tenant_id = a.tenant_id and held.account_id = a.id)`

/** Asked in a statement of its own, which sees what was committed while the account's lock was waited for. */
export async function holdsRole({ tx }: Ctx, tenantId: string, accountId: string): Promise<boolean> {
  const [row] = await tx<{ has_role: boolean }[]>`
    select ${hasRole(tx)} as has_role from account a where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  return row?.has_role === true
}
