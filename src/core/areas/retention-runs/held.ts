/** Which accounts the rules let alone. Spec: Keeping, 1, A hold covers. */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'

/** Whether a legal hold in force is on the account. Those on the workspace stop the run itself. */
export const isAccountHeld = (tx: Pick<Tx, 'part'>, tenantId: string, accountId: Part): Part => tx.part`exists (
  select from legal_hold l
  where l.tenant_id = ${tenantId} and l.released_at is null and l.scope_kind = 'ACCOUNT' and l.scope_id = ${accountId})`
