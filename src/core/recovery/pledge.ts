/**
 * What one transaction owes: on the disk and at a target before its commit, settled after it.
 *
 * A transaction that collided and ran again has pledged twice; the first pledge is void.
 * When the answer to a commit is lost the pledge stays unsettled: whoever reads the ledger
 * looks in the database, or, where that was rewound, keeps the promise.
 */
import { DatabaseUnavailable } from '../database/unavailable.ts'
import type { Ledger } from './ledger.ts'
import type { Obligation } from './obligation.ts'

/** Runs the work of one attempt; what it pushes is on the disk, and has been copied, when this resolves. */
export type Enter = <R>(work: (owed: Obligation[]) => Promise<R>, copy: () => Promise<void>) => Promise<R>

/** Runs a transaction, whose every attempt goes through `enter`, and settles what it pledged. */
export async function pledged<T>(ledger: Ledger, run: (enter: Enter) => Promise<T>): Promise<T> {
  let pledge: readonly number[] = []
  const settle = async (outcome: 'done' | 'void') => {
    const of = pledge
    pledge = []
    await ledger.settle(of, outcome)
  }
  const enter: Enter = async (work, copy) => {
    // Nothing is awaited before the work unless there was an attempt: `begin` waits for its first statement.
    if (pledge.length > 0) await settle('void')
    const owed: Obligation[] = []
    const result = await work(owed)
    if (owed.length > 0) {
      pledge = await ledger.append(owed)
      await copy()
    }
    return result
  }
  try {
    const result = await run(enter)
    if (pledge.length > 0) await settle('done')
    return result
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) await settle('void')
    throw error
  }
}
