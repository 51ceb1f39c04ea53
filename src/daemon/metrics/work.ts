/** Counts the work of this daemon behind the requests: runs of jobs, and attempts at webhooks. */
import { Counter, Histogram, type Registry } from 'prom-client'
import type { Outcome } from '../../core/areas/webhooks/dispatch/record.ts'
import { momentOfId } from '../../core/kernel/values/id.ts'
import { timeNow } from '../../core/kernel/values/time.ts'
import type { JobResult } from '../worker.ts'

export interface WorkCounts {
  /** A run of a job has ended. */
  ran(job: string, result: JobResult, seconds: number): void
  /** An attempt at a webhook has ended. */
  attempted(outcome: Outcome): void
}

/** A mail of which a run failed is sent again for most of a day. */
const mailJob = 'send_mail'

export function countWork(register: Registry): WorkCounts {
  const runs = new Histogram({
    name: 'svc_job_duration_seconds',
    help: 'Runs of jobs by their end, and how long they took.',
    labelNames: ['job', 'result'] as const,
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers: [register],
  })
  const mailFailures = new Counter({
    name: 'svc_mail_failures_total',
    help: 'Attempts to hand a mail over that failed: it is tried again, or was given up because it cannot be delivered.',
    labelNames: ['becomes'] as const,
    registers: [register],
  })
  for (const becomes of ['retried', 'given_up']) mailFailures.labels(becomes).inc(0)
  const attempts = new Counter({
    name: 'svc_delivery_attempts_total',
    help: 'Attempts at webhooks: succeeded, or why they failed.',
    labelNames: ['result'] as const,
    registers: [register],
  })
  attempts.labels('succeeded').inc(0)
  const ended = new Counter({
    name: 'svc_deliveries_ended_total',
    help: 'Deliveries that need no further attempt: SUCCEEDED, or DEAD_LETTER after the last one.',
    labelNames: ['status'] as const,
    registers: [register],
  })
  for (const status of ['SUCCEEDED', 'DEAD_LETTER']) ended.labels(status).inc(0)
  const lag = new Histogram({
    name: 'svc_event_lag_seconds',
    help: 'Time from an event to its first attempt at a webhook.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers: [register],
  })

  return {
    ran(job, result, seconds) {
      runs.labels(job, result).observe(seconds)
      if (job !== mailJob) return
      if (result === 'failed') mailFailures.labels('retried').inc()
      if (result === 'given_up') mailFailures.labels('given_up').inc()
    },
    attempted({ begun, error, durationMs, verdict }) {
      attempts.labels(error ?? 'succeeded').inc()
      if (verdict.status !== 'FAILED') ended.labels(verdict.status).inc()
      if (begun.n === 1 && begun.cause === 'EVENT')
        lag.observe(Math.max(0, timeNow() - durationMs - momentOfId(begun.eventId)) / 1000)
    },
  }
}
