/**
 * Lines of the ledger whose outcome nobody wrote down, because the process was killed or the
 * answer to its commit was lost: looked up in the database, where that was not rewound.
 */

import { readLedger } from '../../kernel/ledger/ledger.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { isSo } from './obligations/all.ts'

/** A transaction may still be on its way; none lasts as long as this. */
const settlesMs = 60_000

/** Settles what is old enough. Never after a rewind: there the database does not know. */
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
