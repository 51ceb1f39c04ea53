/**
 * The role of an account on the workspace, for a statement that reads accounts. What the role lets an account see is
 * elsewhere (access.ts). Spec: decisions 2, Roles; docs/decisions/0101.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'

/** The role of the account `a` on the workspace; null: it has none there. */
export const roleOnWorkspace = (tx: Pick<Tx, 'part'>): Part =>
  tx.part`(select general.role from membership general
    where general.tenant_id = a.tenant_id and general.account_id = a.id and general.container_id is null)`
