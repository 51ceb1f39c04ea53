/** Token counts as a model's server reports them: accepted only if plausible. */
import { z } from 'zod'
import type { ReportedTokens } from './adapter.ts'

/** No call of ours comes near this. A server that reports more could use up a workspace's day with one answer. */
const mostOfOneCall = 10_000_000

/** Undefined for anything that is not a count. */
export const reportedTokens = z.int().min(0).max(mostOfOneCall).optional().catch(undefined)

/** The sum; undefined if either part is undefined. */
export const sumOf = (one: ReportedTokens, other: ReportedTokens): ReportedTokens =>
  one === undefined || other === undefined ? undefined : one + other
