/**
 * The tokens of a workspace's day, counted against `ai_tokens_per_day`.
 *
 *    reserve: the call's bound is added, or refused ──▶ the call ──▶ settle: bound → reported
 *
 * The bound of a call is what it cannot exceed: a token is at least one byte of what is
 * sent, and the answer's length is asked for. So the day's count is never above what it
 * may be, however many calls run at once; both ends are one statement on one row, and no
 * transaction is open while the model thinks.
 *
 * A call that fails costs nothing. One that reports no tokens, or whose daemon died under
 * it, costs its bound. The day is the one in which the call left, in the workspace's zone.
 *
 * Spec: TenantQuotas, ai_tokens_per_day; T-39.
 */

import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Integer, type QuotaCounts, spend } from '../settings/quotas.ts'
import type { Question, ReportedTokens } from './adapter.ts'

export interface Reservation {
  readonly tenantId: string
  /** `2026-11-20`. */
  readonly day: string
  readonly tokens: number
}

/** What a server puts around the messages. */
const framingTokens = 256

/** No call for this question uses more tokens. */
export const boundOf = ({ instruction, content, maxAnswerTokens }: Question) =>
  Buffer.byteLength(instruction) + Buffer.byteLength(content) + framingTokens + maxAnswerTokens

/** The date in a zone, as people there write it in a log: `2026-11-20`. */
export const dayIn = (zone: string, at: Date): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(at)

/** Days before the running one that are kept for whoever asks what was used. */
const keptDays = 31

export const aiQuotas = {
  ai_tokens_per_day: {
    /** Of the running day, calls under way included. */
    async used(ctx, tenantId) {
      const day = await readToday(ctx, tenantId)
      const [row] = await ctx.tx<{ tokens: Integer }[]>`
        select tokens from ai_usage where tenant_id = ${tenantId} and day = ${day}`
      return row?.tokens ?? 0
    },

    async take(ctx, tenantId, tokens, limit) {
      const day = await readToday(ctx, tenantId)
      await ctx.tx`insert into ai_usage (tenant_id, day) values (${tenantId}, ${day}) on conflict do nothing`
      await ctx.tx`delete from ai_usage where tenant_id = ${tenantId} and day < ${day}::date - ${keptDays}::int`
      const taken = await ctx.tx`
        update ai_usage set tokens = tokens + ${tokens} where tenant_id = ${tenantId} and day = ${day}
          and (${limit}::bigint = 0 or tokens + ${tokens} <= ${limit}::bigint)`
      return taken.count === 1
    },
  },
} satisfies Partial<QuotaCounts>

/** Sets a call's bound aside, as the workspace in force. Refuses quota.exceeded. */
export async function reserveTokens(ctx: Ctx, tenantId: string, tokens: number): Promise<Reservation> {
  await spend(ctx, aiQuotas, 'ai_tokens_per_day', { tenantId, amount: tokens })
  return { tenantId, day: await readToday(ctx, tenantId), tokens }
}

/** Puts what was reported in place of the bound. */
export async function settleTokens(ctx: Ctx, reservation: Reservation, reported: ReportedTokens): Promise<void> {
  const { tenantId, day, tokens } = reservation
  if (reported === undefined || reported === tokens) return
  await ctx.tx`
    update ai_usage set tokens = greatest(0, tokens + ${reported - tokens}) where tenant_id = ${tenantId} and day = ${day}`
}

/** The workspace's running day, which is the same throughout a transaction. */
async function readToday({ tx }: Ctx, tenantId: string): Promise<string> {
  const [row] = await tx<{ zone: string; at: string }[]>`
    select default_time_zone as zone, now() as at from tenant where id = ${tenantId}`
  if (!row) throw new Error('the workspace in force has a row')
  return dayIn(row.zone, new Date(row.at))
}
