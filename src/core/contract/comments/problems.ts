/** Refusals of comments; part of the one table (problem.ts). */
export const commentProblems = {
  'comment.not_author': {
    status: 403,
    says: 'The comment is of another account.',
    remedy: 'Its author can change it; its author or an ADMIN of the container can delete it.',
  },
  'mention.no_access': {
    status: 422,
    params: ['account_id'],
    says: 'The mentioned account {account_id} does not see the item.',
    remedy: 'Give the account a role in the container, or leave the mention out.',
  },
} as const
