/** The codes of the recovery checks, separate from the checks, so that a command need not load the checks. */
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

/** The findings that `recovery admit` may accept; not `gate`, because an open gate leaves nothing to admit. */
export const acceptableCodes = checkCodes.filter((code): code is Exclude<CheckCode, 'gate'> => code !== 'gate')
