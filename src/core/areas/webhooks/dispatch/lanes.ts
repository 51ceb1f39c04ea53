/**
 * Lanes: who may be called next, so that a slow or dead target delays nobody else.
 *
 *    quick   to targets whose last attempt succeeded, and whose answer could be read to its end
 *    fresh   to targets of which nothing is known, or whose last answer had to be cut off
 *    slow    to targets whose last attempt failed or was slow, and attempts that have lasted half a second
 *
 *                 quick   fresh   slow
 *    daemon        384      64     384     an attempt that becomes slow gives its other place back
 *    workspace     192      16      96
 *    target         16       1       8     1 after a failure or a cut answer, and a pause of 50 ms for each
 *                                          failure in a row, 1 s at most
 *
 * Within a workspace those that keep up come first: targets of the quick lane that have no
 * queue; among them those whose last attempt found a connection open, 64 attempts a turn.
 * Beside them, and for a second after, a turn begins few attempts at all others: eight at those
 * that answer well but are slow or have a queue, one at the rest; and these rest for 50 ms after.
 *
 * A daemon's targets are asked in turn, and its workspaces are too. All of it is a
 * daemon's own knowledge, forgotten when it ends; what is due is the database's to say
 * (claim.ts). Pure but for the clock it is given, in milliseconds of any beginning.
 */

type Lane = 'quick' | 'fresh' | 'slow'

export type Limits = {
  readonly [Name in Lane]: { readonly daemon: number; readonly workspace: number; readonly target: number }
} & {
  /** Attempts that one turn begins at targets that keep up. */
  readonly atOnce: number
  /** Attempts that one turn begins beside targets that keep up: at those that answer well but are slow or have a queue, and at the rest. */
  readonly backgroundLimit: { readonly behind: number; readonly doubtful: number }
}

export const productLimits: Limits = {
  quick: { daemon: 384, workspace: 192, target: 16 },
  fresh: { daemon: 64, workspace: 16, target: 1 },
  slow: { daemon: 384, workspace: 96, target: 8 },
  atOnce: 64,
  backgroundLimit: { behind: 8, doubtful: 1 },
}

export const slowMs = 500
const pauseMs = 50
const longestPauseMs = 1_000
/** How long those that keep up come before one that does not, where places are short. */
const patienceMs = 1_000
/** How long others stand back after a target that keeps up was served. */
const quietMs = 50
/** How long a turn begins few attempts at others after a target that keeps up was served. */
const yieldMs = 1_000
/** What is known of a target that nothing happens to is forgotten after this. */
const rememberedMs = 10 * 60_000

interface Target {
  readonly webhookId: string
  readonly workspace: Workspace
  /** Something is due, as far as is known. */
  isDue: boolean
  /** A claim is under way: what it begins is not known yet. */
  isAsked: boolean
  /** Rises with each call, so that a claim knows whether it was called meanwhile. */
  calls: number
  /** How many attempts to ask for at once: twice as many as the last claim filled, so that a place asked for in vain is kept from nobody. */
  batchHint: number
  /** More was due than the last claim began. */
  isBehind: boolean
  /** When an attempt was last begun at it as one that keeps up. */
  servedAt: number
  /** When something becomes due that is not yet. */
  dueAt: number
  hasExpired: boolean
  readonly held: Record<Lane, number>
  /** Its last attempt succeeded, and its answer was read to its end: what is cut off costs a connection each time. */
  isProven: boolean
  /** Its last attempt went over a connection that was open already. */
  isConnected: boolean
  failures: number
  isSlow: boolean
  notBefore: number
  touchedAt: number
}

interface Workspace {
  readonly tenantId: string
  readonly targets: Map<string, Target>
  readonly held: Record<Lane, number>
  /** When an attempt was last begun at a target that keeps up. */
  servedAt: number
}

/** How many attempts at one target may be begun, and in which lane they would be. */
export interface Wanted {
  readonly webhookId: string
  readonly slots: number
  /** Attempts of daemons that died may lie there. */
  readonly hasExpired: boolean
}

/** For whom places are taken. */
export type Who = 'all' | 'keep up' | 'others'

/** What may be begun at a workspace now. */
export interface Readiness {
  /** Something at a target that keeps up. */
  readonly keepsUp: boolean
  /** At others: nothing, something that rests while those that keep up are served, or something. */
  readonly others: 'idle' | 'resting' | 'ready'
}

/** A place held in a lane, until it is left. */
export interface Place {
  /** The attempt has become slow: its quick place is free for another. */
  slow(): void
  leave(outcome: {
    readonly failed: boolean
    readonly isWhole: boolean
    readonly wasConnected: boolean
    readonly durationMs: number
  }): void
}

interface Held extends Wanted {
  readonly target: Target
  readonly lane: Lane
  readonly calls: number
  /** Nothing bad is known of the target, and it has no queue. */
  readonly keepsUp: boolean
}

