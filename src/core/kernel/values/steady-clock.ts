/**
 * A time of day that may destroy something.
 *
 *    unsteady ──both clocks agree, and move on as the monotonic one does──▶ settling ──long enough──▶ trusted
 *        ▲                                                                      │                        │
 *        └──────────────────────────a clock jumps, or they differ───────────────┴────────────────────────┘
 *
 * A clock may be wrong: a host that wakes up in next month would purge what is in the trash of everybody. So the database's
 * clock and this process's own are read together with one that cannot jump. What is trusted is a time that was past at two
 * readings, `settleSeconds` apart, with every reading between them in order. Readings are kept in memory: a process that
 * ends loses them, which delays what is due and never makes it early. Spec: items 3; docs/decisions/0020, 0204.
 */
export interface ClockReading {
  readonly databaseMs: number
  readonly ownMs: number
  readonly monotonicSeconds: number
}

/** A stretch of readings in order: its first and its last one. */
export interface Steady {
  readonly first: ClockReading
  readonly last: ClockReading
}

/** How far two clocks may be apart, and how far one may be from where it should be. */
const toleranceMs = 60_000

/** The stretch with one more reading; undefined where the clocks differ. */
export function observed(steady: Steady | undefined, now: ClockReading): Steady | undefined {
  if (Math.abs(now.databaseMs - now.ownMs) > toleranceMs) return undefined
  const isInOrder =
    steady !== undefined && movesOn(steady.last, now, 'databaseMs') && movesOn(steady.last, now, 'ownMs')
  return isInOrder ? { first: steady.first, last: now } : { first: now, last: now }
}

/** The time in milliseconds that was past at both ends of the last `settleSeconds`; undefined: none is trusted yet. */
export function trustedMs({ first, last }: Steady, settleSeconds: number): number | undefined {
  if (first === last || last.monotonicSeconds - first.monotonicSeconds < settleSeconds) return undefined
  return Math.min(last.databaseMs, last.ownMs) - settleSeconds * 1000
}

const movesOn = (before: ClockReading, now: ClockReading, clock: 'databaseMs' | 'ownMs') =>
  Math.abs(now[clock] - before[clock] - (now.monotonicSeconds - before.monotonicSeconds) * 1000) <= toleranceMs
