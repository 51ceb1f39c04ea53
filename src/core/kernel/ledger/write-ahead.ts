/**
 * The obligations of one transaction: on the disk and at a target before its commit, settled after it.
 *
 *    attempt 1 ── append ── collided            its lines are void
 *    attempt 2 ── append ── committed           its lines are done
 *                        └─ the answer is lost  its lines stay unsettled
 *
 * The outcome of an unsettled line is looked up in the database; after a rewind, the
 * obligation is met in any case. Ours: The obligation ledger; docs/decisions/0041.
 */

import type { Obligation } from '../../contract/obligation.ts'
import type { Ledger } from './ledger.ts'

export class WriteAhead {
  private readonly ledger: Ledger
  private lines: readonly number[] = []
  /** Resolves when nothing is being appended; undefined before the first. */
  private appending: Promise<unknown> | undefined

  constructor(ledger: Ledger) {
    this.ledger = ledger
  }

  /** Whether an attempt has left lines that are not settled. */
  get isPending(): boolean {
    return this.appending !== undefined
  }

  /** Writes obligations of this attempt; they are on the disk when it resolves. Throws LedgerUnavailable. */
  append(obligations: readonly Obligation[]): Promise<void> {
    const appended = this.ledger.append(obligations).then((lines) => {
      this.lines = [...this.lines, ...lines]
    })
    this.appending = Promise.allSettled([this.appending, appended])
    return appended
  }

  /** Records the outcome of this attempt's lines, if it has any. */
  async settle(outcome: 'done' | 'void'): Promise<void> {
    await this.appending
    this.appending = undefined
    const { lines } = this
    if (lines.length === 0) return
    this.lines = []
    await this.ledger.settle(lines, outcome)
  }
}
