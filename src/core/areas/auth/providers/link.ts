/**
 * Links: an identity at a provider joins the account in which its person is signed in.
 *
 *    oidc:callback turns away ─▶ link ──10 minutes──▶ over
 *                                 └─ sessions:link with it, in a session: connected; once, also where it is refused
 *    oidc:start, purpose LINK ─▶ flow ─▶ sessions:link with what the browser brought back
 *
 * An address alone never links: the person shows the account by signing in as before, and the identity by the provider. A link
 * is answered to everybody who is turned away, so it says nothing of accounts. The account of an operator joins identities of
 * the installation's providers only (admission.ts says why).
 *
 * Link, identity, trail and mail are one transaction. Locks: the provider, the account, its session, the link. Spec: people 4,
 * N18; docs/decisions/0421.
 */

import type { provingOperations as ops } from '../../../contract/auth/proving.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { Problem, refuse, refuseMember } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { type Actor, isAccount } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { newId } from '../../../kernel/values/id.ts'
import { hashToken, isTokenShaped, mintToken } from '../../../kernel/values/token.ts'
import { isInRegister } from '../token/ceiling.ts'
import { holdBearer, lockAccount } from '../token/ending.ts'
import { type Returned, redeemFor } from './flow.ts'
import { holdProviderInForce } from './in-force.ts'
import { type Arrival, tellIdentities, textOf } from './joining.ts'
import type { ProviderRow } from './provider-row.ts'

const linkMinutes = 10
/** A clock that jumps back by more than this must not make a link live longer. */
const backwardSeconds = 5
const mostIdentities = 10

/** Makes a link of the identity that the provider named; answers its token. The workspace's role is in force. */
export async function makeLink(
  { tx }: Ctx,
  { tenantId, provider, claims }: Arrival,
  accountId: string | undefined,
): Promise<string> {
  const { token, hash } = mintToken('link')
  await tx`
    insert into sign_in_link (tenant_id, id, hash, provider_id, issuer, subject, email, account_id, expires_at)
    values (${tenantId}, ${newId()}, ${hash}, ${provider.id}, ${claims.iss}, ${claims.sub}, ${textOf(claims['email'])},
            ${accountId ?? null}, now() + make_interval(mins => ${linkMinutes}))`
  return token
}

/** An identity at a provider, as the provider itself named it. */
interface Identity {
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
}

/**
 * Asks the provider, where the browser came back from it, with no transaction open. Refuses request.invalid,
 * auth.sign_in_failed, secret.unavailable.
 */
export async function redeemForLink(
  installation: Installation,
  actor: Actor,
  { body }: Received<typeof ops.linkIdentity>,
): Promise<Returned | undefined> {
  const { link_token: link, flow_token, code, state, iss } = body
  if (link !== undefined) {
    if (flow_token !== undefined) refuseMember('/flow_token', 'member.conflicts', { with: ['link_token'] })
    return undefined
  }
  if (flow_token === undefined) refuseMember('/link_token', 'member.required')
  if (code === undefined) refuseMember('/code', 'member.required')
  if (state === undefined) refuseMember('/state', 'member.required')
  const returned = await redeemFor(installation, { flow_token, code, state, iss }, 'LINK', ({ tenant_id }) => {
    failpoint('link.flow_spent')
    if (!isAccount(actor) || tenant_id !== actor.tenantId) refuse('auth.sign_in_failed')
  })
  failpoint('link.redeemed')
  return returned
}

/**
 * Connects the identity with the caller's account. Refuses auth.sign_in_failed of a flow whose provider is off meanwhile,
 * auth.unauthenticated where the session has just ended; and returns, so that the link stays spent, auth.link_invalid,
 * auth.not_admitted, auth.identity_taken, account.identities_full.
 */
export async function linkIdentity(
  ctx: Ctx,
  { body }: Received<typeof ops.linkIdentity>,
  returned: Returned | undefined,
): Promise<Answer<typeof ops.linkIdentity> | Problem> {
  if (body.link_token !== undefined) return joinByLink(ctx, body.link_token)
  const { flow, claims } = returned ?? {}
  if (!flow || !claims) refuse('auth.sign_in_failed')
  const provider = await holdProviderInForce(ctx, ctx.account.tenantId, flow.provider_id)
  if (!provider) refuse('auth.sign_in_failed')
  await lockCaller(ctx)
  return join(ctx, provider, { issuer: claims.iss, subject: claims.sub, email: textOf(claims['email']) })
}

