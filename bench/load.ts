/**
 * Load: mixed requests at a fixed rate against a daemon, from this process, on the one machine.
 *
 * The rate does not depend on the daemon: a request is due at its moment, and its latency counts
 * from that moment, so a daemon that falls behind shows it. The first rate is 1,500 a second; if
 * the daemon does not hold it, lower rates follow. The highest rate that is held is reported with
 * its p99 and its number of 5xx, which must be 0.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Boards, fillBoards } from './board-filler.ts'
import type { Ground } from './ground.ts'
import { openMix } from './load-mix.ts'
import { startServer } from './processes.ts'
import type { Line } from './table.ts'

const rates = [1500, 1350, 1200, 1050, 900, 750, 600, 450, 300, 150]
const seconds = Number(process.env['BENCH_LOAD_SECONDS'] ?? 60)
/** A short run before each rate. */
const warmUpSeconds = 5
/** A daemon that is this far behind does not hold the rate. */
const mostWaiting = 2_000
/** This share of the due requests must be answered by the end. */
const heldShare = 0.99
const latencyMs = 250

const size = { boards: 40, buckets: 5, itemsEach: 250 }

export async function mixedLoad(ground: Ground): Promise<Line[]> {
  const boards = await fillBoards(ground, size)
  const daemon = await startServer([join(import.meta.dirname, '../bin/svc'), 'daemon'], ground.environment)
  const client = openClient(daemon.address, ground, boards)
  const lines: Line[] = []
  try {
    for (const rate of rates) {
      await client.run(Math.min(rate, 300), warmUpSeconds)
      const held = await client.run(rate, seconds)
      lines.push(lineOf(rate, held))
      if (isHeld(held)) break
    }
    return lines
  } finally {
    await client.close()
    await daemon.stop()
  }
}

interface Outcome {
  readonly due: number
  /** In ms from the moment that each was due, sorted. */
  readonly latencies: Float64Array
  readonly byStatus: ReadonlyMap<number, number>
  readonly failed: number
}

const isHeld = ({ due, latencies, ...rest }: Outcome) =>
  latencies.length >= due * heldShare && quantile(latencies, 0.99) <= latencyMs && serverErrors(rest) === 0

const quantile = (sorted: Float64Array, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Infinity
const serverErrors = ({ byStatus, failed }: Pick<Outcome, 'byStatus' | 'failed'>) =>
  [...byStatus].reduce((sum, [status, count]) => sum + (status >= 500 ? count : 0), failed)

function lineOf(rate: number, outcome: Outcome): Line {
  const { due, latencies, byStatus } = outcome
  const statuses = [...byStatus].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  process.stderr.write(
    `load ${rate}/s: ${latencies.length} of ${due} answered, p50 ${quantile(latencies, 0.5).toFixed(1)} ms, ${statuses.join(', ')}\n`,
  )
  return {
    what: `load: ${rate} mixed requests a second (70 % read) for ${seconds} s`,
    ours: `p99 ${quantile(latencies, 0.99).toFixed(0)} ms`,
    bare: '',
    figure: `${serverErrors(outcome)} × 5xx, ${((100 * latencies.length) / due).toFixed(1)} % answered`,
    target: `0 × 5xx, p99 ≤ ${latencyMs} ms`,
    isMet: isHeld(outcome),
  }
}

function openClient(address: string, ground: Ground, boards: Boards) {
  const requests = openMix(address, ground, boards)
  return {
    async run(rate: number, forSeconds: number): Promise<Outcome> {
      await requests.learn()
      const due = rate * forSeconds
      const latencies: number[] = []
      const byStatus = new Map<number, number>()
      let sent = 0
      let waiting = 0
      let failed = 0
      const started = performance.now()
      const one = async (moment: number) => {
        waiting += 1
        try {
          const status = await requests.sendNext()
          byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
          latencies.push(performance.now() - moment)
        } catch {
          failed += 1
        }
        waiting -= 1
      }
      while (sent < due && waiting < mostWaiting) {
        const now = performance.now() - started
        for (; sent < Math.min(due, (now / 1000) * rate); sent += 1) void one(started + (sent / rate) * 1000)
        await pause(1)
      }
      for (const end = performance.now() + 10_000; waiting > 0 && performance.now() < end; ) await pause(10)
      return { due, latencies: Float64Array.from(latencies).sort(), byStatus, failed }
    },
    close: () => requests.close(),
  }
}
