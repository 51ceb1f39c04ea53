/**
 * Sessions: sign-in, list, sign-out.
 *
 *    sign-in ─▶ session ── access token (minutes), refresh token (one use; refresh.ts)
 *                 ├─ revoked: by sign-out, by a password change, or because a used
 *                 │  refresh token came back (somebody else holds a copy)
 *                 └─ over: nobody used it for session_idle_minutes, or session_absolute_hours
 *                    have passed; no token outlives either, and a refresh asks again
 *
 * Spec: decisions 2, Tokens and shapes; InstanceSettings (two session bounds).
 */

import type { waysIn } from '../../../contract/auth/devices.ts'
import type { sessionOperations as ops, Session } from '../../../contract/auth/operations.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { SignInValues } from '../../../contract/settings/defaults.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { lastId, pageOfRows, pageStart } from '../../../kernel/transaction/page.ts'
import { newId } from '../../../kernel/values/id.ts'
import { timeNow } from '../../../kernel/values/time.ts'
import { mintToken } from '../../../kernel/values/token.ts'
import { readSettings } from '../../settings/settings.ts'

/** How somebody signed in; with a provider, which one. */
export type CameBy =
  | { readonly way: Exclude<(typeof waysIn)[number], 'PROVIDER'> }
  | { readonly way: 'PROVIDER'; readonly providerId: string }

/** Opens a session of an account in the workspace in force. `bounds`, if the caller has asked for them. */
export async function startSession(
  ctx: Ctx,
  tenantId: string,
  accountId: string,
  by: CameBy,
  bounds?: SignInValues,
): Promise<Session> {
  const id = newId()
  const signIn = bounds ?? (await readSettings(ctx)).signIn
  const device = ctx.actor.kind === 'ANYONE' ? (ctx.actor.device ?? null) : null
  const providerId = by.way === 'PROVIDER' ? by.providerId : null
  void ctx.tx`
    insert into session (tenant_id, id, account_id, device_family, way, provider_id)
    values (${tenantId}, ${id}, ${accountId}, ${device}, ${by.way}, ${providerId})`
  const tokens = issueTokens(ctx, tenantId, accountId, { id, createdAt: timeNow() }, signIn)
  await ctx.record('identity.session.started', { id, account_id: accountId }, { account_id: accountId })
  return tokens
}

/**
 * When the tokens of a session end: after their own lifetime, but never later than the session's bounds. In ms since
 * 1970.
 */
export function tokenLives(
  lives: Pick<Ctx['config'], 'sessionAccessMinutes' | 'sessionRefreshDays'>,
  bounds: Pick<SignInValues, 'session_idle_minutes' | 'session_absolute_hours'>,
  now: number,
  createdAt: number,
): { readonly access: number; readonly refresh: number } {
  const minute = 60_000
  const idle = bounds.session_idle_minutes === 0 ? Infinity : bounds.session_idle_minutes * minute
  const end = bounds.session_absolute_hours === 0 ? Infinity : createdAt + bounds.session_absolute_hours * 60 * minute
  const access = Math.min(now + Math.min(lives.sessionAccessMinutes * minute, idle), end)
  // One more idle time after the access token's end: the refresh checks in the session whether it was idle for too
  // long.
  return { access, refresh: Math.min(now + lives.sessionRefreshDays * 24 * 60 * minute, access + idle, end) }
}

/** Writes a pair of tokens of the session; the commit takes it along. */
export function issueTokens(
  ctx: Ctx,
  tenantId: string,
  accountId: string,
  { id: sessionId, createdAt }: { readonly id: string; readonly createdAt: number },
  bounds: SignInValues,
): Session {
  const access = mintToken('session')
  const refresh = mintToken('refresh')
  const lives = tokenLives(ctx.config, bounds, timeNow(), createdAt)
  const accessExpires = new Date(lives.access)
  const refreshExpires = new Date(lives.refresh)
  const row = { tenant_id: tenantId, account_id: accountId, session_id: sessionId }
  const rows = [
    {
      ...row,
      id: newId(),
      kind: 'SESSION',
      hash: access.hash,
      last4: access.last4,
      scopes: sessionScopes,
      expires_at: accessExpires,
    },
    {
      ...row,
      id: newId(),
      kind: 'REFRESH',
      hash: refresh.hash,
      last4: refresh.last4,
      scopes: '',
      expires_at: refreshExpires,
    },
  ]
  void ctx.tx`insert into credential ${ctx.tx.rows(rows, 'tenant_id', 'account_id', 'session_id', 'id', 'kind', 'hash', 'last4', 'scopes', 'expires_at')}`
  return {
    session_id: sessionId,
    access_token: access.token,
    access_expires_at: accessExpires.toISOString(),
    refresh_token: refresh.token,
    refresh_expires_at: refreshExpires.toISOString(),
  }
}

