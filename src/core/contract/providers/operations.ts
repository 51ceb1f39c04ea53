/** Identity providers, a workspace's own and those it may switch on, and signing in through them. Spec: Resources, IdentityProviderConfiguration; Index, Auth. */
import { z } from 'zod'
import { Session } from '../auth/operations.ts'
import { defineOperations } from '../operation.ts'
import { secondFactorMembers } from '../second-factor/operations.ts'
import {
  count,
  listOf,
  moment,
  pageOf,
  paging,
  role,
  slug,
  text,
  uri,
  uuid,
  version,
  withFormat,
} from '../vocabulary.ts'

const providerKinds = ['GENERIC', 'PRESET_ONE', 'PRESET_TWO'] as const
export type ProviderKind = (typeof providerKinds)[number]
const kind = z.enum(providerKinds)

const provisionings = ['INVITED_ONLY', 'DOMAINS', 'ANY'] as const
export type Provisioning = (typeof provisionings)[number]
const provisioning = z.enum(provisionings)

const providerStates = ['OFFERED', 'WITHDRAWAL_ANNOUNCED', 'ENDED'] as const
export type ProviderState = (typeof providerStates)[number]
const state = z.enum(providerStates)

/** OpenID Connect Discovery, 2: neither query nor fragment. */
const issuer = withFormat('issuer', /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^?#]*$/, uri(2000)).describe(
  'https://…, as the provider itself writes it',
)
const position = count(0, 99)
const entries = <Entry extends z.ZodType>(entry: Entry) => z.array(entry).max(100)
const domain = withFormat(
  'domain',
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9][a-zA-Z0-9-]{0,61}[a-zA-Z0-9]$/,
  text(1, 253),
)

export const IdentityProviderConfiguration = z
  .strictObject({
    issuer,
    client_id: text(1, 500),
    client_secret: text(1, 4000)
      .nullish()
      .describe('sealed, and never answered; absent on PUT: the sealed one stays; null: the provider asks for none'),
    display_name: text(1, 200).nullish(),
    kind: kind.optional().describe('absent: read from the issuer'),
    provisioning: provisioning
      .optional()
      .describe('absent: INVITED_ONLY for a public provider, DOMAINS for every other'),
    position: position.default(0),
    enabled: z.boolean().optional().describe('deprecated; workspaces switch a provider on or off by `:offer`'),
    allowed_email_domains: entries(domain).default([]),
    allowed_directories: entries(text(1, 200)).default([]),
    newcomer_role: role.nullish(),
    newcomer_group_id: uuid.nullish(),
  })
  .meta({ id: 'IdentityProviderConfiguration' })
export type Configuration = z.output<typeof IdentityProviderConfiguration>

/** What both representations of a provider have. */
export const providerMembers = {
  id: uuid,
  issuer: z.string(),
  client_id: z.string(),
  has_secret: z.boolean(),
  display_name: z.string().nullable(),
  kind,
  provisioning,
  position,
  enabled: z.boolean().describe('deprecated; whether the offer stands'),
  allowed_email_domains: z.array(z.string()),
  allowed_directories: z.array(z.string()),
  newcomer_role: role.nullable(),
  newcomer_group_id: uuid.nullable(),
  state,
  withdraw_at: moment.nullable().describe('when the offer ends, or ended'),
  created_at: moment,
  updated_at: moment,
  version,
}

const WorkspaceIdentityProvider = z
  .object({
    ...providerMembers,
    owner: z.enum(['WORKSPACE', 'INSTALLATION']),
    offered: z.boolean().describe('whether the workspace has it on'),
  })
  .meta({ id: 'WorkspaceIdentityProvider' })
export type WorkspaceProvider = z.output<typeof WorkspaceIdentityProvider>

const Preset = z
  .object({
    kind,
    display_name: z.string(),
    issuer: z.string().describe('an issuer of it; {directory} is put in'),
    directory_claim: z.string().nullable().describe('what allowed_directories is held against'),
  })
  .meta({ id: 'IdentityProviderPreset' })
export type PresetAnswer = z.output<typeof Preset>

