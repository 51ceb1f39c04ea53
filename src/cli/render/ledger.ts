/** The obligation ledger and its copies, for people. */
import type { CopyState } from '../../core/areas/recovery/ledger/copy-state.ts'
import type { LedgerStatus } from '../../core/areas/recovery/ledger/ledger-status.ts'
import { printable } from './printable.ts'

const waits = {
  require: 'an action with an obligation is refused unless a target stores the line (SVC_LEDGER_COPY=require)',
  report: 'an action with an obligation continues even if no target stores the line (SVC_LEDGER_COPY=report)',
}

export const ledgerMembers = ({ file, lines, fault, copy, copies }: LedgerStatus): [string, string][] => [
  ['ledger', `${lines} line(s) in ${file}${fault === null ? '' : `; ${fault}`}`],
  ['copies', copies.length === 0 ? noCopies : waits[copy]],
  ...copies.map((state): [string, string] => [`at ${printable(state.name)}`, copySays(state)]),
]

export const noCopies = 'none: the installation has no backup target'

export function copySays({ lines_missing, failed }: CopyState): string {
  if (failed !== null) return `not reached (${failed})`
  if (lines_missing === null) return 'not known, because the ledger is damaged'
  return lines_missing === 0 ? 'every line' : `${lines_missing} line(s) missing`
}
