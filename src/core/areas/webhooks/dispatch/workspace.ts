/**
 * A workspace's deliveries as one daemon sees them: targets, results that wait to be recorded, and turns.
 *
 * A turn is one transaction of the workspace. There are two kinds: the fast turn claims for healthy targets and records
 * nothing; the slow turn records results and claims for the other targets. The mode says which turns are open, and
 * whether recording failed:
 *
 *                   openFast                    openSlow
 *          fast ◀────────────────── idle ──────────────────▶ slow
 *           │                                                │  │
 *           └─ openSlow ──▶ both ◀─────────────── openFast ──┘  │ failRecording
 *                             │                                 ▼
 *                             └─ failRecording ─▶ blocking ─▶ blocked ◀──────┐
 *                                                  closeFast    │ openSlow   │ failRecording
 *                                                               ▼            │
 *                                         idle ◀─ closeSlow ─ retrying ──────┘
 *
 *    closeFast and closeSlow undo openFast and openSlow: both leads to slow or fast, and these lead to idle.
 *
 *    mode        open turns    openFast   closeFast   openSlow   closeSlow   failRecording
 *    idle        none          fast       -           slow       -           -
 *    fast        fast          -          idle        both       -           -
 *    slow        slow          both       -           -          idle        blocked
 *    both        fast, slow    -          slow        -          fast        blocking
 *    blocking    fast          -          blocked     -          -           -
 *    blocked     none          -          -           retrying   -           -
 *    retrying    slow          -          -           -          idle        blocked
 *
 * Invariants:
 *  - At most one turn of each kind is open. So results are recorded in the order in which the attempts ended.
 *  - In blocked and blocking results wait.
 *  - In blocking, blocked and retrying no fast turn opens: nothing starts unless the same transaction records. Otherwise
 *    attempts whose results cannot be written would be repeated again and again.
 *  - An event that the mode does not allow throws and changes nothing.
 *
 * The module is pure: it gets its clock from lanes.ts, and opens no transaction itself (dispatcher.ts). Decisions 0117, 0173.
 */
import type { Begun, Claim } from './claim.ts'
import { type Lanes, Places } from './lanes.ts'
import type { Outcome } from './record.ts'
import { type AttemptEnd, type PendingClaim, type Place, Target } from './target.ts'
import { modeAfter, type Transitions } from './transitions.ts'

/** How long the slow turn waits for the fast one and for targets that rest. */
const longestWaitMs = 50
/** How long the other targets get no turn after a healthy one was served. */
const restMs = 50
/** How long a turn starts few attempts at other targets after a healthy one was served. */
const yieldMs = 1_000
/** For so long after a healthy target was served, slow turns keep `paceMs` between them. */
const pacedMs = 200
/** From one slow turn to the next at least: each costs several milliseconds, whatever it starts. */
const paceMs = 50
/** How long a target comes after the healthy ones at most, where places are short. */
const patienceMs = 1_000
/** How long the slow turn waits at most, after a turn that filled all its places, until two thirds of the attempts have ended. */
const gatherMs = 4
/** Results that one turn records at most. Where more wait, nothing starts unless the same transaction records. */
const recordedAtOnce = 500
/** What is known of a target is forgotten when nothing has happened to it for so long. */
const rememberedMs = 10 * 60_000

export type Mode = 'idle' | 'fast' | 'slow' | 'both' | 'blocking' | 'blocked' | 'retrying'
type TurnEvent = 'openFast' | 'closeFast' | 'openSlow' | 'closeSlow' | 'failRecording'

const modes: Transitions<Mode, TurnEvent> = {
  idle: { openFast: 'fast', openSlow: 'slow' },
  fast: { closeFast: 'idle', openSlow: 'both' },
  slow: { openFast: 'both', closeSlow: 'idle', failRecording: 'blocked' },
  both: { closeFast: 'slow', closeSlow: 'fast', failRecording: 'blocking' },
  blocking: { closeFast: 'blocked' },
  blocked: { openSlow: 'retrying' },
  retrying: { closeSlow: 'idle', failRecording: 'blocked' },
}

