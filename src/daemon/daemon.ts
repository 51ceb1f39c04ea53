/**
 * The daemon inside a process: boots, serves, works, drains.
 *
 *    boot ──▶ listen ──▶ close: notice ──▶ drain
 *
 * Roles: `api` serves requests and queues jobs, `worker` runs the jobs and serves only its
 * health, `all` does both.
 *
 * During the notice (SVC_DRAIN_NOTICE_SECONDS, by default none) it serves on, /readyz answers 503, and each answer ends
 * its connection: a proxy then has no idle connection left on which a request could cross the end.
 *
 * To drain, the daemon accepts no new connections, answers the requests under way, waits for
 * running jobs, and then closes the queue, the pool and the embedded database.
 *
 * Elsewhere: signals, exit codes, and what is printed (main.ts).
 * Spec: decisions 6, Process interface.
 */
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type Booted, bootInstallation, offerSetUp } from '../core/app/boot.ts'
import { jobs } from '../core/app/jobs.ts'
import { startNotifier } from '../core/areas/notifications/notifier.ts'
import { followWithCopies } from '../core/areas/recovery/ledger/follow-copies.ts'
import { detectRewind, recordHeartbeats } from '../core/areas/recovery/rewind-detection.ts'
import { startIndexer } from '../core/areas/search/indexer.ts'
import { settleSettings } from '../core/areas/settings/enforcing-file.ts'
import { startDispatcher } from '../core/areas/webhooks/dispatch/dispatcher.ts'
import type { Config } from '../core/kernel/config/config.ts'
import { placeOf } from '../core/kernel/config/mail-settings.ts'
import { apartInWords, type FollowedClock, followClock, noticeableMs } from '../core/kernel/database/clock.ts'
import type { Embedded } from '../core/kernel/database/embedded.ts'
import { announceServing } from '../core/kernel/database/serving.ts'
import { loadQueue } from '../core/kernel/queue/queue.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import { apiLimits, buildHealthServer } from './health-listener.ts'
import type { Log } from './log.ts'
import { type Metrics, openMetrics } from './metrics/metrics.ts'
import type { WorkCounts } from './metrics/work.ts'
import { readinessOf } from './readiness.ts'
import { reloading } from './reload.ts'
import { buildServer } from './server.ts'
import { keepSetUpToken } from './set-up-token.ts'
import { scheduleJobs, startWorker } from './worker.ts'

export type DaemonRole = 'api' | 'worker' | 'all'

export interface Daemon {
  /** `http://127.0.0.1:8080` */
  readonly address: string
  /** The separate listener for health and metrics, if there is one. */
  readonly healthAddress: string | undefined
  /** The file with the set-up token; undefined after the installation was set up, and if the operator chose the token (SVC_SETUP_TOKEN). */
  readonly setUpTokenFile: string | undefined
  /** What SIGHUP does (reload.ts): reads the keyring and the settings file again. Never rejects. */
  reload(): Promise<void>
  /** Drains after the notice, and closes; a second call waits for the first. */
  close(noticeMs?: number): Promise<void>
}

/** Connections that may wait to be accepted. Beyond it, a burst would make others wait a second for their next try. */
const backlog = 4_096
/** Requests that are not finished by then are cut off, to leave time for the rest of the drain. */
const requestGraceMs = 5_000

/** How `listen` fails. */
export interface ListenFailure extends NodeJS.ErrnoException {
  readonly address?: string
  readonly port?: number
  /** The setting that names the port. */
  readonly setting?: string
}

/**
 * Starts a daemon inside this process, on an embedded database that may be starting already. Throws what bootInstallation
 * throws, and what `listen` does.
 */
