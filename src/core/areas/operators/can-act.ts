/**
 * Whether an operator could act on the installation now. It must be full (not on probation) and have a role, and its
 * account and workspace must be active. A service account also needs a valid token with `admin:tenants`, because it
 * has no password and cannot create a token.
 *
 * Every rule that removes an operator's entry, roles or workspace keeps at least one operator that can act.
 * Spec: Admin, rule 3; decisions 7, Probation; docs/decisions/0132.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import { hasRole } from '../access/held-role.ts'

/** A condition on the operator `o`, its account `a` and its workspace `t`, for a statement of the installation. */
export const canAct = (tx: Tx): Part => tx.part`
  (a.state = 'ACTIVE' and t.state = 'ACTIVE' and (o.probation_until is null or o.probation_until <= now()) and ${hasRole(tx)}
   and (a.kind = 'PERSON' or exists (
     select from credential c
     where c.tenant_id = a.tenant_id and c.account_id = a.id and c.kind = 'SERVICE' and c.revoked_at is null
       and (c.expires_at is null or c.expires_at > now()) and 'admin:tenants' = any (string_to_array(c.scopes, ' ')))))`
