/** Personal access tokens and service accounts. Spec: Authentication, 2 and 7; decisions 2, Tokens. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, role, scope, text, uuid } from '../schema.ts'
import { ownAffairs } from './contract.ts'

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
export const stepUpForAdminScope = {
  says: 'when `scopes` has `admin:tenants`',
  when: (body: { scopes: readonly string[] }) => body.scopes.includes('admin:tenants'),
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
