/** How the ledger of this host stands: whole, how many lines, and who else has them. */

import { readLedger } from '../../../kernel/ledger/ledger.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type CopyState, lookAtCopies } from './copy-state.ts'

export interface LedgerStatus {
  readonly file: string
  readonly lines: number
  readonly fault: string | null
  /** What becomes of an act whose line no target takes: SVC_LEDGER_COPY. */
  readonly copy: 'require' | 'report'
  readonly copies: readonly CopyState[]
}

/** Looks only; asks every target. */
export async function lookAtLedger(installation: Installation): Promise<LedgerStatus> {
  const { ledger, keyring, config } = installation
  const [{ last, fault }, copies] = await Promise.all([readLedger(ledger.file, keyring), lookAtCopies(installation)])
  return { file: ledger.file, lines: last, fault: fault ?? null, copy: config.ledgerCopy, copies }
}
