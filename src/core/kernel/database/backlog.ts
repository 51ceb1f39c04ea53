/**
 * Backlog: how many transactions of a lane may wait for a connection, so that each of them gets one in time.
 *
 *         something waits               for half a second without a pause (the first time a second), or a lane is full
 *    CALM ───────────────▶ WAITING ────────────────────────────────────────────────────▶ BOUNDED
 *     ▲  ◀───────────────  a lane may have a burst           a lane may have its share     │
 *     │   nothing waits                                                                    │
 *     └────────── nothing waits, and for a second no call came beyond the share ───────────┘
 *
 * The share is a part of what is lent a connection within 100 ms, at the pace measured while something waits. A lane has
 * what the others leave of it, and an equal part at least. A lane with fewer than a third of the connections waiting is
 * below every share, so a lane is only refused for what it asks itself. On a slow machine all shares together are not
 * less than what a client with 32 connections sends, as long as that is served within half a second.
 *
 * For a lane that is refused more than a fifth of its calls, it is 50 ms: more comes than is done, so a longer queue serves
 * no more and is later. Clients that wait for their answers send no more than is done, so their lane keeps the 100 ms.
 * Refused clients that come back at once look like a flood. So what was refused is forgotten when nothing of the lane
 * waits, and every ten seconds: then they all find room, and a flood is found out again within some hundredths of a second.
 *
 * A burst on a calm pool may be a hundred calls, or what is lent a connection within 200 ms: it is over in a moment, and its
 * calls are served faster than they would come back. What stays is no burst, and the longer its queue is, the later is
 * every answer.
 *
 * Not guaranteed: one transaction may be as slow as its statements. The pace is that of the last second or so, so that a
 * disk that is slow for a moment refuses nobody.
 * Spec: decisions 7, Overload; docs/decisions/0185.
 */

/** How long a transaction may wait while the pool is BOUNDED. */
export const inTimeMs = 100
/** The same for a lane to which more comes than is done. */
export const floodInTimeMs = 50
/** A lane that is refused so much of what it asks is a flood. */
const floodRefused = 0.2
/** The weight of a new call in the part that is refused. */
const callWeight = 1 / 64
/** For so long a lane counts as a flood. */
const floodMs = 10_000
/** So many may wait in all even if they wait longer, but no longer than `fewMs`. */
const few = 32
const fewMs = 500
/** A burst on a calm pool: so many calls, or as many as are served within `burstInMs`. */
const leastBurst = 100
const burstInMs = 200
/** How long a queue may stand before it counts as more than a burst. The first one has `settleMs`: its connections are being made. */
const burstMs = 500
/** How long the bound stays after the last call beyond it. Without this, each moment without a queue would admit a burst. */
const boundedMs = 1_000
/** The pace is measured over at least so long. */
const windowMs = 100
/** The pace follows a change within so long. */
const settleMs = 1_000
/** The most that one window weighs: in a second in which the machine stood still nothing is lent, and its callers are few as before. */
const mostWeight = 0.5

/** What is known of a lane. */
export interface Asker {
  /** The part of its latest calls that was refused. */
  refused: number
  /** When that is forgotten, if it is that of a flood. */
  forgottenAt: number
}

/** What a call meets. */
export interface Queue {
  readonly asker: Asker
  readonly waiting: number
  readonly all: number
  readonly lanes: number
  readonly lateMs: number
}

export class Backlog {
  private readonly least: number
  private readonly full: number
  /** Since when something waits without a pause; undefined in CALM. */
  private standingSince: number | undefined
  private boundedUntil = 0
  private windowSince = 0
  private lent = 0
  /** Transactions lent a connection in a millisecond, while others waited. */
  private pace = 0
  /** For how long the pace was measured, in ms. */
  private measuredMs = 0

  /** `least`: a lane with fewer transactions waiting is never refused. `full`: the most that may wait in a lane. */
  constructor(least: number, full: number) {
    this.least = least
    this.full = full
  }

  /** Something waits, and nothing did before. */
  began(now = performance.now()): void {
    this.standingSince = now
    this.windowSince = now
    this.lent = 0
  }

  /** Nothing waits any more. */
  ended(): void {
    this.standingSince = undefined
  }

  /** A waiting transaction was lent a connection. */
  served(now = performance.now()): void {
    this.lent += 1
    this.measure(now)
  }

  /**
   * Whether a call is served in time. `asker`: its lane, which is changed by the answer. `waiting`: how many transactions
   * of it wait already. `all`: how many of all lanes. `lanes`: how many lanes wait. `lateMs`: how long the call has waited
   * before it came.
   */
  hasRoom(queue: Queue, now = performance.now()): boolean {
    const { asker, waiting } = queue
    if (waiting === 0 || (isFlood(asker) && now >= asker.forgottenAt)) asker.refused = 0
    const isRefused = !this.isInTime(queue, now)
    if (!isFlood(asker)) asker.forgottenAt = now + floodMs
    asker.refused += (Number(isRefused) - asker.refused) * callWeight
    if (isRefused) this.boundedUntil = now + boundedMs
    return !isRefused
  }

  private isInTime({ asker, waiting, all, lanes, lateMs }: Queue, now: number): boolean {
    if (waiting < this.least) return true
    this.measure(now)
    const within = isFlood(asker) ? floodInTimeMs : inTimeMs
    const most = this.isBounded(now) ? this.share(all - waiting, lanes, within - lateMs) : this.burst
    return waiting < Math.min(most, this.full)
  }

  /** Before the pace of this process is known, a lane may be full. */
  private get burst(): number {
    return this.measuredMs < settleMs ? this.full : Math.max(leastBurst, this.pace * burstInMs)
  }

  private isBounded(now: number): boolean {
    const burst = this.measuredMs < settleMs ? settleMs : burstMs
    return now < this.boundedUntil || (this.standingSince !== undefined && now - this.standingSince >= burst)
  }

  private share(others: number, lanes: number, ms: number): number {
    const inTime = this.pace * Math.max(0, ms)
    const together = Math.max(inTime, Math.min(few, this.pace * fewMs))
    return Math.max(this.least, together / Math.max(1, lanes), together - others)
  }

  /** Ends the window, which weighs as much as it is long. */
  private measure(now: number): void {
    const elapsed = now - this.windowSince
    if (this.standingSince === undefined || elapsed < windowMs) return
    const most = this.measuredMs === 0 ? 1 : mostWeight
    this.measuredMs += elapsed
    this.pace += (this.lent / elapsed - this.pace) * Math.min(most, elapsed / Math.min(this.measuredMs, settleMs))
    this.windowSince = now
    this.lent = 0
  }
}

/** More of it comes than is done. */
export const isFlood = ({ refused }: Asker): boolean => refused > floodRefused
