/**
 * Prometheus metrics: the number and duration of requests, and the state of the pool.
 *
 * Labels are the operation and the status class, never a workspace or an account. Metrics are
 * stored for years, so they must not show who works when, and must not grow with the workspaces.
 */
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Pool, PoolCounts } from '../core/kernel/database/pool.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import type { ConnectionCounts } from './connections.ts'
import type { RefusedCalls } from './full-door.ts'
import type { ReaderCounts } from './readers.ts'
import { gaugeSweeps } from './sweep-metrics.ts'

export interface Metrics {
  started(): void
  /** `operation` is an operation's id, or the name of a route outside the API. */
  answered(operation: string, status: number, seconds: number): void
  /** Adds the counts of a listener's connections and readers. */
  watch(listener: string, door: Door): void
  /** Adds what has expired and waits to be removed. */
  watchSweeps(installation: Installation): void
  /** `aheadMs`: how far the clock of this host is ahead of the database's. */
  watchClock(aheadMs: () => number): void
  text(): Promise<string>
  readonly contentType: string
}

/** The counts of one listener. */
export interface Door {
  readonly connections: ConnectionCounts
  readonly readers: ReaderCounts
  readonly calls: RefusedCalls
}

export function openMetrics(pool: Pool): Metrics {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const durations = new Histogram({
    name: 'svc_request_duration_seconds',
    help: 'Time from the request to its whole answer.',
    labelNames: ['operation', 'status_class'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [register],
  })
  let inFlight = 0
  new Gauge({
    name: 'svc_requests_in_flight',
    help: 'Requests not yet answered.',
    registers: [register],
    collect() {
      this.set(inFlight)
    },
  })
  gaugePool(register, pool)
  const doors = new Map<string, Door>()
  gaugeDoors(register, doors)

  // The package builds the key of the labels at each call. The cache is bounded by operations and classes.
  const labelled = new Map<string, ReturnType<typeof durations.labels>>()
  const series = (operation: string, status: number) => {
    const statusClass = `${Math.floor(status / 100)}xx`
    const name = `${operation} ${statusClass}`
    const known = labelled.get(name) ?? durations.labels(operation, statusClass)
    labelled.set(name, known)
    return known
  }

  return {
    started() {
      inFlight += 1
    },
    answered(operation, status, seconds) {
      inFlight -= 1
      series(operation, status).observe(seconds)
    },
    watch(listener, door) {
      doors.set(listener, door)
    },
    watchSweeps: (installation) => gaugeSweeps(register, installation),
    watchClock: (aheadMs) => gaugeClock(register, aheadMs),
    text: () => register.metrics(),
    contentType: register.contentType,
  }
}

function gaugeClock(register: Registry, aheadMs: () => number): void {
  new Gauge({
    name: 'svc_clock_ahead_seconds',
    help: "How far the clock of this host is ahead of the database's.",
    registers: [register],
    collect() {
      this.set(aheadMs() / 1000)
    },
  })
}

function gaugePool(register: Registry, pool: Pool): void {
  new Gauge({
    name: 'svc_database_connections',
    help: 'Connections of the pool by state; waiting counts transactions without one.',
    labelNames: ['state'] as const,
    registers: [register],
    collect() {
      const { size, free, used, waiting } = pool.counts
      for (const [state, count] of Object.entries({ size, free, used, waiting })) this.labels(state).set(count)
    },
  })
  const gauge = (name: string, help: string, read: (counts: PoolCounts) => number) =>
    new Gauge({
      name,
      help,
      registers: [register],
      collect() {
        this.set(read(pool.counts))
      },
    })
  gauge(
    'svc_database_lanes_waiting',
    'Workspaces, and kinds of other work, of which something waits for a connection.',
    ({ waitingLanes }) => waitingLanes,
  )
  gauge('svc_database_share', 'Connections that one workspace may hold while others need some.', ({ share }) => share)
  gauge(
    'svc_database_connections_discarded',
    'Connections that died or were given up since the start.',
    ({ discarded }) => discarded,
  )
}

function gaugeDoors(register: Registry, doors: ReadonlyMap<string, Door>): void {
  const gauge = (name: string, help: string, read: (door: Door) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['listener'] as const,
      registers: [register],
      collect() {
        for (const [listener, door] of doors) this.labels(listener).set(read(door))
      },
    })
  gauge('svc_connections', 'Connections that are open.', ({ connections }) => connections.open)
  gauge(
    'svc_connections_gave_way',
    'Connections without a whole request that were closed for a newer one, since the start.',
    ({ connections }) => connections.gaveWay,
  )
  gauge(
    'svc_connections_refused',
    'Connections turned away because all others were busy, since the start.',
    ({ connections }) => connections.refused,
  )
  gauge(
    'svc_calls_refused',
    'Calls refused at the door because they could not begin in time, since the start.',
    ({ calls }) => calls.refused,
  )
  gauge('svc_answers_waiting_bytes', 'Bytes of answers not yet taken.', ({ readers }) => readers.waitingBytes)
  gauge('svc_readers_closed', 'Readers closed for their slowness, since the start.', ({ readers }) => readers.closed)
  gauge(
    'svc_reads_refused',
    'Reads refused while too much waited for their workspace, since the start.',
    ({ readers }) => readers.refused,
  )
}
