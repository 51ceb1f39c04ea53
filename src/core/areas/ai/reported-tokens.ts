/** Token counts as a model's server reports them: believed where they can be true. */
import { z } from 'zod'
import type { ReportedTokens } from './adapter.ts'

/** No call of ours comes near it; whoever reports more would use a workspace's day up with one answer. */
const mostOfOneCall = 10_000_000

/** Undefined for anything that is no count. */
export const reportedTokens = z.int().min(0).max(mostOfOneCall).optional().catch(undefined)

/** A sum is known where both parts are. */
export const sumOf = (one: ReportedTokens, other: ReportedTokens): ReportedTokens =>
  one === undefined || other === undefined ? undefined : one + other
