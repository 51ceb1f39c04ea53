/**
 * The end of credentials: of one token, or of all credentials of an account.
 *
 *    token ──made──▶ token ──made──▶ a service account's token      each ends with the one before it
 *
 * A token that was created with another token (`parent_id`) ends with that one, unless a step-up approved its creation.
 * It never expires later either, so only revocation must be passed on, here, and the gate needs no join.
 *
 * Everything that creates, renews or ends credentials takes its locks in one order: the account, its sessions, its
 * credentials from the oldest on. A transaction that creates one takes shared locks on the account and on the
 * credential that it uses (`holdBearer`). So it has committed before these statements read, or it finds that credential
 * ended.
 *
 * Spec: decisions 7, Removed means out; `needs: account`. docs/decisions/0151, 0152.
 */

import { refuse } from '../../../contract/problem.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { NewEvent } from '../../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { AccountActor } from '../../../kernel/values/actor.ts'
import { portionsOf } from '../../../kernel/values/portions.ts'

interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

interface EndedRow {
  readonly id: string
  readonly account_id: string
  readonly kind: 'PERSONAL' | 'SERVICE' | 'SESSION' | 'REFRESH'
}

/** Locks the account, so that none of its credentials is created or renewed before the commit. */
export const lockAccount = ({ tx }: Ctx, { tenantId, accountId }: Holder): Promise<unknown> =>
  tx`select 1 from account where tenant_id = ${tenantId} and id = ${accountId} for update`

/**
 * Keeps the caller's credential from ending before the commit, so that what is created with it ends with it. Refuses
 * auth.unauthenticated where it has ended.
 */