interface LinkRow extends Identity {
  readonly tenant_id: string
  readonly id: string
  readonly provider_id: string
}

async function joinByLink(ctx: Ctx, token: string): Promise<Answer<typeof ops.linkIdentity> | Problem> {
  const { tenantId } = ctx.account
  const link = await findLink(ctx, token)
  const isOwn = link?.tenant_id === tenantId
  const provider = isOwn ? await holdProviderInForce(ctx, tenantId, link.provider_id) : undefined
  await lockCaller(ctx)
  if (!link || !(await spendLink(ctx, link)) || !provider) return new Problem('auth.link_invalid')
  failpoint('link.spent')
  return join(ctx, provider, link)
}

/** Whatever the workspace: a link that is tried in another one is spent. */
const findLink = (ctx: Ctx, token: string): Promise<LinkRow | undefined> =>
  ctx.asInstallation(async () => {
    if (!isTokenShaped(token, 'link')) return undefined
    const [found] = await ctx.tx<LinkRow[]>`
      select tenant_id, id, provider_id, issuer, subject, email from sign_in_link where hash = ${hashToken(token)}`
    return found
  })

/** Of two uses at once exactly one succeeds. */
const spendLink = (ctx: Ctx, { tenant_id, id }: LinkRow): Promise<boolean> =>
  ctx.asInstallation(async () => {
    const spent = await ctx.tx`
      update sign_in_link set used_at = now()
      where tenant_id = ${tenant_id} and id = ${id} and used_at is null and expires_at > now()
        and issued_at <= now() + make_interval(secs => ${backwardSeconds})`
    return spent.count === 1
  })

/** Nothing ends the caller's session before the commit; whatever ends it waits for the account's row. */
async function lockCaller(ctx: Ctx): Promise<void> {
  await Promise.all([lockAccount(ctx, ctx.account), holdBearer(ctx, ctx.account)])
}

type Joined = Answer<typeof ops.linkIdentity>

/** The account is locked, and the provider in force until the commit. */
async function join(ctx: Ctx, provider: ProviderRow, identity: Identity): Promise<Joined | Problem> {
  const { tenantId, accountId } = ctx.account
  if (provider.tenant_id !== installationScope && (await isInRegister(ctx, accountId))) {
    const params = { reason: 'operator' }
    await ctx.audit('sign_in.turned_away', { subject: { kind: 'identity_provider', id: provider.id }, params })
    return new Problem('auth.not_admitted')
  }
  const known = await findIdentity(ctx, provider, identity)
  if (known) return answered(ctx, known)
  const [held] = await ctx.tx<{ count: number }[]>`
    select count(*)::int as count from connected_identity where tenant_id = ${tenantId} and account_id = ${accountId}`
  if ((held?.count ?? 0) >= mostIdentities) return new Problem('account.identities_full', { limit: mostIdentities })

  const made = await ctx.tx`
    insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject, email)
    values (${tenantId}, ${newId()}, ${provider.id}, ${accountId}, ${identity.issuer}, ${identity.subject}, ${identity.email})
    on conflict (tenant_id, provider_id, issuer, subject) do nothing`
  const joined = await findIdentity(ctx, provider, identity)
  if (!joined) throw new Error('an identity that is taken is nobody’s')
  if (made.count === 0) return answered(ctx, joined) // another account was connected with it at the same moment
  failpoint('link.connected')
  await tellConnected(ctx, provider.id)
  failpoint('link.told')
  return answered(ctx, joined)
}

interface IdentityRow extends Joined {
  readonly account_id: string
}

const answered = ({ account }: Ctx, row: IdentityRow): Joined | Problem =>
  row.account_id === account.accountId ? row : new Problem('auth.identity_taken')

async function findIdentity(
  { tx, account }: Ctx,
  provider: ProviderRow,
  { issuer, subject }: Identity,
): Promise<IdentityRow | undefined> {
  const [row] = await tx<IdentityRow[]>`
    select id, provider_id, account_id, connected_at, last_used_at from connected_identity
    where tenant_id = ${account.tenantId} and provider_id = ${provider.id} and issuer = ${issuer} and subject = ${subject}`
  return row
}

async function tellConnected(ctx: Ctx, provider_id: string): Promise<void> {
  const { tenantId, accountId } = ctx.account
  const noticeId = await ctx.record('identity.account.connected', { id: accountId, provider_id }, { provider_id })
  await tellIdentities(ctx, tenantId, accountId, noticeId)
}
