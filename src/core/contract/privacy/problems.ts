/** Refusals of requests about personal data; part of the one table (problem.ts). */
export const privacyProblems = {
  'privacy.request_open': {
    status: 409,
    params: ['request_id'],
    says: 'The person has an open request of this kind already.',
    remedy: 'Handle or withdraw that one: {request_id}.',
  },
  'privacy.identity_unverified': {
    status: 409,
    says: 'Who the person is has not been made sure.',
    remedy: 'Say how it was made sure: `identity` with the state VERIFIED.',
  },
  'privacy.closed': {
    status: 409,
    params: ['state'],
    says: 'The request is {state}: that cannot be done any more, or not yet.',
  },
  'privacy.restricted': {
    status: 409,
    says: 'The data of the account are kept for legal claims.',
    remedy: 'End the restriction first, or refuse with the ground CLAIMS.',
  },
  'privacy.extended_already': {
    status: 409,
    says: 'The deadline was lengthened before, which the law allows once.',
  },
  'privacy.too_late': {
    status: 409,
    params: ['due_at'],
    says: 'The deadline has passed: it ended at {due_at}.',
    remedy: 'Decide now.',
  },
  'privacy.package_not_ready': {
    status: 409,
    says: 'The package is not made yet, or the request has none.',
    remedy: 'The person is mailed when it is ready.',
  },
  'privacy.package_gone': {
    status: 410,
    says: 'The package was fetched five times, or its time is over.',
    remedy: 'Ask for a new one.',
  },
} as const
