/**
 * Limits the concurrent calls of one source.
 *
 * An anonymous call may cost statements and a hash. Four calls of one source run at once and
 * the next 64 wait. So a flood from one address takes neither the database connections nor
 * the places of others: its calls wait for each other, before any work is done for them.
 * Decision record 0146. Spec: decisions 7, Overload.
 */
import { Problem } from '../core/contract/problem.ts'
import type { HeldRefusals } from './held-refusals.ts'

export interface SourceSeats {
  /** Runs the work when the source has a free seat. Refuses service.unavailable if too many of its calls wait. */
  within<T>(source: string, work: () => Promise<T>): Promise<T>
}

/** Out of the ten database connections that a daemon has by default. */
const seatsOfOne = 4
const mostWaiting = 64

/** `factor` multiplies the seats of a source, like its rates (SVC_SOURCE_RATE); 0 counts as 1. */
export function openSourceSeats(held: HeldRefusals, factor = 1): SourceSeats {
  const seats = seatsOfOne * Math.max(1, factor)
  /** Only sources with a call under way. */
  const sources = new Map<string, { taken: number; readonly waiting: (() => void)[] }>()

  return {
    async within(source, work) {
      const own = sources.get(source) ?? { taken: 0, waiting: [] }
      sources.set(source, own)
      if (own.taken < seats) own.taken += 1
      else if (own.waiting.length >= mostWaiting) {
        await held.hold()
        throw new Problem('service.unavailable', {}, { headers: { 'retry-after': '1' } })
      } else await new Promise<void>((seated) => own.waiting.push(seated))
      try {
        return await work()
      } finally {
        const next = own.waiting.shift()
        if (next) next()
        else own.taken -= 1
        if (own.taken === 0) sources.delete(source)
      }
    },
  }
}
