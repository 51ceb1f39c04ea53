/**
 * The dispatcher: makes the attempts that are due, in this process, beside any others.
 *
 *    bell, clock, discovery ──▶ lanes ──▶ turn: record what is over, claim what may be begun ──▶ commit
 *                                 ▲                                                               │
 *                                 └──── the place is free ◀── the target answered ◀── POST ◀──────┘
 *
 * A turn is one transaction of one workspace. A workspace has one for its targets that keep up,
 * which claims for them and records nothing, and one for what is over and for all others, which
 * waits for the first 50 ms at most and then runs beside it: so who keeps up waits for nobody,
 * and what attempts came to is recorded in the order in which they ended. Each of the two comes
 * one at a time: what ends meanwhile waits for the next, and where every place was filled the
 * next waits for two thirds of what is under way, 4 ms at most: turns grow with the load instead
 * of becoming more.
 * No transaction is open while a target is waited for.
 *
 * Not guaranteed: that a target is called once. A daemon that is killed leaves attempts
 * whose end nobody knows, and they are made again under the event's same id (claim.ts).
 *
 * Idle, it looks at the database every five seconds, and at nothing in between.
 *
 * Spec: Events, rule 3; decisions 5, Delivery.
 */
import { setMaxListeners } from 'node:events'
import { Problem } from '../../../contract/problem.ts'
import { listen } from '../../../kernel/database/notifications.ts'
import type { WebhookClient } from '../../../kernel/egress/post.ts'
import { dueChannel, perNotification } from '../../../kernel/outbox/fan-out.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { signed } from '../signature.ts'
import type { Begun } from './claim.ts'
import { discover } from './discover.ts'
import { type Held, Lanes, type Limits, type Place, productLimits, type Readiness, slowMs, type Who } from './lanes.ts'
import { type Outcome, outcomeOf, withoutEvent } from './record.ts'
import { type Turn, takeTurn } from './turn.ts'

export interface DispatcherOptions {
  readonly onFailure: (what: string, error: unknown) => void
  readonly limits?: Limits
  /** How far the deliveries' clock is ahead of the database's, in seconds: for tests, which cannot wait for hours. */
  readonly aheadSeconds?: () => number
}

export interface Dispatcher {
  /** Looks for what is due now, as it does every five seconds. */
  look(): Promise<void>
  /** Attempts under way, by lane. */
  readonly inFlight: { readonly quick: number; readonly fresh: number; readonly slow: number }
  /** Begins nothing more, waits for what is under way, and gives up what is not over in time; within 7 s. */
  close(): Promise<void>
}

const lookMs = 5_000
const lookAheadSeconds = 30
/** After a failure of the database, or at the gate. */
const pauseMs = 500
const tellMs = 60_000
/** How long a workspace whose places were all filled gathers at most, until two thirds of what it had under way are over. */
const gatherMs = 4
/** How long what is over and the others wait at most for the turns of those that keep up. */
const longestWaitMs = 50
/** How long a full notification waits for the one that carries on where it ended. */
const carryOnMs = 3
/** Outcomes that one turn records at most; where more wait, nobody runs ahead of them. */
const recordedAtOnce = 500
const drainMs = 5_000
const recordMs = 1_500

export const startDispatcher = (
  installation: Installation,
  webhookClient: Pick<WebhookClient, 'post'>,
  options: DispatcherOptions,
): Dispatcher => new RunningDispatcher(installation, webhookClient, options)