/** The targets that a turn claims for. A turn for `healthy` ones is the fast turn; any other is the slow turn. */
export type Scope = 'healthy' | 'others' | 'all'

/** A turn that is open, until it is given to `commit` or to `rollBack`. */
export interface Turn {
  readonly kind: 'fast' | 'slow'
  readonly results: readonly Outcome[]
  readonly claims: readonly PendingClaim[]
}

/** What can start now. */
export interface Readiness {
  readonly healthy: boolean
  /** `resting`: something could start, but a healthy target was served a moment ago. */
  readonly others: 'none' | 'resting' | 'ready'
}

/** An attempt that a turn has started in its row. */
export interface Started {
  readonly begun: Begun
  readonly place: Place
}

const unknownEnd: AttemptEnd = { failed: true, isWhole: false, wasConnected: false, durationMs: 0 }

export class Workspace {
  readonly tenantId: string
  private readonly lanes: Lanes
  private readonly places: Places
  private current: Mode = 'idle'
  /** In the order in which they are asked: the one that was asked last comes last. */
  private readonly targets = new Map<string, Target>()
  /** Results that wait for the slow turn, in the order in which the attempts ended. */
  private readonly results: Outcome[] = []
  private underWay = 0
  /** When an attempt last started at a healthy target. */
  private servedAt = Number.NEGATIVE_INFINITY
  /** Since when the slow turn is wanted and does not open. */
  private waitingSince: number | undefined
  private gatherUntil = Number.NEGATIVE_INFINITY
  private paceUntil = Number.NEGATIVE_INFINITY

  constructor(tenantId: string, lanes: Lanes) {
    this.tenantId = tenantId
    this.lanes = lanes
    this.places = new Places(lanes.places)
  }

  get mode(): Mode {
    return this.current
  }

  /** No turn is open, no attempt is under way, and no result waits. */
  get isSettled(): boolean {
    return this.current === 'idle' && this.underWay === 0 && this.results.length === 0
  }

  /** Something is due at a target, or will be at `at`. `hasExpired`: attempts of daemons that died may lie there. */
  call(webhookId: string, at = 0, hasExpired = false): void {
    let target = this.targets.get(webhookId)
    if (!target) {
      target = new Target(webhookId, this.lanes, this.places)
      this.targets.set(webhookId, target)
    }
    target.call(at, hasExpired)
  }

  /**
   * The turns that should open now. `free`: how many turns this daemon has left, at least 1.
   *
   * While the fast turn is open and while the other targets rest, the slow turn waits, 50 ms at most; and where
   * healthy targets were served within 200 ms, for 50 ms after it opened last. If only one turn is left, it does the work of both. So it does
   * after recording failed, and where too many results wait.
   */
  turnsDue(free: number): readonly Scope[] {
    const now = this.lanes.now()
    const { healthy, others } = this.readiness(now)
    const opensFast = healthy && !this.isLagging && this.allows('openFast')
    const isAlone = !opensFast && this.current !== 'fast' && this.current !== 'both'
    const opensSlow = this.isSlowDue(others, isAlone, now) && this.allows('openSlow') && !this.gathers(now)
    if (!opensSlow) return opensFast ? ['healthy'] : []
    this.waitingSince = undefined
    if (this.isLagging || (opensFast && free === 1)) return ['all']
    return opensFast ? ['healthy', 'others'] : ['others']
  }

  readiness(now = this.lanes.now()): Readiness {
    const isResting = isWithin(restMs, this.servedAt, now)
    let healthy = false
    let others: Readiness['others'] = 'none'
    for (const target of this.targets.values()) {
      if (target.slots(now) === 0) continue
      if (target.isHealthy) healthy = true
      // One that was healthy a moment ago and has a queue now does not rest.
      else if (!isResting || isWithin(restMs, target.servedAt, now)) others = 'ready'
      else if (others === 'none') others = 'resting'
      if (healthy && others === 'ready') break
    }
    return { healthy, others }
  }

