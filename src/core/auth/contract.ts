/** Signing in: set-up, invitations, sessions, step-up, passwords, tokens. Spec: Authentication; decisions 2. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { email, moment, pageOf, paging, role, scope, slug, text, uuid } from '../schema.ts'

/** What a token may look like at all; whether it is one is the checksum's and the database's business. */
const token = text(1, 200)
/** Lengths only: the rules of a workspace's own passwords belong to its sign-in settings. */
const password = text(1, 1024)
const newPassword = text(12, 1024)
const displayName = text(1, 200)

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
  .object({ id: uuid, created_at: moment, last_used_at: moment, is_current: z.boolean() })
  .meta({ id: 'SessionRow' })

const tokenMembers = {
  id: uuid,
  name: z.string(),
  last4: z.string(),
  scopes: z.array(scope),
  created_at: moment,
  expires_at: moment.nullable(),
  last_used_at: moment.nullable(),
}
const AccessToken = z.object(tokenMembers).meta({ id: 'AccessToken' })
const MintedAccessToken = z
  .object({ ...tokenMembers, token: z.string().describe('shown this one time only') })
  .meta({ id: 'MintedAccessToken' })

const serviceAccountMembers = { account_id: uuid, name: z.string(), role, created_at: moment }
const ServiceAccount = z.object(serviceAccountMembers).meta({ id: 'ServiceAccount' })

/** Minting a token that reaches the installation takes a step-up; any other does not. */
export const stepUpForAdminScope = {
  says: 'when `scopes` has `admin:tenants`',
  when: (body: { scopes: readonly string[] }) => body.scopes.includes('admin:tenants'),
} as const

const scopes = z.array(scope).min(1).max(4).describe('each once')

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
    needs: { caller: 'anyone' },
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
    needs: { caller: 'anyone' },
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
    needs: { caller: 'anyone' },
    refuses: ['auth.invitation_invalid', 'tenant_suspended', 'installation.recovering'],
    secret: true,
    recovery: { refused: 'the holder of the token does this, not the operator' },
  },
})

const ownAffairs = { needs: { caller: 'account' }, recovery: { refused: "it is the account's own affair" } } as const

export const sessionOperations = defineOperations('auth', {
  signIn: {
    method: 'POST',
    path: '/auth/sessions',
    summary: 'Sign in with a password',
    spec: 'decisions 2',
    body: z.strictObject({
      workspace: slug.optional().describe("absent: the host's subdomain"),
      email: text(1, 254),
      password,
    }),
    success: { status: 201, answer: Session },
    needs: { caller: 'anyone' },
    refuses: ['auth.sign_in_failed', 'tenant_suspended', 'installation.recovering'],
    secret: true,
    recovery: { refused: 'recovery mode needs no session' },
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
    ...ownAffairs,
  },
  refreshSession: {
    method: 'POST',
    path: '/auth/sessions:refresh',
    summary: 'Trade the refresh token for new tokens; a second use of one revokes the session',
    spec: 'decisions 2, Tokens',
    body: z.strictObject({ refresh_token: token }),
    success: { status: 200, answer: Session },
    needs: { caller: 'anyone' },
    refuses: ['auth.unauthenticated', 'tenant_suspended', 'installation.recovering'],
    secret: true,
    recovery: { refused: 'recovery mode needs no session' },
  },
  endSession: {
    method: 'DELETE',
    path: '/auth/sessions/{sessionId}',
    summary: "End one of the account's sessions",
    spec: 'decisions 2',
    params: z.strictObject({ sessionId: uuid }),
    success: { status: 204 },
    ...ownAffairs,
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
    refuses: ['auth.sign_in_failed', 'auth.step_up_locked'],
    ...ownAffairs,
  },
  stepUp: {
    method: 'POST',
    path: '/auth/step-up',
    summary: 'Prove once more who is calling; the token serves one privileged call',
    spec: 'Authentication, 4; decisions 2, Step-up',
    body: z
      .strictObject({
        password,
        operation: text(1, 64).optional().describe('the operationId the proof is for'),
        target_id: uuid.optional().describe('the id in the path of the call the proof is for'),
      })
      .meta({ id: 'StepUp' }),
    success: { status: 201, answer: z.object({ step_up_token: z.string(), expires_at: moment }) },
    refuses: ['auth.sign_in_failed', 'auth.step_up_locked'],
    secret: true,
    ...ownAffairs,
  },
})

export const tokenOperations = defineOperations('auth', {
  listTokens: {
    method: 'GET',
    path: '/auth/tokens',
    summary: "The account's personal access tokens",
    spec: 'decisions 2, Tokens',
    query: z.strictObject(paging(200, 50)),
    success: { status: 200, answer: pageOf(AccessToken) },
    refuses: ['cursor.invalid'],
    ...ownAffairs,
  },
  createToken: {
    method: 'POST',
    path: '/auth/tokens',
    summary: 'Mint a personal access token',
    spec: 'Authentication, 2; decisions 2',
    body: z
      .strictObject({
        name: text(1, 120),
        scopes,
        expires_at: moment
          .optional()
          .describe('at most 90 days ahead with admin:tenants, 365 otherwise; absent: that far'),
      })
      .meta({ id: 'TokenCreate' }),
    success: {
      status: 201,
      answer: MintedAccessToken,
      location: (answer: { id: string }) => `/auth/tokens/${answer.id}`,
    },
    needs: { caller: 'account', stepUp: stepUpForAdminScope },
    refuses: ['auth.scope_required', 'admin.operator_required'],
    secret: true,
    recovery: ownAffairs.recovery,
    assumed: [
      'a token mints none that reaches further than itself, except by step-up',
      "a person's token mints none that outlives it, except by step-up; a service account renews its own",
    ],
  },
  revokeToken: {
    method: 'DELETE',
    path: '/auth/tokens/{tokenId}',
    summary: "Revoke one of the account's tokens, or one of a service account's (ADMIN)",
    spec: 'decisions 2, Tokens',
    params: z.strictObject({ tokenId: uuid }),
    success: { status: 204 },
    ...ownAffairs,
  },
})

export const serviceAccountOperations = defineOperations('auth', {
  listServiceAccounts: {
    method: 'GET',
    path: '/auth/service-accounts',
    summary: "The workspace's service accounts",
    spec: 'decisions 2',
    query: z.strictObject(paging(200, 50)),
    success: { status: 200, answer: pageOf(ServiceAccount) },
    refuses: ['cursor.invalid'],
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' },
    recovery: ownAffairs.recovery,
  },
  createServiceAccount: {
    method: 'POST',
    path: '/auth/service-accounts',
    summary: 'Create a service account and its token',
    spec: 'Authentication, 7; decisions 2',
    body: z
      .strictObject({ name: text(1, 120), role, scopes, expires_at: moment.optional() })
      .meta({ id: 'ServiceAccountCreate' }),
    success: {
      status: 201,
      answer: z
        .object({
          ...serviceAccountMembers,
          token_id: uuid,
          scopes: z.array(scope),
          expires_at: moment.nullable(),
          token: z.string(),
        })
        .meta({ id: 'CreatedServiceAccount' }),
    },
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN', stepUp: stepUpForAdminScope },
    refuses: ['auth.role_required', 'admin.operator_required'],
    secret: true,
    recovery: ownAffairs.recovery,
    assumed: ["the role is at most the caller's own"],
  },
})
