/** The refusals about mails in the queue; rows of the one table (problem.ts). */
export const mailProblems = {
  'mail.under_way': {
    status: 409,
    says: 'The mail is being sent right now.',
    remedy: 'Wait for the end of this attempt, at most a minute or two.',
  },
} as const