  /** Opens a turn. Answers undefined if there is nothing to do in it. */
  open(scope: Scope): Turn | undefined {
    const kind = scope === 'healthy' ? 'fast' : 'slow'
    const mode = this.after(kind === 'fast' ? 'openFast' : 'openSlow')
    const claims = this.claim(scope)
    const results = kind === 'fast' ? [] : this.results.splice(0, recordedAtOnce)
    if (claims.length === 0 && results.length === 0) return undefined
    this.current = mode
    const now = this.lanes.now()
    if (kind === 'slow' && isWithin(pacedMs, this.servedAt, now)) this.paceUntil = now + paceMs
    return { kind, claims, results }
  }

  /** A turn was committed. Answers the attempts that it started. `isServed`: the workspace is ACTIVE. */
  commit({ kind, results, claims }: Turn, claimed: Claim & { readonly isServed: boolean }): Started[] {
    this.on(kind === 'fast' ? 'closeFast' : 'closeSlow')
    const now = this.lanes.now()
    // Retries are remembered, so that nothing has to look for them.
    for (const { begun, verdict } of results)
      if (verdict.status === 'FAILED') this.call(begun.webhookId, now + verdict.waitSeconds * 1000)
    const started = this.endClaims(claims, claimed)
    const slots = claims.reduce((sum, claim) => sum + claim.slots, 0)
    // Every place was filled and more is due: nothing can start until something ends.
    if (slots > claimed.drained.size && started.length === slots) this.gatherUntil = now + gatherMs
    if (!claimed.isServed) for (const target of this.targets.values()) target.park()
    return started
  }

  /**
   * A turn was rolled back: its claims are made again. `results`: `kept` to be recorded by the next turn, or `dropped`
   * where nothing can be written; then their leases expire and the attempts are made again.
   */
  rollBack({ kind, results, claims }: Turn, becomes: { readonly results: 'kept' | 'dropped' }): void {
    const isKept = becomes.results === 'kept'
    if (kind === 'fast') this.on('closeFast')
    else this.on(isKept && results.length > 0 ? 'failRecording' : 'closeSlow')
    if (isKept) this.results.unshift(...results)
    for (const claim of claims) {
      claim.target.endClaim(claim, 0)
      if (isKept) claim.target.call()
    }
  }

  /** An attempt ended. Its result waits for the slow turn; without one, its lease expires and the attempt is made again. */
  ended(place: Place, result: Outcome | undefined): void {
    this.underWay -= 1
    place.leave(result ? endOf(result) : unknownEnd)
    if (result) this.results.push(result)
  }

