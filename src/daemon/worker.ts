/**
 * The worker: carries out the jobs that rules have queued, and those that run by the clock.
 *
 * A payload is parsed before it is believed: a job may have been queued by an older
 * release. A failure is logged and handed back to the queue, which runs the job again as
 * often as the job allows. Every job may run twice (kernel/transaction/runnable-job.ts).
 *
 * While the installation's gate is closed no job runs: one of the clock's is left out, any
 * other is queued again for later. What reaches outside or destroys must wait until the
 * recovery has put the obligations back. A job that is under way when the gate closes
 * commits nothing more, and is queued again like the others; what it has sent is sent.
 */

import { lookAtGate } from '../core/areas/recovery/gate.ts'
import { Problem } from '../core/contract/problem.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import { JobGivenUp, type RunnableJob } from '../core/kernel/transaction/runnable-job.ts'
import type { Log } from './log.ts'

export interface Worker {
  /** Takes no new job and waits for those at work; closing the queue waits for the rest. */
  close(): Promise<void>
}

const usualAtOnce = 20
const pollingSeconds = 1
/** How long a job is put off while the gate is closed. */
const heldSeconds = 30

export async function startWorker(installation: Installation, jobs: readonly RunnableJob[], log: Log): Promise<Worker> {
  const boss = await installation.queue.boss()
  const keptByGate = behindGate(installation)
  for (const job of jobs) {
    const { atOnce = usualAtOnce } = job
    // A batch is fetched anew only when all of it is done; after a full one at once, so that many wait no second each.
    const taking = job.takesLong
      ? { batchSize: 1, localConcurrency: atOnce }
      : { batchSize: atOnce, burstWhenBatchFull: true }
    await boss.work(
      job.name,
      { ...taking, pollingIntervalSeconds: pollingSeconds, perJobResults: true },
      async (batch) => {
        const isHeld = (await lookAtGate(installation)).gated_at !== null
        return Promise.all(
          batch.map((queued) =>
            isHeld ? hold(installation, job, queued) : run(installation, keptByGate, job, queued, log),
          ),
        )
      },
    )
    if (job.cron !== undefined) await boss.schedule(job.name, job.cron, {}, { tz: 'UTC' })
  }
  return {
    async close() {
      await Promise.all(jobs.map(({ name }) => boss.offWork(name, { wait: false })))
    },
  }
}

interface Queued {
  readonly id: string
  readonly data: unknown
}

/** The installation as jobs have it: none of their changes commits while the gate is closed. One object, because jobs remember things by it. */
const behindGate = (installation: Installation): Installation => ({
  ...installation,
  transaction: (actor, options, work) =>
    installation.transaction(actor, { gateAccess: { isServed: false, epoch: undefined }, ...options }, work),
})

/** Puts a job off. Between the two it may be killed and come twice, as every job may. */
async function hold(installation: Installation, job: RunnableJob, queued: Queued) {
  if (job.cron === undefined)
    await installation.transaction({ kind: 'SYSTEM', job: job.name }, {}, (ctx) =>
      ctx.enqueue(job, job.payload.parse(queued.data ?? {}), { startAfter: new Date(Date.now() + heldSeconds * 1000) }),
    )
  return { id: queued.id, status: 'completed' as const }
}

async function run(installation: Installation, keptByGate: Installation, job: RunnableJob, queued: Queued, log: Log) {
  try {
    await job.run(keptByGate, job.payload.parse(queued.data ?? {}))
    return { id: queued.id, status: 'completed' as const }
  } catch (error) {
    if (error instanceof Problem && error.code === 'installation.recovering') return hold(installation, job, queued)
    log.failure(`job ${job.name} failed`, error)
    return {
      id: queued.id,
      // pg-boss's word for: no further attempt. No dead letter queue is named, so it stays where it is, as failed.
      status: error instanceof JobGivenUp ? ('deadletter' as const) : ('failed' as const),
      output: { name: error instanceof Error ? error.name : 'unknown' },
    }
  }
}
