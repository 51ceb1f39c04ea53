/** The status of this host's ledger: whether it is intact, how many lines it has, and its copies. */

import { readLedger } from '../../../kernel/ledger/ledger.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type CopyState, lookAtCopies } from './copy-state.ts'

export interface LedgerStatus {
  readonly file: string
  readonly lines: number
  readonly fault: string | null
  /** What happens to an act if no target stores a copy of its line: SVC_LEDGER_COPY. */
  readonly copy: 'require' | 'report'
  readonly copies: readonly CopyState[]
}

/** Reads the ledger and asks every target. Changes nothing. */
export async function lookAtLedger(installation: Installation): Promise<LedgerStatus> {
  const { ledger, keyring, config } = installation
  const [{ last, fault }, copies] = await Promise.all([readLedger(ledger.file, keyring), lookAtCopies(installation)])
  return { file: ledger.file, lines: last, fault: fault ?? null, copy: config.ledgerCopy, copies }
}
