/**
 * Requests at a fixed rate, whatever the daemon does: each is due at its moment, and its latency counts from that
 * moment, so a daemon that falls behind shows it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Mix } from './load-mix.ts'

export interface Outcome {
  readonly due: number
  /** For each status, the time from when each request was due until it was answered, in ms, sorted. */
  readonly byStatus: ReadonlyMap<number, Float64Array>
  /** Requests whose connection failed. */
  readonly failed: number
}

/** A rate holds if this share of its requests is answered in the end, and 99 of 100 answers within this time. */
export const heldShare = 0.99
export const latencyMs = 250

/** A daemon that is this far behind does not hold the rate. */
const mostWaiting = 2_000
/** How long the last answers are waited for. */
const restMs = 10_000

export async function sendAtRate(mix: Mix, rate: number, forSeconds: number): Promise<Outcome> {
  await mix.learn()
  const due = Math.round(rate * forSeconds)
  const took = new Map<number, number[]>()
  let sent = 0
  let waiting = 0
  let failed = 0
  const started = performance.now()
  const one = async (moment: number) => {
    waiting += 1
    try {
      const status = await mix.sendNext()
      const known = took.get(status) ?? []
      took.set(status, known)
      known.push(performance.now() - moment)
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
  for (const end = performance.now() + restMs; waiting > 0 && performance.now() < end; ) await pause(10)
  return { due, failed, byStatus: new Map([...took].map(([status, each]) => [status, Float64Array.from(each).sort()])) }
}

/** The latency that this share of the requests does not exceed. */
export const quantile = (sorted: Float64Array, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Infinity

/** One line for a person who watches. */
export function toldOf({ due, byStatus, failed }: Outcome): string {
  const each = [...byStatus].sort(([a], [b]) => a - b)
  const told = each.map(([status, took]) => {
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(took, share).toFixed(1))
    return `${took.length} × ${status} (p50 ${p50}, p99 ${p99}, max ${max} ms)`
  })
  return `${due} due: ${told.join(', ')}${failed > 0 ? `, ${failed} failed` : ''}`
}
