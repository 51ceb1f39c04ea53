/**
 * A target: what a daemon knows of one webhook. It is kept in memory only, and lost when the daemon ends.
 *
 * `demand` says whether the target has deliveries to claim:
 *
 *              call             claim                 more
 *    quiet ───────────▶ due ───────────▶ claiming ───────────▶ due
 *                        │                │    │
 *    quiet ◀─────────────┘                │    └─ call ─▶ called ── more, done ─▶ due
 *                park         done        │                 │
 *    quiet ◀──────────────────────────────┘   claiming ◀────┘ park
 *
 *    quiet      nothing is known to be due
 *    due        something is due
 *    claiming   a turn claims deliveries of the target
 *    called     the same, and something may have become due since the claim was sent
 *
 * `more`: each place was filled and more is due. `done`: nothing more is due. A `call` in quiet or due leads to due, and
 * a `park` in claiming changes nothing.
 *
 * Invariants:
 *  - At most one turn claims deliveries of a target at a time.
 *  - A place is given back once: when the claim leaves it empty, or when its attempt ends.
 *
 * The module is pure: its clock is given to it (lanes.ts). What is due is the database's to say (claim.ts). Decision 0117.
 */
import { type Lane, type Lanes, Places, slowMs } from './lanes.ts'
import { modeAfter, type Transitions } from './transitions.ts'

const pauseMs = 50
const longestPauseMs = 1_000

export type Demand = 'quiet' | 'due' | 'claiming' | 'called'
type DemandEvent = 'call' | 'park' | 'claim' | 'more' | 'done'

const demands: Transitions<Demand, DemandEvent> = {
  quiet: { call: 'due', park: 'quiet' },
  due: { call: 'due', park: 'quiet', claim: 'claiming' },
  claiming: { call: 'called', park: 'claiming', more: 'due', done: 'quiet' },
  called: { call: 'called', park: 'claiming', more: 'due', done: 'due' },
}

/** What a claim asks for. */
export interface ClaimRequest {
  readonly webhookId: string
  /** How many attempts it may start. */
  readonly slots: number
  /** Attempts of daemons that died may have to be settled first. */
  readonly hasExpired: boolean
}

/** A claim under way. It holds as many places as it has slots. */
export interface PendingClaim extends ClaimRequest {
  readonly target: Target
  readonly lane: Lane
  /** The target was healthy when the claim was made. */
  readonly isHealthy: boolean
}

/** How an attempt ended, as far as its target's lane depends on it. */
export interface AttemptEnd {
  readonly failed: boolean
  /** The answer was read to its end. */
  readonly isWhole: boolean
  /** The attempt used a connection that was open already. */
  readonly wasConnected: boolean
  readonly durationMs: number
}

/** A place in a lane, held by one attempt. */
export interface Place {
  /** Moves to the slow lane: the other place is free again. */
  becomeSlow(): void
  /** The attempt ended. A second call does nothing. */
  leave(end: AttemptEnd): void
}

export class Target {
  readonly webhookId: string
  private readonly lanes: Lanes
  private readonly workspacePlaces: Places
  private readonly places: Places
  private current: Demand = 'quiet'
  /** When something becomes due that is not due yet. */
  private dueAt = Number.POSITIVE_INFINITY
  private hasExpired = false
  /** How many attempts to ask for: twice as many as the last claim filled, so that few places are held in vain. */
  private batchHint = 1
  /** More was due than the last claim started. */
  private hasQueue = false
  private isSlow = false
  /** Failures in a row. */
  private failures = 0
  private notBefore = 0

  // The workspace reads the following. Only this class writes them.

  /** The last attempt succeeded and its answer was read to the end. A cut answer costs a connection each time. */
  isProven = false
  /** The last attempt used a connection that was open already. */
  isConnected = false
  /** When an attempt last started here while the target was healthy. */
  servedAt = Number.NEGATIVE_INFINITY
  /** When it last took or gave back a place. */
  touchedAt: number

  constructor(webhookId: string, lanes: Lanes, workspacePlaces: Places) {
    this.webhookId = webhookId
    this.lanes = lanes
    this.workspacePlaces = workspacePlaces
    this.places = new Places(workspacePlaces)
    this.touchedAt = lanes.now()
  }

