/** An entry of a workspace's trail. Spec: decisions 4, AuditEntry. */
import type { Part } from '../database/statement.ts'
import type { Tx } from '../database/transaction.ts'
import { type Actor, accountIdOf, viaOf } from '../values/actor.ts'

export interface TrailEntry {
  readonly tenantId: string
  readonly id: string
  readonly action: string
  readonly actor: Actor
  readonly subject?: { readonly kind: string; readonly id: string } | undefined
  readonly params: Readonly<Record<string, unknown>>
}

/** The statement that writes them, at least one: alone, or as a part of another one. */
export function insertEntries(tx: Pick<Tx, 'part' | 'json' | 'rows'>, entries: readonly TrailEntry[]): Part {
  const rows = entries.map(({ tenantId, id, action, actor, subject, params }) => ({
    tenant_id: tenantId,
    id,
    action,
    actor_kind: kindOf(actor),
    actor_account_id: accountIdOf(actor),
    via: viaOf(actor),
    subject_kind: subject?.kind ?? null,
    subject_id: subject?.id ?? null,
    params: tx.json(params),
  }))
  return tx.part`
    insert into audit_entry
    ${tx.rows(rows, 'tenant_id', 'id', 'action', 'actor_kind', 'actor_account_id', 'via', 'subject_kind', 'subject_id', 'params')}`
}

/** Evidence knows four kinds; a caller without a sign-in acts through the system. */
export const kindOf = (actor: Actor) => (actor.kind === 'ANYONE' ? 'SYSTEM' : actor.kind)