export class Lanes {
  private readonly workspaces = new Map<string, Workspace>()
  private readonly held: Record<Lane, number> = none()
  private readonly limits: Limits
  private readonly now: () => number
  /** When the readiness was read last. */
  private readAt = Number.NEGATIVE_INFINITY

  constructor(limits: Limits = productLimits, now: () => number = () => performance.now()) {
    this.limits = limits
    this.now = now
  }

  /** Something is due at a target, or will be. */
  call(tenantId: string, webhookId: string, at = 0, hasExpired = false): void {
    const target = this.targetOf(tenantId, webhookId)
    if (at <= this.now()) {
      target.isDue = true
      target.calls += 1
    } else target.dueAt = Math.min(target.dueAt, at)
    if (hasExpired) target.hasExpired = true
  }

  /** Nothing of the workspace can be begun now; whatever is due is found again later. */
  park(tenantId: string): void {
    for (const target of this.workspaces.get(tenantId)?.targets.values() ?? []) target.isDue = false
  }

  /** Workspaces at which something is due; whoever was asked last comes last. */
  readiness(): Map<string, Readiness> {
    const now = this.now()
    this.readAt = now
    const all = new Map<string, Readiness>()
    for (const workspace of this.workspaces.values()) {
      const readiness = this.readinessOf(workspace, now)
      if (readiness.keepsUp || readiness.others !== 'idle') all.set(workspace.tenantId, readiness)
    }
    return all
  }

  private readinessOf(workspace: Workspace, now: number): Readiness {
    const isQuiet = !wasServed(workspace, now)
    const readiness: { keepsUp: boolean; others: Readiness['others'] } = { keepsUp: false, others: 'idle' }
    for (const target of workspace.targets.values()) {
      if (this.slotsOf(target, now) === 0) continue
      if (keepsUp(target)) readiness.keepsUp = true
      // One that kept up a moment ago, and has a queue now, is not one of the others yet.
      else if (isQuiet || wasServed(target, now)) readiness.others = 'ready'
      else if (readiness.others === 'idle') readiness.others = 'resting'
      if (readiness.keepsUp && readiness.others === 'ready') break
    }
    return readiness
  }

  /** Takes places for what may be begun at a workspace; to be given to `claimed`, all of them. */
  take(tenantId: string, who: Who = 'all'): Held[] {
    const workspace = this.workspaces.get(tenantId)
    if (!workspace) return []
    this.toTheEnd(this.workspaces, tenantId, workspace)
    const now = this.now()
    const taken: Held[] = []
    let { atOnce } = this.limits
    const due = this.inOrder(workspace, now)
    const isAsked = [...workspace.targets.values()].some((target) => target.isAsked && keepsUp(target))
    const isYielding = isAsked || due.some(keepsUp) || now < workspace.servedAt + yieldMs
    const backgroundLimit = isYielding ? { ...this.limits.backgroundLimit } : { behind: Infinity, doubtful: Infinity }
    for (const target of due) {
      const isFirst = keepsUp(target)
      if (who !== 'all' && isFirst !== (who === 'keep up')) continue
      const lane = laneOf(target)
      // Who kept up a moment ago is no burden for having two events at once.
      const isCounted = !isFirst && (lane !== 'quick' || now >= target.servedAt + yieldMs)
      const rest = target.isProven ? 'behind' : 'doubtful'
      const left = isFirst ? atOnce : isCounted ? backgroundLimit[rest] : Infinity
      const slots = Math.min(this.slotsOf(target, now), left)
      if (slots === 0) continue
      if (isFirst) atOnce -= slots
      else if (isCounted) backgroundLimit[rest] -= slots
      this.hold(target, lane, slots)
      target.isAsked = true
      const { webhookId, hasExpired, calls } = target
      taken.push({ webhookId, slots, hasExpired, target, lane, calls, keepsUp: isFirst })
      this.toTheEnd(workspace.targets, target.webhookId, target)
    }
    return taken
  }

  /** Those to which something may be begun: who keeps up before all others, which so cannot make them wait, and who is connected before who is not; but nobody comes last for long. */
  private inOrder({ targets }: Workspace, now: number): Target[] {
    const rank = (target: Target) => {
      if (now - target.touchedAt > patienceMs) return 0
      if (!keepsUp(target)) return 2
      return target.isConnected ? 0 : 1
    }
    return [...targets.values()].filter((target) => this.slotsOf(target, now) > 0).sort((a, b) => rank(a) - rank(b))
  }

  /** What became of the places: one for each attempt begun, and the rest given back. `isDrained`: nothing more is due, though all were filled. */
  claimed(held: Held, begun: number, isDrained = false): Place[] {
    const { target, lane, slots, calls } = held
    const isBehind = begun === slots && !isDrained
    this.hold(target, lane, begun - slots)
    target.isAsked = false
    if (held.hasExpired) target.hasExpired = false
    // Unless somebody called since.
    if (!isBehind && target.calls === calls) target.isDue = false
    target.isBehind = isBehind
    if (begun > 0 && held.keepsUp) {
      target.servedAt = this.now()
      // One that has a queue from now on protects nobody from the others.
      if (!isBehind) target.workspace.servedAt = this.now()
    }
    target.batchHint = isBehind ? Math.min(target.batchHint * 2, this.limits.quick.target) : Math.max(1, begun)
    return Array.from({ length: begun }, () => this.place(target, lane))
  }

