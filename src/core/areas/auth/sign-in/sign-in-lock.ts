/**
 * The lock of signing in with a password: so many failures within 15 minutes lock the
 * address for 15 minutes.
 *
 * What is counted is the address in its workspace, whether an account has it or not: a lock
 * that only accounts could get would tell who has one. Only a hash of it is kept.
 *
 * Exact however many come at once: each takes the address's lock before it asks whether it
 * may hear its verdict, so that of a thousand simultaneous guesses as many are answered as
 * one after another would be. The right password ends the count. Also ended by a password
 * reset, and by switching `password_lockout_attempts` off.
 *
 * Spec: InstanceSettings (password_lockout_attempts).
 */

import { hash } from 'node:crypto'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { newId } from '../../../kernel/values/id.ts'

const windowMinutes = 15
const lockMinutes = 15

/** What failures are counted under. */
export const subjectOf = (tenantId: string, email: string): Buffer =>
  hash('sha256', `svc sign-in ${tenantId} ${caseFold(email)}`, 'buffer').subarray(0, 16)

/** Waits for whoever is hearing a verdict about the same address; until the transaction ends. */
export const takeTurn = (ctx: Ctx, tenantId: string, subject: Buffer) =>
  ctx.tx`select pg_advisory_xact_lock(${lockClasses.signInAddress}, hashtext(${tenantId + subject.toString('hex')}))`

/** How long the address stays locked, in seconds; 0 when it is not, or when `attempts` is 0. */
export async function secondsLocked(ctx: Ctx, tenantId: string, subject: Buffer, attempts: number): Promise<number> {
  if (attempts === 0) return 0
  const [row] = await ctx.tx<{ seconds: number | null }[]>`
    select extract(epoch from max(at) + make_interval(mins => ${lockMinutes}) - now())::float8 as seconds
    from (select at, lag(at, ${attempts - 1}) over (order by at, id) as first_of_them from failed_sign_in
          where tenant_id = ${tenantId} and subject = ${subject} and at > now() - make_interval(mins => ${windowMinutes + lockMinutes})) recent
    where first_of_them > at - make_interval(mins => ${windowMinutes})`
  return Math.max(0, row?.seconds ?? 0)
}

/**
 * Counts one more, in a workspace that is ACTIVE: of one that is leaving the rows are being removed, and one that is not
 * there has none, which this statement alone knows. The commit waits for no disk, for it would wait only where
 * something was written; what a crash forgets are the failures of its last second.
 */
export const countFailure = (ctx: Ctx, tenantId: string, subject: Buffer) =>
  Promise.all([
    ctx.tx.switch("set local synchronous_commit = 'off'"),
    ctx.tx`
      insert into failed_sign_in (tenant_id, id, subject, at)
      select ${tenantId}::uuid, ${newId()}::uuid, ${subject}::bytea, clock_timestamp()
      where exists (select from tenant where id = ${tenantId}::uuid and state = 'ACTIVE')`,
  ])

/** Begins to count anew. */
export const forgetFailures = (ctx: Ctx, tenantId: string, subject: Buffer) =>
  ctx.tx`delete from failed_sign_in where tenant_id = ${tenantId} and subject = ${subject}`
