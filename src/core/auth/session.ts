/**
 * Sessions: signing in, staying in, leaving.
 *
 *    sign-in ─▶ session ── access token (minutes), refresh token (one use)
 *                 │  └─ refresh ─▶ a new pair; the old refresh token is used up
 *                 └─ revoked: by sign-out, by a password change, or because a used
 *                    refresh token came back (somebody else holds a copy)
 *
 * A wrong password, an unknown address and an unknown workspace answer alike and take
 * alike. Spec: decisions 2, Tokens and shapes.
 */
import { type AccountActor, type Actor, anyone, isAccount } from '../actor.ts'
import type { Ctx } from '../context.ts'
import { fold } from '../fold.ts'
import { newId } from '../id.ts'
import { admitted, type Installation } from '../installation.ts'
import type { Answer, Received } from '../operation.ts'
import { lastId, pageOfRows, pageStart } from '../page.ts'
import { Problem, refuse } from '../problem.ts'
import { holdGate, refuseWhileGated } from '../recovery/gate.ts'
import { hashToken, isTokenShaped, mintToken } from '../token.ts'
import type { sessionOperations as ops, Session } from './contract.ts'
import { isPassword } from './password.ts'

/** An account whose password was shown to be right; undefined where it was not. */
export interface Proved {
  readonly tenantId: string
  readonly accountId: string
  readonly passwordHash: string | null
}

interface SignInRow {
  readonly tenant_id: string
  readonly account_id: string
  readonly password_hash: string | null
}

/** Checks the password with no transaction open: the hash takes 30 ms, and a connection is worth more than that. */
export async function proveSignIn(
  installation: Installation,
  _: Actor,
  { body }: Received<typeof ops.signIn>,
): Promise<Proved | undefined> {
  const [found] = await installation.transaction(
    anyone,
    { readOnly: true },
    (ctx) => ctx.tx.last<SignInRow[]>`
      select a.tenant_id, a.id as account_id, a.password_hash from tenant t
      join account a on a.tenant_id = t.id and a.email_fold = ${fold(body.email)} and a.state = 'ACTIVE'
      where t.slug = ${body.workspace ?? ''}`,
  )
  const isRight = await isPassword(body.password, found?.password_hash)
  return found && isRight
    ? { tenantId: found.tenant_id, accountId: found.account_id, passwordHash: found.password_hash }
    : undefined
}

/** Signs in. Refuses auth.sign_in_failed, installation.recovering; tenant_suspended only behind the right password. */
export async function signIn(ctx: Ctx, _: Received<typeof ops.signIn>, proved: Proved | undefined): Promise<Session> {
  if (!proved) refuse('auth.sign_in_failed')
  const { tenantId, accountId } = proved
  await refuseWhileGated(ctx, accountId)
  return ctx.inWorkspace(tenantId, () =>
    admitted(ctx.tx, tenantId, async () => {
      await stillProved(ctx, proved)
      return startSession(ctx, tenantId, accountId)
    }),
  )
}

/** Locks the account and holds it against what was proved before the transaction. Refuses auth.sign_in_failed. */
async function stillProved(ctx: Ctx, { tenantId, accountId, passwordHash }: Proved): Promise<void> {
  const [row] = await ctx.tx<{ password_hash: string | null; state: string }[]>`
    select password_hash, state from account where tenant_id = ${tenantId} and id = ${accountId} for update`
  if (row?.password_hash !== passwordHash || row.state !== 'ACTIVE') refuse('auth.sign_in_failed')
}

/** Opens a session of an account in the workspace in force. */
export async function startSession(ctx: Ctx, tenantId: string, accountId: string): Promise<Session> {
  const id = newId()
  const [, tokens] = await Promise.all([
    ctx.tx`insert into session (tenant_id, id, account_id) values (${tenantId}, ${id}, ${accountId})`,
    issueTokens(ctx, tenantId, accountId, id),
    ctx.audit('session.started', { subject: { kind: 'session', id }, params: { account_id: accountId } }),
    ctx.emit({
      name: 'identity.session.started',
      subject: `/auth/sessions/${id}`,
      data: { id, account_id: accountId },
    }),
  ])
  return tokens
}

async function issueTokens(ctx: Ctx, tenantId: string, accountId: string, sessionId: string): Promise<Session> {
  const access = mintToken('session')
  const refresh = mintToken('refresh')
  const accessExpires = new Date(Date.now() + ctx.config.sessionAccessMinutes * 60_000)
  const refreshExpires = new Date(Date.now() + ctx.config.sessionRefreshDays * 86_400_000)
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
  await ctx.tx`insert into credential ${ctx.tx.rows(rows, 'tenant_id', 'account_id', 'session_id', 'id', 'kind', 'hash', 'last4', 'scopes', 'expires_at')}`
  return {
    session_id: sessionId,
    access_token: access.token,
    access_expires_at: accessExpires.toISOString(),
    refresh_token: refresh.token,
    refresh_expires_at: refreshExpires.toISOString(),
  }
}

/** A session reaches the workspace, never the installation. */
const sessionScopes = 'workspace:read workspace:write workspace:admin'

