/**
 * The installation's gate: closed while a recovery is under way.
 *
 *    open ──`svc recovery begin`, or a daemon that finds the database rewound──▶ closed
 *      ▲                                                                          │
 *      └───────────────────────────── `svc recovery admit` ──────────────────────┘
 *
 * While it is closed, calls of workspaces are refused (503 `installation.recovering`),
 * operators' are served, and workers hold every job. The daemon's gate reads the state in
 * the one query that looks the token up, so a closed gate holds from the next call on. For
 * the calls and jobs that are under way then, every change looks again in its own
 * transaction, behind a shared lock:
 *
 *    change            lock (shared) ─ look: open, same epoch? ─ … ─ commit
 *    closing, opening  lock (alone: waits for those that have it) ─ change the gate ─ commit
 *
 * so that none of a workspace's commits once the closing was answered, and whatever an
 * operator began before the opening either was seen by it or is refused. Reads take no lock.
 *
 * Elsewhere: what has to hold before it opens (check.ts), opening it (admit.ts), the daemon
 * that closes it by itself (witness.ts). Spec: decisions 1, Roots; recovery is ours.
 */

import { type AccountActor, type Actor, isAccount } from '../actor.ts'
import type { Ctx } from '../context.ts'
import { lockClasses } from '../database/lock-classes.ts'
import type { Tx } from '../database/transaction.ts'
import type { Installation } from '../installation.ts'
import type { Needs } from '../operation.ts'
import { refuse } from '../problem.ts'

export type GateReason = 'BEGUN' | 'REWOUND'

export interface GateState {
  /** Null while the gate is open. */
  readonly gated_at: string | null
  readonly gate_reason: GateReason | null
  readonly recovery_point: string | null
  readonly admitted_at: string | null
  readonly epoch: string
  /** How many epochs there have been. */
  readonly epoch_number: number
}

/** Seconds after which a refused caller may ask again. */
const retrySeconds = 30

/** Refuses installation.recovering, and says when to come back. */
export const refuseRecovering = (): never =>
  refuse('installation.recovering', undefined, { headers: { 'retry-after': String(retrySeconds) } })

/** The state of the gate; the installation's role is in force. */
async function readGate(tx: Tx): Promise<GateState> {
  const [state] = await tx<GateState[]>`
    select gated_at, gate_reason, recovery_point, admitted_at, epoch, epoch_number from installation`
  if (!state) throw new Error('the installation has no identity')
  return state
}

/** The same in a transaction of its own. */
export const lookAtGate = (installation: Installation): Promise<GateState> =>
  installation.transaction({ kind: 'SYSTEM', job: 'recovery' }, { readOnly: true }, ({ tx }) => readGate(tx))

/** Keeps the gate as it is until the commit. To be the first lock of a transaction, so that two never wait for each other. */
export const holdGate = (tx: Tx) => tx`select pg_advisory_xact_lock_shared(${lockClasses.gate}, 0)`

/** Longer than any change may take: 5 s for a statement, and as long for a copy of the ledger. */
const moveGateSeconds = 15

/** Waits for every change under way, and lets no other begin before the commit. */
export async function takeGate(tx: Tx): Promise<void> {
  await tx.patience(moveGateSeconds)
  await tx`select pg_advisory_xact_lock(${lockClasses.gate}, 0)`
}

/** How a transaction passes the gate. */
export interface Passage {
  /** Whether it may while the gate is closed. */
  readonly isServed: boolean
  /** The epoch in which the caller was let in; undefined for one that no credential let in. */
  readonly epoch: string | undefined
}

/** What a passage is held against; the installation's columns, under any role. */
export interface GateRow {
  readonly is_gated: boolean
  readonly epoch: string
}

/** Refuses installation.recovering: the gate is closed, or a recovery has ended since the caller was let in. */
export function refuseBehindGate({ isServed, epoch }: Passage, row: GateRow | undefined): void {
  if (!row || (row.is_gated && !isServed) || (epoch !== undefined && epoch !== row.epoch)) refuseRecovering()
}

/** What an operator needs while the gate is closed: the installation's own operations, and his own sessions, tokens and proofs. */
export function isServedWhileGated({ caller }: Needs, actor: Pick<AccountActor, 'isOperator' | 'scopes'>): boolean {
  switch (caller) {
    case 'anyone':
    case 'operator': // whoever is no operator is told so by the daemon's gate
      return true
    case 'account':
      return actor.isOperator
    case 'workspace':
      return false
    case 'workspace or operator':
      return actor.isOperator && actor.scopes.includes('admin:tenants')
  }
}

/** How an actor's changes pass that say nothing else; undefined for the operator at the database, for jobs, and for those who ask in their rule. */
export const passageOf = (actor: Actor): Passage | undefined =>
  isAccount(actor) ? { isServed: actor.isOperator, epoch: actor.epoch } : undefined

/** Refuses installation.recovering for an account that is no operator, while the gate is closed: for calls that come before a token. It stays as it is until the commit. */
export async function refuseWhileGated(ctx: Ctx, accountId: string): Promise<void> {
  if (await isGatedFor(ctx, accountId)) refuseRecovering()
}

/** Whether the gate is closed to the account. It stays as it is until the commit. */
export async function isGatedFor(ctx: Ctx, accountId: string): Promise<boolean> {
  const held = holdGate(ctx.tx)
  const [gated] = await ctx.tx`
    select 1 from installation i where i.gated_at is not null and not exists (select from operator o where o.account_id = ${accountId})`
  await held
  return gated !== undefined
}

/**
 * Closes the gate, once what it must not let through any more has ended. On a closed one nothing but the recovery point changes, where one is
 * given: whoever began the recovery knows it better than a daemon that found the rewind.
 */
export async function closeGate(
  ctx: Ctx,
  reason: GateReason,
  evidence: { readonly recoveryPoint?: string; readonly params?: Readonly<Record<string, unknown>> } = {},
): Promise<GateState> {
  const point = evidence.recoveryPoint ?? null
  await takeGate(ctx.tx)
  const [before] = await ctx.tx<{ gated_at: string | null; recovery_point: string | null }[]>`
    select gated_at, recovery_point from installation for update`
  const isChanged = before?.gated_at === null || (point !== null && !isSameMoment(before?.recovery_point, point))
  if (!isChanged) return readGate(ctx.tx)

  await ctx.tx`
    update installation
    set gate_reason = coalesce(gate_reason, ${reason}), recovery_point = coalesce(${point}::timestamptz, case when gated_at is null then null else recovery_point end),
        gated_at = coalesce(gated_at, now())`
  await ctx.journal(reason === 'BEGUN' ? 'recovery.begun' : 'recovery.rewind_found', null, {
    params: { recovery_point: point, ...evidence.params },
  })

  return readGate(ctx.tx)
}

const isSameMoment = (one: string | null | undefined, other: string) =>
  one !== null && one !== undefined && Date.parse(one) === Date.parse(other)
