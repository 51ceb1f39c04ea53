/**
 * The check of the second factor: the only place that decides whether a code is valid.
 *
 * Sign-in and step-up call it after the right password and under the account's lock, so that codes
 * are checked one after another: a time step works once, a recovery code works once, and the sixth
 * guess within 15 minutes is not checked.
 *
 * The Problem is returned, not thrown, so that the counted failure is committed. Spec: decisions 2,
 * Step-up; docs/decisions/0054.
 */

import { Problem, refuseMember } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { openSealed } from '../../../kernel/transaction/sealed-values.ts'
import { dateNow } from '../../../kernel/values/time.ts'
import { tellAccount } from '../../mail/jobs.ts'
import { type CountedPurpose, countFailure, secondsLocked } from '../sign-in/failed-attempts.ts'
import { type Holder, spendCode } from './recovery-codes.ts'
import { stepOf } from './totp.ts'

/** The code that a call carries. */
export interface Given {
  readonly totp?: string | undefined
  readonly recovery_code?: string | undefined
}

export interface FactorRow {
  readonly id: string
  readonly last_step: number | null
  /** By the database's clock, read after any wait for a lock. */
  readonly at_seconds: number
}

/** The factor in force, or the pending one. */
export async function findFactor(
  ctx: Ctx,
  { tenantId, accountId }: Holder,
  which: 'in force' | 'pending',
): Promise<FactorRow | undefined> {
  const isInForce = which === 'in force'
  const [row] = await ctx.tx<FactorRow[]>`
    select id, last_step::float8 as last_step, date_part('epoch', clock_timestamp()) as at_seconds from second_factor
    where tenant_id = ${tenantId} and account_id = ${accountId} and (confirmed_at is not null) = ${isInForce}`
  return row
}

/** Where the secret of a factor is sealed. */
export const placeOf = ({ tenantId }: Holder, factorId: string) =>
  ({ tenantId, kind: 'mfa.totp', ownerId: factorId }) as const

/**
 * Undefined if the account has no second factor, or if the code was right; the code is then used up. Otherwise
 * auth.second_factor_required, auth.second_factor_failed (counted), auth.second_factor_locked.
 */
export async function refusalOfFactor(
  ctx: Ctx,
  holder: Holder,
  given: Given,
  purpose: CountedPurpose,
): Promise<Problem | undefined> {
  return refusalByFactor(ctx, holder, await findFactor(ctx, holder, 'in force'), { given, purpose })
}

/** The same for a factor that was found behind the account's lock. */
export async function refusalByFactor(
  ctx: Ctx,
  holder: Holder,
  factor: FactorRow | undefined,
  { given, purpose }: { readonly given: Given; readonly purpose: CountedPurpose },
): Promise<Problem | undefined> {
  if (given.totp !== undefined && given.recovery_code !== undefined)
    refuseMember('/recovery_code', 'member.conflicts', { with: ['totp'] })
  if (!factor) return undefined
  if (given.totp === undefined && given.recovery_code === undefined) return new Problem('auth.second_factor_required')
  const seconds = await secondsLocked(ctx, holder, purpose)
  if (seconds > 0)
    return new Problem(
      purpose === 'STEP_UP' ? 'auth.step_up_locked' : 'auth.second_factor_locked',
      {},
      { headers: { 'retry-after': String(Math.ceil(seconds)) } },
    )
  if (await isShown(ctx, holder, factor, given)) return undefined

  await countFailure(ctx, holder, purpose)
  if ((await secondsLocked(ctx, holder, purpose)) > 0)
    await ctx.audit('second_factor.locked', { subject: { kind: 'account', id: holder.accountId } })
  return new Problem('auth.second_factor_failed')
}

async function isShown(ctx: Ctx, holder: Holder, factor: FactorRow, given: Given): Promise<boolean> {
  if (given.totp !== undefined) return useStep(ctx, holder, factor, given.totp)
  if (!(await spendCode(ctx, holder, given.recovery_code ?? ''))) return false
  await tellCodeUsed(ctx, holder)
  return true
}

/** Uses up the code's time step. Answers false for a step that is not later than the last used one. */
async function useStep(ctx: Ctx, holder: Holder, factor: FactorRow, code: string): Promise<boolean> {
  const secret = await openSealed(ctx, placeOf(holder, factor.id))
  const step = stepOf(secret, code, factor.at_seconds)
  if (step === undefined) return false
  const taken = await ctx.tx`
    update second_factor set last_step = ${step} where tenant_id = ${holder.tenantId} and id = ${factor.id} and last_step < ${step}`
  return taken.count === 1
}

async function tellCodeUsed(ctx: Ctx, { tenantId, accountId }: Holder): Promise<void> {
  const [left] = await ctx.tx<{ count: number }[]>`
    select count(*)::int as count from recovery_code where tenant_id = ${tenantId} and account_id = ${accountId} and used_at is null`
  const count = left?.count ?? 0
  const noticeId = await ctx.record(
    'identity.second_factor.recovery_code_used',
    { account_id: accountId, recovery_codes_left: count },
    { left: count },
  )
  await tellAccount(ctx, { tenantId, accountId, noticeId, name: 'recovery_code_used', at: dateNow().toISOString() })
}
