/**
 * The queue: pg-boss, fed through our own transactions.
 *
 * pg-boss says how a job is queued (`queuing`); the transaction that needs the job sends that statement. A worker
 * fetches the job through pg-boss's own connections, which have the role svc_queue and can
 * read only the queue. Not guaranteed: that a job runs only once.
 *
 * pg-boss takes 60 ms to load, so it is loaded when the first job is queued or run, or ahead by a worker that waits for the
 * database.
 */
import type { Clock, PgBoss } from 'pg-boss'
import { type DatabaseAddress, pgOptions } from '../database/address.ts'
import { keepAlive } from '../database/client.ts'
import { queueSchema } from '../database/queue-schema.ts'
import { originNow } from '../tracing/tracing.ts'
import type { Job } from './job.ts'

/** The member of a queued payload that names the request that it comes from, if it was traced. Schemas drop it. */
export const originKey = 'origin'

export interface EnqueueOptions {
  readonly startAfter?: Date
  /** At most one job of that key waits at a time; asking again queues nothing new. */
  readonly singletonKey?: string
  /** With a key: at most one job of it is queued in each span of so many seconds; asking again queues nothing new. */
  readonly singletonSeconds?: number
}

export interface QueueStatement {
  readonly text: string
  readonly values: readonly unknown[]
}

export type OnQueued = (names: readonly string[]) => void

export interface Queue {
  /** The statement that queues this job; it must be run as svc_queue. */
  queuing<P>(job: Job<P>, payload: P, options?: EnqueueOptions): Promise<QueueStatement>
  /** A transaction of this process has queued jobs that are due at once; `onQueued` hears their names. */
  queued(names: readonly string[]): void
  /** For the one who wakes the workers of this process. */
  onQueued(listener: OnQueued): void
  /** The started pg-boss, with its maintenance when `works`. */
  boss(): Promise<PgBoss>
  close(): Promise<void>
}

export interface QueueUse {
  /** Whether this process runs jobs. */
  readonly works: boolean
  /** Whether connections are scarce: then the workers of this process share one. */
  readonly isFrugal?: boolean
}

export const loadQueue = () => import('pg-boss')

export function openQueue(
  address: DatabaseAddress,
  { works, isFrugal = false }: QueueUse,
  onError: (error: Error) => void,
): Queue {
  let started: Promise<PgBoss> | undefined
  let hears: OnQueued = () => {}

  const start = async () => {
    const { PgBoss: Boss } = await loadQueue()
    const boss = new Boss({
      ...pgOptions(address, { role: 'svc_queue' }),
      schema: queueSchema,
      application_name: 'svc queue',
      ...limitsOf(works),
      max: works && !isFrugal ? 3 : 1,
      migrate: false,
      supervise: works,
      schedule: works,
      clock: steadyClock,
      clockMonitorIntervalSeconds: 60,
    })
    boss.on('error', onError)
    await boss.start()
    return boss
  }

  const boss = () => {
    started ??= start().catch((error: unknown) => {
      started = undefined
      throw error
    })
    return started
  }

  return {
    boss,
    queued: (names) => hears(names),
    onQueued(listener) {
      hears = listener
    },
    async queuing(job, payload, options = {}) {
      const statements: QueueStatement[] = []
      const origin = originNow()
      const data = { ...(job.payload.parse(payload) as object), ...(origin === null ? {} : { [originKey]: origin }) }
      await (await boss()).send(job.name, data, {
        ...options,
        retryLimit: job.retryLimit,
        ...backoffOf(job),
        ...(job.longestSeconds === undefined ? {} : { expireInSeconds: job.longestSeconds }),
        db: notedIn(statements),
      })
      const [statement] = statements
      if (!statement || statements.length > 1) throw new Error('pg-boss queues a job with one statement')
      return statement
    },
    async close() {
      const running = await started?.catch(() => undefined)
      await running?.stop({ graceful: true, timeout: 8000 })
    },
  }
}

/**
 * pg-boss measures with this clock how long a batch took, and waits for what is left of a second. By a clock that is set
 * back by an hour during a batch, the queue would wait for an hour (docs/decisions/0280). So this one never jumps. When a
 * scheduled job is due, pg-boss reads from the database's clock, which it compares with this one every minute.
 */
const steadyClock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()),
  setTimeout: (work, ms) => setTimeout(work, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  setInterval: (work, ms) => setInterval(work, ms),
  clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout),
}

/**
 * pg-boss waits between half and all of the doubled delay, so that jobs which failed together do not run again
 * together.
 */
const backoffOf = ({ retryDelaySeconds, longestRetryDelaySeconds }: Job) =>
  retryDelaySeconds === undefined
    ? {}
    : {
        retryDelay: retryDelaySeconds,
        retryBackoff: true,
        ...(longestRetryDelaySeconds === undefined ? {} : { retryDelayMax: longestRetryDelaySeconds }),
      }

/**
 * The first job of a process waits for its connection, so the limits are short; the clean-up of a worker may take long.
 */
const limitsOf = (works: boolean) => ({
  ...keepAlive,
  connectionTimeoutMillis: 2_000,
  query_timeout: works ? 60_000 : 5_000,
})

/** A database for pg-boss that notes the statement and says that it wrote a row. */
const notedIn = (statements: QueueStatement[]) => ({
  async executeSql(text: string, values: unknown[] = []) {
    statements.push({ text, values })
    return { rows: [{ id: null }] }
  },
})
