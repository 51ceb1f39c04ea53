/** The refusals about identity providers and signing in through them; rows of the one table (problem.ts). */
export const providerProblems = {
  'identity_provider.discovery_failed': {
    status: 422,
    params: ['reason'],
    says: 'The issuer does not answer like an identity provider ({reason}). Nothing was stored.',
    remedy:
      "Use the issuer from the provider's /.well-known/openid-configuration; docs/sign-in.md explains each reason.",
  },
  'identity_provider.kind_mismatch': {
    status: 422,
    params: ['kind'],
    says: 'That issuer belongs to the kind {kind}.',
    remedy: 'Omit the kind; it is then derived from the issuer.',
  },
  'identity_provider.withdraw_instead': {
    status: 409,
    says: 'The configuration cannot switch a provider off.',
    remedy: '`svc identity-providers withdraw ID` ends the offer. A workspace can switch the provider off for itself.',
  },
  'identity_provider.withdraw_first': {
    status: 409,
    params: ['workspace_count'],
    says: '{workspace_count} workspace(s) have the provider on.',
    remedy: 'First end the offer. `svc identity-providers withdraw ID --plan` shows the affected accounts.',
  },
  'identity_provider.remove_after_withdrawal': {
    status: 409,
    params: ['withdraw_at'],
    says: 'The offer ends at {withdraw_at}, and workspaces rely on that.',
    remedy: 'Remove it after that time.',
  },
  'identity_provider.withdraw_count_mismatch': {
    status: 409,
    params: ['expected'],
    says: 'To end the offer within a day, the request must contain the number of workspaces that have it on: {expected}.',
    remedy: '`svc identity-providers withdraw ID --plan` shows them.',
  },
  'identity_provider.already_withdrawn': {
    status: 409,
    says: 'The offer has ended already.',
    remedy: '`svc identity-providers cancel-withdrawal ID` restores the offer.',
  },
  'identity_provider.no_fresh_sign_in': {
    status: 409,
    says: 'The provider does not say that you have signed in there just now.',
    remedy: 'Sign in there anew. A provider that never says when somebody signed in cannot confirm you.',
  },
  'identity_provider.many': {
    status: 409,
    params: ['count'],
    says: 'The workspace has {count} identity providers of its own, so none is the only one.',
    remedy: 'Use GET /identity-providers.',
  },
  'identity_provider.unavailable': {
    status: 503,
    says: 'The identity provider does not answer.',
    remedy: 'Try again, or use another sign-in method.',
  },
  'auth.not_admitted': {
    status: 403,
    optionalParams: ['link_token'],
    says: 'The provider knows you, but this workspace does not admit you through it.',
    remedy:
      'If you have an account here, sign in as before and connect this identity; otherwise ask an administrator for an invitation.',
  },
} as const
