/** Signing in: set-up, invitations, sessions, step-up, passwords. Spec: Authentication; decisions 2. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { secondFactorMembers } from '../second-factor/operations.ts'
import { email, moment, pageOf, paging, slug, text, uuid } from '../vocabulary.ts'
import { deviceFamilies, waysIn } from './devices.ts'

/** What a token may look like at all; whether it is one is the checksum's and the database's business. */
const token = text(1, 200)
const password = text(1, 1024)
/** What it must be is the installation's to decide (password-rules.ts); here is only what it can be at all. */
const newPassword = text(1, 1024).describe('as the password switches of the installation demand')
const displayName = text(1, 200)
const count = z.int().min(0)

export const Session = z
  .object({
    session_id: uuid,
    access_token: z.string(),
    access_expires_at: moment,
    refresh_token: z.string(),
    refresh_expires_at: moment,
  })
  .meta({ id: 'Session' })
export type Session = z.output<typeof Session>

const SessionRow = z
  .object({
    id: uuid,
    device_family: z
      .enum(deviceFamilies)
      .nullable()
      .describe('what kind of device signed in, as its client said; null: it said nothing, or that was not kept yet'),
    way: z.enum(waysIn).nullable().describe('how the person signed in; null: that was not kept yet'),
    provider_id: uuid.nullable().describe('PROVIDER: the identity provider, which may be gone'),
    created_at: moment,
    last_used_at: moment.describe('the last use of its tokens, to the minute'),
    is_current: z.boolean(),
  })
  .meta({ id: 'SessionRow' })

export const setUpOperations = defineOperations('auth', {
  setUpInstallation: {
    method: 'POST',
    path: '/auth/installation:set-up',
    summary: 'Create the first workspace and its owner, and make the owner an operator',
    spec: 'decisions 2, First run',
    body: z
      .strictObject({
        set_up_token: token,
        workspace: z.strictObject({ slug, display_name: text(1, 200) }),
        owner: z.strictObject({ email, display_name: displayName, password: newPassword }),
      })
      .meta({ id: 'InstallationSetUp' }),
    success: {
      status: 201,
      answer: z.object({
        tenant: z.object({ id: uuid, slug: z.string(), display_name: z.string() }),
        account_id: uuid,
        session: Session,
      }),
    },
    needs: { caller: 'anyone', rate: { perSource: { calls: 10, seconds: 60 } } },
    refuses: ['auth.unauthenticated', 'installation.already_set_up', 'admin.slug_taken', 'admin.multi_mode_required'],
    secret: true,
    recovery: 'allowed',
    assumed: ['directly on the database no set-up token is asked for: the operating system has let the caller in'],
  },
})

export const invitationOperations = defineOperations('auth', {
  inspectInvitation: {
    method: 'POST',
    path: '/auth/invitations:inspect',
    summary: 'What an invitation is for',
    spec: 'decisions 2',
    body: z.strictObject({ token }),
    success: {
      status: 200,
      answer: z.object({
        workspace: z.object({ slug: z.string(), display_name: z.string() }),
        email: z.string(),
        expires_at: moment,
      }),
    },
    needs: { caller: 'anyone', rate: { perSource: { calls: 60, seconds: 60 } } },
    refuses: ['auth.invitation_invalid', 'installation.recovering'],
    recovery: { refused: 'the holder of the token does this, not the operator' },
  },
  redeemInvitation: {
    method: 'POST',
    path: '/auth/invitations:redeem',
    summary: 'Join the workspace: set a password and sign in',
    spec: 'decisions 2',
    body: z.strictObject({ token, display_name: displayName.optional(), password: newPassword }),
    success: { status: 201, answer: Session },
    needs: { caller: 'anyone', rate: { perSource: { calls: 60, seconds: 60 } } },
    refuses: ['auth.invitation_invalid', 'auth.blocklist_unusable', 'tenant_suspended', 'installation.recovering'],
    secret: true,
    recovery: { refused: 'the holder of the token does this, not the operator' },
  },
})

export const ownAffairs = {
  needs: { caller: 'account' },
  recovery: { refused: "it is the account's own affair" },
} as const

/** What changes how the account gets in: not by a token that was made for something else. */
export const ownWaysIn = {
  needs: { caller: 'account', changes: 'ways in' },
  recovery: ownAffairs.recovery,
} as const

