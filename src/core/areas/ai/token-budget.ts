/**
 * The tokens that a workspace uses in a day, counted against `ai_tokens_per_day`.
 *
 *    reserve: the call's bound is added, or refused ──▶ the call ──▶ settle: bound → reported
 *
 * The bound of a call is the most that it can use: a token is at least one byte of what is sent,
 * and the call limits the answer's length. So the day's count never exceeds the quota, however many
 * calls run at once. Reserving and settling each change the count in one statement on one row, and
 * no transaction is open while the model works.
 *
 * A failed call costs nothing. A call that reports no tokens, or whose daemon died meanwhile, costs
 * its bound. The day is the one in which the call started, in the workspace's time zone.
 *
 * Spec: TenantQuotas, ai_tokens_per_day; T-39.
 */

import type { Ctx } from '../../kernel/transaction/context.ts'
import { ceilingIn, type Integer, type QuotaCounts, spend } from '../settings/quotas.ts'
import type { Question, ReportedTokens } from './adapter.ts'

export interface Reservation {
  readonly tenantId: string
  /** `2026-11-20`. */
  readonly day: string
  readonly tokens: number
}

/** Tokens that a server adds around the messages. */
const framingTokens = 256

/** No call for this question uses more tokens. */
export const boundOf = ({ instruction, content, maxAnswerTokens }: Question) =>
  Buffer.byteLength(instruction) + Buffer.byteLength(content) + framingTokens + maxAnswerTokens

/** The date in a zone, as people there write it in a log: `2026-11-20`. */
export const dayIn = (zone: string, at: Date): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(at)

/** Days before the current one that are kept, so that past use can be looked up. */
const keptDays = 31

export const aiQuotas = {
  ai_tokens_per_day: {
    /** Of the current day, calls in progress included. */
    async used(ctx, tenantId) {
      const day = await readToday(ctx, tenantId)
      const [row] = await ctx.tx<{ tokens: Integer }[]>`
        select tokens from ai_usage where tenant_id = ${tenantId} and day = ${day}`
      return row?.tokens ?? 0
    },

    async take(ctx, tenantId, tokens) {
      const day = await readToday(ctx, tenantId)
      await ctx.tx`insert into ai_usage (tenant_id, day) values (${tenantId}, ${day}) on conflict do nothing`
      await ctx.tx`delete from ai_usage where tenant_id = ${tenantId} and day < ${day}::date - ${keptDays}::int`
      await ctx.tx`
        with raised as (
          update ai_usage set tokens = tokens + ${tokens} where tenant_id = ${tenantId} and day = ${day} returning tokens)
        select keep_within('ai_tokens_per_day', tokens, ${tokens}, ${ceilingIn(ctx, tenantId, 'ai_tokens_per_day')}) from raised`
    },
  },
} satisfies Partial<QuotaCounts>

/** Reserves a call's bound for the workspace in force. Refuses quota.exceeded. */
export async function reserveTokens(ctx: Ctx, tenantId: string, tokens: number): Promise<Reservation> {
  await spend(ctx, aiQuotas, 'ai_tokens_per_day', { tenantId, amount: tokens })
  return { tenantId, day: await readToday(ctx, tenantId), tokens }
}

/** Replaces the bound by the reported tokens. */
export async function settleTokens(ctx: Ctx, reservation: Reservation, reported: ReportedTokens): Promise<void> {
  const { tenantId, day, tokens } = reservation
  if (reported === undefined || reported === tokens) return
  await ctx.tx`
    update ai_usage set tokens = greatest(0, tokens + ${reported - tokens}) where tenant_id = ${tenantId} and day = ${day}`
}

/** The workspace's current day; it does not change within a transaction. */
async function readToday({ tx }: Ctx, tenantId: string): Promise<string> {
  const [row] = await tx<{ zone: string; at: string }[]>`
    select default_time_zone as zone, now() as at from tenant where id = ${tenantId}`
  if (!row) throw new Error('the workspace in force has a row')
  return dayIn(row.zone, new Date(row.at))
}
