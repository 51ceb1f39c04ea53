/** Refusals of groups; part of the one table (problem.ts). */
export const groupProblems = {
  'group.name_taken': {
    status: 409,
    constraint: 'account_group_name_taken',
    says: 'Another group of the workspace has this name; case and accents do not count.',
    remedy: 'Choose another name.',
  },
  'group.in_use': {
    status: 409,
    params: ['provider_ids'],
    says: 'Identity providers put newcomers into the group: {provider_ids}.',
    remedy: 'First name another group or a role in their configuration.',
  },
  'group.bound': {
    status: 409,
    says: 'An identity provider decides who is in the group.',
    remedy: 'Change the groups there, or let an OWNER end the binding.',
  },
} as const
