/**
 * Whether an operator could act on the installation now: full, with a role, an account and a workspace that are active;
 * a service account also needs a token for it, because it has no password and mints none.
 *
 * Whatever takes an operator away (its entry, its roles, its workspace) keeps somebody of whom this holds.
 * Spec: Admin, rule 3; decisions 7, Probation; docs/decisions/0132.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import { hasRole } from '../access/held-role.ts'

/** A condition on the operator `o`, its account `a` and its workspace `t`, in a statement of the installation that reads them. */
export const canAct = (tx: Tx): Part => tx.part`
  (a.state = 'ACTIVE' and t.state = 'ACTIVE' and (o.probation_until is null or o.probation_until <= now()) and ${hasRole(tx)}
   and (a.kind = 'PERSON' or exists (
     select from credential c
     where c.tenant_id = a.tenant_id and c.account_id = a.id and c.kind = 'SERVICE' and c.revoked_at is null
       and (c.expires_at is null or c.expires_at > now()) and 'admin:tenants' = any (string_to_array(c.scopes, ' ')))))`
