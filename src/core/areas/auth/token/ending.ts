/**
 * The end of credentials: of one token, or of all that an account has.
 *
 *    token ──made──▶ token ──made──▶ a service account's token      each ends with the one before it
 *
 * A token that a token made ends with it, unless a step-up made it (`parent_id`); it never expires later either, so
 * revocation is all that has to be handed down, here, and the gate joins nothing.
 *
 * Locks are taken in one order by everything that makes, renews or ends credentials: the account, its sessions, its
 * credentials from the oldest on. What makes one shares the account's lock and holds the credential that asks
 * (`holdBearer`): it has committed before these statements read, or finds that credential ended.
 *
 * Spec: decisions 7, Removed means out; `needs: account`. docs/decisions/0151, 0152.
 */

import { refuse } from '../../../contract/problem.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { NewEvent } from '../../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { AccountActor } from '../../../kernel/values/actor.ts'

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

interface EndedRow {
  readonly id: string
  readonly account_id: string
  readonly kind: 'PERSONAL' | 'SERVICE' | 'SESSION' | 'REFRESH'
}

/** Nothing of the account's is made or renewed before the commit. */
export const lockAccount = ({ tx }: Ctx, { tenantId, accountId }: Holder): Promise<unknown> =>
  tx`select 1 from account where tenant_id = ${tenantId} and id = ${accountId} for update`

/** Keeps what was brought from ending before the commit: whatever is made with it ends with it. Refuses auth.unauthenticated where it has ended. */
export async function holdBearer({ tx }: Ctx, actor: AccountActor): Promise<void> {
  const { tenantId, accountId, bearerId, sessionId } = actor
  const shared = tx`select 1 from account where tenant_id = ${tenantId} and id = ${accountId} for key share`
  const alive =
    sessionId === null
      ? tx`select 1 from credential where tenant_id = ${tenantId} and id = ${bearerId} and revoked_at is null for share`
      : tx`select 1 from session where tenant_id = ${tenantId} and id = ${sessionId} and revoked_at is null for share`
  const [rows] = await Promise.all([alive, shared])
  if (rows.length === 0) refuse('auth.unauthenticated')
}

/** Ends a token and what it made, once the account's lock is held; answers whether it was alive. */
export async function endToken(ctx: Ctx, holder: Holder, tokenId: string): Promise<boolean> {
  const { tenantId } = holder
  await lockAccount(ctx, holder)
  const ended = await endLine(ctx, holder, ctx.tx.part`c.id = ${tokenId}`)
  if (!ended.some(({ id }) => id === tokenId)) return false
  await tellTokens(ctx, tenantId, ended)
  ctx.recordObligation({ act: 'token.revoked', tenant_id: tenantId, id: tokenId })
  return true
}

/** Ends all that lets the account in without proving anything anew: sessions, tokens and what these made, proofs, links, flows, an invitation. */
export async function endCredentials(ctx: Ctx, holder: Holder, because: string): Promise<void> {
  const { tx } = ctx
  const { tenantId, accountId } = holder
  await lockAccount(ctx, holder)
  const sessions = await tx<{ id: string }[]>`
    update session set revoked_at = now() where tenant_id = ${tenantId} and account_id = ${accountId} and revoked_at is null returning id`
  const ended = await endLine(ctx, holder, tx.part`c.account_id = ${accountId}`)

  await Promise.all([
    tx`update step_up set used_at = now() where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null`,
    tx`update password_reset set used_at = now() where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null`,
    tx`update sign_in_flow set used_at = now() where tenant_id = ${tenantId} and proved_account_id = ${accountId} and used_at is null`,
    tx`update invitation set used_at = now() where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null`,
    ctx.audit('account.credentials_ended', {
      subject: { kind: 'account', id: accountId },
      params: { reason: because, sessions: sessions.length, tokens: ended.filter(isToken).length },
    }),
    emitAll(
      ctx,
      sessions.map(({ id }) => ({
        name: 'identity.session.ended' as const,
        data: { id, reason: because },
      })),
    ),
    tellTokens(ctx, tenantId, ended),
  ])
}

const isToken = ({ kind }: EndedRow) => kind === 'PERSONAL' || kind === 'SERVICE'

/**
 * Ends the credentials `c` that the condition names, and all that they made, of whatever account. A token of another
 * account may be making one at this moment, behind a lock that is not held here: where some of another account's
 * ended, they are looked through once more, until there is nothing left to end.
 */
async function endLine(ctx: Ctx, { tenantId, accountId }: Holder, named: Part): Promise<EndedRow[]> {
  const ended: EndedRow[] = []
  for (let isOver = false; !isOver; ) {
    const rows = await ctx.tx<EndedRow[]>`
      with recursive line as (
        select c.id from credential c where c.tenant_id = ${tenantId} and ${named}
        union
        select c.id from credential c join line on c.parent_id = line.id where c.tenant_id = ${tenantId}
      ), locked as (
        select id from credential where tenant_id = ${tenantId} and id in (select id from line) and revoked_at is null order by id for update
      )
      update credential e set revoked_at = now() from locked where e.tenant_id = ${tenantId} and e.id = locked.id
      returning e.id, e.account_id, e.kind`
    ended.push(...rows)
    isOver = rows.every((row) => row.account_id === accountId)
  }
  return ended
}

/** The proofs, the trail and the events of tokens that ended; sessions' own are told with their session. */
async function tellTokens(ctx: Ctx, tenantId: string, ended: readonly EndedRow[]): Promise<void> {
  const tokens = ended.filter(isToken)
  if (tokens.length === 0) return
  const ids = tokens.map(({ id }) => id)
  const accounts = [...new Set(tokens.map(({ account_id }) => account_id))]
  await Promise.all([
    ctx.tx`
      update step_up s set used_at = now() from credential c
      where s.tenant_id = ${tenantId} and s.used_at is null and c.tenant_id = s.tenant_id and c.id = s.bearer_id
        and c.account_id = s.account_id and c.revoked_at is not null and c.account_id in ${ctx.tx.list(accounts)}`,
    ...ids.map((id) => ctx.audit('token.revoked', { subject: { kind: 'token', id } })),
    emitAll(
      ctx,
      ids.map((id) => ({ name: 'identity.token.revoked' as const, data: { id } })),
    ),
  ])
}

/** Events that one statement writes; more bind more values than it may have. */
const eventsAtOnce = 1000

async function emitAll(ctx: Ctx, events: readonly NewEvent[]): Promise<void> {
  const portions = Array.from({ length: Math.ceil(events.length / eventsAtOnce) }, (_, at) =>
    events.slice(at * eventsAtOnce, (at + 1) * eventsAtOnce),
  )
  await Promise.all(portions.map((portion) => ctx.emit(...portion)))
}
