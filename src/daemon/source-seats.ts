/**
 * How many calls of one source are under way at a time.
 *
 * A stranger's call may cost statements and a hash. Four of one source are carried out at
 * once and the next 64 wait for those, so that a flood from one address takes neither the
 * connections to the database nor the place of others; it waits for itself, before anything
 * is done for it. Decision record 0146. Spec: decisions 7, Overload.
 */
import { Problem } from '../core/contract/problem.ts'
import type { HeldRefusals } from './held-refusals.ts'

export interface SourceSeats {
  /** Carries the work out once the source has a seat. Refuses service.unavailable where too many of it wait. */
  within<T>(source: string, work: () => Promise<T>): Promise<T>
}

/** Of the ten connections to the database that a daemon has by default. */
const seatsOfOne = 4
const mostWaiting = 64

/** `factor`: how many times as many seats a source has, as its rates (SVC_SOURCE_RATE); those of 0 are as of 1. */
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
