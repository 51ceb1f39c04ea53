/** The checks of a recovery by their codes; apart from the checks, so that a command offers them without loading those. */
const checkCodes = [
  'gate',
  'migrations',
  'keyring',
  'ledger',
  'copies',
  'holds',
  'purges',
  'operators',
  'tokens',
  'outbox',
  'jobs',
  'clock',
] as const
export type CheckCode = (typeof checkCodes)[number]

/** What whoever admits may accept: a gate that is open already leaves nothing to admit. */
export const acceptableCodes = checkCodes.filter((code): code is Exclude<CheckCode, 'gate'> => code !== 'gate')
