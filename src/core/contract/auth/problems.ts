/** Refusals of signing in, of tokens and of second factors; part of the one table (problem.ts). */
export const authProblems = {
  'auth.unauthenticated': { status: 401, says: 'No valid token.', remedy: 'Run `svc login`, or set SVC_TOKEN.' },
  'auth.scope_required': {
    status: 403,
    params: ['scope'],
    says: 'The token lacks the scope {scope}.',
    remedy:
      '`svc login --admin` creates a token with admin:tenants; `svc tokens create --name NAME --scope {scope}` creates one with any scope.',
  },
  'auth.role_required': { status: 403, params: ['role'], says: 'This needs the role {role} or higher.' },
  'auth.step_up_required': { status: 401, says: 'This needs a fresh step-up.', remedy: 'Confirm your password again.' },
  'auth.step_up_locked': {
    status: 429,
    says: 'Too many failed step-ups; they are locked for this account.',
    remedy: 'Wait as long as Retry-After says.',
  },
  'auth.sign_in_failed': { status: 401, says: 'Workspace, address or password is not right.' },
  'auth.second_factor_required': {
    status: 401,
    says: 'This account has a second factor: a code of its authenticator app, or a recovery code, is needed too.',
    remedy: 'Give the code with --code-file, or run the command on a terminal.',
  },
  'auth.second_factor_failed': {
    status: 401,
    says: 'That code is not right, is too old, or has been used: each serves once.',
    remedy: "Wait for the app's next code; check the clock of its device.",
  },
  'auth.second_factor_locked': {
    status: 429,
    says: 'Too many wrong codes; they are locked for this account.',
    remedy: 'Wait as long as Retry-After says.',
  },
  'auth.second_factor_demanded': {
    status: 403,
    says: 'The installation demands a second factor of this account.',
    remedy: '`svc mfa enroll` sets one up.',
  },
  'auth.second_factor_enrolled': {
    status: 409,
    says: 'The account has a second factor already.',
    remedy: '`svc mfa enroll --replace` moves it to another app.',
  },
  'auth.second_factor_absent': {
    status: 409,
    says: 'The account has no second factor.',
    remedy: '`svc mfa enroll` sets one up.',
  },
  'auth.second_factor_not_begun': {
    status: 409,
    says: 'There is nothing to confirm, or it was begun more than 15 minutes ago.',
    remedy: 'Start again: `svc mfa enroll`.',
  },
  'auth.second_factor_person': { status: 409, says: 'A service account has no second factor; its token is all.' },
  'auth.sign_in_locked': {
    status: 429,
    says: 'Too many failed sign-ins for this address; they are locked for it.',
    remedy: 'Wait as long as Retry-After says, or request a mail with a link to set a new password.',
  },
  'auth.password_disabled': {
    status: 403,
    says: 'This workspace does not let anybody sign in with a password.',
    remedy:
      'Sign in through the identity provider. An operator can allow passwords for some hours: `svc tenants open-password SLUG`.',
  },
  'auth.password_expired': {
    status: 403,
    says: 'The password is too old to sign in with.',
    remedy: 'Set a new password while you sign in (POST /auth/sessions:set-password), or by mail.',
  },
  'auth.password_reset_disabled': {
    status: 403,
    says: 'Passwords are not reset by mail here.',
    remedy: 'Ask an administrator of the workspace.',
  },
  'auth.reset_invalid': {
    status: 410,
    says: 'The link is unknown, used or expired.',
    remedy: 'Request a new link.',
  },
  'auth.blocklist_unusable': {
    status: 503,
    params: ['reason'],
    says: "The operator's list of refused passwords cannot be read ({reason}), so no new password is taken.",
    remedy: 'An operator must repair the file or configure another one: docs/settings.md.',
  },
  'legal.terms_changed': {
    status: 409,
    params: ['terms_version'],
    says: 'The terms in force are of the version {terms_version}.',
    remedy: 'Show these terms to the person, and send this version.',
  },
  'auth.invitation_invalid': {
    status: 410,
    says: 'The invitation is unknown, used or expired.',
    remedy: 'Ask for a new invitation.',
  },
} as const
