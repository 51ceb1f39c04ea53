/**
 * A job with what it does: work that a rule queues in its own transaction and a worker does later.
 *
 * Every job may run twice and be killed anywhere: it claims in a transaction, acts with
 * none open, and records in a second one. Spec: design of the queue in docs/decisions/0006.
 */

import type { Job } from '../queue/job.ts'
import type { Installation } from './installation.ts'

export interface RunnableJob<Payload = unknown> extends Job<Payload> {
  /** How many of them one worker runs at the same time; 20 where absent. */
  readonly atOnce?: number
  /** Fetched one by one, so that none waits for others that were fetched with it. */
  readonly takesLong?: true
  /** Runs by itself at these times (cron, UTC), with an empty payload. */
  readonly cron?: string
  run(installation: Installation, payload: Payload): Promise<void>
}

/** What the queue keeps of a failure, for people who look into it: codes and numbers, never an address or a text of others. */
export type ToldFailure = Readonly<Record<string, string | number>>

/** A failure of a job. Its message is logged; the queue keeps `told`, and runs the job again. */
export class JobFailure extends Error {
  override readonly name: string = 'JobFailure'
  readonly told: ToldFailure
  constructor(says: string, told: ToldFailure = {}) {
    super(says)
    this.told = told
  }
}

/** Thrown by a job that no further attempt can help: the queue does not run it again. */
export class JobGivenUp extends JobFailure {
  override readonly name = 'JobGivenUp'
}

export const defineJob = <Payload>(job: RunnableJob<Payload>): RunnableJob<Payload> => Object.freeze(job)
