/**
 * The queue's view of a job: its name, its payload and the number of attempts.
 *
 * A payload contains only ids, because the queue's tables have no workspaces. runnable-job.ts
 * adds the function of a job. Spec: design of the queue in docs/decisions/0006.
 */
import type { z } from 'zod'

export interface Job<Payload = unknown> {
  readonly name: string
  readonly payload: z.ZodType<Payload>
  /** How often the queue runs it again after a failure. */
  readonly retryLimit: number
  /** How long the queue waits before it runs it again, doubled with each failure; absent: not at all. */
  readonly retryDelaySeconds?: number
  /** The delay at which the doubling ends. */
  readonly longestRetryDelaySeconds?: number
  /** How long a run may take before the queue abandons it; 900 s where absent. */
  readonly longestSeconds?: number
}
