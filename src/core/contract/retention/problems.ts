/** Refusals of legal holds; part of the one table (problem.ts). */
export const retentionProblems = {
  'retention.hold_differs': {
    status: 422,
    params: ['hold_id'],
    says: 'The hold {hold_id} is given twice with different content.',
    remedy: 'Nothing was placed. Find out which one is correct.',
  },
  'retention.hold_elsewhere': {
    status: 422,
    params: ['hold_id'],
    says: 'The hold {hold_id} belongs to another workspace.',
    remedy: 'Nothing was placed. Check which workspace these holds are for.',
  },
} as const
