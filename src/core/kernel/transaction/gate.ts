/**
 * The gate, as every transaction uses it: lock, check, refuse.
 *
 *    change            lock (shared) ─ look: open, same epoch? ─ … ─ commit
 *    closing, opening  lock (exclusive: waits for the shared holders) ─ change the gate ─ commit
 *
 * So no change of a workspace commits after the closing was answered. A change that an
 * operator began before the opening is either visible to the opening or refused. Reads take
 * no lock.
 *
 * Elsewhere: closing and opening the gate (areas/recovery/gate.ts). Spec: decisions 1, Roots; recovery is ours.
 */

import type { Needs } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { lockClasses } from '../database/lock-classes.ts'
import type { Tx } from '../database/transaction.ts'
import { type AccountActor, type Actor, isAccount } from '../values/actor.ts'

/** Seconds after which a refused caller may ask again. */
const retrySeconds = 30

/** Refuses installation.recovering, and says when to come back. */
export const refuseRecovering = (): never =>
  refuse('installation.recovering', undefined, { headers: { 'retry-after': String(retrySeconds) } })

/**
 * Keeps the gate unchanged until the commit. Must be a transaction's first lock, so that two never wait for each other.
 */
export const lockGateShared = (tx: Tx) => tx`select pg_advisory_xact_lock_shared(${lockClasses.gate}, 0)`

/** Longer than any change may take: 5 s for a statement, and as long for a copy of the ledger. */
const moveGateSeconds = 15

/** Waits for every change under way, and lets none begin before the commit. */
export async function lockGateExclusive(tx: Tx): Promise<void> {
  await tx.patience(moveGateSeconds)
  await tx`select pg_advisory_xact_lock(${lockClasses.gate}, 0)`
}

/** How a transaction passes the gate. */
export interface GateAccess {
  /** Whether it may pass while the gate is closed. */
  readonly isServed: boolean
  /** The epoch in which the caller was authenticated; undefined without a credential. */
  readonly epoch: string | undefined
}

/** The state that an access is checked against: columns of the installation, readable under any role. */
export interface GateRow {
  readonly is_gated: boolean
  readonly epoch: string
}

/** Refuses installation.recovering: the gate is closed, or a recovery has ended since the caller was let in. */
export function refuseBehindGate({ isServed, epoch }: GateAccess, row: GateRow | undefined): void {
  if (!row || (row.is_gated && !isServed) || (epoch !== undefined && epoch !== row.epoch)) refuseRecovering()
}

/** What an operator needs while the gate is closed: the operations of the installation, and its own sessions, tokens and proofs. */
export function isServedWhileGated({ caller }: Needs, actor: Pick<AccountActor, 'isOperator' | 'scopes'>): boolean {
  switch (caller) {
    case 'anyone':
    case 'operator': // the daemon refuses callers who are not operators
      return true
    case 'account':
      return actor.isOperator
    case 'workspace':
      return false
    case 'workspace or operator':
      return actor.isOperator && actor.scopes.includes('admin:tenants')
  }
}

/**
 * How an actor's changes pass by default; undefined for the operator at the database, for jobs, and for rules that ask
 * themselves.
 */
export const gateAccessOf = (actor: Actor): GateAccess | undefined =>
  isAccount(actor) ? { isServed: actor.isOperator, epoch: actor.epoch } : undefined

/**
 * Refuses installation.recovering for an account that is no operator, while the gate is closed: for calls that come
 * before a token. The gate stays unchanged until the commit.
 */
export async function refuseWhileGated(tx: Tx, accountId: string): Promise<void> {
  if (await isGatedFor(tx, accountId)) refuseRecovering()
}

/** Whether the gate is closed to the account. The gate stays unchanged until the commit. */
export async function isGatedFor(tx: Tx, accountId: string): Promise<boolean> {
  const held = lockGateShared(tx)
  const [gated] = await tx`
    select 1 from installation i where i.gated_at is not null and not exists (select from operator o where o.account_id = ${accountId})`
  await held
  return gated !== undefined
}
