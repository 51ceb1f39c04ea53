/**
 * The lock on password sign-in: `password_lockout_attempts` failures within 15 minutes lock the
 * address for 15 minutes.
 *
 * Failures are counted for an address in a workspace, whether or not an account has it: a lock that
 * only accounts could get would reveal who has one. Only a hash of the address is stored.
 *
 * The limit is exact also for simultaneous attempts: each takes the address's lock before it checks
 * the count, so a thousand guesses at once get as many verdicts as guesses one after another. The
 * right password and a password reset clear the count. Switching `password_lockout_attempts` off
 * ends the lock.
 *
 * Spec: InstanceSettings (password_lockout_attempts).
 */

import { hash } from 'node:crypto'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import { withoutSync } from '../../../kernel/database/roles.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { newId } from '../../../kernel/values/id.ts'

const windowMinutes = 15
const lockMinutes = 15

/** The key under which failures are counted. */
export const subjectOf = (tenantId: string, email: string): Buffer =>
  hash('sha256', `svc sign-in ${tenantId} ${caseFold(email)}`, 'buffer').subarray(0, 16)

/** Waits for other attempts on the same address, and makes later ones wait until the transaction ends. */
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
 * Counts one more failure, if the workspace is ACTIVE: the rows of a workspace in deletion are being removed, and an
 * unknown workspace has no rows. Only this statement knows the difference. The commit does not wait for the disk: it
 * would wait only if a row was written, and the time would reveal that. A crash loses only the failures of its last
 * second.
 */
export const countFailure = (ctx: Ctx, tenantId: string, subject: Buffer) =>
  Promise.all([
    ctx.tx.switch(withoutSync),
    ctx.tx`
      insert into failed_sign_in (tenant_id, id, subject, at)
      select ${tenantId}::uuid, ${newId()}::uuid, ${subject}::bytea, clock_timestamp()
      where exists (select from tenant where id = ${tenantId}::uuid and state = 'ACTIVE')`,
  ])

/** Clears the count. */
export const forgetFailures = (ctx: Ctx, tenantId: string, subject: Buffer) =>
  ctx.tx`delete from failed_sign_in where tenant_id = ${tenantId} and subject = ${subject}`
