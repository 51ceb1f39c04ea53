/**
 * Refreshing a session: a refresh token is traded for a new pair.
 *
 *    newest token ──used──▶ the token before ──60 s──▶ any earlier one
 *         │                        │                        └─ comes back: the session is revoked
 *         └─ a new pair            └─ comes back: once a further pair; then it is refused, and ends nothing
 *
 * An answer may be lost on its way, and two windows may refresh at once: so the token before the newest serves once more for
 * some moments. Later its return means that somebody else holds a copy. The pairs that came of one token are one generation:
 * once the refresh token of one is used, those of both are, so that a copy which was taken within these moments does not live
 * beside the session for ever. The moments are counted by the database's clock; a clock that jumps back does not lengthen them.
 *
 * Spec: decisions 2, Tokens; 7, Refresh; docs/decisions/0424, 0481.
 */

import type { sessionOperations as ops, Session } from '../../../contract/auth/operations.ts'
import type { Received } from '../../../contract/operation.ts'
import { Problem, refuse } from '../../../contract/problem.ts'
import type { SignInValues } from '../../../contract/settings/defaults.ts'
import {
  type Admitting,
  admissionColumns,
  admissionLocks,
  refuseUnlessAdmitting,
} from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { refuseWhileGated } from '../../../kernel/transaction/gate.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { hashToken, isTokenShaped } from '../../../kernel/values/token.ts'
import { hasRole } from '../../access/held-role.ts'
import { isTokenIssued } from '../../access/issued-moment.ts'
import { readSettings } from '../../settings/settings.ts'
import { issueTokens, revokeSession } from './session.ts'

const mostFurtherPairs = 1
const backwardSeconds = 5

interface RefreshRow extends Admitting {
  readonly tenant_id: string
  readonly account_id: string
  readonly session_id: string
  readonly is_used: boolean
  /** It is the token before the newest, and was used some moments ago. */
  readonly is_in_grace: boolean
  readonly further_pairs: number
  readonly created_at: string
  readonly last_used_at: string
  /** By the database's clock, like the others. */
  readonly asked_at: string
  readonly is_gated: boolean
}

/** Refuses auth.unauthenticated, installation.recovering, tenant_suspended, workspace.restoring. */
export async function refreshSession(
  ctx: Ctx,
  { body }: Received<typeof ops.refreshSession>,
): Promise<Session | Problem> {
  if (!isTokenShaped(body.refresh_token, 'refresh')) refuse('auth.unauthenticated')
  const hash = hashToken(body.refresh_token)
  const asked = readSettings(ctx)
  const held = holdSessionOf(ctx, hash)
  const [{ signIn: bounds }, isHeld, found] = await together(asked, held, findToken(ctx, hash))
  if (!isHeld || !found) refuse('auth.unauthenticated')
  if (found.is_gated) await refuseWhileGated(ctx.tx, found.account_id)
  refuseUnlessAdmitting(found)

  return ctx.inWorkspace(found.tenant_id, async () => {
    const end = endOf(found, bounds)
    if (end !== undefined) {
      await revokeSession(ctx, found.tenant_id, found.session_id, end)
      // Returned, not thrown: the revocation must be committed.
      return new Problem('auth.unauthenticated')
    }
    if (!found.is_used) return renew(ctx, found, bounds)
    if (found.further_pairs >= mostFurtherPairs) refuse('auth.unauthenticated')
    return issueFurther(ctx, found, bounds)
  })
}

async function findToken({ tx, config }: Ctx, hash: Buffer): Promise<RefreshRow | undefined> {
  const [found] = await tx<RefreshRow[]>`
    select c.tenant_id, c.account_id, c.session_id, c.used_at is not null as is_used, s.further_pairs, s.created_at,
           coalesce(c.used_at = s.rotated_at and s.rotated_at > now() - make_interval(secs => ${config.sessionGraceSeconds})
                    and s.rotated_at <= now() + make_interval(secs => ${backwardSeconds}), false) as is_in_grace,
           s.last_used_at, now() as asked_at, ${admissionColumns(tx)},
           (select i.gated_at is not null from installation i) as is_gated
    from credential c
    join tenant t on t.id = c.tenant_id
    join session s on s.tenant_id = c.tenant_id and s.id = c.session_id and s.revoked_at is null
    join account a on a.tenant_id = c.tenant_id and a.id = c.account_id and a.state = 'ACTIVE'
    where c.hash = ${hash} and c.kind = 'REFRESH' and c.revoked_at is null and c.expires_at > now() and ${isTokenIssued(tx)}
      and ${hasRole(tx)}
    for update of c, s`
  return found
}

/** Why the session ends, if it does. */
function endOf(row: RefreshRow, bounds: SignInValues): string | undefined {
  const { session_idle_minutes: idle, session_absolute_hours: absolute } = bounds
  if (row.is_used && !row.is_in_grace) return 'refresh_token_reused'
  const minutesSince = (moment: string) => (Date.parse(row.asked_at) - Date.parse(moment)) / 60_000
  const isIdle = idle > 0 && minutesSince(row.last_used_at) >= idle
  const isOld = absolute > 0 && minutesSince(row.created_at) >= absolute * 60
  return isIdle || isOld ? 'bound_reached' : undefined
}

/** The newest token is traded: its generation is used up, and the access tokens of before end. The commit takes all of it along. */
function renew(ctx: Ctx, row: RefreshRow, bounds: SignInValues): Session {
  const { tenant_id: tenantId, session_id: id, asked_at: now } = row
  const { tx } = ctx
  void tx`
    update credential set
      used_at = case kind when 'REFRESH' then ${now}::timestamptz end, revoked_at = case kind when 'SESSION' then ${now}::timestamptz end
    where tenant_id = ${tenantId} and session_id = ${id} and used_at is null and revoked_at is null`
  void tx`
    update session set last_used_at = now(), rotated_at = ${now}, further_pairs = 0 where tenant_id = ${tenantId} and id = ${id}`
  return pairOf(ctx, row, bounds)
}

/** A further pair beside the one that the same token has brought already, which may have arrived. */
function issueFurther(ctx: Ctx, row: RefreshRow, bounds: SignInValues): Session {
  const { tenant_id: tenantId, session_id: id } = row
  void ctx.tx`
    update session set last_used_at = now(), further_pairs = further_pairs + 1 where tenant_id = ${tenantId} and id = ${id}`
  return pairOf(ctx, row, bounds)
}

const pairOf = (ctx: Ctx, row: RefreshRow, bounds: SignInValues): Session =>
  issueTokens(ctx, row.tenant_id, row.account_id, { id: row.session_id, createdAt: Date.parse(row.created_at) }, bounds)

/**
 * Takes the locks of a refresh in the same order as other changes and the end of credentials (ending.ts): gate, workspace,
 * account, session, then the token. Answers whether there is such a token; without one nothing is locked.
 */
async function holdSessionOf({ tx }: Ctx, hash: Buffer): Promise<boolean> {
  const named = tx.part`c.hash = ${hash} and c.kind = 'REFRESH'`
  const held = tx`select ${admissionLocks(tx, tx.part`c.tenant_id::text`)} from credential c where ${named}`
  void tx`
    select 1 from credential c
    join account a on a.tenant_id = c.tenant_id and a.id = c.account_id
    join session s on s.tenant_id = c.tenant_id and s.id = c.session_id
    where ${named} for key share of a for update of s`
  return (await held).length > 0
}
