/**
 * How long the second side of a race waits, so that either may win on any machine. A fixed wait races on the machine on
 * which it was chosen; on a slower one the same side wins each round. Here each round's outcome moves the next wait
 * towards the moment at which the outcome changes: twice as far while the same side wins, half as far after a change.
 */
import { setTimeout as pause } from 'node:timers/promises'

export interface TightRace {
  /** Starts both sides, the second after the wait (or the first, if the wait is below zero), and answers both. */
  run<A, B>(first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]>
  /** Says who came first in the round that has ended. */
  wonBy(side: 'first' | 'second'): void
}

export function tightRace(): TightRace {
  let waitMs = 0
  let stepMs = 2
  let last: 'first' | 'second' | undefined
  return {
    run: (first, second) =>
      Promise.all([pause(Math.max(0, -waitMs)).then(first), pause(Math.max(0, waitMs)).then(second)]),
    wonBy(side) {
      if (last !== undefined) stepMs = side === last ? stepMs * 2 : Math.max(1, stepMs / 2)
      last = side
      // Who won has to begin later. Beyond two seconds no side waits for the other any more.
      waitMs = Math.min(2000, Math.max(-2000, waitMs + (side === 'first' ? -stepMs : stepMs)))
      stepMs = Math.min(stepMs, 1000)
    },
  }
}
