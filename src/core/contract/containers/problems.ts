/** Refusals of containers and of memberships; part of the one table (problem.ts). */
export const containerProblems = {
  'container.archived': {
    status: 409,
    says: 'The container or its hub is archived, so it is read-only.',
    remedy: 'First unarchive it.',
  },
  'container.deleted': {
    status: 409,
    says: 'The container of the item, or its hub, is deleted.',
    remedy: 'First restore the container.',
  },
  'container.parent_deleted': {
    status: 409,
    says: 'The hub of the collection is deleted.',
    remedy: 'First restore the hub.',
  },
  'membership.last_owner': {
    status: 409,
    says: 'The last OWNER of the workspace who can sign in cannot be removed or get another role.',
    remedy:
      'First make another person an OWNER. That person must be able to sign in; a service account does not count.',
  },
} as const
