/**
 * Lanes: limits on the attempts under way, so that a slow or dead target delays no other target.
 *
 *    a target is in the lane            quick: its last attempt succeeded, and the answer was read to its end
 *                                       fresh: nothing is known of it, or its last answer was cut off
 *                                       slow:  its last attempt failed, or took longer than half a second
 *
 *                 quick   fresh   slow
 *    daemon        384      64     384     an attempt that lasts longer than half a second moves to the slow lane
 *    workspace     192      16      96
 *    target         16       1       8     1 after a failure or a cut answer
 *
 * Places are counted at three levels: a target's places are also its workspace's, and those are also the daemon's.
 *
 * Decision 0117.
 */

export type Lane = 'quick' | 'fresh' | 'slow'

export type Limits = {
  readonly [Name in Lane]: { readonly daemon: number; readonly workspace: number; readonly target: number }
} & {
  /** Attempts that one turn starts at healthy targets. */
  readonly atOnce: number
  /** Attempts that one turn starts at other targets while healthy ones are served: `behind` at targets that answer well but are slow or have a queue, `doubtful` at the rest. */
  readonly backgroundLimit: { readonly behind: number; readonly doubtful: number }
}

export const productLimits: Limits = {
  quick: { daemon: 384, workspace: 192, target: 16 },
  fresh: { daemon: 64, workspace: 16, target: 1 },
  slow: { daemon: 384, workspace: 96, target: 8 },
  atOnce: 64,
  backgroundLimit: { behind: 8, doubtful: 1 },
}

/** An attempt that lasts longer is slow. */
export const slowMs = 500

/** The places of one level that attempts hold, or claims that are under way. */
export class Places {
  private readonly held: Record<Lane, number> = { quick: 0, fresh: 0, slow: 0 }
  private above: Places | undefined

  constructor(above?: Places) {
    this.above = above
  }

  /** Takes places here and at each level above; a negative count gives them back. */
  hold(lane: Lane, count: number): void {
    this.held[lane] += count
    this.above?.hold(lane, count)
  }

  in(lane: Lane): number {
    return this.held[lane]
  }

  get total(): number {
    return this.held.quick + this.held.fresh + this.held.slow
  }

  /** Counts nothing at the levels above any more, neither what is held here now nor what will be. */
  detach(): void {
    for (const lane of ['quick', 'fresh', 'slow'] as const) this.above?.hold(lane, -this.held[lane])
    this.above = undefined
  }
}

/** What the workspaces of a daemon share: limits, places and a clock, in milliseconds since any moment. */
export class Lanes {
  readonly limits: Limits
  readonly places = new Places()
  readonly now: () => number
  private isClosed = false

  constructor(limits: Limits = productLimits, now: () => number = () => performance.now()) {
    this.limits = limits
    this.now = now
  }

  /** Places of a lane that are free in this daemon. */
  free(lane: Lane): number {
    return this.isClosed ? 0 : this.limits[lane].daemon - this.places.in(lane)
  }

  /** From now on no place is free. */
  close(): void {
    this.isClosed = true
  }
}