  /** When something changes by the clock alone; Infinity when nothing does. Counted from when the readiness was read: what was not yet then has not been seen since. */
  nextAt(): number {
    let next = Number.POSITIVE_INFINITY
    const { readAt } = this
    for (const { targets, servedAt } of this.workspaces.values()) {
      if (readAt < servedAt + quietMs) next = Math.min(next, servedAt + quietMs)
      for (const target of targets.values()) {
        next = Math.min(next, target.dueAt)
        if (target.isDue && target.notBefore > readAt) next = Math.min(next, target.notBefore)
      }
    }
    return next
  }

  get inFlight(): Readonly<Record<Lane, number>> {
    return { ...this.held }
  }

  /** Forgets targets that nothing has happened to for long. */
  forget(): void {
    const before = this.now() - rememberedMs
    for (const [tenantId, workspace] of this.workspaces) {
      for (const [id, target] of workspace.targets)
        if (target.touchedAt < before && !target.isDue && target.dueAt === Infinity && heldBy(target) === 0)
          workspace.targets.delete(id)
      if (workspace.targets.size === 0) this.workspaces.delete(tenantId)
    }
  }

  private place(target: Target, first: Lane): Place {
    let lane: Lane | undefined = first
    return {
      slow: () => {
        if (lane === undefined || lane === 'slow') return
        this.hold(target, lane, -1)
        this.hold(target, 'slow', 1)
        lane = 'slow'
      },
      leave: ({ failed, isWhole, wasConnected, durationMs }) => {
        if (lane === undefined) return
        this.hold(target, lane, -1)
        lane = undefined
        target.isProven = !failed && isWhole
        target.isConnected = wasConnected
        target.failures = failed ? target.failures + 1 : 0
        target.isSlow = durationMs > slowMs
        target.notBefore = failed ? this.now() + Math.min(target.failures * pauseMs, longestPauseMs) : 0
      },
    }
  }

  /** How many attempts may be begun at a target now. */
  private slotsOf(target: Target, now: number): number {
    if (target.dueAt <= now) {
      target.isDue = true
      target.calls += 1
      target.dueAt = Number.POSITIVE_INFINITY
    }
    if (!target.isDue || target.isAsked || target.notBefore > now) return 0
    const lane = laneOf(target)
    const { workspace } = target
    const own = (target.isProven ? this.limits[lane].target : 1) - heldBy(target)
    const left = [
      own,
      target.batchHint,
      this.limits[lane].workspace - workspace.held[lane],
      this.limits[lane].daemon - this.held[lane],
    ]
    // What is not known may turn out to hang: it begins only while there is room for that.
    if (lane === 'fresh') left.push(this.limits.slow.daemon - this.held.slow)
    return Math.max(0, Math.min(...left))
  }

  private hold(target: Target, lane: Lane, count: number): void {
    target.held[lane] += count
    target.workspace.held[lane] += count
    this.held[lane] += count
    target.touchedAt = this.now()
  }

  private toTheEnd<T>(map: Map<string, T>, key: string, value: T): void {
    map.delete(key)
    map.set(key, value)
  }

  private targetOf(tenantId: string, webhookId: string): Target {
    let workspace = this.workspaces.get(tenantId)
    if (!workspace) {
      workspace = { tenantId, targets: new Map(), held: none(), servedAt: Number.NEGATIVE_INFINITY }
      this.workspaces.set(tenantId, workspace)
    }
    let target = workspace.targets.get(webhookId)
    if (!target) {
      target = {
        webhookId,
        workspace,
        isDue: false,
        isAsked: false,
        calls: 0,
        batchHint: 1,
        isBehind: false,
        servedAt: Number.NEGATIVE_INFINITY,
        dueAt: Number.POSITIVE_INFINITY,
        hasExpired: false,
        held: none(),
        isProven: false,
        isConnected: false,
        failures: 0,
        isSlow: false,
        notBefore: 0,
        touchedAt: this.now(),
      }
      workspace.targets.set(webhookId, target)
    }
    return target
  }
}

const wasServed = ({ servedAt }: { readonly servedAt: number }, now: number) => now < servedAt + quietMs

const none = (): Record<Lane, number> => ({ quick: 0, fresh: 0, slow: 0 })
const heldBy = ({ held }: Target) => held.quick + held.fresh + held.slow

/** Nothing bad is known of it, and it has no queue. */
const keepsUp = (target: Target) => laneOf(target) === 'quick' && !target.isBehind

function laneOf({ failures, isSlow, isProven }: Target): Lane {
  if (failures > 0 || isSlow) return 'slow'
  return isProven ? 'quick' : 'fresh'
}

export type { Held }
