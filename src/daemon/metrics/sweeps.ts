/** Gauges of what has expired and waits to be removed. */
import { Gauge, type Registry } from 'prom-client'
import { sweeps } from '../../core/areas/auth/sign-in/sweeps.ts'
import type { Installation } from '../../core/kernel/transaction/installation.ts'
import { type Backlog, backlogsOf } from '../../core/kernel/transaction/sweep.ts'
import { readingEach } from './reading.ts'

const eachMs = 60_000

export function gaugeSweeps(register: Registry, installation: Installation): void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['kind'] as const, registers: [register], collect: () => reading() })
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
  const reading = readingEach(eachMs, read)
}