class RunningDispatcher implements Dispatcher {
  private readonly installation: Installation
  private readonly webhookClient: Pick<WebhookClient, 'post'>
  private readonly options: DispatcherOptions
  private readonly lanes: Lanes
  private readonly listening: { close(): Promise<void> }
  /** Outcomes that wait for their workspace's next turn. */
  private readonly over = new Map<string, Outcome[]>()
  /** Workspaces in which what is over and the others wait for those that keep up, and since when. */
  private readonly waitingSince = new Map<string, number>()
  /** Workspaces whose outcomes could not be recorded; nothing begins there apart from that, or it would be begun again and again. */
  private readonly unrecorded = new Set<string>()
  /** Workspaces whose turn it is, or will be as soon as one is free. */
  private readonly turning = new Set<string>()
  private readonly inTurn = new Set<string>()
  /** Workspaces whose targets that keep up have a turn of their own. */
  private readonly inFirstTurn = new Set<string>()
  /** Workspaces that had a turn a moment ago, and until when they gather. */
  private readonly gathering = new Map<string, number>()
  /** Attempts under way, by workspace. */
  private readonly underWay = new Map<string, number>()
  private turns = 0
  private readonly turnsAtMost: number
  private readonly attempts = new Set<Promise<void>>()
  private readonly interrupt = new AbortController()
  private timer: NodeJS.Timeout | undefined
  private lookedAt = 0
  private looking: Promise<void> | undefined
  private pausedUntil = 0
  private toldAt = Number.NEGATIVE_INFINITY
  private closing: Promise<void> | undefined
  private isClosing = false

  constructor(installation: Installation, webhookClient: Pick<WebhookClient, 'post'>, options: DispatcherOptions) {
    this.installation = installation
    this.webhookClient = webhookClient
    this.options = options
    this.lanes = new Lanes(options.limits ?? productLimits)
    setMaxListeners(0, this.interrupt.signal) // every attempt under way is one
    // The rest of the pool is for requests.
    this.turnsAtMost = Math.max(1, Math.floor(installation.config.poolSize / 3))
    this.listening = listen(installation.address, dueChannel, {
      heard: (payload) => this.heard(payload),
      listens: () => void this.look(),
    })
    void this.look()
  }

  get inFlight() {
    return this.lanes.inFlight
  }

  look(): Promise<void> {
    if (this.isClosing) return Promise.resolve()
    this.looking ??= this.findWork().finally(() => {
      this.looking = undefined
      this.pump()
    })
    return this.looking
  }

  close(): Promise<void> {
    this.closing ??= this.drain()
    return this.closing
  }

  private heard(payload: string): void {
    const [tenantId = '', ...webhookIds] = payload.split(' ')
    for (const webhookId of webhookIds) this.lanes.call(tenantId, webhookId)
    // A turn for the first part of them would be in the way of the others.
    if (webhookIds.length < perNotification) this.pump()
    else setTimeout(() => this.isClosing || this.pump(), carryOnMs)
  }

  private async findWork(): Promise<void> {
    this.lookedAt = performance.now()
    try {
      for (const { tenant_id, webhook_id, in_seconds, has_expired } of await discover(
        this.installation,
        lookAheadSeconds,
        this.ahead(),
      ))
        this.lanes.call(tenant_id, webhook_id, in_seconds <= 0 ? 0 : performance.now() + in_seconds * 1000, has_expired)
      this.lanes.forget()
    } catch (error) {
      this.options.onFailure('deliveries: looking for work', error)
    }
  }

  private ahead(): number {
    return this.options.aheadSeconds?.() ?? 0
  }

  private pumping: NodeJS.Immediate | undefined

  /** Once for all that happens in one round of the event loop. */
  private pump(): void {
    this.pumping ??= setImmediate(() => {
      this.pumping = undefined
      if (performance.now() >= this.pausedUntil) this.giveTurns()
      this.setClock()
    })
  }

  /** Gives turns to every workspace that has something to record or to begin. */
  private giveTurns(): void {
    const now = performance.now()
    for (const [tenantId, until] of this.gathering) if (until <= now) this.gathering.delete(tenantId)
    const readiness = this.isClosing ? new Map<string, Readiness>() : this.lanes.readiness()
    for (const tenantId of readiness.keys()) this.turning.add(tenantId)
    for (const tenantId of this.over.keys()) this.turning.add(tenantId)
    for (const tenantId of this.turning) {
      if (this.turns >= this.turnsAtMost) break
      this.giveTurn(tenantId, readiness.get(tenantId) ?? { keepsUp: false, others: 'idle' })
    }
  }

