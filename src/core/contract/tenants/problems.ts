/** Refusals of workspaces as operators administer them, in the pieces that the one table (problem.ts) lists apart. */
export const setUpProblems = {
  'installation.already_set_up': {
    status: 409,
    says: 'This installation is already set up.',
    remedy: '`svc login` signs in.',
  },
} as const

export const tenantProblems = {
  'admin.slug_taken': {
    status: 409,
    constraint: 'tenant_slug_taken',
    says: 'The slug is in use, or was until recently.',
    remedy: 'Choose another slug.',
  },
  'admin.tenant_leaving': {
    status: 409,
    says: 'The workspace is pending deletion.',
    remedy: 'First cancel the deletion: `svc tenants cancel-deletion SLUG`.',
  },
  'admin.confirmation_mismatch': {
    status: 422,
    says: 'The confirmation is not the display name of the workspace.',
    remedy: 'Type it exactly as `svc tenants show SLUG` shows it.',
  },
  'admin.tenant_deletion_underway': {
    status: 409,
    says: 'The purge of the workspace has begun.',
    remedy: 'It cannot be cancelled; docs/runbooks/stuck-purge.md says how to see its progress.',
  },
} as const

export const passwordOpeningProblems = {
  'admin.password_opening_suspended': {
    status: 409,
    says: 'The workspace is suspended, so nobody could sign in.',
    remedy: 'First resume it: `svc tenants resume SLUG`.',
  },
} as const
