/**
 * The dispatcher: makes the attempts that are due, in this process. Other daemons have dispatchers of their own.
 *
 *            bell, clock, look ──▶ workspace ──▶ turn: record results, claim what is due ──▶ commit
 *                                      ▲                                                       │
 *                                      └─── result ◀── the target answers ◀── POST ◀───────────┘
 *
 * It keeps one object for each workspace. Each workspace has two transactions: a fast one that only claims for healthy
 * targets, and a slow one that records results and claims for the rest (workspace.ts). A third of the pool's connections
 * is for turns. If they are all in use, the workspace that was served longest ago comes first.
 *
 * Invariants:
 *  - No transaction is open while a target is waited for.
 *  - An attempt is recorded as begun, and committed, before a socket opens.
 *
 * Not guaranteed: that a target is called once. A daemon that is killed leaves attempts whose end is unknown. They are
 * made again with the same event id (claim.ts).
 *
 * While nothing happens, it asks the database every five seconds and does nothing in between.
 *
 * Spec: Events, rule 3; decisions 5, Delivery.
 */
import { Problem } from '../../../contract/problem.ts'
import type { Posted, WebhookClient } from '../../../kernel/egress/post.ts'
import { perNotification } from '../../../kernel/outbox/bell.ts'
import { openSpan } from '../../../kernel/tracing/tracing.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { timeNow } from '../../../kernel/values/time.ts'
import { signed } from '../signature.ts'
import type { Begun } from './claim.ts'
import { discover, type Found, type Visited } from './discover.ts'
import { type Lane, Lanes, type Limits, slowMs } from './lanes.ts'
import { type Outcome, outcomeOf, withoutEvent } from './record.ts'
import { takeTurn } from './turn.ts'
import { type Scope, type Started, type Turn, Workspace } from './workspace.ts'

export interface DispatcherOptions {
  readonly onFailure: (what: string, error: unknown) => void
  /** Hears of each attempt that has ended, before it is recorded. */
  readonly onAttempt?: (outcome: Outcome) => void
  readonly limits?: Limits
  /** How far the deliveries' clock is ahead of the database's, in seconds: for tests, which cannot wait for hours. */
  readonly aheadSeconds?: () => number
}

export interface Dispatcher {
  /** Looks for what is due now, as it does every five seconds. */
  look(): Promise<void>
  /** Attempts under way and places held for claims, by lane. */
  readonly inFlight: Readonly<Record<Lane, number>>
  /** How long the delivery that had waited longest was due, at the last look, in seconds. */
  readonly lateSeconds: number
  /** Starts nothing more, waits for attempts under way, and interrupts those that last too long; within 7 s. */
  close(): Promise<void>
}