  /**
   * Those that keep up have a turn of their own. What is over and the others wait while it lasts and while they rest,
   * 50 ms at most, and have theirs beside it then; where there is but one left, both share it.
   */
  private giveTurn(tenantId: string, { keepsUp, others }: Readiness): void {
    const over = this.over.get(tenantId)?.length ?? 0
    const lags = over > recordedAtOnce || this.unrecorded.has(tenantId)
    const first = keepsUp && !lags && !this.inFirstTurn.has(tenantId)
    const isWanted = others !== 'idle' || over > 0
    const isAlone = !first && !this.inFirstTurn.has(tenantId)
    const isDue = lags || (isWanted && ((isAlone && others !== 'resting') || this.waitedLong(tenantId)))
    const rest = isDue && !this.inTurn.has(tenantId) && !this.gathers(tenantId)
    if (rest || !isWanted) this.waitingSince.delete(tenantId)
    if (first || rest || !isDue) this.turning.delete(tenantId)
    const share = lags || (first && rest && this.turns + 1 === this.turnsAtMost)
    if (first && !share) this.have(tenantId, this.inFirstTurn, 'keep up')
    if (rest) this.have(tenantId, this.inTurn, share ? 'all' : 'others')
  }

  /** Since a turn was first wanted and not given. */
  private waitedLong(tenantId: string): boolean {
    const since = this.waitingSince.get(tenantId)
    if (since === undefined) this.waitingSince.set(tenantId, performance.now())
    return since !== undefined && performance.now() - since >= longestWaitMs
  }

  private gathers(tenantId: string): boolean {
    const over = this.over.get(tenantId)?.length ?? 0
    return this.gathering.has(tenantId) && over < 2 * (this.underWay.get(tenantId) ?? 0)
  }

  private setClock(): void {
    clearTimeout(this.timer)
    if (this.isClosing) return
    const now = performance.now()
    const next =
      this.pausedUntil > now
        ? this.pausedUntil
        : Math.max(Math.min(this.lookedAt + lookMs, this.lanes.nextAt(), ...this.gathering.values()), now + 1)
    this.timer = setTimeout(() => {
      if (performance.now() - this.lookedAt >= lookMs) void this.look()
      this.pump()
    }, next - now)
  }

  private have(tenantId: string, having: Set<string>, who: Who): void {
    const held = this.isClosing ? [] : this.lanes.take(tenantId, who)
    const outcomes = who === 'keep up' ? [] : this.toRecord(tenantId)
    if (outcomes.length === 0 && held.length === 0) return
    having.add(tenantId)
    this.turns += 1
    void this.turn(tenantId, outcomes, held).finally(() => {
      having.delete(tenantId)
      this.turns -= 1
      this.pump()
    })
  }

  private toRecord(tenantId: string): Outcome[] {
    const all = this.over.get(tenantId) ?? []
    const outcomes = all.splice(0, recordedAtOnce)
    if (all.length === 0) this.over.delete(tenantId)
    return outcomes
  }

  private async turn(tenantId: string, outcomes: readonly Outcome[], held: readonly Held[]): Promise<void> {
    try {
      const turn = await takeTurn(this.installation, tenantId, outcomes, held, this.ahead())
      if (outcomes.length > 0) this.recorded(outcomes, turn)
      this.begin(tenantId, held, turn)
    } catch (error) {
      this.failed(tenantId, outcomes, held, error)
    }
  }

  /** Retries are remembered, so that nobody has to look for them. */
  private recorded(outcomes: readonly Outcome[], { tenantId }: Turn): void {
    this.unrecorded.delete(tenantId)
    for (const { begun, verdict } of outcomes)
      if (verdict.status === 'FAILED')
        this.lanes.call(tenantId, begun.webhookId, performance.now() + verdict.waitSeconds * 1000)
  }

