/**
 * The way of a purge through one table: in rounds, by key, until a round finds nothing.
 *
 *    round 1   ─200─┤──400──┤──800──┤─ … ─▶    removes; each batch begins where the last ended
 *    round 2   ─────┤───────┤───────┤─ … ─▶    finds what was left (a row others referred to)
 *
 * PostgreSQL leaves the index entries of removed rows behind, and whoever walks over them
 * visits every one. So no step ever begins at the first key again, but in the segments of
 * the round before: each walks over one batch's entries, and marks them dead for good. The
 * last look at the whole table is quick after that.
 */
import type { Key, KeyRange } from './purge-tables.ts'

export interface Walk {
  /** Rows of the next step: behind `after`, up to and with `upto`; undefined is no bound. */
  readonly range: KeyRange
  /** Whether a whole round found nothing. */
  readonly isOver: boolean
  /** Notes what a step of at most `size` rows removed. */
  note(removed: readonly Key[], size: number): void
}

export function openWalk(): Walk {
  let starts: (Key | undefined)[] = [undefined]
  let segment = 0
  let after: Key | undefined
  let nextStarts: (Key | undefined)[] = [undefined]
  let found = 0
  let isOver = false

  const go = (to: Key | undefined) => {
    after = to
    nextStarts.push(to)
  }
  const endRound = () => {
    isOver = found === 0
    starts = nextStarts
    nextStarts = [undefined]
    segment = 0
    after = undefined
    found = 0
  }
  return {
    get range() {
      return { after, upto: starts[segment + 1] }
    },
    get isOver() {
      return isOver
    },
    note(removed, size) {
      found += removed.length
      if (removed.length === size) return go(removed.at(-1))
      segment += 1
      if (segment < starts.length) go(starts[segment])
      else endRound()
    },
  }
}
