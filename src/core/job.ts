/**
 * What a job is: work that a rule queues in its own transaction and a worker does later.
 *
 * Every job may run twice and be killed anywhere: it claims in a transaction, acts with
 * none open, and records in a second one. Payloads hold ids only, because the queue's
 * tables know no workspaces. Spec: design of the queue in docs/decisions/0006.
 */
import type { z } from 'zod'
import type { Installation } from './installation.ts'

export interface Job<Payload extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly payload: Payload
  /** How often the queue runs it again after a failure. */
  readonly retryLimit: number
  /** How long the queue waits before it runs it again, doubled with each failure; absent: not at all. */
  readonly retryDelaySeconds?: number
  /** What the doubling ends at. */
  readonly longestRetryDelaySeconds?: number
  /** How many of them one worker runs at the same time; 20 where absent. */
  readonly atOnce?: number
  /** Taken one by one, so that none waits until others that were fetched with it are done. */
  readonly takesLong?: true
  /** How long one may take before the queue gives it up; 900 s where absent. */
  readonly longestSeconds?: number
  /** Runs by itself at these times (cron, UTC), with an empty payload. */
  readonly cron?: string
  run(installation: Installation, payload: z.output<Payload>): Promise<void>
}

/** Thrown by a job that no further attempt can help; the queue runs it no more. Its message is logged. */
export class JobGivenUp extends Error {
  override readonly name = 'JobGivenUp'
}

export const defineJob = <Payload extends z.ZodType>(job: Job<Payload>): Job<Payload> => Object.freeze(job)
