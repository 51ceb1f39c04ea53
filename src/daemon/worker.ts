/**
 * The worker: carries out the jobs that rules have queued, and those that run by the clock.
 *
 * A payload is parsed before it is believed: a job may have been queued by an older
 * release. A failure is logged and handed back to the queue, which runs the job again as
 * often as the job allows. Every job may run twice (core/job.ts).
 */
import type { Installation } from '../core/installation.ts'
import { type Job, JobGivenUp } from '../core/job.ts'
import type { Log } from './log.ts'

export interface Worker {
  /** Takes no new job and waits for those at work; closing the queue waits for the rest. */
  close(): Promise<void>
}

const batchSize = 20
const pollingSeconds = 1

export async function startWorker(installation: Installation, jobs: readonly Job[], log: Log): Promise<Worker> {
  const boss = await installation.queue.boss()
  for (const job of jobs) {
    // What takes long is taken one by one: a batch is fetched anew only when all of it is done.
    const taking = job.atOnce === undefined ? { batchSize } : { batchSize: 1, localConcurrency: job.atOnce }
    await boss.work(job.name, { ...taking, pollingIntervalSeconds: pollingSeconds, perJobResults: true }, (batch) =>
      Promise.all(batch.map((queued) => run(installation, job, queued, log))),
    )
    if (job.cron !== undefined) await boss.schedule(job.name, job.cron, {}, { tz: 'UTC' })
  }
  return {
    async close() {
      await Promise.all(jobs.map(({ name }) => boss.offWork(name, { wait: false })))
    },
  }
}

async function run(
  installation: Installation,
  job: Job,
  queued: { readonly id: string; readonly data: unknown },
  log: Log,
) {
  try {
    await job.run(installation, job.payload.parse(queued.data ?? {}))
    return { id: queued.id, status: 'completed' as const }
  } catch (error) {
    log.failure(`job ${job.name} failed`, error)
    return {
      id: queued.id,
      // pg-boss's word for: no further attempt. No dead letter queue is named, so it stays where it is, as failed.
      status: error instanceof JobGivenUp ? ('deadletter' as const) : ('failed' as const),
      output: { name: error instanceof Error ? error.name : 'unknown' },
    }
  }
}
