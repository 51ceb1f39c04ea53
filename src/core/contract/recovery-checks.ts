/** The checks of a recovery by their codes; apart from the checks, so that a command offers them without loading those. */
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
  ...(['outbox', 'jobs', 'clock'] as const),
]
export type CheckCode = (typeof checkCodes)[number]

/** What whoever admits may accept: a gate that is open already leaves nothing to admit. */
export const acceptableCodes = checkCodes.filter((code): code is Exclude<CheckCode, 'gate'> => code !== 'gate')