const params = z.strictObject({ providerId: uuid })
const own = { caller: 'workspace', scope: 'workspace:admin', role: 'OWNER' } as const
const reading = { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' } as const
const recovery = { refused: "it is the workspace's own affair; operators have /admin/identity-providers" } as const
const deprecated = { since: '2026-11-25', successor: '/identity-providers' } as const
export const configurationRefusals = [
  'egress.forbidden',
  'identity_provider.discovery_failed',
  'identity_provider.kind_mismatch',
  'identity_provider.withdraw_instead',
] as const

export const providerOperations = defineOperations('auth', {
  listProviders: {
    method: 'GET',
    path: '/identity-providers',
    summary: "The workspace's own identity providers and the installation's, in the order of the buttons",
    spec: 'Index, Auth; Admin: identity providers, rule 1',
    success: { status: 200, answer: listOf(WorkspaceIdentityProvider) },
    needs: reading,
    recovery,
  },
  createProvider: {
    method: 'POST',
    path: '/identity-providers',
    summary: "Add an identity provider of the workspace's own",
    spec: 'Index, Auth; Admin: identity providers, rule 2',
    body: IdentityProviderConfiguration,
    success: { status: 201, answer: WorkspaceIdentityProvider, location: () => '/identity-providers' },
    needs: own,
    refuses: configurationRefusals,
    recovery,
    assumed: [
      'OWNER: whoever names a provider decides who may sign in as whom',
      'it is on from the start; `:offer` switches it off',
      'newcomer_role OWNER is refused: nobody is brought in above those who configure',
    ],
  },
  changeProvider: {
    method: 'PUT',
    path: '/identity-providers/{providerId}',
    summary: "Set one of the workspace's own identity providers whole",
    spec: 'Index, Auth; Admin: identity providers, rule 3',
    params,
    body: IdentityProviderConfiguration,
    success: { status: 200, answer: WorkspaceIdentityProvider },
    needs: own,
    refuses: configurationRefusals,
    ifMatch: true,
    recovery,
    assumed: ["one of the installation's is 404: a workspace may read it, not change it"],
  },
  removeProvider: {
    method: 'DELETE',
    path: '/identity-providers/{providerId}',
    summary: "Remove one of the workspace's own identity providers, its secret and its connections",
    spec: 'Index, Auth',
    params,
    success: { status: 204 },
    needs: own,
    ifMatch: true,
    recovery,
  },
  offerProvider: {
    method: 'POST',
    path: '/identity-providers/{providerId}:offer',
    summary: 'Switch a provider on or off for the workspace',
    spec: 'Index, Auth; decisions 4',
    params,
    body: z.strictObject({ offered: z.boolean() }).meta({ id: 'ProviderOffer' }),
    success: { status: 200, answer: WorkspaceIdentityProvider },
    needs: own,
    refuses: ['identity_provider.already_withdrawn'],
    recovery,
    assumed: ['an ended offer cannot be switched on; off it can'],
  },
  listPresets: {
    method: 'GET',
    path: '/identity-provider-presets',
    summary: 'Providers whose issuers are known, and their rules',
    spec: 'Index, Auth',
    success: { status: 200, answer: listOf(Preset) },
    needs: { caller: 'account' },
    recovery: 'allowed',
  },
  listAccountsWithoutProvider: {
    method: 'GET',
    path: '/tenant/accounts-without-provider',
    summary: 'People who are connected with no provider that the workspace has on',
    spec: 'Index, Auth',
    query: z.strictObject(paging(200, 50)),
    success: {
      status: 200,
      answer: pageOf(
        z
          .object({
            id: uuid,
            email: z.string().nullable().describe('the address, or the sign-in name; null: the account is restricted'),
            display_name: z.string().nullable(),
            role: role.nullable(),
            has_password: z.boolean(),
          })
          .meta({ id: 'AccountWithoutProvider' }),
      ),
    },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
  },
})

/** For clients of before, when a workspace had one provider of its own. */
export const onlyProviderOperations = defineOperations('auth', {
  getOnlyProvider: {
    method: 'GET',
    path: '/identity-provider',
    summary: "The workspace's only identity provider of its own",
    spec: 'people 4, N22',
    success: { status: 200, answer: WorkspaceIdentityProvider },
    needs: reading,
    refuses: ['not_found', 'identity_provider.many'],
    deprecated,
    recovery,
  },
  setOnlyProvider: {
    method: 'PUT',
    path: '/identity-provider',
    summary: "Set the workspace's only identity provider of its own; where there is none it is added, switched on",
    spec: 'people 4, N23',
    body: IdentityProviderConfiguration,
    success: { status: 200, answer: WorkspaceIdentityProvider },
    needs: own,
    refuses: [...configurationRefusals, 'identity_provider.many'],
    ifMatch: true,
    deprecated,
    recovery,
    assumed: [
      'of two at once that find none, one adds it and the other changes it',
      'where there is none, any `If-Match` is 412, also `*`: it names what is there',
    ],
  },
})

const flowPurposes = ['SIGN_IN', 'LINK', 'STEP_UP'] as const
export type FlowPurpose = (typeof flowPurposes)[number]

/** What the provider sent the browser back with, and the token that belongs to it. */
export const returnMembers = {
  flow_token: text(1, 200),
  code: text(1, 4096), // ours to bound: what any provider needs, and no more
  state: text(1, 200),
  iss: text(1, 2000).optional().describe('sent back by providers that say who they are (RFC 9207)'),
}

const SignInRules = z
  .object({
    password: z.object({
      allowed: z.boolean(),
      min_length: z.int(),
      max_length: z.int(),
      require_lowercase: z.boolean(),
      require_uppercase: z.boolean(),
      require_digit: z.boolean(),
      require_symbol: z.boolean(),
      self_service_reset: z.boolean(),
    }),
    providers: z
      .array(z.object({ id: uuid, display_name: z.string(), kind, position }))
      .describe('in the order of the buttons'),
  })
  .meta({ id: 'SignInRules' })
export type SignInRules = z.output<typeof SignInRules>

export const providerSignInOperations = defineOperations('auth', {
  getSignInRules: {
    method: 'GET',
    path: '/auth/sign-in-rules',
    summary: 'What a sign-in page shows: whether passwords serve, their rules, and the providers',
    spec: 'Index, Auth',
    workspaceIn: 'query',
    query: z.strictObject({ workspace: slug.optional().describe("absent: the host's subdomain") }),
    success: { status: 200, answer: SignInRules },
    needs: { caller: 'anyone', rate: { perSource: { calls: 600, seconds: 60 } } },
    recovery: { refused: 'recovery mode needs no session' },
    assumed: [
      "an unknown workspace is answered with the installation's own rules: the answer tells nobody which exist",
    ],
  },
  startOidc: {
    method: 'POST',
    path: '/auth/oidc:start',
    summary: 'Begin to sign in through an identity provider',
    spec: 'Index, Auth',
    workspaceIn: 'body',
    body: z
      .strictObject({
        workspace: slug.optional().describe("absent: the host's subdomain"),
        provider_id: uuid,
        redirect_uri: text(1, 2000).describe('where the provider sends the browser back to; registered there'),
        purpose: z
          .enum(flowPurposes)
          .default('SIGN_IN')
          .describe(
            'what the flow is for, which alone it serves: `oidc:callback`, `sessions:link` or `step-up:provider`',
          ),
        invitation_token: text(1, 200).optional().describe('joins by the invitation instead of a password'),
      })
      .meta({ id: 'OidcStart' }),
    success: {
      status: 201,
      answer: z
        .object({
          authorization_url: z.string().describe('where the browser goes'),
          flow_token: z.string().describe("kept in the browser's session, and needed by :callback"),
          expires_at: moment,
        })
        .meta({ id: 'OidcStarted' }),
    },
    needs: { caller: 'anyone', rate: { perSource: { calls: 60, seconds: 60 } } },
    refuses: ['auth.sign_in_failed', 'auth.invitation_invalid', 'identity_provider.unavailable', 'tenant_suspended'],
    secret: true,
    recovery: { refused: 'recovery mode needs no session' },
    assumed: [
      'an unknown workspace and a provider that it has not on answer alike: auth.sign_in_failed',
      'STEP_UP asks the provider to let the person sign in anew: `prompt=login`, `max_age=0`',
    ],
  },
  finishOidc: {
    method: 'POST',
    path: '/auth/oidc:callback',
    summary: 'Sign in with what the identity provider sent the browser back with',
    spec: 'Index, Auth',
    body: z
      .strictObject({
        ...returnMembers,
        ...secondFactorMembers,
      })
      .meta({ id: 'OidcCallback' }),
    success: { status: 201, answer: Session },
    needs: { caller: 'anyone', rate: { perSource: { calls: 60, seconds: 60 } } },
    refuses: [
      'auth.sign_in_failed',
      'auth.not_admitted',
      'auth.second_factor_required',
      'auth.second_factor_failed',
      'auth.second_factor_locked',
      'auth.invitation_invalid',
      'tenant_suspended',
      'installation.recovering',
      'secret.unavailable',
    ],
    secret: true,
    recovery: { refused: 'recovery mode needs no session' },
    assumed: [
      'a flow serves once and ten minutes, also when it is then refused',
      'an account with a second factor of its own is asked for it here too: by a challenge, or by the same call once more, with `totp` or `recovery_code`',
      'each `auth.not_admitted` has a `link_token`, whether there is an account or not: it says nothing about accounts',
    ],
  },
})
