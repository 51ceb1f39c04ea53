/**
 * Admission: a change by a workspace's people commits only while the workspace is ACTIVE, not being restored, and the gate
 * is open.
 *
 *    change     workspace lock (shared) ─ look: ACTIVE? ─ … ─ commit
 *    closing    workspace lock (exclusive: waits for the shared holders) ─ change the state ─ commit
 *
 * Spec: States: Tenant; docs/decisions/0044.
 */

import { Problem, refuse } from '../../contract/problem.ts'
import { lockClasses } from '../database/lock-classes.ts'
import type { Part } from '../database/statement.ts'
import type { Tx } from '../database/transaction.ts'
import { type GateAccess, type GateRow, lockGateShared, refuseBehindGate } from './gate.ts'

/** Takes the workspace's lock exclusively: waits for the changes under way, and lets no new one in before the commit. */
export const closeWorkspace = (tx: Tx, tenantId: string) =>
  tx`select pg_advisory_xact_lock(${lockClasses.workspace}, hashtext(${tenantId}))`

/** Takes the workspace's lock shared, as its people's changes do; closing the workspace waits for the commit. */
export const holdOpen = (tx: Tx, tenantId: string) =>
  tx`select pg_advisory_xact_lock_shared(${lockClasses.workspace}, hashtext(${tenantId}))`

/** The locks of a change, in their order: the gate's and the workspace's, whose id is the text `tenantId`. */
export const admissionLocks = (tx: Tx, tenantId: Part): Part => tx.part`
  pg_advisory_xact_lock_shared(${lockClasses.gate}, 0), pg_advisory_xact_lock_shared(${lockClasses.workspace}, hashtext(${tenantId}))`

/**
 * Waits for the workspace's changes under way, which may have found no webhook, or a hub open; those that begin later wait,
 * and find what was made or hidden. Must be a rule's first lock, and not that of an operation of one transaction, which
 * holds it shared (0184).
 */
export const beforeNewAudience = (tx: Tx, tenantId: string) =>
  tx`select pg_advisory_xact_lock(${lockClasses.audience}, hashtext(${tenantId}))`

/** Seconds after which a caller of a workspace that is being restored may ask again. */
const restoringRetrySeconds = 5

/** Refuses workspace.restoring, and says when to come back. */
export const refuseRestoring = (): never =>
  refuse('workspace.restoring', undefined, { headers: { 'retry-after': String(restoringRetrySeconds) } })

/**
 * Holds the workspace open until the commit, for a job that must not write while its rows are being restored.
 * Refuses workspace.restoring.
 */
export async function demandNotRestoring(tx: Tx, tenantId: string): Promise<void> {
  void holdOpen(tx, tenantId)
  const [row] = await tx`select from tenant where id = ${tenantId} and restoring_at is not null`
  if (row) refuseRestoring()
}

/** Whether an error says that the workspace admits no change now: it is suspended, or being restored. A job comes back later. */
export const isNotAdmitted = (error: unknown): boolean =>
  error instanceof Problem && (error.code === 'tenant_suspended' || error.code === 'workspace.restoring')

/** Each member undefined: not checked. */
export interface Admission {
  /** The workspace whose people make the change. */
  readonly workspace?: string | undefined
  /** How the change passes the gate. */
  readonly gateAccess?: GateAccess | undefined
  /** Looks the caller up, and with it the workspace's state and the gate. */
  readonly enter?: ((tx: Tx) => Promise<void>) | undefined
  /** Lets the workspace get no webhook, and hides none of its hubs, before the commit. */
  readonly keepsAudience?: boolean
}

/**
 * Runs work if it is admitted. The state is read by a separate statement after the shared locks, so that its snapshot
 * cannot be older than they are. The locks and this statement are sent with the work's first statement. The work gets no
 * answer before this one has passed, and any refusal of it is passed on first.
 * Refuses installation.recovering, tenant_suspended, workspace.restoring, and what `enter` refuses.
 */
export async function admitted<T>(tx: Tx, admission: Admission, work: () => Promise<T>): Promise<T> {
  const { workspace, gateAccess, enter } = admission
  if (workspace === undefined && gateAccess === undefined && enter === undefined) return work()
  const locked = hold(tx, admission)
  const looked = enter ? enter(tx) : look(tx, admission)
  if (!enter) tx.withhold(looked)
  const [[outcome]] = await Promise.all([Promise.allSettled([work()]), looked, locked])
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

/** The gate first, then the workspace, then the audience; one statement, because every change sends it. */
function hold(tx: Tx, { workspace, gateAccess, keepsAudience }: Admission): Promise<unknown> | undefined {
  if (workspace === undefined) return gateAccess && lockGateShared(tx)
  if (!gateAccess) return holdOpen(tx, workspace)
  const audience = keepsAudience
    ? tx.part`, pg_advisory_xact_lock_shared(${lockClasses.audience}, hashtext(${workspace}))`
    : tx.part``
  return tx`select ${admissionLocks(tx, tx.part`${workspace}`)} ${audience}`
}

async function look(tx: Tx, { workspace, gateAccess }: Admission): Promise<void> {
  const [row] =
    workspace === undefined
      ? await tx<
          AdmissionRow[]
        >`select null as state, false as is_restoring, gated_at is not null as is_gated, epoch from installation`
      : await tx<AdmissionRow[]>`
          select ${admissionColumns(tx)}, i.gated_at is not null as is_gated, i.epoch
          from installation i left join tenant t on t.id = ${workspace}`
  if (gateAccess) refuseBehindGate(gateAccess, row)
  if (workspace !== undefined) refuseUnlessAdmitting(row)
}

/** What a workspace admits, of the tenant `t`: for a statement behind the workspace's lock. */
export const admissionColumns = (tx: Tx): Part => tx.part`t.state, t.restoring_at is not null as is_restoring`

/** A row with `admissionColumns`; null: there is no such workspace. */
export interface Admitting {
  readonly state: string | null
  readonly is_restoring: boolean
}

/** Refuses tenant_suspended, workspace.restoring. */
export function refuseUnlessAdmitting(row: Admitting | undefined): void {
  if (row?.state !== 'ACTIVE') refuse('tenant_suspended')
  if (row.is_restoring) refuseRestoring()
}

interface AdmissionRow extends GateRow, Admitting {}
