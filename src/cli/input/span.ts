/** A period of time on the command line, as times or as distances from now. */
import { Flags } from '@oclif/core'
import { Failure } from '../failure.ts'

export const spanFlags = {
  since: Flags.string({
    summary: 'The start of the period: a time as RFC 3339, or how long ago, such as 90m, 6h or 3d.',
    helpValue: 'WHEN',
  }),
  until: Flags.string({ summary: 'The end of the period, in the same form as --since.', helpValue: 'WHEN' }),
}

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds since 1970. Fails (usage) for other texts. */
function momentOf(text: string, flag: string, now = Date.now()): number {
  const [, amount, unit = ''] = /^([0-9]{1,6})([smhd])$/.exec(text) ?? []
  if (amount !== undefined) return now - Number(amount) * (unitMs[unit] ?? 0)
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    throw new Failure('usage', `--${flag} ${text} is not a time.`, 'Write, for example, 2026-09-01T09:00:00Z or 6h.')
  return at
}

export interface Span {
  readonly from: number
  readonly to: number
}

export const spanOf = ({ since, until }: { since?: string | undefined; until?: string | undefined }): Span => ({
  from: since === undefined ? Number.NEGATIVE_INFINITY : momentOf(since, 'since'),
  to: until === undefined ? Number.POSITIVE_INFINITY : momentOf(until, 'until'),
})

export const isWithin = ({ from, to }: Span, moment: string) => Date.parse(moment) >= from && Date.parse(moment) <= to
