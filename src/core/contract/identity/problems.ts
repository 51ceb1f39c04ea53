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
  'account.address_primary': {
    status: 409,
    says: 'It is the address that mail goes to.',
    remedy: 'First make another confirmed address the primary one.',
  },
  'account.addresses_full': {
    status: 409,
    params: ['limit'],
    says: 'The account has {limit} addresses already, with those that wait to be confirmed.',
    remedy: 'Remove one of them.',
  },
  'account.has_address': {
    status: 409,
    says: 'The account has an address, and can ask for a new password by mail.',
    remedy: 'At the database it gets a start password all the same: `--recovery`.',
  },
  'account.managed_disabled': {
    status: 403,
    says: 'This installation has no accounts without an address.',
    remedy: 'An operator can allow them: `managed_accounts` in the settings.',
  },
  'account.name_taken': {
    status: 409,
    says: 'An account of this workspace signs in with this name already.',
  },
  'account.disabled': {
    status: 409,
    says: 'The account is disabled.',
    remedy: 'Let it return first: `svc accounts enable`.',
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
    says: 'Too many mails of this kind: at most {limit} in {window_seconds} s.',
    remedy: 'Wait as long as Retry-After says. The token of an invitation can be handed over: `--token-file FILE`.',
  },
} as const