interface RefreshRow {
  readonly tenant_id: string
  readonly id: string
  readonly account_id: string
  readonly session_id: string
  readonly is_used: boolean
}

/** Trades a refresh token. A used one revokes its session. Refuses auth.unauthenticated, installation.recovering, tenant_suspended. */
export async function refreshSession(
  ctx: Ctx,
  { body }: Received<typeof ops.refreshSession>,
): Promise<Session | Problem> {
  if (!isTokenShaped(body.refresh_token, 'refresh')) refuse('auth.unauthenticated')
  void holdGate(ctx.tx) // before the rows: an admission takes them in this order too
  const [found] = await ctx.tx<RefreshRow[]>`
    select c.tenant_id, c.id, c.account_id, c.session_id, c.used_at is not null as is_used from credential c
    join session s on s.tenant_id = c.tenant_id and s.id = c.session_id and s.revoked_at is null
    join account a on a.tenant_id = c.tenant_id and a.id = c.account_id and a.state = 'ACTIVE'
    where c.hash = ${hashToken(body.refresh_token)} and c.kind = 'REFRESH' and c.revoked_at is null and c.expires_at > now()
    for update of c, s`
  if (!found) refuse('auth.unauthenticated')
  await refuseWhileGated(ctx, found.account_id)

  return ctx.inWorkspace(found.tenant_id, () =>
    admitted(ctx.tx, found.tenant_id, async () => {
      if (found.is_used) {
        await revokeSession(ctx, found.tenant_id, found.session_id, 'refresh_token_reused')
        // Answered, not thrown: the revocation must outlive the refusal.
        return new Problem('auth.unauthenticated')
      }
      const [, , tokens] = await Promise.all([
        ctx.tx`update credential set used_at = now() where tenant_id = ${found.tenant_id} and id = ${found.id}`,
        ctx.tx`update credential set revoked_at = now() where tenant_id = ${found.tenant_id} and session_id = ${found.session_id} and kind = 'SESSION' and revoked_at is null`,
        issueTokens(ctx, found.tenant_id, found.account_id, found.session_id),
        ctx.tx`update session set last_used_at = now() where tenant_id = ${found.tenant_id} and id = ${found.session_id}`,
      ])
      return tokens
    }),
  )
}

/** Ends a session and every token of it, in the workspace in force. */
export async function revokeSession(ctx: Ctx, tenantId: string, sessionId: string, reason: string): Promise<void> {
  await Promise.all([
    ctx.tx`update session set revoked_at = now() where tenant_id = ${tenantId} and id = ${sessionId} and revoked_at is null`,
    ctx.tx`update credential set revoked_at = now() where tenant_id = ${tenantId} and session_id = ${sessionId} and revoked_at is null`,
    ctx.tx`update step_up set used_at = now() where tenant_id = ${tenantId} and bearer_id = ${sessionId} and used_at is null`,
    ctx.audit('session.ended', { subject: { kind: 'session', id: sessionId }, params: { reason } }),
    ctx.emit({
      name: 'identity.session.ended',
      subject: `/auth/sessions/${sessionId}`,
      data: { id: sessionId, reason },
    }),
  ])
}

const sessions = { operation: 'listSessions' }

/** Where the account is signed in, newest first. Refuses cursor.invalid. */
export async function listSessions(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listSessions>,
): Promise<Answer<typeof ops.listSessions>> {
  const actor = account(ctx)
  const before = pageStart(ctx, sessions, cursor)
  const rows = await ctx.tx.last<{ id: string; created_at: string; last_used_at: string; is_current: boolean }[]>`
    select s.id, s.created_at, s.last_used_at, s.id = ${actor.bearerId} as is_current from session s
    where s.tenant_id = ${actor.tenantId} and s.account_id = ${actor.accountId} and s.id < ${before ?? lastId}::uuid and s.revoked_at is null
      and exists (select 1 from credential c where c.tenant_id = s.tenant_id and c.session_id = s.id
                  and c.kind = 'REFRESH' and c.used_at is null and c.expires_at > now())
    order by s.id desc limit ${size + 1}`
  return pageOfRows(ctx, sessions, rows, size)
}

/** Ends the session of this call. Refuses not_found under a token that belongs to no session. */
export async function signOut(ctx: Ctx): Promise<void> {
  const actor = account(ctx)
  if (actor.sessionId === null) refuse('not_found')
  await revokeSession(ctx, actor.tenantId, actor.sessionId, 'signed_out')
}

/** Ends one of the account's sessions. Refuses not_found. */
export async function endSession(ctx: Ctx, { sessionId }: Received<typeof ops.endSession>): Promise<void> {
  const actor = account(ctx)
  const [found] = await ctx.tx`
    select 1 from session where tenant_id = ${actor.tenantId} and id = ${sessionId} and account_id = ${actor.accountId} and revoked_at is null for update`
  if (!found) refuse('not_found')
  await revokeSession(ctx, actor.tenantId, sessionId, 'ended_by_account')
}

/** The account that acts; operations that ask for it are never performed by anybody else. */
export function account(ctx: Ctx): AccountActor {
  if (!isAccount(ctx.actor)) throw new Error('this operation is performed by an account only')
  return ctx.actor
}
