/** Refusals of items; part of the one table (problem.ts). */
export const itemProblems = {
  'query.too_broad': {
    status: 422,
    params: ['limit'],
    says: 'More than {limit} items would have to be sorted, grouped or looked at for this answer.',
    remedy: 'Add conditions, or sort by `created` or `board`.',
  },
} as const