const lookMs = 5_000
const lookAheadSeconds = 30
/** How long no turn opens after one that failed. */
const pauseMs = 500
/** How often missing signing secrets are reported at most. */
const reportMs = 60_000
/** How long a full notification waits for the next one, which continues it. */
const continuationMs = 3
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
  /** In the order in which they are served: the one that was served last comes last. */
  private readonly workspaces = new Map<string, Workspace>()
  /** Turns that are open. */
  private turns = 0
  private readonly turnsAtMost: number
  private attempts = 0
  private readonly interrupt = new AbortController()
  private timer: NodeJS.Timeout | undefined
  private pumping: NodeJS.Immediate | undefined
  private lookedAt = 0
  lateSeconds = 0
  private looking: Promise<void> | undefined
  /** When the workspaces were last asked which turns are due. */
  private readAt = Number.NEGATIVE_INFINITY
  private pausedUntil = 0
  private reportedAt = Number.NEGATIVE_INFINITY
  private closing: Promise<void> | undefined

  constructor(installation: Installation, webhookClient: Pick<WebhookClient, 'post'>, options: DispatcherOptions) {
    this.installation = installation
    this.webhookClient = webhookClient
    this.options = options
    this.lanes = new Lanes(options.limits)
    // The rest of the pool is for requests.
    this.turnsAtMost = Math.max(1, Math.floor(installation.config.poolSize / 3))
    this.listening = installation.bell.hear({
      heard: (tenantId, webhookIds) => this.heard(tenantId, webhookIds),
      listens: () => void this.look(),
    })
    void this.look()
  }

  get inFlight() {
    const { places } = this.lanes
    return { quick: places.in('quick'), fresh: places.in('fresh'), slow: places.in('slow') }
  }

  look(): Promise<void> {
    if (this.closing) return Promise.resolve()
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

  private heard(tenantId: string, webhookIds: readonly string[]): void {
    const workspace = this.workspaceOf(tenantId)
    this.guard(workspace, () => {
      for (const webhookId of webhookIds) workspace.call(webhookId)
    })
    // A turn for the first of them would delay the others.
    if (webhookIds.length < perNotification) this.pump()
    else setTimeout(() => this.closing || this.pump(), continuationMs)
  }

  private async findWork(): Promise<void> {
    this.lookedAt = performance.now()
    try {
      let after: Visited | undefined
      let late = 0
      do {
        const begun = performance.now()
        const { found, end } = await discover(this.installation, lookAheadSeconds, this.ahead(), after)
        this.call(found)
        late = found.reduce((most, { in_seconds }) => Math.max(most, -in_seconds), late)
        after = end
        if (after) await pause(performance.now() - begun) // half of a processor at most
      } while (after && !this.closing)
      this.lateSeconds = late
      for (const [tenantId, workspace] of this.workspaces) if (workspace.forget()) this.workspaces.delete(tenantId)
    } catch (error) {
      this.options.onFailure('deliveries: looking for work', error)
    }
  }

  private call(found: readonly Found[]): void {
    for (const { tenant_id, webhook_id, in_seconds, has_expired } of found) {
      const at = in_seconds <= 0 ? 0 : performance.now() + in_seconds * 1000
      const workspace = this.workspaceOf(tenant_id)
      this.guard(workspace, () => workspace.call(webhook_id, at, has_expired))
    }
    this.pump()
  }

  private ahead(): number {
    return this.options.aheadSeconds?.() ?? 0
  }

  private workspaceOf(tenantId: string): Workspace {
    let workspace = this.workspaces.get(tenantId)
    if (!workspace) {
      workspace = new Workspace(tenantId, this.lanes)
      this.workspaces.set(tenantId, workspace)
    }
    return workspace
  }

  /**
   * Runs a step of a workspace's state machine. If the step throws, the object is given up and the error is reported: a
   * mistake in one workspace stops no other. The rows are the truth: the next look finds what is due, and attempts whose
   * results are lost are made again when their leases expire (decision 0173).
   */
  private guard(workspace: Workspace, step: () => void): void {
    try {
      step()
    } catch (error) {
      workspace.discard()
      if (this.workspaces.get(workspace.tenantId) === workspace) this.workspaces.delete(workspace.tenantId)
      this.options.onFailure('deliveries: the state of a workspace', error)
    }
  }

  /** Once for all that happens in one round of the event loop. */
  private pump(): void {
    this.pumping ??= setImmediate(() => {
      this.pumping = undefined
      if (performance.now() >= this.pausedUntil) this.openTurns()
      this.setClock()
    })
  }

  private openTurns(): void {
    this.readAt = performance.now()
    const served: Workspace[] = []
    for (const workspace of this.workspaces.values()) {
      if (this.turns >= this.turnsAtMost) break
      this.guard(workspace, () => {
        const scopes = workspace.turnsDue(this.turnsAtMost - this.turns)
        if (scopes.length > 0) served.push(workspace)
        for (const scope of scopes) this.openTurn(workspace, scope)
      })
    }
    for (const workspace of served) {
      if (!this.workspaces.delete(workspace.tenantId)) continue // it was given up
      this.workspaces.set(workspace.tenantId, workspace)
    }
  }

  private openTurn(workspace: Workspace, scope: Scope): void {
    const turn = workspace.open(scope)
    if (!turn) return
    this.turns += 1
    void this.run(workspace, turn).finally(() => {
      this.turns -= 1
      this.pump()
    })
  }

  private async run(workspace: Workspace, turn: Turn): Promise<void> {
    try {
      const claimed = await takeTurn(this.installation, workspace.tenantId, turn.results, turn.claims, this.ahead())
      if (claimed.locked.length > 0) this.reportLocked()
      this.guard(workspace, () => {
        for (const started of workspace.commit(turn, claimed)) this.startAttempt(workspace, started)
      })
    } catch (error) {
      this.rolledBack(workspace, turn, error)
    }
  }

  private rolledBack(workspace: Workspace, turn: Turn, error: unknown): void {
    this.pausedUntil = performance.now() + pauseMs
    // Behind a closed gate nothing can be written.
    const isBehindGate = error instanceof Problem && error.code === 'installation.recovering'
    this.guard(workspace, () => workspace.rollBack(turn, { results: isBehindGate ? 'dropped' : 'kept' }))
    if (!isBehindGate) this.options.onFailure('deliveries: a turn', error)
  }

  /** Once a minute: each look finds them again. */
  private reportLocked(): void {
    if (performance.now() - this.reportedAt < reportMs) return
    this.reportedAt = performance.now()
    this.options.onFailure('deliveries: signing secrets', new Problem('secret.unavailable'))
  }

  private setClock(): void {
    clearTimeout(this.timer)
    if (this.closing) return
    const now = performance.now()
    const next = this.pausedUntil > now ? this.pausedUntil : Math.max(this.nextAt(), now + 1)
    this.timer = setTimeout(() => {
      if (performance.now() - this.lookedAt >= lookMs) void this.look()
      this.pump()
    }, next - now)
  }

  private nextAt(): number {
    let next = this.lookedAt + lookMs
    // While no turn is left, nothing changes by the clock. The end of a turn wakes the dispatcher.
    if (this.turns < this.turnsAtMost)
      for (const workspace of this.workspaces.values()) next = Math.min(next, workspace.nextAt(this.readAt))
    return next
  }

  private startAttempt(workspace: Workspace, { begun, place }: Started): void {
    const slow = setTimeout(() => {
      this.guard(workspace, () => place.becomeSlow())
      this.pump()
    }, slowMs)
    this.attempts += 1
    void this.deliver(begun)
      .catch((error: unknown) => {
        this.options.onFailure('deliveries: an attempt', error)
        return undefined
      })
      .then((result) => {
        clearTimeout(slow)
        this.attempts -= 1
        if (result) this.options.onAttempt?.(result)
        this.guard(workspace, () => workspace.ended(place, result))
        this.pump()
      })
  }

  private async deliver(begun: Begun): Promise<Outcome> {
    const { targetUrl: url, eventId, body, keys } = begun
    if (body === undefined) return withoutEvent(begun)
    const { headers, sha256 } = signed(eventId, Math.floor(timeNow() / 1000), body, keys)
    const { signal } = this.interrupt
    const posted = await traced(begun, (more) =>
      this.webhookClient.post({ url, headers: more ? { ...headers, ...more } : headers, body, signal }),
    )
    return outcomeOf(begun, posted, sha256, this.installation.config.webhookRetrySeconds)
  }

  private async drain(): Promise<void> {
    this.lanes.close()
    clearTimeout(this.timer)
    const listening = this.listening.close()
    const cut = setTimeout(() => this.interrupt.abort(), drainMs)
    // If the database is away, nothing more is recorded: the leases expire, and the attempts are made again.
    const givenUpAt = performance.now() + drainMs + recordMs
    while (!this.isDrained && performance.now() < givenUpAt) {
      await pause(10)
      this.pump()
    }
    clearTimeout(cut)
    clearImmediate(this.pumping)
    await listening
  }

  private get isDrained(): boolean {
    return this.attempts + this.turns === 0 && [...this.workspaces.values()].every(({ isSettled }) => isSettled)
  }
}

/** Posts in a span of the trace that the event comes from, if traces are made; the target hears of it by a header. */
async function traced(
  { origin, n, cause }: Begun,
  post: (headers?: Readonly<Record<string, string>>) => Promise<Posted>,
): Promise<Posted> {
  const span = openSpan('CLIENT', 'delivery', { origin }, { 'svc.attempt': n, 'svc.cause': cause })
  if (!span) return post()
  const posted = await span.run(() => post({ traceparent: span.traceparent }))
  const { status, failure } = posted
  span.end(status === null ? {} : { 'http.response.status_code': status }, failure ?? undefined)
  return posted
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
