/** Refusals of items; part of the one table (problem.ts). */
export const itemProblems = {
  'query.too_broad': {
    status: 422,
    params: ['limit'],
    says: 'More than {limit} items would have to be sorted, grouped or looked at for this answer.',
    remedy: 'Add conditions, or sort by `created` or `board`.',
  },
  'bulk.refused': {
    status: 409,
    says: 'An action on one of the items was refused, so nothing was changed.',
    remedy: 'Mend or leave out the item that `errors` names, or send `mode` EACH.',
  },
  'item.account_no_access': {
    status: 409,
    params: ['role'],
    says: 'The account has no access to the item: it needs the role {role} in the container, and must not be disabled.',
    remedy: 'Give the account the role, or choose another one.',
  },
  'item.no_candidate': {
    status: 409,
    says: 'Nobody among the candidates may be responsible for the item.',
    remedy: 'Name active people with MEMBER in the container, or give somebody this role.',
  },
  'item.children_open': {
    status: 409,
    params: ['count'],
    says: 'Of the items below it {count} are open, and the container wants them done first.',
    remedy: 'Complete these first.',
  },
  'item.tree_full': {
    status: 409,
    params: ['bound', 'limit'],
    says: 'The tree of the item would have more {bound} than the {limit} that it may have.',
    remedy: 'Choose another parent, or move some of the items out of the tree.',
  },
  'item.circular': {
    status: 409,
    says: 'The parent is the item itself, or below it.',
    remedy: 'Choose a parent that is not below the item.',
  },
  'item.not_in_trash': {
    status: 409,
    says: 'The item is not in the trash.',
    remedy: 'First delete it.',
  },
  'trash.count_mismatch': {
    status: 409,
    params: ['expected'],
    says: 'The trash that would be emptied has {expected} rows. Nothing was purged.',
    remedy: 'Look at it again, and send this number.',
  },
  'item.archived': {
    status: 409,
    says: 'The item is archived, so it is read-only.',
    remedy: 'First unarchive it.',
  },
} as const
