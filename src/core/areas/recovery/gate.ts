/**
 * The installation's gate: closed while a recovery is under way.
 *
 *    open ──`svc recovery begin`, or a daemon that finds the database rewound──▶ closed
 *      ▲                                                                          │
 *      └───────────────────────────── `svc recovery admit` ──────────────────────┘
 *
 * While it is closed, calls of workspaces are refused (503 `installation.recovering`), calls of
 * operators are served, and workers hold every job. The daemon's gate reads the state in the
 * query that looks up the token, so a closed gate applies from the next call on. For calls and
 * jobs that are already under way, every change reads the state again in its own transaction,
 * under a shared lock (kernel/transaction/gate.ts).
 *
 * Elsewhere: the conditions for opening it (check.ts), opening it (admit.ts), the daemon that
 * closes it without an operator (rewind-detection.ts). Spec: decisions 1, Roots; recovery is ours.
 */

import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lockGateExclusive } from '../../kernel/transaction/gate.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'

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

/** The state of the gate. Needs the installation's role. */
async function readGate(tx: Tx): Promise<GateState> {
  const [state] = await tx<GateState[]>`
    select gated_at, gate_reason, recovery_point, admitted_at, epoch, epoch_number from installation`
  if (!state) throw new Error('the installation has no identity')
  return state
}

/** The same in a transaction of its own. */
export const lookAtGate = (installation: Installation): Promise<GateState> =>
  installation.transaction({ kind: 'SYSTEM', job: 'recovery' }, { readOnly: true }, ({ tx }) => readGate(tx))

/**
 * Closes the gate, after the changes under way have ended. On a closed gate, only the recovery point changes, if one is
 * given: the operator who began the recovery knows it better than the daemon that found the rewind.
 */
export async function closeGate(
  ctx: Ctx,
  reason: GateReason,
  evidence: { readonly recoveryPoint?: string; readonly params?: Readonly<Record<string, unknown>> } = {},
): Promise<GateState> {
  const point = evidence.recoveryPoint ?? null
  await lockGateExclusive(ctx.tx)
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