export const sessionOperations = defineOperations('auth', {
  signIn: {
    method: 'POST',
    path: '/auth/sessions',
    summary: 'Sign in with a password',
    spec: 'decisions 2',
    workspaceIn: 'body',
    body: z.strictObject({
      workspace: slug.optional().describe("absent: the host's subdomain"),
      email: text(1, 254),
      password,
      ...secondFactorMembers,
    }),
    success: { status: 201, answer: Session },
    needs: { caller: 'anyone', rate: { perSource: { calls: 120, seconds: 60 } } },
    refuses: [
      'auth.sign_in_failed',
      'auth.second_factor_required',
      'auth.second_factor_failed',
      'auth.second_factor_locked',
      'auth.sign_in_locked',
      'auth.password_disabled',
      'auth.password_expired',
      'tenant_suspended',
      'secret.unavailable',
      'installation.recovering',
    ],
    secret: true,
    recovery: { refused: 'recovery mode needs no session' },
    assumed: [
      'a second factor is asked for behind the right password only, so that it tells nobody whether an account has one',
      '`recovery_code` instead of `totp`; five wrong codes in 15 minutes lock them for 15 minutes',
      'failed sign-ins lock the address, known or unknown, for 15 minutes: 429 with Retry-After',
    ],
  },
  listSessions: {
    method: 'GET',
    path: '/auth/sessions',
    summary: 'Where the account is signed in',
    spec: 'decisions 2',
    query: z.strictObject(paging(200, 50)),
    success: { status: 200, answer: pageOf(SessionRow) },
    refuses: ['cursor.invalid'],
    ...ownAffairs,
  },
  signOut: {
    method: 'DELETE',
    path: '/auth/sessions',
    summary: 'End the session of this call',
    spec: 'decisions 2',
    success: { status: 204 },
    refuses: ['not_found'],
    needs: { caller: 'account', changes: 'ways in', withoutSecondFactor: true },
    recovery: ownAffairs.recovery,
  },
  signInWithNewPassword: {
    method: 'POST',
    path: '/auth/sessions:set-password',
    summary: 'Sign in with a password that is too old, by replacing it',
    spec: 'decisions 4, password_max_age_days',
    workspaceIn: 'body',
    body: z.strictObject({
      workspace: slug.optional().describe("absent: the host's subdomain"),
      email: text(1, 254),
      password,
      new_password: newPassword,
      ...secondFactorMembers,
    }),
    success: { status: 201, answer: Session },
    needs: { caller: 'anyone', rate: { perSource: { calls: 60, seconds: 60 } } },
    refuses: [
      'auth.sign_in_failed',
      'auth.sign_in_locked',
      'auth.password_disabled',
      'auth.second_factor_required',
      'auth.second_factor_failed',
      'auth.second_factor_locked',
      'auth.blocklist_unusable',
      'tenant_suspended',
      'installation.recovering',
    ],
    secret: true,
    recovery: { refused: 'recovery mode needs no session' },
    assumed: ['signs in like POST /auth/sessions, also with a password that is not too old; every other session ends'],
  },
  agreeToTerms: {
    method: 'POST',
    path: '/auth/sessions:agree-terms',
    summary: "Agree to the installation's terms, in the version that is in force",
    spec: 'InstanceSettings, terms_version',
    body: z.strictObject({ terms_version: text(1, 100) }),
    success: { status: 204 },
    refuses: ['legal.terms_changed'],
    ...ownAffairs,
    assumed: ['nothing is refused to an account that has not agreed: GET /accounts/me says that it is due'],
  },
  refreshSession: {
    method: 'POST',
    path: '/auth/sessions:refresh',
    summary: 'Trade the refresh token for new tokens; a used one that comes back late revokes the session',
    spec: 'decisions 2, Tokens',
    body: z.strictObject({ refresh_token: token }),
    success: { status: 200, answer: Session },
    needs: { caller: 'anyone', rate: { perSource: { calls: 600, seconds: 60 } } },
    refuses: ['auth.unauthenticated', 'tenant_suspended', 'installation.recovering'],
    secret: true,
    recovery: { refused: 'recovery mode needs no session' },
    assumed: [
      'for an answer that was lost: the token before the newest is taken once more within SVC_SESSION_GRACE_SECONDS of its use, and answers a further pair; a third use within these is refused and ends nothing',
      'once a token of the newest pairs is used, all of them are; any earlier one that comes back revokes the session',
    ],
  },
  revokeOtherSessions: {
    method: 'POST',
    path: '/auth/sessions:revoke-others',
    summary: 'End every session of the account but the one of this call, and its other tokens where asked',
    spec: 'people 4, N16',
    body: z
      .strictObject({
        tokens: z.boolean().default(false).describe('whether the other access tokens of the account end too'),
        apps: z.boolean().default(false).describe('whether what the account granted to apps ends too'),
      })
      .meta({ id: 'SessionsRevoke' }),
    success: {
      status: 200,
      answer: z
        .object({
          sessions: count.describe('how many sessions ended'),
          tokens: count.describe('how many tokens ended, with those that they made'),
          apps: count.describe('how many grants to apps ended; 0 while there are none'),
        })
        .meta({ id: 'RevokedSessions' }),
    },
    ...ownWaysIn,
    assumed: [
      'called with an access token every session ends; that token stays, and so does the one that made it',
      'there are no apps yet: `apps` is taken, and 0 is answered',
    ],
  },
  endSession: {
    method: 'DELETE',
    path: '/auth/sessions/{sessionId}',
    summary: "End one of the account's sessions",
    spec: 'decisions 2',
    params: z.strictObject({ sessionId: uuid }),
    success: { status: 204 },
    ...ownWaysIn,
  },
})

