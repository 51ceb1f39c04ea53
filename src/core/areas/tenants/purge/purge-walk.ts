/**
 * How a purge walks through one table: in rounds, by key, until a round finds nothing.
 *
 *    round 1   ─50─┤──100──┤──200──┤─ … ─▶    removes; each batch begins where the last ended
 *    round 2   ────┤───────┤───────┤─ … ─▶    finds what was left (a row others referred to)
 *
 * PostgreSQL keeps the index entries of removed rows, and a scan visits each of them. So a later
 * round does not begin each step at the first key, but at the segments of the round before. Each
 * step scans the entries of one batch and marks them dead. After that, the last check of the
 * whole table is quick.
 */
import type { Key, KeyRange } from './purge-tables.ts'

export interface Walk {
  /** Rows of the next step: after `after`, up to and including `upto`; undefined: no bound. */
  readonly range: KeyRange
  /** Whether a whole round found nothing. */
  readonly isOver: boolean
  /** Records the keys that a step of at most `size` rows removed. */
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
