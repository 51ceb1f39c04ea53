/** Refusals of accounts; part of the one table (problem.ts). */
export const identityProblems = {
  'account.address_taken': {
    status: 409,
    params: ['account_id', 'state'],
    says: 'An account of this workspace has the address already; it is {state}.',
    remedy: 'INVITED: `svc accounts renew-invitation`. DISABLED: `svc accounts enable`. Otherwise give it the role.',
  },
  'account.not_invited': {
    status: 409,
    params: ['state'],
    says: 'The account waits for no invitation: it is {state}.',
  },
  'account.last_way_in': {
    status: 409,
    says: 'It is the only way in that the account has.',
    remedy: 'First set a password that serves, or connect another identity.',
  },
  'account.identities_full': {
    status: 409,
    params: ['limit'],
    says: 'The account is connected with {limit} identities, which is the most.',
    remedy: 'Take one away first.',
  },
  'mail.limited': {
    status: 429,
    params: ['limit', 'window_seconds'],
    says: 'Too many invitations by mail: at most {limit} in {window_seconds} s.',
    remedy: 'Wait as long as Retry-After says, or hand over the token: `--token-file FILE`.',
  },
} as const
