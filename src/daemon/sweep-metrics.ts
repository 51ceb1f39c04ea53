/**
 * Gauges of what has expired and waits to be removed. They are read from the database when they are asked for, at most
 * once in a minute; while it does not answer in time they keep what they said last.
 */
import { Gauge, type Registry } from 'prom-client'
import { sweeps } from '../core/areas/auth/sign-in/sweeps.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import { type Backlog, backlogsOf } from '../core/kernel/transaction/sweep.ts'

const eachMs = 60_000
/** Who scrapes stops waiting after some seconds. */
const patienceMs = 1_000

export function gaugeSweeps(register: Registry, installation: Installation): void {
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['kind'] as const, registers: [register], collect: refresh })
  const rows = gauge('svc_sweep_rows', 'Rows that have expired and wait to be removed; 100,000 stands for more.')
  const late = gauge('svc_sweep_late_seconds', 'For how long the oldest of them should have been gone.')

  const read = async () => {
    const found = await installation.transaction(
      { kind: 'SYSTEM', job: 'sweep_expired' },
      { readOnly: true },
      ({ tx }) => tx.text<Backlog[]>(backlogsOf(sweeps)),
    )
    for (const { table, rows: count, lateSeconds } of found) {
      rows.labels(table).set(count)
      late.labels(table).set(lateSeconds)
    }
  }

  /** Both gauges ask at the same time, and wait for the same reading. */
  function refresh(): Promise<void> | undefined {
    if (performance.now() - readAt < eachMs) return reading
    readAt = performance.now()
    const { promise: waited, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, patienceMs)
    reading = Promise.race([read().catch(() => undefined), waited]).finally(() => clearTimeout(timer))
    return reading
  }
}
