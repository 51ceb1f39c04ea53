/** Refusals of notifications; part of the one table (problem.ts). */
export const notificationProblems = {
  'notification.locked': {
    status: 409,
    params: ['category'],
    says: 'Nobody switches off what {category} tells.',
    remedy: 'Choose another category.',
  },
} as const
