import type { Pool } from '../../kernel/database/pool.ts'

/**
 * Others are present if the pool lends them so many connections in so many ms; a daemon's own work mostly needs fewer.
 */
const borrowedOften = 2
const countedMs = 50
/** How long others count as present after that. */
const politeMs = 1_000

/**
 * Whether the pool lends connections to others at present. Each of our own is subtracted before it
 * is requested. At first others are presumed present, because none can have been seen yet. `clock` answers milliseconds.
 */
export function othersOf(pool: { readonly counts: Pick<Pool['counts'], 'lent'> }, clock = () => performance.now()) {
  let notOthers = pool.counts.lent
  let countedFrom = clock()
  let presentUntil = countedFrom + countedMs
  return {
    discount() {
      notOthers += 1
    },
    arePresent() {
      const now = clock()
      const { lent } = pool.counts
      const areSeen = lent - notOthers >= borrowedOften
      if (areSeen) presentUntil = now + politeMs
      if (areSeen || now >= countedFrom + countedMs) {
        notOthers = lent
        countedFrom = now
      }
      return now < presentUntil
    },
  }
}
