/** The refusals about identity providers and signing in through them; rows of the one table (problem.ts). */
export const providerProblems = {
  'identity_provider.discovery_failed': {
    status: 422,
    params: ['reason'],
    says: 'The issuer does not answer as an identity provider ({reason}); nothing was stored.',
    remedy: 'Its issuer is what its own /.well-known/openid-configuration says; docs/sign-in.md names each reason.',
  },
  'identity_provider.kind_mismatch': {
    status: 422,
    params: ['kind'],
    says: 'That issuer belongs to the kind {kind}.',
    remedy: 'Leave the kind out, and it is read from the issuer.',
  },
  'identity_provider.withdraw_instead': {
    status: 409,
    says: 'A provider is not switched off by its configuration.',
    remedy: '`svc identity-providers withdraw ID` ends the offer; workspaces switch it off for themselves.',
  },
  'identity_provider.withdraw_first': {
    status: 409,
    params: ['workspace_count'],
    says: '{workspace_count} workspace(s) have the provider on.',
    remedy: 'End the offer first: `svc identity-providers withdraw ID --plan` shows whom that concerns.',
  },
  'identity_provider.remove_after_withdrawal': {
    status: 409,
    params: ['withdraw_at'],
    says: 'The offer ends at {withdraw_at}, and workspaces rely on that.',
    remedy: 'Remove it after that moment.',
  },
  'identity_provider.withdraw_count_mismatch': {
    status: 409,
    params: ['expected'],
    says: 'To end the offer within a day, the number of workspaces that have it on is asked for: {expected}.',
    remedy: '`svc identity-providers withdraw ID --plan` shows them.',
  },
  'identity_provider.already_withdrawn': {
    status: 409,
    says: 'The offer has ended already.',
    remedy: '`svc identity-providers cancel-withdrawal ID` takes that back.',
  },
  'identity_provider.unavailable': {
    status: 503,
    says: 'The identity provider does not answer.',
    remedy: 'Try again, or sign in another way.',
  },
  'auth.not_admitted': {
    status: 403,
    says: 'The provider knows you, but this workspace does not admit you by it.',
    remedy: 'Ask an administrator of the workspace for an invitation.',
  },
} as const
