/**
 * A flow: from the button until the provider sends the browser back.
 *
 *    :start ─▶ flow ──ten minutes──▶ over
 *                └─ once, also where it is then refused ─▶ over
 *                     SIGN_IN  oidc:callback    LINK  sessions:link    STEP_UP  step-up:provider
 *
 * Only the session of the browser gets the flow token; the database stores its hash. State, nonce and PKCE verifier are
 * derived from it. So a code that an attacker plants in another browser is useless without the flow token that belongs
 * to it, and somebody who reads the database cannot finish a sign-in. Spec: Index, Auth; ours: the flow token
 * (docs/decisions/0081).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Answer, Received } from '../../../contract/operation.ts'
import { Problem, refuse, refuseMember } from '../../../contract/problem.ts'
import type { FlowPurpose, providerSignInOperations as ops } from '../../../contract/providers/operations.ts'
import type { Egress } from '../../../kernel/egress/client.ts'
import type { Binding, Claims, OidcClient } from '../../../kernel/egress/oidc.ts'
import { admitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type Actor, anyone } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { hashToken, isTokenShaped, mintToken } from '../../../kernel/values/token.ts'
import { isIssued } from '../../access/issued-moment.ts'
import { findInvitation } from '../invitation.ts'
import { holdProviderInForce } from './in-force.ts'
import { clientOf, inScope } from './provider-row.ts'

const flowMinutes = 10

/** The data of a new flow, prepared with no transaction open. */
export interface Begun {
  readonly tenantId: string
  readonly providerScope: string
  readonly invitationId: string | null
  readonly token: string
  readonly hash: Buffer
  readonly authorizationUrl: string
}

/** Three texts that only the holder of the token can derive. None of them reveals another. */
const bindingOf = (flowToken: string): Binding => ({
  state: derived(flowToken, 'state'),
  nonce: derived(flowToken, 'nonce'),
  verifier: derived(flowToken, 'verifier'),
})

const derived = (flowToken: string, what: string) =>
  createHmac('sha256', flowToken).update(`svc oidc ${what}`).digest('base64url')

/**
 * Finds the provider and asks it for the URL to which the browser goes. Refuses auth.sign_in_failed,
 * auth.invitation_invalid, identity_provider.unavailable.
 */
export async function prepareFlow(
  installation: Installation,
  _: Actor,
  { body }: Received<typeof ops.startOidc>,
): Promise<Begun> {
  checkRedirect(body.redirect_uri)
  if (body.invitation_token !== undefined && body.purpose !== 'SIGN_IN')
    refuseMember('/invitation_token', 'member.conflicts', { with: ['purpose'] })
  const found = await installation.transaction(anyone, {}, (ctx) => findForStart(ctx, body))
  const { token, hash } = mintToken('flow')
  const egress = await installation.egress()
  const isFresh = body.purpose === 'STEP_UP'
  const authorizationUrl = await askProvider(egress, found.client, body.redirect_uri, bindingOf(token), isFresh)
  return { ...found, token, hash, authorizationUrl }
}

