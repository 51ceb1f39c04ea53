/**
 * Restricted accounts: what may be done with them is storing them (art. 18).
 *
 * The one place that asks. Whatever shows a name or an address, finds people by words, offers, assigns, mentions or mails them, or
 * hands their texts to a model, asks here, and nobody reads `account_restriction` besides but the rule that writes it. A person's
 * own acts are consent: the caller is never restricted for itself. Spec: Keeping, 2, N6; docs/decisions/0474.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { accountIdOf } from '../../kernel/values/actor.ts'

type Writer = Pick<Tx, 'part'>

/** A condition on the account `a`. */
export const isRestricted = (tx: Writer): Part => tx.part`exists (
  select from account_restriction r where r.tenant_id = a.tenant_id and r.account_id = a.id)`

/** The same, unless it is the caller's own account. */
export const isRestrictedFor = ({ tx, actor }: Pick<Ctx, 'tx' | 'actor'>): Part =>
  tx.part`(a.id is distinct from ${accountIdOf(actor)}::uuid and ${isRestricted(tx)})`

/** Whether the account is restricted because its data are kept for legal claims: then nothing erases it. */
export async function isKeptForClaims({ tx }: Pick<Ctx, 'tx'>, tenantId: string, accountId: string): Promise<boolean> {
  const [row] = await tx`
    select from account_restriction where tenant_id = ${tenantId} and account_id = ${accountId} and ground = 'CLAIMS'`
  return row !== undefined
}
