/**
 * Elevated sessions: one proof, and for some minutes what acts on other accounts takes no further one.
 *
 *    session ──:elevate with a step-up──▶ elevated ──0 to 15 minutes──▶ as before
 *                                            └─ minutes 0, or the end of password, factor or session ─▶ as before
 *
 * An authenticator's code serves once, so thirty start passwords took thirty codes. The window is one session's, is counted by
 * the database's clock, and no use makes it longer. It serves the operations that say so (`stepUp: 'or elevated'`) and only where
 * they act on another account; the own ways in, `/admin`, `admin:tenants` and providers always take a proof. The gate reads it
 * with the session, so its end holds from the next call. Spec: people 4, N19; docs/decisions/0422.
 */

import type { provingOperations as ops } from '../../../contract/auth/proving.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

/** Refuses auth.unauthenticated where the session has just ended. */
export async function elevateSession(
  ctx: Ctx,
  { body: { minutes } }: Received<typeof ops.elevateSession>,
): Promise<Answer<typeof ops.elevateSession>> {
  const { tx } = ctx
  const { tenantId, accountId, sessionId } = ctx.account
  // The account before its session, as everything that ends credentials does.
  void tx`select 1 from account where tenant_id = ${tenantId} and id = ${accountId} for key share`
  const [row] = await tx<{ elevated_until: string | null }[]>`
    update session
    set elevated_at = case when ${minutes} > 0 then now() end,
        elevated_until = case when ${minutes} > 0 then now() + make_interval(mins => ${minutes}) end
    where tenant_id = ${tenantId} and id = ${sessionId} and revoked_at is null
    returning elevated_until`
  if (!row) refuse('auth.unauthenticated')
  await ctx.audit('session.elevated', {
    subject: { kind: 'session', id: sessionId ?? '' },
    params: { until: row.elevated_until },
  })
  return row
}