  /** Something is due, or will be at `at`. */
  call(at = 0, hasExpired = false): void {
    if (at <= this.lanes.now()) this.on('call')
    else this.dueAt = Math.min(this.dueAt, at)
    if (hasExpired) this.hasExpired = true
  }

  /** Nothing can start now. What is due is found again later. */
  park(): void {
    this.on('park')
  }

  get demand(): Demand {
    return this.current
  }

  get lane(): Lane {
    if (this.failures > 0 || this.isSlow) return 'slow'
    return this.isProven ? 'quick' : 'fresh'
  }

  /** It answers well and in time, and has no queue. */
  get isHealthy(): boolean {
    return this.lane === 'quick' && !this.hasQueue
  }

  get isClaimed(): boolean {
    return this.current === 'claiming' || this.current === 'called'
  }

  /** How many attempts can start now. */
  slots(now: number): number {
    if (this.dueAt <= now) {
      this.dueAt = Number.POSITIVE_INFINITY
      this.on('call')
    }
    if (this.current !== 'due' || this.notBefore > now) return 0
    const { lane, lanes } = this
    const { limits } = lanes
    const own = (this.isProven ? limits[lane].target : 1) - this.places.total
    const inWorkspace = limits[lane].workspace - this.workspacePlaces.in(lane)
    // An attempt of the fresh lane may turn out to hang: it starts only while the slow lane has room for it.
    const inSlowLane = lane === 'fresh' ? lanes.free('slow') : Number.POSITIVE_INFINITY
    return Math.max(0, Math.min(own, this.batchHint, inWorkspace, lanes.free(lane), inSlowLane))
  }

  /** Begins a claim. `endClaim` ends it. */
  claim(slots: number): PendingClaim {
    this.on('claim')
    const { webhookId, hasExpired, lane, isHealthy } = this
    this.hold(lane, slots)
    return { webhookId, slots, hasExpired, target: this, lane, isHealthy }
  }

  /**
   * Ends a claim that started `started` attempts, and answers their places; the others are given back.
   * `isDrained`: nothing more is due, though each place was filled.
   */
  endClaim({ lane, slots, hasExpired, isHealthy }: PendingClaim, started: number, isDrained = false): Place[] {
    const hasMore = started === slots && !isDrained
    this.on(hasMore ? 'more' : 'done')
    this.hold(lane, started - slots)
    if (hasExpired) this.hasExpired = false
    this.hasQueue = hasMore
    this.batchHint = hasMore ? Math.min(this.batchHint * 2, this.lanes.limits.quick.target) : Math.max(1, started)
    if (started > 0 && isHealthy) this.servedAt = this.lanes.now()
    return Array.from({ length: started }, () => this.place(lane))
  }

  /** When something changes by the clock alone, counted from the moment at which `slots` was read last; Infinity when nothing does. */
  nextAt(readAt: number): number {
    const pauseEndsAt = this.current !== 'quiet' && this.notBefore > readAt ? this.notBefore : Number.POSITIVE_INFINITY
    return Math.min(this.dueAt, pauseEndsAt)
  }

  /** Nothing is due, now or later, and nothing is under way. */
  get isIdle(): boolean {
    return this.current === 'quiet' && this.dueAt === Number.POSITIVE_INFINITY && this.places.total === 0
  }

  private place(first: Lane): Place {
    let lane: Lane | undefined = first
    return {
      becomeSlow: () => {
        if (lane === undefined || lane === 'slow') return
        this.hold(lane, -1)
        this.hold('slow', 1)
        lane = 'slow'
      },
      leave: (end) => {
        if (lane === undefined) return
        this.hold(lane, -1)
        lane = undefined
        this.learn(end)
      },
    }
  }

  private learn({ failed, isWhole, wasConnected, durationMs }: AttemptEnd): void {
    this.isProven = !failed && isWhole
    this.isConnected = wasConnected
    this.failures = failed ? this.failures + 1 : 0
    this.isSlow = durationMs > slowMs
    this.notBefore = failed ? this.lanes.now() + Math.min(this.failures * pauseMs, longestPauseMs) : 0
  }

  private hold(lane: Lane, count: number): void {
    this.places.hold(lane, count)
    this.touchedAt = this.lanes.now()
  }

  private on(event: DemandEvent): void {
    this.current = modeAfter('target', demands, this.current, event)
  }
}
