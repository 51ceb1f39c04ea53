/**
 * Outgoing: the events of a transaction and the entries of its trail, kept until its commit.
 *
 *    rule: record, emit, audit ──▶ kept here ──rule and ledger are done──▶ one statement for each workspace ──▶ commit
 *                             └─ a savepoint that is rolled back drops its own
 *
 * The statement takes the workspace's counter, which others then wait for until the commit. So it is the last one, in the
 * packet of the commit: a rule waits for no lock behind it, and the counter is held for no longer than a commit takes.
 * Counters of several workspaces are taken in the order of the workspaces' ids, so no two transactions wait for each other.
 *
 * Spec: Events; Webhooks and event pull, rule 6; docs/decisions/0126, 0176.
 */
import { asTenant } from '../database/roles.ts'
import type { Tx } from '../database/transaction.ts'
import type { EventRow } from './event-row.ts'
import { type Due, writeEvents, writeUnheard } from './fan-out.ts'
import type { Notice } from './notice.ts'
import type { SearchPending } from './search-pending.ts'
import { insertEntries, type TrailEntry } from './trail-entry.ts'

/** What is known of webhooks, and of what they see. */
export interface Listeners {
  /** What the transaction makes due in a workspace; each is settled when it has ended. */
  readonly due: { readonly tenantId: string; readonly webhooks: Promise<readonly Due[]> }[]
  /** A workspace that has no webhook, and gets none before the commit. */
  noneIn?: string | undefined
  /** No hub of the workspace in which the transaction acts is hidden before the commit. */
  isKept?: boolean
  /** Containers that everybody with a role on that workspace sees until the commit (`ctx.staysOpen`). */
  readonly open: Set<string>
}

interface Recorded {
  readonly tenantId: string
  readonly rows: readonly EventRow[]
  readonly entry: TrailEntry | undefined
  readonly pending: readonly SearchPending[]
  readonly notices: readonly Notice[]
}

/** Rows of one statement, so that its text and its parameters stay small. */
const perStatement = 100

export class Outgoing {
  private readonly kept: Recorded[] = []

  /** A place to which `dropFrom` goes back. */
  get count(): number {
    return this.kept.length
  }

  keep(recorded: Recorded): void {
    this.kept.push(recorded)
  }

  dropFrom(count: number): void {
    this.kept.splice(count)
  }

  /** Sends the statements; none of them is awaited. `roleOf`: the workspace whose role is in force. `waitSeconds`: the ladder's first rung. */
  send(tx: Tx, roleOf: string | undefined, listeners: Listeners, waitSeconds: number): void {
    let inForce = roleOf
    for (const tenantId of [...new Set(this.kept.map((one) => one.tenantId))].sort()) {
      if (tenantId !== inForce) void tx.switch(asTenant(tenantId))
      inForce = tenantId
      for (const part of parts(this.kept.filter((one) => one.tenantId === tenantId))) {
        const rows = part.flatMap((one) => one.rows)
        const beside = {
          entries: part.flatMap(({ entry }) => entry ?? []),
          pending: part.flatMap(({ pending }) => pending),
          notices: part.flatMap(({ notices }) => notices),
        }
        if (rows.length === 0) void tx`${insertEntries(tx, beside.entries)}`
        else if (listeners.noneIn === tenantId) void writeUnheard(tx, rows, beside)
        else
          listeners.due.push({
            tenantId,
            webhooks: writeEvents(tx, rows, beside, { waitSeconds, open: listeners.open }),
          })
      }
    }
    this.kept.length = 0
  }
}

/** In portions of about `perStatement` rows. */
function parts(recorded: readonly Recorded[]): Recorded[][] {
  const found: Recorded[][] = []
  let room = 0
  for (const one of recorded) {
    const size = Math.max(one.rows.length, 1)
    if (room < size || found.length === 0) {
      found.push([])
      room = perStatement
    }
    found.at(-1)?.push(one)
    room -= size
  }
  return found
}