/** The URL to which the browser returns: https, or http on the person's own machine. */
function checkRedirect(text: string): void {
  const url = URL.parse(text)
  const isLocal = url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (!url || (url.protocol !== 'https:' && !isLocal) || url.href !== text || /[?#]/.test(text) || url.username !== '')
    refuseMember('/redirect_uri', 'value.format', { format: 'redirect' })
}

type Start = Received<typeof ops.startOidc>['body']

async function findForStart(
  ctx: Ctx,
  body: Start,
): Promise<Pick<Begun, 'tenantId' | 'providerScope' | 'invitationId'> & { client: OidcClient }> {
  const [tenant] = await ctx.tx<{ id: string }[]>`select id from tenant where slug = ${body.workspace ?? ''}`
  if (!tenant) refuse('auth.sign_in_failed')
  const invitation = body.invitation_token === undefined ? undefined : await findInvitation(ctx, body.invitation_token)
  if (invitation && invitation.tenant_id !== tenant.id) refuse('auth.invitation_invalid')
  return ctx.inWorkspace(tenant.id, async () => {
    const row = await holdProviderInForce(ctx, tenant.id, body.provider_id)
    if (!row) refuse('auth.sign_in_failed')
    const client = await inScope(ctx, row.tenant_id, () => clientOf(ctx, row))
    return { tenantId: tenant.id, providerScope: row.tenant_id, invitationId: invitation?.id ?? null, client }
  })
}

async function askProvider(
  egress: Egress,
  client: OidcClient,
  redirectUri: string,
  binding: Binding,
  isFresh: boolean,
): Promise<string> {
  const { authorizationUrl } = await import('../../../kernel/egress/oidc.ts')
  return authorizationUrl(egress, client, redirectUri, binding, { isFresh }).catch((error: unknown) => {
    if (!isProviderFailure(error)) throw error
    throw new Problem('identity_provider.unavailable', {}, { headers: { 'retry-after': '30' } })
  })
}

/** Whether the provider or the egress guard failed, and not our own code. */
const isProviderFailure = (error: unknown) =>
  error instanceof Error && (error.name === 'OidcFailure' || error.name === 'EgressRefused')

/** Stores the flow. Refuses tenant_suspended. */
export async function startOidc(
  ctx: Ctx,
  { body }: Received<typeof ops.startOidc>,
  begun: Begun,
): Promise<Answer<typeof ops.startOidc>> {
  const { tenantId } = begun
  const expires = await ctx.inWorkspace(tenantId, () =>
    admitted(ctx.tx, { workspace: tenantId }, async () => {
      const [flow] = await ctx.tx<{ expires_at: string }[]>`
        insert into sign_in_flow (tenant_id, id, hash, purpose, provider_scope, provider_id, redirect_uri, invitation_id, expires_at)
        values (${tenantId}, ${newId()}, ${begun.hash}, ${body.purpose}, ${begun.providerScope}, ${body.provider_id},
                ${body.redirect_uri}, ${begun.invitationId}, now() + make_interval(mins => ${flowMinutes}))
        returning expires_at`
      return flow?.expires_at ?? ''
    }),
  )
  return { authorization_url: begun.authorizationUrl, flow_token: begun.token, expires_at: expires }
}

export interface FlowRow {
  readonly tenant_id: string
  readonly id: string
  readonly provider_id: string
  readonly redirect_uri: string
  readonly invitation_id: string | null
  readonly purpose: FlowPurpose
  readonly began_at: string
  /** The account that the provider has already named; only its own second factor is missing. */
  readonly proved_account_id: string | null
}

/**
 * Spends a flow, in a transaction of its own: of two callbacks at once exactly one continues. One for another purpose, or
 * with another state, is spent and serves nothing. Refuses auth.sign_in_failed.
 */
async function spendFlow(
  installation: Installation,
  { flow_token: flowToken, state }: Pick<Brought, 'flow_token' | 'state'>,
  purpose: FlowPurpose,
): Promise<FlowRow> {
  if (!isTokenShaped(flowToken, 'flow')) refuse('auth.sign_in_failed')
  const [flow] = await installation.transaction(anyone, {}, ({ tx }) => {
    const hasBegun = isIssued(tx, tx.part`began_at`)
    return tx<FlowRow[]>`
      update sign_in_flow set used_at = now()
      where hash = ${hashToken(flowToken)} and used_at is null and expires_at > now() and ${hasBegun}
      returning tenant_id, id, purpose, began_at, provider_id, redirect_uri, invitation_id, proved_account_id`
  })
  if (flow?.purpose !== purpose || !isSame(state, bindingOf(flowToken).state)) refuse('auth.sign_in_failed')
  return flow
}

/** What the browser brought back, and the token that its session kept. */
export interface Brought {
  readonly flow_token: string
  readonly code: string
  readonly state: string
  readonly iss?: string | undefined
}

/** The flow, and the provider's claims about the person; undefined claims if an earlier call already received them. */
export interface Returned {
  readonly flow: FlowRow
  readonly claims: Claims | undefined
}

/**
 * Spends the flow and asks the provider, with no transaction open. `checks`: what has to be so before the provider is asked.
 * Refuses auth.sign_in_failed, secret.unavailable.
 */
export async function redeemFor(
  installation: Installation,
  brought: Brought,
  purpose: FlowPurpose,
  checks: (flow: FlowRow) => void = () => {},
): Promise<Returned> {
  const flow = await spendFlow(installation, brought, purpose)
  checks(flow)
  if (flow.proved_account_id !== null) return { flow, claims: undefined }
  const client = await installation.transaction(anyone, {}, (ctx) => clientFor(ctx, flow))
  if (!client) refuse('auth.sign_in_failed')
  const egress = await installation.egress()
  const { redeem } = await import('../../../kernel/egress/oidc.ts')
  const { flow_token, code, state, iss } = brought
  const claims = await redeem(
    egress,
    client,
    { redirectUri: flow.redirect_uri, code, state, iss },
    bindingOf(flow_token),
  ).catch((error: unknown) => {
    if (!isProviderFailure(error)) throw error
    return refuse('auth.sign_in_failed')
  })
  return { flow, claims }
}

/** Undefined where the workspace has switched the provider off since, or its offer has ended. */
const clientFor = (ctx: Ctx, { tenant_id, provider_id }: FlowRow): Promise<OidcClient | undefined> =>
  ctx.inWorkspace(tenant_id, async () => {
    const row = await holdProviderInForce(ctx, tenant_id, provider_id)
    return row && inScope(ctx, row.tenant_id, () => clientOf(ctx, row))
  })

/**
 * Makes a spent flow usable again, for a person who must still show the second factor of the account that the provider
 * named. The workspace's role is in force.
 */
export const awaitFactor = (ctx: Ctx, { tenant_id, id }: FlowRow, accountId: string) => ctx.tx`
  update sign_in_flow set used_at = null, proved_account_id = ${accountId} where tenant_id = ${tenant_id} and id = ${id}`

const isSame = (one: string, other: string) =>
  timingSafeEqual(createHmac('sha256', 'svc').update(one).digest(), createHmac('sha256', 'svc').update(other).digest())
