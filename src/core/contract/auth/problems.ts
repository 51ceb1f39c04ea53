/** Refusals of signing in, of tokens and of second factors; part of the one table (problem.ts). */
export const authProblems = {
  'auth.unauthenticated': {
    status: 401,
    says: 'The request has no valid token.',
    remedy: 'Run `svc login`, or set SVC_TOKEN.',
  },
  'auth.scope_required': {
    status: 403,
    params: ['scope'],
    says: 'The token lacks the scope {scope}.',
    remedy:
      '`svc login --admin` creates a token with admin:tenants; `svc tokens create --name NAME --scope {scope}` creates one with any scope.',
  },
  'auth.credential_kind': {
    status: 403,
    params: ['accepted'],
    says: 'This takes a credential of the kind {accepted}.',
    remedy: 'Sign in: `svc login`.',
  },
  'auth.role_required': { status: 403, params: ['role'], says: 'This needs the role {role} or higher.' },
  'auth.step_up_required': { status: 401, says: 'This needs a new step-up.', remedy: 'Confirm your password again.' },
  'auth.step_up_locked': {
    status: 429,
    says: 'Too many failed step-ups; step-ups of this account are locked.',
    remedy: 'Wait as long as Retry-After says.',
  },
  'auth.sign_in_failed': { status: 401, says: 'The workspace, the address or the password is wrong.' },
  'auth.second_factor_required': {
    status: 401,
    optionalParams: ['challenge_token', 'challenge_expires_at'],
    says: 'This account has a second factor, so a code of its authenticator app or a recovery code is also needed.',
    remedy: 'Give the code with --code-file, or run the command on a terminal.',
  },
  'auth.challenge_invalid': {
    status: 410,
    says: 'The challenge is unknown, used or expired, or what it was made after has changed.',
    remedy: 'Sign in again.',
  },
  'auth.link_invalid': {
    status: 410,
    says: 'The link is unknown, used or expired.',
    remedy: 'Come once more by the provider.',
  },
  'auth.identity_taken': { status: 409, says: 'Another account of this workspace is connected with the identity.' },
  'auth.second_factor_failed': {
    status: 401,
    says: 'The code is wrong, too old, or already used: each code works once.',
    remedy: "Wait for the app's next code; check the clock of its device.",
  },
  'auth.second_factor_locked': {
    status: 429,
    says: 'Too many wrong codes; codes of this account are locked.',
    remedy: 'Wait as long as Retry-After says.',
  },
  'auth.second_factor_demanded': {
    status: 403,
    says: 'The installation requires a second factor for this account.',
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
    says: 'No enrolment has begun, or it began more than 15 minutes ago.',
    remedy: 'Start again: `svc mfa enroll`.',
  },
  'auth.second_factor_person': {
    status: 409,
    says: 'A service account cannot have a second factor; it needs only its token.',
  },
  'auth.sign_in_locked': {
    status: 429,
    says: 'Too many failed sign-ins; signing in with this address is locked.',
    remedy: 'Wait as long as Retry-After says, or request a mail with a link to set a new password.',
  },
  'auth.password_disabled': {
    status: 403,
    says: 'Nobody can sign in to this workspace with a password.',
    remedy:
      'Sign in through the identity provider. An operator can allow passwords for some hours: `svc tenants open-password SLUG`.',
  },
  'auth.password_expired': {
    status: 403,
    params: ['because'],
    says: 'The password has to be replaced ({because}): it is a start password, or too old.',
    remedy:
      'Set a new password while you sign in: `svc login --new-password-file FILE`, or POST /auth/sessions:set-password.',
  },
  'auth.password_reset_disabled': {
    status: 403,
    says: 'This installation does not reset passwords by mail.',
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
    says: "The operator's list of refused passwords cannot be read ({reason}), so every new password is refused.",
    remedy: 'An operator must repair the file or configure another one: docs/settings.md.',
  },
  'legal.terms_changed': {
    status: 409,
    params: ['terms_version'],
    says: 'The terms in force have the version {terms_version}.',
    remedy: 'Show these terms to the person, and send this version.',
  },
  'auth.confirmation_invalid': {
    status: 410,
    says: 'The link is unknown, used or expired, or is for an address of another account.',
    remedy: 'Sign in with the account that gets the address, and ask for a new link.',
  },
  'auth.invitation_invalid': {
    status: 410,
    says: 'The invitation is unknown, used or expired.',
    remedy: 'Ask for a new invitation.',
  },
} as const
