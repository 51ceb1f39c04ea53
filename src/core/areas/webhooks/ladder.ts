/**
 * The ladder: the state of a delivery after an attempt, and when its next attempt is due.
 *
 *    attempt     1    2     3      4     5    6    7     8
 *    waits      0 s  5 s  5 min  30 min  2 h  5 h  10 h  10 h   after the one before, ±10 %
 *
 * Pure: record.ts has the rows and the clock. Spec: States: Delivery; decisions 5.
 */

import type { DeliveryCause } from '../../contract/webhooks/operations.ts'
import { attemptsAtMost } from '../../kernel/config/webhook-settings.ts'
import { timeNow } from '../../kernel/values/time.ts'

const longestRetryAfterSeconds = 86_400

/** The result of an attempt. */
export interface Ended {
  /** The number of the attempt; it continues after a replay. */
  readonly n: number
  readonly cause: DeliveryCause
  readonly succeeded: boolean
  /** The target's status; null without an answer. */
  readonly status: number | null
  /** The daemon ended before the attempt did, so its result is unknown. */
  readonly interrupted?: true
  readonly retryAfterSeconds: number | undefined
}

export type Verdict =
  | { readonly status: 'SUCCEEDED' | 'DEAD_LETTER' }
  | { readonly status: 'FAILED'; readonly waitSeconds: number }

/** `random` lies in [0, 1). */
export function verdictOn(ended: Ended, ladder: readonly number[], random = Math.random()): Verdict {
  if (ended.succeeded) return { status: 'SUCCEEDED' }
  if (ended.cause === 'REPLAY' || isGone(ended) || ended.n >= attemptsAtMost) return { status: 'DEAD_LETTER' }
  // Nothing shows that the target failed, so the next attempt is due at once.
  if (ended.interrupted) return { status: 'FAILED', waitSeconds: 0 }
  const rung = ladder[ended.n] ?? 0
  return { status: 'FAILED', waitSeconds: Math.max(rung * (0.9 + 0.2 * random), ended.retryAfterSeconds ?? 0) }
}

/** Whether the target said that it is gone for good. */
export const isGone = ({ status }: Pick<Ended, 'status'>) => status === 410

/** Whether the attempt counts for or against the subscription. Replays and interrupted attempts do not. */
export const counts = ({ cause, interrupted }: Pick<Ended, 'cause' | 'interrupted'>) =>
  cause !== 'REPLAY' && interrupted !== true

/** The wait that a 429 or a 503 asks for, in seconds or as a date, a day at most. Undefined if it asks for none. */
export function retryAfterSeconds(
  status: number | null,
  header: string | undefined,
  now = timeNow(),
): number | undefined {
  if ((status !== 429 && status !== 503) || header === undefined) return undefined
  const text = header.trim()
  const seconds = /^[0-9]{1,12}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), longestRetryAfterSeconds) : undefined
}
