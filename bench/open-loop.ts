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
  const answers = new Answers()
  let sent = 0
  const started = performance.now()
  while (sent < due && answers.waiting < mostWaiting) {
    const now = performance.now() - started
    for (; sent < Math.min(due, (now / 1000) * rate); sent += 1)
      void answers.add(mix.sendNext(), started + (sent / rate) * 1000)
    await pause(1)
  }
  for (const end = performance.now() + restMs; answers.waiting > 0 && performance.now() < end; ) await pause(10)
  return answers.outcome(due)
}

/** For comparison: clients that send a request each when the one before is answered. */
export async function sendInTurn(mix: Mix, clients: number, forSeconds: number): Promise<Outcome> {
  await mix.learn()
  const answers = new Answers()
  const end = performance.now() + forSeconds * 1000
  let sent = 0
  const client = async () => {
    for (; performance.now() < end; sent += 1) await answers.add(mix.sendNext(), performance.now())
  }
  await Promise.all(Array.from({ length: clients }, client))
  return answers.outcome(sent)
}

class Answers {
  waiting = 0
  private failed = 0
  private readonly took = new Map<number, number[]>()

  async add(answer: Promise<number>, moment: number): Promise<void> {
    this.waiting += 1
    try {
      const status = await answer
      const known = this.took.get(status) ?? []
      this.took.set(status, known)
      known.push(performance.now() - moment)
    } catch {
      this.failed += 1
    }
    this.waiting -= 1
  }

  outcome(due: number): Outcome {
    const sorted = [...this.took].map(([status, each]) => [status, Float64Array.from(each).sort()] as const)
    return { due, failed: this.failed, byStatus: new Map(sorted) }
  }
}

/** Several of them as one. */
export function summed(outcomes: readonly Outcome[]): Outcome {
  const byStatus = new Map<number, Float64Array>()
  for (const [status, took] of outcomes.flatMap((one) => [...one.byStatus]))
    byStatus.set(status, Float64Array.from([...(byStatus.get(status) ?? []), ...took]).sort())
  const total = (of: (one: Outcome) => number) => outcomes.reduce((sum, one) => sum + of(one), 0)
  return { due: total(({ due }) => due), failed: total(({ failed }) => failed), byStatus }
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
