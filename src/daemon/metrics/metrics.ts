/**
 * Prometheus metrics of a daemon. docs/metrics.md says what each one means, and what to do.
 *
 *    requests.ts   requests, refusals, refused sign-ins      counted as they happen
 *    doors.ts      connections, readers, the pool            asked when they are scraped
 *    work.ts       jobs, attempts, the lag of events         counted as they happen
 *    backlog.ts    what waits in the database                read at most once in 15 s, by a daemon that works
 *    sweeps.ts     what has expired and is still there       read at most once in a minute, by a daemon that works
 *
 * Labels are names of this release (operations, codes, queues, states), never a workspace, an account or a host. Metrics
 * are stored for years, so they must not show who works when, and must not grow with the workspaces. Names of counters
 * end in `_total`; their value is since the start of this daemon.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Pool } from '../../core/kernel/database/pool.ts'
import type { Installation } from '../../core/kernel/transaction/installation.ts'
import { productVersion } from '../../core/kernel/values/product.ts'
import { gaugeBacklog } from './backlog.ts'
import { type Door, gaugeDoors, gaugePool } from './doors.ts'
import { countRequests, type RequestCounts } from './requests.ts'
import { gaugeSweeps } from './sweeps.ts'
import { countWork, type WorkCounts } from './work.ts'

export interface Metrics extends RequestCounts {
  readonly work: WorkCounts
  /** Adds the counts of a listener's connections and readers. */
  watch(listener: string, door: Door): void
  /** Adds what waits in the database, and what has expired there. */
  watchDatabase(installation: Installation): void
  /** `read`: the value whenever the metric is scraped. */
  watchValue(name: WatchedValue, read: () => number): void
  text(): Promise<string>
  readonly contentType: string
}

const watched = {
  svc_clock_ahead_seconds: "How far the clock of this host is ahead of the database's.",
  svc_ledger_copies_behind: "Backup targets that lack lines of this daemon's obligation ledger.",
  svc_deliveries_late_seconds: 'How long the delivery that has waited longest at an active webhook is due.',
}

export type WatchedValue = keyof typeof watched

export function openMetrics(pool: Pool): Metrics {
  const register = new Registry()
  collectDefaultMetrics({ register })
  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; the labels say which release this is, on which Node.',
    labelNames: ['version', 'node'] as const,
    registers: [register],
  })
    .labels(productVersion, process.versions.node)
    .set(1)
  const requests = countRequests(register)
  const work = countWork(register)
  gaugePool(register, pool)
  const doors = new Map<string, Door>()
  gaugeDoors(register, doors)

  return {
    ...requests,
    work,
    watch(listener, door) {
      doors.set(listener, door)
    },
    watchDatabase(installation) {
      gaugeBacklog(register, installation)
      gaugeSweeps(register, installation)
    },
    watchValue(name, read) {
      new Gauge({
        name,
        help: watched[name],
        registers: [register],
        collect() {
          this.set(read())
        },
      })
    },
    text: () => register.metrics(),
    contentType: register.contentType,
  }
}