export const passwordOperations = defineOperations('auth', {
  changePassword: {
    method: 'POST',
    path: '/auth/password',
    summary: 'Change the password; every other session ends',
    spec: 'decisions 2',
    body: z.strictObject({ current_password: password, new_password: newPassword }),
    success: { status: 204 },
    refuses: ['auth.sign_in_failed', 'auth.step_up_locked', 'auth.blocklist_unusable'],
    ...ownWaysIn,
  },
  checkPassword: {
    method: 'POST',
    path: '/auth/password:check',
    summary: 'Whether a password would do, and which rules it breaks',
    spec: 'InstanceSettings, the password switches',
    body: z.strictObject({
      password: newPassword,
      names: z
        .array(text(1, 254))
        .max(10)
        .optional()
        .describe('what belongs to the account and its workspace: address, name, slug'),
    }),
    success: {
      status: 200,
      answer: z.object({
        acceptable: z.boolean(),
        faults: z.array(z.object({ code: z.string(), params: z.record(z.string(), z.unknown()) })),
      }),
    },
    needs: { caller: 'anyone', rate: { perSource: { calls: 120, seconds: 60 } } },
    refuses: ['auth.blocklist_unusable'],
    recovery: { refused: 'it is for whoever chooses a password' },
    assumed: ['earlier passwords of an account are not looked at: that costs a hash for each'],
  },
  forgetPassword: {
    method: 'POST',
    path: '/auth/password:forgot',
    summary: 'Ask for a mail with a link to set a new password',
    spec: 'Admin: workspaces, rule 2; InstanceSettings, password_self_service_reset',
    workspaceIn: 'body',
    body: z.strictObject({
      workspace: slug.optional().describe("absent: the host's subdomain"),
      email: text(1, 254),
    }),
    success: { status: 204 },
    needs: { caller: 'anyone', rate: { perSource: { calls: 10, seconds: 600 } } },
    refuses: ['auth.password_disabled', 'auth.password_reset_disabled'],
    recovery: { refused: 'it is for whoever forgot a password' },
    assumed: [
      'a known and an unknown address answer alike',
      'one mail a minute is queued for an address, five an hour are sent; a link serves once, for an hour',
      'while passwords are opened for a workspace, its accounts may ask whatever the switch says',
    ],
  },
  resetPassword: {
    method: 'POST',
    path: '/auth/password:reset',
    summary: 'Set a new password with the token of such a mail; every session ends',
    spec: 'Index, Auth',
    body: z.strictObject({ token, password: newPassword }),
    success: { status: 204 },
    needs: { caller: 'anyone', rate: { perSource: { calls: 30, seconds: 60 } } },
    refuses: ['auth.reset_invalid', 'auth.blocklist_unusable', 'tenant_suspended', 'installation.recovering'],
    recovery: { refused: 'the holder of the token does this, not the operator' },
  },
  stepUp: {
    method: 'POST',
    path: '/auth/step-up',
    summary: 'Prove once more who is calling; the token serves one privileged call',
    spec: 'Authentication, 4; decisions 2, Step-up',
    body: z
      .strictObject({
        password,
        ...secondFactorMembers,
        operation: text(1, 64).optional().describe('the operationId the proof is for'),
        target_id: uuid.optional().describe('the id in the path of the call the proof is for'),
      })
      .meta({ id: 'StepUp' }),
    success: { status: 201, answer: z.object({ step_up_token: z.string(), expires_at: moment }) },
    refuses: ['auth.sign_in_failed', 'auth.step_up_locked', 'auth.second_factor_required', 'auth.second_factor_failed'],
    secret: true,
    needs: { caller: 'account', withoutSecondFactor: true },
    recovery: ownAffairs.recovery,
  },
})
