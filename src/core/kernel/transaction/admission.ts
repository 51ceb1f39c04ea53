/**
 * Admission: a change by a workspace's people commits only while the workspace is ACTIVE and the gate is open.
 *
 *    change     workspace lock (shared) ─ look: ACTIVE? ─ … ─ commit
 *    closing    workspace lock (exclusive: waits for the shared holders) ─ change the state ─ commit
 *
 * Spec: States: Tenant; docs/decisions/0044.
 */

import { refuse } from '../../contract/problem.ts'
import { lockClasses } from '../database/lock-classes.ts'
import type { Tx } from '../database/transaction.ts'
import { type GateAccess, type GateRow, lockGateShared, refuseBehindGate } from './gate.ts'

/** Takes the workspace's lock exclusively: waits for the changes under way, and lets no new one in before the commit. */
export const closeWorkspace = (tx: Tx, tenantId: string) =>
  tx`select pg_advisory_xact_lock(${lockClasses.workspace}, hashtext(${tenantId}))`

/** Takes the workspace's lock shared, as its people's changes do; closing the workspace waits for the commit. */
export const holdOpen = (tx: Tx, tenantId: string) =>
  tx`select pg_advisory_xact_lock_shared(${lockClasses.workspace}, hashtext(${tenantId}))`

/** The workspace whose people make the change, and how it passes the gate. Each undefined: not checked. */
export interface Admission {
  readonly workspace?: string | undefined
  readonly gateAccess?: GateAccess | undefined
}

/**
 * Runs a change if it is admitted. A separate statement reads the state after the shared locks, so that its snapshot
 * cannot be older than they are. The locks and this statement are sent with the work's first statement. The answer is
 * checked before the commit, and before any other refusal is passed on.
 * Refuses installation.recovering, tenant_suspended.
 */
export async function admitted<T>(tx: Tx, { workspace, gateAccess }: Admission, work: () => Promise<T>): Promise<T> {
  if (workspace === undefined && gateAccess === undefined) return work()
  const gate = gateAccess && lockGateShared(tx)
  const open = workspace === undefined ? undefined : holdOpen(tx, workspace)
  const look =
    workspace === undefined
      ? tx<AdmissionRow[]>`select null as state, gated_at is not null as is_gated, epoch from installation`
      : tx<AdmissionRow[]>`
          select t.state, i.gated_at is not null as is_gated, i.epoch
          from installation i left join tenant t on t.id = ${workspace}`
  const [[outcome], [row]] = await Promise.all([Promise.allSettled([work()]), look, open, gate])
  if (gateAccess) refuseBehindGate(gateAccess, row)
  if (workspace !== undefined && row?.state !== 'ACTIVE') refuse('tenant_suspended')
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

interface AdmissionRow extends GateRow {
  readonly state: string | null
}