/** A session's scopes cover the workspace, never the installation. */
const sessionScopes = 'workspace:read workspace:write workspace:admin'

/** Ends a session and every token of it, in the workspace in force. */
export async function revokeSession(ctx: Ctx, tenantId: string, sessionId: string, reason: string): Promise<void> {
  await Promise.all([
    ctx.tx`update session set revoked_at = now() where tenant_id = ${tenantId} and id = ${sessionId} and revoked_at is null`,
    ctx.tx`update credential set revoked_at = now() where tenant_id = ${tenantId} and session_id = ${sessionId} and revoked_at is null`,
    ctx.tx`update step_up set used_at = now() where tenant_id = ${tenantId} and bearer_id = ${sessionId} and used_at is null`,
    ctx.record('identity.session.ended', { id: sessionId, reason }, { reason }),
  ])
}

interface Owner {
  readonly tenantId: string
  readonly accountId: string
}

/** Ends every session of the account but one. Answers how many. */
export async function endOtherSessions(
  ctx: Ctx,
  of: Owner & { readonly except: string | null; readonly because: string },
): Promise<number> {
  const { tenantId, accountId, except, because } = of
  const others = await ctx.tx<{ id: string }[]>`
    select id from session where tenant_id = ${tenantId} and account_id = ${accountId} and revoked_at is null and id is distinct from ${except}::uuid for update`
  await Promise.all(others.map(({ id }) => revokeSession(ctx, tenantId, id, because)))
  return others.length
}

/** Voids what the account has proved so far: the password or the factor behind it may have changed. The account is locked. */
export const voidProofs = ({ tx }: Ctx, { tenantId, accountId }: Owner): Promise<unknown> =>
  Promise.all([
    tx`update step_up set used_at = now() where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null`,
    tx`update sign_in_challenge set used_at = now() where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null`,
    tx`
      update session set elevated_at = null, elevated_until = null
      where tenant_id = ${tenantId} and account_id = ${accountId} and elevated_until is not null`,
  ])

const sessions = { operation: 'listSessions' }

/** Where the account is signed in, newest first. Refuses cursor.invalid. */
export async function listSessions(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listSessions>,
): Promise<Answer<typeof ops.listSessions>> {
  const actor = ctx.account
  const before = pageStart(ctx, sessions, cursor)
  const rows = await ctx.tx.last<Answer<typeof ops.listSessions>['data']>`
    select s.id, s.device_family, s.way, s.provider_id, s.created_at, s.last_used_at, s.id = ${actor.bearerId} as is_current from session s
    where s.tenant_id = ${actor.tenantId} and s.account_id = ${actor.accountId} and s.id < ${before ?? lastId}::uuid and s.revoked_at is null
      and exists (select 1 from credential c where c.tenant_id = s.tenant_id and c.session_id = s.id
                  and c.kind = 'REFRESH' and c.used_at is null and c.expires_at > now())
    order by s.id desc limit ${size + 1}`
  return pageOfRows(ctx, sessions, rows, size)
}

/** Ends the session of this call. Refuses not_found under a token that belongs to no session. */
export async function signOut(ctx: Ctx): Promise<void> {
  const actor = ctx.account
  if (actor.sessionId === null) refuse('not_found')
  await revokeSession(ctx, actor.tenantId, actor.sessionId, 'signed_out')
}

/** Ends one of the account's sessions. Refuses not_found. */
export async function endSession(ctx: Ctx, { sessionId }: Received<typeof ops.endSession>): Promise<void> {
  const actor = ctx.account
  const [found] = await ctx.tx`
    select 1 from session where tenant_id = ${actor.tenantId} and id = ${sessionId} and account_id = ${actor.accountId} and revoked_at is null for update`
  if (!found) refuse('not_found')
  await revokeSession(ctx, actor.tenantId, sessionId, 'ended_by_account')
}
