/**
 * Lines of the ledger without an outcome, because the process was killed or the answer to its
 * commit was lost. The outcome is read from the database, unless the database was rewound.
 */

import { readLedger } from '../../kernel/ledger/ledger.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { isSo } from './obligations/all.ts'

/** The transaction of a younger line may still be running. No transaction lasts as long as this. */
const settlesMs = 60_000

/** Settles the lines that are old enough. Never after a rewind: then the database does not have the outcome. */
export async function settleUnknown(installation: Installation): Promise<void> {
  const { ledger, keyring, clock } = installation
  const { obligations } = await readLedger(ledger.file, keyring)
  const before = new Date(clock.now() - settlesMs).toISOString()
  for (const line of obligations) {
    if (line.isSettled || line.at > before) continue
    const isDone = await installation.transaction({ kind: 'SYSTEM', job: 'settle' }, { readOnly: true }, ({ tx }) =>
      isSo(tx, line),
    )
    await ledger.settle([line.seq], isDone ? 'done' : 'void')
  }
}
