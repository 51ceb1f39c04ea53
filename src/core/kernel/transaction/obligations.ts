/**
 * The obligations of one attempt at a transaction: on the disk and at a target before its commit.
 *
 *    rule: recordObligation ──▶ kept ──the rule is done, and no statement has failed──▶ ledger and target ──▶ commit
 *                                └─ writeAhead: at once, beside the statements of the change
 *
 * Ours: The obligation ledger; docs/decisions/0041, 0500.
 */
import type { Obligation } from '../../contract/obligation.ts'
import type { Tx } from '../database/transaction.ts'
import type { WriteAhead } from '../ledger/write-ahead.ts'
import { together } from './together.ts'

/** Asks for the targets at the call. What it answers waits until one of them has all lines that are on the disk then. */
export type AskForCopy = () => Promise<() => Promise<void>>

export class Obligations {
  /** Those that are not being written yet; a savepoint that fails drops its own. */
  readonly kept: Obligation[] = []
  private readonly lines: WriteAhead
  private readonly askForCopy: AskForCopy
  private asked: ReturnType<AskForCopy> | undefined
  private written: Promise<unknown> | undefined

  constructor(lines: WriteAhead, askForCopy: AskForCopy) {
    this.lines = lines
    this.askForCopy = askForCopy
  }

  /** Asks for the targets before there is anything to write. */
  ask(): void {
    this.asked = this.askForCopy()
    this.asked.catch(() => {}) // `write` throws it
  }

  /** Begins to write those that are kept. */
  write(): void {
    const appended = this.lines.append(this.kept.splice(0))
    const written = together(this.asked ?? this.askForCopy(), appended).then(([copied]) => copied())
    this.asked = undefined
    this.written = together(this.written, written)
    this.written.catch(() => {}) // `finish` throws it
  }

  /** Writes the rest, and resolves when a commit may follow. Throws LedgerUnavailable. */
  async finish(tx: Tx): Promise<void> {
    if (this.kept.length > 0) {
      // A statement that the rule did not await may have failed, and then there is no act to record.
      await tx.settled()
      this.write()
    }
    await this.written
  }
}
