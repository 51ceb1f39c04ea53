/**
 * Counted failures and their lock: five failures within 15 minutes lock for 15 minutes from the fifth. Spec: decisions
 * 2, Step-up.
 */
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { newId } from '../../../kernel/values/id.ts'

const failuresBeforeLock = 5
const lockMinutes = 15

/** STEP_UP: a wrong password or code at a step-up. SECOND_FACTOR: a wrong code after the right password at sign-in. */
export type CountedPurpose = 'STEP_UP' | 'SECOND_FACTOR'

interface Who {
  readonly tenantId: string
  readonly accountId: string
}

/**
 * Counts one failure. The caller holds the lock on the account's row, so many attempts at once cannot exceed the limit.
 */
export const countFailure = (ctx: Ctx, { tenantId, accountId }: Who, purpose: CountedPurpose) =>
  ctx.tx`insert into failed_attempt (tenant_id, id, account_id, purpose) values (${tenantId}, ${newId()}, ${accountId}, ${purpose})`

/** Seconds that the lock still lasts; 0 where there is none. */
export async function secondsLocked(ctx: Ctx, { tenantId, accountId }: Who, purpose: CountedPurpose): Promise<number> {
  const [row] = await ctx.tx<{ seconds: number }[]>`
    select extract(epoch from max(at) + make_interval(mins => ${lockMinutes}) - now())::float8 as seconds
    from (select at, lag(at, ${failuresBeforeLock - 1}) over (order by at) as fifth_before from failed_attempt
          where tenant_id = ${tenantId} and account_id = ${accountId} and purpose = ${purpose} and at > now() - make_interval(mins => ${2 * lockMinutes})) recent
    where fifth_before > at - make_interval(mins => ${lockMinutes})`
  return Math.max(0, row?.seconds ?? 0)
}
