/** Personal access tokens and service accounts. Spec: Authentication, 2 and 7; decisions 2, Tokens. */
import { z } from 'zod'
import { type Asking, defineOperations } from '../operation.ts'
import { moment, pageOf, paging, role, scope, text, uuid } from '../vocabulary.ts'
import { ownAffairs, ownWaysIn } from './operations.ts'

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

const serviceAccountMembers = { account_id: uuid, name: z.string(), role: role.nullable(), created_at: moment }
const ServiceAccount = z.object(serviceAccountMembers).meta({ id: 'ServiceAccount' })

/** Minting a token that reaches the installation takes a step-up; any other does not. */
const stepUpForAdminScope = {
  says: 'when `scopes` has `admin:tenants`',
  when: (body: { scopes: readonly string[] }) => body.scopes.includes('admin:tenants'),
} as const

interface ServiceAccountBody {
  readonly scopes: readonly string[]
  readonly expires_at?: string | undefined
}

/**
 * So does a service account that would reach further, or live longer, than the token that asks for it. A session has
 * shown its person when it signed in, and asks for the admin scope alone.
 */
const stepUpForServiceAccount = {
  says: 'when `scopes` has `admin:tenants`; under a token also when `scopes` has one that the token lacks, or `expires_at` is later than the token ends',
  when: (body: ServiceAccountBody, asking: Asking | undefined) => {
    if (stepUpForAdminScope.when(body)) return true
    if (!asking || asking.sessionId !== null) return false
    const reachesFurther = body.scopes.some((one) => !(asking.scopes as readonly string[]).includes(one))
    const end = asking.expiresAt ?? null
    return (
      reachesFurther || (end !== null && body.expires_at !== undefined && Date.parse(body.expires_at) > Date.parse(end))
    )
  },
} as const

const scopes = z.array(scope).min(1).max(4).describe('each once')

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
    needs: { caller: 'account', changes: 'ways in', stepUp: stepUpForAdminScope },
    refuses: ['auth.scope_required', 'admin.operator_required'],
    secret: true,
    recovery: ownAffairs.recovery,
    assumed: [
      'a token mints none that reaches further than itself, except by step-up',
      "a token mints none that outlives it, and what it mints ends with it, except by step-up; a service account's tokens too",
    ],
  },
  revokeToken: {
    method: 'DELETE',
    path: '/auth/tokens/{tokenId}',
    summary: "Revoke one of the account's tokens, or one of a service account's (ADMIN)",
    spec: 'decisions 2, Tokens',
    params: z.strictObject({ tokenId: uuid }),
    success: { status: 204 },
    actsOn: 'token',
    ...ownWaysIn,
    assumed: ['what the token made ends with it'],
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
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN', stepUp: stepUpForServiceAccount },
    refuses: ['auth.role_required', 'admin.operator_required'],
    secret: true,
    recovery: ownAffairs.recovery,
    assumed: [
      "the role is at most the caller's own",
      'made by a token without a step-up, its tokens end with that token; absent, `expires_at` is as late as may be without one',
    ],
  },
})