export async function holdBearer({ tx }: Ctx, actor: AccountActor): Promise<void> {
  const { tenantId, accountId, bearerId, sessionId } = actor
  const own = tx.part`account a where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  // The locks are taken in the order in which they are named.
  const alive =
    sessionId === null
      ? tx`select 1 from credential c, ${own} and c.tenant_id = ${tenantId} and c.id = ${bearerId} and c.revoked_at is null
           for key share of a for share of c`
      : tx`select 1 from session s, ${own} and s.tenant_id = ${tenantId} and s.id = ${sessionId} and s.revoked_at is null
           for key share of a for share of s`
  if ((await alive).length === 0) refuse('auth.unauthenticated')
}

/** Takes the account's lock and ends a token and what it created; answers whether the token was alive. */
export async function endToken(ctx: Ctx, holder: Holder, tokenId: string): Promise<boolean> {
  const { tenantId } = holder
  await lockAccount(ctx, holder)
  const ended = await endLine(ctx, { tenantId, accountIds: [holder.accountId] }, ctx.tx.part`c.id = ${tokenId}`)
  if (!ended.some(({ id }) => id === tokenId)) return false
  await tellTokens(ctx, tenantId, ended)
  ctx.recordObligation({ act: 'token.revoked', tenant_id: tenantId, id: tokenId })
  return true
}

/**
 * Ends the account's tokens but the one of this call and those that it comes from, and what the ended ones made. The
 * account's lock is held. Answers how many.
 */
export async function endOtherTokens(ctx: Ctx, holder: Holder, ownId: string): Promise<number> {
  const { tx } = ctx
  const { tenantId, accountId } = holder
  const ended = await endLine(
    ctx,
    { tenantId, accountIds: [accountId] },
    tx.part`c.account_id = ${accountId} and c.kind in ('PERSONAL', 'SERVICE') and c.id not in (
      with recursive own as (
        select o.id, o.parent_id from credential o where o.tenant_id = ${tenantId} and o.id = ${ownId}
        union
        select p.id, p.parent_id from credential p join own on p.id = own.parent_id where p.tenant_id = ${tenantId}
      ) select id from own)`,
  )
  await tellTokens(ctx, tenantId, ended)
  ctx.recordObligation(...ended.map(({ id }) => ({ act: 'token.revoked' as const, tenant_id: tenantId, id })))
  return ended.length
}

/**
 * Ends everything that gives the account access without a new proof: sessions, tokens and what these created, step-ups,
 * reset links, flows, an invitation, addresses that wait.
 */
export async function endCredentials(ctx: Ctx, holder: Holder, because: string): Promise<void> {
  await lockAccount(ctx, holder)
  await endCredentialsOf(ctx, holder.tenantId, [holder.accountId], because)
}

/** The same of several accounts, which are locked. At most some hundreds. */
export async function endCredentialsOf(
  ctx: Ctx,
  tenantId: string,
  accountIds: readonly string[],
  because: string,
): Promise<void> {
  const { tx } = ctx
  const them = tx.list(accountIds)
  const [sessions, ended] = await Promise.all([
    tx<{ id: string; account_id: string }[]>`
      update session set revoked_at = now() where tenant_id = ${tenantId} and account_id in ${them} and revoked_at is null
      returning id, account_id`,
    endLine(ctx, { tenantId, accountIds }, tx.part`c.account_id in ${them}`),
    endProofs(ctx, tenantId, them),
  ])
  const tokens = ended.filter(isToken)
  const countOf = (rows: readonly { account_id: string }[], id: string) =>
    rows.filter(({ account_id }) => account_id === id).length

  await Promise.all([
    ...accountIds.map((id) =>
      ctx.audit('account.credentials_ended', {
        subject: { kind: 'account', id },
        params: { reason: because, sessions: countOf(sessions, id), tokens: countOf(tokens, id) },
      }),
    ),
    emitAll(
      ctx,
      sessions.map(({ id }) => ({
        name: 'identity.session.ended' as const,
        data: { id, reason: because },
      })),
    ),
    tellTokens(ctx, tenantId, ended, accountIds),
  ])
}

/** Everything else that lets them in, in one statement: most of it is not there. */
function endProofs({ tx }: Ctx, tenantId: string, them: Part): Promise<unknown> {
  const theirs = tx.part`tenant_id = ${tenantId} and account_id in ${them}`
  return tx`
    with step_ups as (update step_up set used_at = now() where ${theirs} and used_at is null),
         resets as (update password_reset set used_at = now() where ${theirs} and used_at is null),
         challenges as (update sign_in_challenge set used_at = now() where ${theirs} and used_at is null),
         links as (update sign_in_link set used_at = now() where ${theirs} and used_at is null),
         flows as (
           update sign_in_flow set used_at = now()
           where tenant_id = ${tenantId} and proved_account_id in ${them} and used_at is null),
         confirmations as (update address_confirmation set used_at = now() where ${theirs} and used_at is null),
         addresses as (
           update account_address set removed_at = now(), ends_at = now()
           where ${theirs} and held_fold is null and removed_at is null)
    update invitation set used_at = now() where ${theirs} and used_at is null`
}

const isToken = ({ kind }: EndedRow) => kind === 'PERSONAL' || kind === 'SERVICE'

/** Ends the credentials `c` that the condition selects, and everything that they created, of any account. */
async function endLine(
  ctx: Ctx,
  { tenantId, accountIds }: { readonly tenantId: string; readonly accountIds: readonly string[] },
  named: Part,
): Promise<EndedRow[]> {
  const { tx } = ctx
  const ended = await tx<(EndedRow & { has_made: boolean })[]>`
    update credential e set revoked_at = now()
    where e.tenant_id = ${tenantId} and e.id = any (array(
      select c.id from credential c where c.tenant_id = ${tenantId} and ${named} and c.revoked_at is null order by c.id for update))
    returning e.id, e.account_id, e.kind, exists (
      select from credential made where made.tenant_id = ${tenantId} and made.parent_id = e.id) as has_made`
  if (!ended.some(({ has_made }) => has_made)) return ended
  return [...ended, ...(await endMade(ctx, tenantId, accountIds, named))]
}

/**
 * Ends what they made, and what that made. A token of another account may be creating one at this moment, under a lock that
 * is not held here. So if credentials of another account ended, the statement runs again, until there is nothing left to end.
 *
 * An index finds each: a join might read all credentials of the workspace.
 */
async function endMade(ctx: Ctx, tenantId: string, accountIds: readonly string[], named: Part): Promise<EndedRow[]> {
  const ended: EndedRow[] = []
  for (let isOver = false; !isOver; ) {
    const rows = await ctx.tx<EndedRow[]>`
      with recursive line as (
        select c.id from credential c where c.tenant_id = ${tenantId} and ${named}
        union
        select made.id from line cross join lateral (
          select c.id from credential c where c.tenant_id = ${tenantId} and c.parent_id = line.id offset 0) made
      ), locked as (
        select id from credential
        where tenant_id = ${tenantId} and id = any (array(select id from line)) and revoked_at is null order by id for update
      )
      update credential e set revoked_at = now() where e.tenant_id = ${tenantId} and e.id = any (array(select id from locked))
      returning e.id, e.account_id, e.kind`
    ended.push(...rows)
    isOver = rows.every((row) => accountIds.includes(row.account_id))
  }
  return ended
}

/**
 * Voids the step-ups of ended tokens, and writes their trail and events; a session's own tokens are reported with it.
 * `emptied`: accounts whose step-ups are void already.
 */
async function tellTokens(
  ctx: Ctx,
  tenantId: string,
  ended: readonly EndedRow[],
  emptied: readonly string[] = [],
): Promise<void> {
  const tokens = ended.filter(isToken)
  const ids = tokens.map(({ id }) => id)
  const accounts = [...new Set(tokens.map(({ account_id }) => account_id))].filter((id) => !emptied.includes(id))
  if (accounts.length > 0)
    void ctx.tx`
      update step_up s set used_at = now() from credential c
      where s.tenant_id = ${tenantId} and s.used_at is null and c.tenant_id = s.tenant_id and c.id = s.bearer_id
        and c.account_id = s.account_id and c.revoked_at is not null and c.account_id in ${ctx.tx.list(accounts)}`
  await Promise.all([
    ...ids.map((id) => ctx.audit('token.revoked', { subject: { kind: 'token', id } })),
    emitAll(
      ctx,
      ids.map((id) => ({ name: 'identity.token.revoked' as const, data: { id } })),
    ),
  ])
}

/** Events that one statement writes; more would exceed the parameters that a statement may have. */
const eventsAtOnce = 1000

async function emitAll(ctx: Ctx, events: readonly NewEvent[]): Promise<void> {
  await Promise.all(portionsOf(events, eventsAtOnce).map((portion) => ctx.emit(...portion)))
}
