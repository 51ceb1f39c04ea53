/** Refusals of consents; part of the one table (problem.ts). */
export const consentProblems = {
  'privacy.text_changed': {
    status: 409,
    params: ['version'],
    says: 'The text is another one by now: its version is {version}.',
    remedy: 'Read the current text, and send its version.',
  },
  'privacy.person_only': {
    status: 409,
    says: 'This is for people; a service account is none, and has no data of its own.',
    remedy: 'Use the account of a person.',
  },
} as const
