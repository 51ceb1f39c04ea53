/**
 * Load: mixed requests at a fixed rate against a daemon, from this process, on the one machine.
 *
 * The rate does not depend on the daemon: a request is due at its moment, and its latency counts
 * from that moment, so a daemon that falls behind shows it. The first rate is 1,500 a second; if
 * the daemon does not hold it, lower rates follow. The highest rate that is held is reported with
 * its p99 and its number of 5xx, which must be 0.
 */
import { fillBoards } from './board-filler.ts'
import type { Ground } from './ground.ts'
import { openMix } from './load-mix.ts'
import { heldShare, latencyMs, type Outcome, quantile, sendAtRate, toldOf } from './open-loop.ts'
import { startDaemon } from './processes.ts'
import type { Line } from './table.ts'

const rates = [1500, 1350, 1200, 1050, 900, 750, 600, 450, 300, 150]
const seconds = Number(process.env['BENCH_LOAD_SECONDS'] ?? 60)
/** A short run before each rate. */
const warmUpSeconds = 5

const size = { boards: 40, buckets: 5, itemsEach: 250 }

export async function mixedLoad(ground: Ground): Promise<Line[]> {
  const boards = await fillBoards(ground, size)
  const daemon = await startDaemon(ground.environment)
  const mix = openMix(daemon.address, ground, boards)
  const lines: Line[] = []
  try {
    for (const rate of rates) {
      await sendAtRate(mix, Math.min(rate, 300), warmUpSeconds)
      const held = await sendAtRate(mix, rate, seconds)
      lines.push(lineOf(rate, held))
      if (isHeld(held)) break
    }
    return lines
  } finally {
    await mix.close()
    await daemon.stop()
  }
}

/** The latencies of all answers, sorted. */
const latenciesOf = ({ byStatus }: Outcome) =>
  Float64Array.from([...byStatus.values()].flatMap((each) => [...each])).sort()

const isHeld = (outcome: Outcome) => {
  const latencies = latenciesOf(outcome)
  const isAnswered = latencies.length >= outcome.due * heldShare
  return isAnswered && quantile(latencies, 0.99) <= latencyMs && serverErrors(outcome) === 0
}

const serverErrors = ({ byStatus, failed }: Outcome) =>
  [...byStatus].reduce((sum, [status, { length }]) => sum + (status >= 500 ? length : 0), failed)

function lineOf(rate: number, outcome: Outcome): Line {
  const { due } = outcome
  const latencies = latenciesOf(outcome)
  process.stderr.write(`load ${rate}/s: ${toldOf(outcome)}\n`)
  return {
    what: `load: ${rate} mixed requests a second (70 % read) for ${seconds} s`,
    ours: `p99 ${quantile(latencies, 0.99).toFixed(0)} ms`,
    bare: '',
    figure: `${serverErrors(outcome)} × 5xx, ${((100 * latencies.length) / due).toFixed(1)} % answered`,
    target: `0 × 5xx, p99 ≤ ${latencyMs} ms`,
    isMet: isHeld(outcome),
  }
}
