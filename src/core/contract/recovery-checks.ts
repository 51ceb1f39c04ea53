/** The codes of the recovery checks, separate from the checks, so that a command need not load the checks. */
import { type ObligationName, obligationNames } from './obligation.ts'

/** Obligations without a check of their own: what hinders a departure is shown by `svc recovery reconcile` alone. */
const unchecked = ['departures'] as const
export type CheckedObligation = Exclude<ObligationName, (typeof unchecked)[number]>

export const checkedObligations = obligationNames.filter(
  (name): name is CheckedObligation => !(unchecked as readonly string[]).includes(name),
)

const checkCodes = [
  ...(['gate', 'migrations', 'keyring', 'ledger', 'copies'] as const),
  ...checkedObligations,
  ...(['media', 'outbox', 'jobs', 'clock'] as const),
]
export type CheckCode = (typeof checkCodes)[number]

/** The findings that `recovery admit` may accept; not `gate`, because an open gate leaves nothing to admit. */
export const acceptableCodes = checkCodes.filter((code): code is Exclude<CheckCode, 'gate'> => code !== 'gate')
