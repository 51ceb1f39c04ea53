/** The state of the pool and of the listeners, asked when it is scraped. */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { Pool, PoolCounts } from '../../core/kernel/database/pool.ts'
import type { ConnectionCounts } from '../connections.ts'
import type { RefusedCalls } from '../full-door.ts'
import type { ReaderCounts } from '../readers.ts'

/** The counts of one listener. */
export interface Door {
  readonly connections: ConnectionCounts
  readonly readers: ReaderCounts
  readonly calls: RefusedCalls
}

export function gaugePool(register: Registry, pool: Pool): void {
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
  new Counter({
    name: 'svc_database_connections_discarded_total',
    help: 'Connections that died or were given up.',
    registers: [register],
    collect() {
      this.reset()
      this.inc(pool.counts.discarded)
    },
  })
}

export function gaugeDoors(register: Registry, doors: ReadonlyMap<string, Door>): void {
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
  // The listeners keep these counts themselves.
  const counter = (name: string, help: string, read: (door: Door) => number) =>
    new Counter({
      name,
      help,
      labelNames: ['listener'] as const,
      registers: [register],
      collect() {
        this.reset()
        for (const [listener, door] of doors) this.labels(listener).inc(read(door))
      },
    })
  gauge('svc_connections', 'Connections that are open.', ({ connections }) => connections.open)
  counter(
    'svc_connections_gave_way_total',
    'Connections without a whole request that were closed for a newer one.',
    ({ connections }) => connections.gaveWay,
  )
  counter(
    'svc_connections_refused_total',
    'Connections turned away because all others were busy.',
    ({ connections }) => connections.refused,
  )
  counter(
    'svc_calls_refused_total',
    'Calls refused at the door because they could not begin in time.',
    ({ calls }) => calls.refused,
  )
  gauge('svc_answers_waiting_bytes', 'Bytes of answers not yet taken.', ({ readers }) => readers.waitingBytes)
  counter('svc_readers_closed_total', 'Readers closed for their slowness.', ({ readers }) => readers.closed)
  counter(
    'svc_reads_refused_total',
    'Reads refused while too much waited for their workspace.',
    ({ readers }) => readers.refused,
  )
}
