/** Refusals of legal holds; part of the one table (problem.ts). */
export const retentionProblems = {
  'retention.hold_differs': {
    status: 422,
    params: ['hold_id'],
    says: 'The hold {hold_id} is given twice, with other content.',
    remedy: 'Find out which one is right; nothing was placed.',
  },
  'retention.hold_elsewhere': {
    status: 422,
    params: ['hold_id'],
    says: 'The hold {hold_id} belongs to another workspace.',
    remedy: 'Check which workspace these holds are for; nothing was placed.',
  },
} as const
