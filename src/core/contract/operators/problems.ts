/** Refusals of the operator register; part of the one table (problem.ts). */
export const operatorProblems = {
  'admin.operator_required': {
    status: 403,
    says: 'The account is not in the operator register.',
    remedy: 'An operator can add it: `svc operators add`.',
  },
  'admin.operator_not_active': {
    status: 409,
    says: 'Only an active account can be an operator.',
    remedy: 'The account must first redeem its invitation.',
  },
  'admin.operator_not_registered': { status: 404, says: 'That account is not in the operator register.' },
  'admin.operator_last': {
    status: 409,
    says: 'The operator register would have no operator left that can act.',
    remedy:
      'First add another operator: `svc operators add`. An operator counts only if it is not on probation and its account and workspace are active.',
  },
  'admin.operator_on_probation': {
    status: 403,
    params: ['until'],
    says: 'The account became an operator without a step-up and is on probation until {until}.',
    remedy:
      'Wait until then, or ask an operator that is not on probation to add the account again: `svc operators add`.',
  },
} as const