  /** When something changes by the clock alone, counted from the last call of `turnsDue`; Infinity when nothing does. */
  nextAt(readAt: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const at of [this.servedAt + restMs, this.gatherUntil, this.paceUntil])
      if (at > readAt) next = Math.min(next, at)
    for (const target of this.targets.values()) next = Math.min(next, target.nextAt(readAt))
    return next
  }

  /** Forgets targets to which nothing has happened for long. Answers whether the workspace itself can be forgotten. */
  forget(): boolean {
    const before = this.lanes.now() - rememberedMs
    for (const [id, target] of this.targets) if (target.touchedAt < before && target.isIdle) this.targets.delete(id)
    return this.targets.size === 0 && this.isSettled
  }

  /** The daemon stops using this object: its places do not count in the daemon's any more. */
  discard(): void {
    this.places.detach()
  }

  /** Recording failed, or too many results wait: nothing may start unless the same transaction records. */
  private get isLagging(): boolean {
    const hasFailed = this.current === 'blocking' || this.current === 'blocked' || this.current === 'retrying'
    return hasFailed || this.results.length > recordedAtOnce
  }

  /** `isAlone`: the fast turn is not open, nor does it open now. */
  private isSlowDue(others: Readiness['others'], isAlone: boolean, now: number): boolean {
    if (others === 'none' && this.results.length === 0) {
      this.waitingSince = undefined
      return false
    }
    if (this.isLagging) return true
    if (now < this.paceUntil) return false
    if (isAlone && others !== 'resting') return true
    this.waitingSince ??= now
    return now - this.waitingSince >= longestWaitMs
  }

  private gathers(now: number): boolean {
    return now < this.gatherUntil && this.results.length < 2 * this.underWay
  }

  private claim(scope: Scope): PendingClaim[] {
    const now = this.lanes.now()
    const due = this.inOrder(now)
    const left = this.allowances(due, now)
    const claims: PendingClaim[] = []
    for (const target of due) {
      if (scope !== 'all' && target.isHealthy !== (scope === 'healthy')) continue
      const allowance = allowanceOf(target, now)
      const slots = Math.min(target.slots(now), left[allowance])
      if (slots === 0) continue
      left[allowance] -= slots
      claims.push(target.claim(slots))
      this.targets.delete(target.webhookId)
      this.targets.set(target.webhookId, target)
    }
    return claims
  }

  /** How many attempts one turn may start. */
  private allowances(due: readonly Target[], now: number): Record<Allowance, number> {
    const { atOnce, backgroundLimit } = this.lanes.limits
    const isYielding =
      isWithin(yieldMs, this.servedAt, now) ||
      due.some((target) => target.isHealthy) ||
      [...this.targets.values()].some((target) => target.isClaimed && target.isHealthy)
    const background = isYielding ? backgroundLimit : { behind: Infinity, doubtful: Infinity }
    return { healthy: atOnce, exempt: Infinity, ...background }
  }

  /** Targets at which something can start: healthy ones first, connected ones before all; but none waits for them for more than a second. */
  private inOrder(now: number): Target[] {
    const rank = (target: Target) => {
      if (now - target.touchedAt > patienceMs) return 0
      if (!target.isHealthy) return 2
      return target.isConnected ? 0 : 1
    }
    const due = [...this.targets.values()].filter((target) => target.slots(now) > 0)
    return due.sort((a, b) => rank(a) - rank(b))
  }

  private endClaims(claims: readonly PendingClaim[], { begun, drained }: Claim): Started[] {
    const byWebhook = Map.groupBy(begun, ({ webhookId }) => webhookId)
    return claims.flatMap((claim) => {
      const { target, slots, isHealthy, webhookId } = claim
      const attempts = byWebhook.get(webhookId) ?? []
      const isDrained = drained.has(webhookId)
      const places = target.endClaim(claim, attempts.length, isDrained)
      this.underWay += places.length
      // A target that has a queue from now on protects no one from the others.
      const hasMore = attempts.length === slots && !isDrained
      if (isHealthy && attempts.length > 0 && !hasMore) this.servedAt = this.lanes.now()
      return attempts.flatMap((one, at) => {
        const place = places[at]
        return place ? [{ begun: one, place }] : []
      })
    })
  }

  private allows(event: TurnEvent): boolean {
    return modes[this.current][event] !== undefined
  }

  private after(event: TurnEvent): Mode {
    return modeAfter('workspace', modes, this.current, event)
  }

  private on(event: TurnEvent): void {
    this.current = this.after(event)
  }
}

const endOf = ({ verdict, isWhole, trace, durationMs }: Outcome): AttemptEnd => ({
  failed: verdict.status !== 'SUCCEEDED',
  isWhole,
  wasConnected: trace?.reused ?? false,
  durationMs,
})

type Allowance = 'healthy' | 'exempt' | 'behind' | 'doubtful'

function allowanceOf(target: Target, now: number): Allowance {
  if (target.isHealthy) return 'healthy'
  // A target that was healthy within the last second is exempt: two events at once are no reason to hold it back.
  if (target.lane === 'quick' && isWithin(yieldMs, target.servedAt, now)) return 'exempt'
  return target.isProven ? 'behind' : 'doubtful'
}

const isWithin = (ms: number, at: number, now: number) => now < at + ms
