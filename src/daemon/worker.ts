/**
 * The worker runs the jobs that rules have queued, and the scheduled jobs.
 *
 * A payload is parsed before it is used, because an older release may have queued the job.
 * A failure is logged and returned to the queue, which runs the job again as often as the
 * job allows. Every job may run twice (kernel/transaction/runnable-job.ts).
 *
 * While the installation's gate is closed no job runs: a scheduled job is skipped, any other
 * job is queued again for later. Work that reaches outside or deletes data must wait until
 * the recovery has restored the obligations. A job that runs while the gate closes can
 * commit nothing more and is queued again; messages that it has sent cannot be taken back.
 */

import { lookAtGate } from '../core/areas/recovery/gate.ts'
import { Problem } from '../core/contract/problem.ts'
import { originKey } from '../core/kernel/queue/queue.ts'
import { startWaking } from '../core/kernel/queue/waking.ts'
import { openSpan } from '../core/kernel/tracing/tracing.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import { JobFailure, JobGivenUp, type RunnableJob } from '../core/kernel/transaction/runnable-job.ts'
import { timeNow } from '../core/kernel/values/time.ts'
import type { Log } from './log.ts'

export interface Worker {
  /** Starts no new job and waits for the running ones; closing the queue waits for the rest. */
  close(): Promise<void>
}

const usualAtOnce = 20
/** How often pg-boss looks for a worker that nothing wakes (kernel/queue/waking.ts). */
const pollingSeconds = 30
/** Of the times of scheduled jobs. */
const zone = 'UTC'
/** The delay of a job while the gate is closed. */
const heldSeconds = 30

/** How a run of a job ended. `held`: the gate is closed, so it was queued again, or skipped if it is scheduled. */
export type JobResult = 'completed' | 'failed' | 'given_up' | 'held'

/** Hears of each run. */
export type OnRun = (job: string, result: JobResult, seconds: number) => void

export interface WorkerOptions {
  /** The work of `scheduleJobs`, if the caller has begun it. */
  readonly scheduled?: Promise<void> | undefined
  readonly onRun?: OnRun
  /** How often it looks for what others have queued; 1 s where absent. */
  readonly lookEachMs?: number | undefined
}

export async function startWorker(
  installation: Installation,
  jobs: readonly RunnableJob[],
  log: Log,
  { scheduled = scheduleJobs(installation, jobs), onRun = () => {}, lookEachMs }: WorkerOptions = {},
): Promise<Worker> {
  const [boss] = await Promise.all([installation.queue.boss(), scheduled])
  const keptByGate = behindGate(installation)
  const workers = new Map<string, readonly string[]>()
  for (const job of jobs) {
    const { atOnce = usualAtOnce } = job
    const work = async (batch: Queued[]) => {
      const isHeld = (await lookAtGate(installation)).gated_at !== null
      return Promise.all(
        batch.map(async (queued) => {
          const begun = performance.now()
          const ended = isHeld
            ? await hold(installation, job, queued)
            : await run(installation, keptByGate, job, queued, log)
          onRun(job.name, ended.result, (performance.now() - begun) / 1000)
          return ended.answer
        }),
      )
    }
    // The next batch is fetched when the whole batch is done; after a full batch at once, so that long queues have no pauses.
    const taking = job.takesLong ? { batchSize: 1 } : { batchSize: atOnce, burstWhenBatchFull: true }
    const options = { ...taking, pollingIntervalSeconds: pollingSeconds, perJobResults: true } as const
    const starting = Array.from({ length: job.takesLong ? atOnce : 1 }, () => boss.work(job.name, options, work))
    workers.set(job.name, await Promise.all(starting))
  }
  const waking = await startWaking(
    installation.queue,
    workers,
    (error) => log.failure('looking for due jobs failed: they begin up to 30 s late', error),
    lookEachMs,
  )
  return {
    async close() {
      waking.close()
      await Promise.all(jobs.map(({ name }) => boss.offWork(name, { wait: false })))
    },
  }
}

