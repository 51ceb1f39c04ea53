/**
 * What the ledgers of an installation want to be true, whatever the database says.
 *
 * A hold stays wanted although it was released, because in a rewound period nobody can tell
 * any more on what ground (specification, Admin: workspaces, rule 3). Of an account the last
 * line decides. A line whose outcome is unknown counts where it protects (a hold, a
 * revocation, a removal), and not where it gives or destroys (an operator, a purge).
 */

import type { Obligation } from '../../contract/obligation.ts'
import type { Entry } from '../../kernel/ledger/ledger.ts'

type Settled = Entry<Obligation> & { readonly isSettled: boolean }

export interface DesiredHold {
  readonly tenantId: string
  readonly id: string
  readonly scope: { readonly kind: 'TENANT' | 'CONTAINER' | 'ITEM' | 'ACCOUNT'; readonly id: string | null }
  readonly placedBy: string
  readonly placedAt: string
  readonly reason: string
  releasedAt: string | null
  readonly isCertain: boolean
}

interface DesiredOperator {
  readonly tenantId: string
  readonly isRegistered: boolean
  /** Until when it is on probation; null: a full operator. */
  readonly probationUntil: string | null
  /** When the line was written that decides. */
  readonly at: string
  readonly isCertain: boolean
}

interface DesiredDeparture {
  readonly tenantId: string
  /** When the line was written: roles given since then stay. */
  readonly at: string
  readonly isCertain: boolean
}

export interface DesiredState {
  readonly holds: ReadonlyMap<string, DesiredHold>
  readonly purged: ReadonlySet<string>
  /** Purges of which nobody knows whether they ended. */
  readonly perhapsPurged: ReadonlySet<string>
  readonly operators: ReadonlyMap<string, DesiredOperator>
  /** Accounts that lost their last role, and when. */
  readonly left: ReadonlyMap<string, DesiredDeparture>
  readonly revoked: ReadonlyMap<string, { readonly tenantId: string; readonly isCertain: boolean }>
}

/** Reads the lines of all ledgers together, in the order of their moments. */
export function desiredStateOf(lines: readonly Settled[]): DesiredState {
  const holds = new Map<string, DesiredHold>()
  const purged = new Set<string>()
  const perhapsPurged = new Set<string>()
  const operators = new Map<string, DesiredOperator>()
  const left = new Map<string, DesiredDeparture>()
  const revoked = new Map<string, { tenantId: string; isCertain: boolean }>()
  for (const { act, at, isSettled } of lines.toSorted(byMoment)) {
    const tenantId = act.tenant_id
    switch (act.act) {
      case 'hold.placed':
        if (!holds.has(act.id)) holds.set(act.id, { ...holdOf(act), isCertain: isSettled })
        break
      case 'hold.released': {
        const hold = holds.get(act.id)
        if (hold && isSettled) hold.releasedAt ??= at
        break
      }
      case 'workspace.purged':
        ;(isSettled ? purged : perhapsPurged).add(tenantId)
        break
      case 'operator.added':
      case 'operator.removed': {
        const isRegistered = act.act === 'operator.added'
        if (isSettled || !isRegistered)
          operators.set(act.account_id, {
            tenantId,
            isRegistered,
            probationUntil: (isRegistered && act.probation_until) || null,
            at,
            isCertain: isSettled,
          })
        break
      }
      case 'account.left':
        left.set(act.account_id, { tenantId, at, isCertain: isSettled })
        break
      case 'token.revoked':
        revoked.set(act.id, { tenantId, isCertain: isSettled || revoked.get(act.id)?.isCertain === true })
    }
  }
  for (const id of purged) perhapsPurged.delete(id)
  return { holds, purged, perhapsPurged, operators, left, revoked }
}

const holdOf = (act: Extract<Obligation, { act: 'hold.placed' }>) => ({
  tenantId: act.tenant_id,
  id: act.id,
  scope: act.scope,
  placedBy: act.placed_by,
  placedAt: act.placed_at,
  reason: act.reason,
  releasedAt: null,
})

const byMoment = (one: Settled, other: Settled) =>
  one.at === other.at ? one.seq - other.seq : one.at < other.at ? -1 : 1
