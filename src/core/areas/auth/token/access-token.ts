/**
 * Personal access tokens, and the tokens of service accounts.
 *
 * A token can do at most what the credential that creates it can do: its scopes are among that
 * credential's. `admin:tenants` is the exception, because no session carries it: it needs a step-up
 * and an account in the operator register (or, while the register is empty, the owner of the first
 * workspace). A token cannot create one that outlives it, unless a step-up has proved that the
 * person is present: otherwise somebody who found a token could renew it for ever. What a token
 * creates ends with it (ending.ts). A service account has no person: its tokens end when the one
 * that a person made for it ends (docs/decisions/0152).
 *
 * Spec: Authentication, 2 and 3; decisions 2, Tokens and Scopes.
 */

import type { tokenOperations as ops } from '../../../contract/auth/tokens.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import { rankOf, type Scope } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { lastId, pageOfRows, pageStart } from '../../../kernel/transaction/page.ts'
import type { AccountActor } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { mintToken, type TokenKind } from '../../../kernel/values/token.ts'
import { endToken, holdBearer } from './ending.ts'

interface TokenRow {
  readonly id: string
  readonly name: string
  readonly last4: string
  readonly scopes: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
}

const tokens = { operation: 'listTokens' }

/** The account's own tokens that are still valid, newest first. Refuses cursor.invalid. */
export async function listTokens(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listTokens>,
): Promise<Answer<typeof ops.listTokens>> {
  const { tenantId, accountId } = ctx.account
  const before = pageStart(ctx, tokens, cursor)
  const rows = await ctx.tx.last<TokenRow[]>`
    select id, name, last4, scopes, created_at, expires_at, last_used_at from credential
    where tenant_id = ${tenantId} and account_id = ${accountId} and kind in ('PERSONAL', 'SERVICE') and id < ${before ?? lastId}::uuid
      and revoked_at is null and (expires_at is null or expires_at > now())
    order by id desc limit ${size + 1}`
  return pageOfRows(ctx, tokens, rows.map(representation), size)
}

/**
 * Creates a token of the account's own. Refuses request.invalid, auth.scope_required, admin.operator_required,
 * auth.unauthenticated where the caller's credential has just ended.
 */
export async function createToken(
  ctx: Ctx,
  { body }: Received<typeof ops.createToken>,
): Promise<Answer<typeof ops.createToken>> {
  const actor = ctx.account
  checkOwnScopes(actor, body.scopes)
  await checkScopes(ctx, actor, body.scopes)
  const kind = actor.kind === 'SERVICE' ? 'service' : 'personal'
  const [, minted] = await Promise.all([
    holdBearer(ctx, actor),
    writeToken(ctx, actor.tenantId, {
      accountId: actor.accountId,
      kind,
      name: body.name,
      scopes: body.scopes,
      expiresAt: body.expires_at,
      parentId: isShown(actor) ? null : actor.credentialId,
    }),
  ])
  return { ...representation(minted.row), token: minted.token }
}

/** Whether the person has proved to be present: by a session's sign-in, or by the step-up that this call has spent. */
export const isShown = ({ sessionId, isProven }: AccountActor) => sessionId !== null || isProven === true

/**
 * Revokes a token, and what it created, from the next call on: the caller's own, or, for an ADMIN, a service account's.
 * Refuses not_found.
 */
export async function revokeToken(ctx: Ctx, { tokenId }: Received<typeof ops.revokeToken>): Promise<void> {
  const { tenantId, accountId, role } = ctx.account
  const mayOthers = rankOf[role] >= rankOf.ADMIN
  const [token] = await ctx.tx<{ account_id: string }[]>`
    select account_id from credential
    where tenant_id = ${tenantId} and id = ${tokenId} and kind in ('PERSONAL', 'SERVICE') and revoked_at is null
      and (account_id = ${accountId} or (${mayOthers} and kind = 'SERVICE'))`
  if (!token) refuse('not_found')
  if (!(await endToken(ctx, { tenantId, accountId: token.account_id }, tokenId))) refuse('not_found')
}