  private begin(tenantId: string, held: readonly Held[], turn: Turn): void {
    const begunAt = Map.groupBy(turn.begun, ({ webhookId }) => webhookId)
    for (const one of held) {
      const begun = begunAt.get(one.webhookId) ?? []
      for (const [at, place] of this.lanes.claimed(one, begun.length, turn.drained.has(one.webhookId)).entries()) {
        const attempt = begun[at]
        if (attempt) this.startAttempt(tenantId, attempt, place)
      }
    }
    // Every place was filled and more is due: nothing can begin until something is over.
    const asked = held.reduce((sum, { slots }) => sum + slots, 0)
    if (asked > turn.drained.size && turn.begun.length === asked)
      this.gathering.set(tenantId, performance.now() + gatherMs)
    if (turn.locked.length > 0) this.tellLocked()
    if (!turn.isServed) this.lanes.park(tenantId)
  }

  /** Once a minute: every look comes upon them again. */
  private tellLocked(): void {
    if (performance.now() - this.toldAt < tellMs) return
    this.toldAt = performance.now()
    this.options.onFailure('deliveries: signing secrets', new Problem('secret.unavailable'))
  }

  private failed(tenantId: string, outcomes: readonly Outcome[], held: readonly Held[], error: unknown): void {
    for (const one of held) this.lanes.claimed(one, 0)
    this.pausedUntil = performance.now() + pauseMs
    // Behind a closed gate nothing is written; the leases end by themselves, and the attempts are made again.
    this.unrecorded.delete(tenantId)
    if (error instanceof Problem && error.code === 'installation.recovering') return
    if (outcomes.length > 0) {
      this.over.set(tenantId, [...outcomes, ...(this.over.get(tenantId) ?? [])])
      this.unrecorded.add(tenantId)
    }
    for (const one of held) this.lanes.call(tenantId, one.webhookId)
    this.options.onFailure('deliveries: a turn', error)
  }

  private startAttempt(tenantId: string, begun: Begun, place: Place): void {
    const slow = setTimeout(() => {
      place.slow()
      this.pump()
    }, slowMs)
    this.underWay.set(tenantId, (this.underWay.get(tenantId) ?? 0) + 1)
    const attempt = this.deliver(begun)
      .then((outcome) => {
        const { isWhole, durationMs, trace } = outcome
        const wasConnected = trace?.reused ?? false
        place.leave({ failed: outcome.verdict.status !== 'SUCCEEDED', isWhole, wasConnected, durationMs })
        const waiting = this.over.get(tenantId)
        if (waiting) waiting.push(outcome)
        else this.over.set(tenantId, [outcome])
      })
      .catch((error: unknown) => {
        place.leave({ failed: true, isWhole: false, wasConnected: false, durationMs: 0 })
        this.options.onFailure('deliveries: an attempt', error)
      })
      .finally(() => {
        clearTimeout(slow)
        this.attempts.delete(attempt)
        this.attemptEnded(tenantId)
        this.pump()
      })
    this.attempts.add(attempt)
  }

  private attemptEnded(tenantId: string): void {
    const left = (this.underWay.get(tenantId) ?? 1) - 1
    if (left > 0) this.underWay.set(tenantId, left)
    else this.underWay.delete(tenantId)
  }

  private async deliver(begun: Begun): Promise<Outcome> {
    if (begun.body === undefined) return withoutEvent(begun)
    const { targetUrl: url, eventId, body, keys } = begun
    const { headers, sha256 } = signed(eventId, Math.floor(Date.now() / 1000), body, keys)
    const posted = await this.webhookClient.post({ url, headers, body, signal: this.interrupt.signal })
    return outcomeOf(begun, posted, sha256, this.installation.config.webhookRetrySeconds)
  }

  private async drain(): Promise<void> {
    this.isClosing = true
    clearTimeout(this.timer)
    const listening = this.listening.close()
    const cut = setTimeout(() => this.interrupt.abort(), drainMs)
    // With the database away nothing more is recorded: the leases end by themselves, and the attempts are made again.
    const givenUpAt = performance.now() + drainMs + recordMs
    while (this.attempts.size + this.over.size + this.turns > 0 && performance.now() < givenUpAt) {
      await pause(10)
      this.pump()
    }
    clearTimeout(cut)
    clearImmediate(this.pumping)
    await listening
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
