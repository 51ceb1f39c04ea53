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

/** The statement that writes it: alone, or as a part of another one. */
export function insertEntry(tx: Pick<Tx, 'part' | 'json'>, entry: TrailEntry): Part {
  const { tenantId, id, action, actor, subject, params } = entry
  return tx.part`
    insert into audit_entry (tenant_id, id, action, actor_kind, actor_account_id, via, subject_kind, subject_id, params)
    values (${tenantId}, ${id}, ${action}, ${kindOf(actor)}, ${accountIdOf(actor)}, ${viaOf(actor)},
            ${subject?.kind ?? null}, ${subject?.id ?? null}, ${tx.json(params)})`
}

/** Evidence knows four kinds; a caller without a sign-in acts through the system. */
export const kindOf = (actor: Actor) => (actor.kind === 'ANYONE' ? 'SYSTEM' : actor.kind)