/** Refuses auth.scope_required for a scope that the bearer lacks, also with a step-up. */
function checkOwnScopes(actor: AccountActor, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => scope !== 'admin:tenants' && !actor.scopes.includes(scope))
  if (missing) refuse('auth.scope_required', { scope: missing })
}

/** Refuses request.invalid on a doubled scope, admin.operator_required. */
export async function checkScopes(ctx: Ctx, actor: AccountActor, scopes: readonly Scope[]): Promise<void> {
  if (new Set(scopes).size < scopes.length) refuseMember('/scopes', 'list.unique')
  if (!scopes.includes('admin:tenants') || actor.isOperator) return
  if (!(await mayStartRegister(ctx, actor))) refuse('admin.operator_required')
}

/**
 * Whether the register is empty and this is the OWNER of the first workspace: otherwise nobody could start the
 * register.
 */
async function mayStartRegister(ctx: Ctx, actor: AccountActor): Promise<boolean> {
  if (actor.role !== 'OWNER') return false
  const [row] = await ctx.asInstallation(
    () => ctx.tx<{ first: string | null; operators: number }[]>`
      select (select id from tenant order by id limit 1) as first, (select count(*)::int from operator) as operators`,
  )
  return row?.operators === 0 && row.first === actor.tenantId
}

interface NewToken {
  readonly accountId: string
  readonly kind: Extract<TokenKind, 'personal' | 'service'>
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: string | undefined
  /**
   * The token that creates this one, which then does not outlive it and is revoked with it; null if a person was
   * present.
   */
  readonly parentId: string | null
}

const longestDays = (scopes: readonly Scope[]) => (scopes.includes('admin:tenants') ? 90 : 365)

/**
 * Writes a token; without `expiresAt` it gets the longest life allowed. Refuses request.invalid for a moment that is
 * past or too far.
 */
export async function writeToken(
  ctx: Ctx,
  tenantId: string,
  { accountId, kind, name, scopes, expiresAt, parentId }: NewToken,
): Promise<{ token: string; row: TokenRow }> {
  const days = longestDays(scopes)
  const [life] = await ctx.tx<{ until: string; is_allowed: boolean; latest: string; is_within: boolean }[]>`
    select until, until > now() and until <= now() + make_interval(days => ${days}) as is_allowed, latest, until <= latest as is_within
    from (select least(now() + make_interval(days => ${days}),
                       (select expires_at from credential where tenant_id = ${tenantId} and id = ${parentId}::uuid)) as latest) allowed,
         lateral (select coalesce(${expiresAt ?? null}::timestamptz, latest) as until) asked`
  if (!life?.is_allowed) refuseMember('/expires_at', 'value.moment_range', { from: 'now', days_ahead: days })
  if (!life.is_within) refuseMember('/expires_at', 'value.maximum', { maximum: life.latest })

  const { token, hash, last4 } = mintToken(kind)
  const id = newId()
  const [row] = await ctx.tx<TokenRow[]>`
    insert into credential (tenant_id, id, account_id, parent_id, kind, hash, last4, name, scopes, expires_at)
    values (${tenantId}, ${id}, ${accountId}, ${parentId}, ${kind === 'personal' ? 'PERSONAL' : 'SERVICE'}, ${hash}, ${last4}, ${name}, ${scopes.join(' ')}, ${life.until})
    returning id, name, last4, scopes, created_at, expires_at, last_used_at`
  if (!row) throw new Error('an inserted token was not returned')
  const account_id = accountId
  await ctx.record(
    'identity.token.created',
    { id, account_id, scopes, expires_at: row.expires_at },
    { account_id, scopes },
  )
  return { token, row }
}

const representation = ({ scopes, ...row }: TokenRow) => ({ ...row, scopes: scopes.split(' ') as Scope[] })