export async function startDaemon(
  config: Config,
  role: DaemonRole,
  log: Log,
  held?: Promise<Embedded>,
): Promise<Daemon> {
  const booting = bootInstallation(config, {
    ...(held && { held }),
    works: role !== 'api',
    isDaemon: true,
    applicationName: `svc ${role}`,
    note: (line) => log.info(line),
    onQueueError: (error) => log.failure('queue', error),
  })
  if (role !== 'api') void loadQueue() // the database may be starting, and then nothing else is to do
  const booted = await booting
  // Closed in the reverse order of opening.
  const closing: (() => Promise<void>)[] = [() => booted.close()]
  const closeAll = async () => {
    for (const close of closing.reverse()) await close().catch((error: unknown) => log.failure('closing', error))
  }
  try {
    return await serve(booted, role, log, closing, closeAll)
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function serve(
  booted: Booted,
  role: DaemonRole,
  log: Log,
  closing: (() => Promise<void>)[],
  closeAll: () => Promise<void>,
): Promise<Daemon> {
  const { installation } = booted
  const { config } = installation
  let draining: Promise<void> | undefined
  const isDraining = () => draining !== undefined
  // While the server is built. A failure is told by the worker, which waits for it.
  const scheduled = role === 'api' ? undefined : scheduleJobs(installation, jobs)
  scheduled?.catch(() => {})
  const readiness = readinessOf(installation, isDraining)
  const options = { log, metrics: openMetrics(installation.pool), readiness, isDraining }
  const health = config.healthPort === undefined ? undefined : buildHealthServer(installation, options)
  if (health) closing.push(() => closeServer(health))
  const served = { listener: 'api', servesApi: role !== 'worker', servesMetrics: health === undefined }
  const app = buildServer(installation, { ...options, ...apiLimits(config), ...served })
  const ready = Promise.resolve(app.ready())
  ready.catch(() => {}) // `listen` throws it
  await settleSettings(installation)
  const setUpTokenFile = await keepSetUpToken(config, await offerSetUp(installation), log)
  const [rewind, clock] = await Promise.all([detectRewind(installation), watchClock(booted, log, options.metrics)])
  closing.push(() => clock.close())
  if (rewind)
    log.warn('the database lacks changes that were acknowledged: the gate is closed', {
      found_by: rewind.found_by,
      ...rewind.params,
    })
  const watch = await recordHeartbeats(installation, (error) => log.failure('witness', error))
  closing.push(() => watch.close())
  const copies = followWithCopies(installation, (failures) =>
    log.warn('a backup target lacks lines of the obligation ledger', failures),
  )
  closing.push(() => copies.close())
  options.metrics.watchValue('svc_ledger_copies_behind', () => copies.behind)

  if (role !== 'worker') await announceServing(booted.life)
  if (role !== 'api') {
    options.metrics.watchDatabase(installation)
    const worker = await startWorker(installation, jobs, log, { scheduled, onRun: options.metrics.work.ran })
    closing.push(() => worker.close())
    closing.push(...startAllRounds(installation, log))
  }
  const dispatcher = role === 'api' ? undefined : startDeliveries(installation, log, options.metrics.work)
  if (dispatcher) options.metrics.watchValue('svc_deliveries_late_seconds', () => dispatcher.lateSeconds)
  // Both at the same time, because requests and deliveries may each need most of the drain's time.
  closing.push(async () => {
    await Promise.all([closeServer(app), dispatcher?.close()])
  })
  await ready
  await app.listen({ host: config.host, port: config.port, backlog })
  // After the API's listener, so that a healthy daemon can also be called.
  await health?.listen({ host: config.host, port: config.healthPort ?? 0 }).catch((error: Error) => {
    throw Object.assign(error, { setting: 'SVC_HEALTH_PORT' } satisfies Partial<ListenFailure>)
  })
  installation.listensAt((app.server.address() as AddressInfo).port)
  if (role !== 'api')
    log.info(config.mail.relay ? 'mail goes to the relay' : 'mail is written to a folder', { to: placeOf(config.mail) })

  return {
    address: addressOf(app, config.host),
    healthAddress: health && addressOf(health, config.host),
    setUpTokenFile,
    reload: reloading(booted, log),
    close(noticeMs = 0) {
      draining ??= (noticeMs > 0 ? pause(noticeMs) : Promise.resolve()).then(closeAll)
      return draining
    },
  }
}

/** What looks for work by itself; answers how each is ended. */
const startAllRounds = (installation: Installation, log: Log): (() => Promise<void>)[] =>
  [startIndexer, startNotifier].map((start) => {
    const rounds = start(installation, { onFailure: (what, error) => log.failure(what, error) })
    return () => rounds.close()
  })

/** Follows the host's clock, and warns of one that is wrong. */
async function watchClock({ installation, life }: Booted, log: Log, metrics: Metrics): Promise<FollowedClock> {
  const clock = await followClock(installation.pool, life, (error) => log.failure('clock', error))
  metrics.watchValue('svc_clock_ahead_seconds', () => clock.aheadMs / 1000)
  if (Math.abs(clock.aheadMs) > noticeableMs)
    log.warn("the clock of this host differs from the database's", { says: apartInWords(clock.aheadMs) })
  return clock
}

/** Deliveries use only the guarded client. It takes megabytes of memory, so it is loaded at the first delivery. */
const startDeliveries = (installation: Installation, log: Log, counts: WorkCounts) =>
  startDispatcher(
    installation,
    { post: async (request) => (await installation.egress()).post(request) },
    { onFailure: (what, error) => log.failure(what, error), onAttempt: counts.attempted },
  )

async function closeServer(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), requestGraceMs)
  // Node keeps a connection open for its next request after an answer, so idle ones are closed repeatedly.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 100)
  try {
    await app.close()
  } finally {
    clearTimeout(cut)
    clearInterval(sweep)
  }
}

function addressOf(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