/**
 * Stores when scheduled jobs run, for whichever daemon runs them. Each write waits for the disk, so a start writes only what is
 * not stored as it is.
 */
export async function scheduleJobs({ queue }: Installation, jobs: readonly RunnableJob[]): Promise<void> {
  const boss = await queue.boss()
  const stored = new Set((await boss.getSchedules()).map(({ name, cron, timezone }) => `${name} ${cron} ${timezone}`))
  const changed = jobs.filter(({ name, cron }) => cron !== undefined && !stored.has(`${name} ${cron} ${zone}`))
  await Promise.all(changed.map(({ name, cron }) => boss.schedule(name, cron ?? '', {}, { tz: zone })))
}

interface Queued {
  readonly id: string
  readonly data: unknown
}

/** The installation for jobs: their changes cannot commit while the gate is closed. It is one object, because jobs use it as a key. */
const behindGate = (installation: Installation): Installation => ({
  ...installation,
  transaction: (actor, options, work) =>
    installation.transaction(actor, { gateAccess: { isServed: false, epoch: undefined }, ...options }, work),
})

/** Queues a job again for later. A kill between the two steps makes the job run twice, which every job allows. */
async function hold(installation: Installation, job: RunnableJob, queued: Queued) {
  if (job.cron === undefined)
    await installation.transaction({ kind: 'SYSTEM', job: job.name }, {}, (ctx) =>
      ctx.enqueue(job, job.payload.parse(queued.data ?? {}), { startAfter: new Date(timeNow() + heldSeconds * 1000) }),
    )
  return { result: 'held' as const, answer: { id: queued.id, status: 'completed' as const } }
}

/** Runs a job in a span of the trace that it comes from, if traces are made. */
async function run(installation: Installation, keptByGate: Installation, job: RunnableJob, queued: Queued, log: Log) {
  const span = openSpan('CONSUMER', `job ${job.name}`, { origin: originOf(queued) })
  if (!span) return runOnce(installation, keptByGate, job, queued, log)
  const ended = await span.run(() => runOnce(installation, keptByGate, job, queued, log))
  span.end({ 'svc.result': ended.result }, ended.result === 'completed' ? undefined : ended.result)
  return ended
}

function originOf({ data }: Queued): string | undefined {
  const origin = (data as Readonly<Record<string, unknown>> | null)?.[originKey]
  return typeof origin === 'string' ? origin : undefined
}

async function runOnce(
  installation: Installation,
  keptByGate: Installation,
  job: RunnableJob,
  queued: Queued,
  log: Log,
) {
  try {
    await job.run(keptByGate, job.payload.parse(queued.data ?? {}))
    return { result: 'completed' as const, answer: { id: queued.id, status: 'completed' as const } }
  } catch (error) {
    if (error instanceof Problem && error.code === 'installation.recovering') return hold(installation, job, queued)
    log.failure(`job ${job.name} failed`, error)
    const isGivenUp = error instanceof JobGivenUp
    return {
      result: isGivenUp ? ('given_up' as const) : ('failed' as const),
      answer: {
        id: queued.id,
        // In pg-boss this means: no further attempt. Without a dead letter queue the job stays in its queue, as failed.
        status: isGivenUp ? ('deadletter' as const) : ('failed' as const),
        output: keptOf(error),
      },
    }
  }
}

const systemCode = /^[A-Z][A-Z0-9_]{1,39}$/

/** What the queue keeps of a failure: its name, the code of an error of the system, and what the job tells of it. */
function keptOf(error: unknown): Readonly<Record<string, string | number>> {
  if (!(error instanceof Error)) return { name: 'unknown' }
  const { code } = error as { readonly code?: unknown }
  return {
    name: error.name,
    ...(typeof code === 'string' && systemCode.test(code) ? { error: code } : {}),
    ...(error instanceof JobFailure ? error.told : {}),
  }
}
