/**
 * The pool lends each connection to one transaction at a time.
 *
 * A connection that was closed, could not be rolled back, or is older than its lifetime is
 * never lent again (connection.ts says why). While PostgreSQL is down, new connections are
 * tried every tenth of a second. So a restart shorter than `acquireMs` only delays the waiting
 * transactions; after that, and beyond `maxWaiting`, they get DatabaseUnavailable. Transactions
 * wait in lanes, and lanes take turns (turns.ts).
 *
 * A frozen server answers nothing and closes nothing, and its own limits are frozen, too. So
 * the pool checks lent connections four times a second. It destroys a connection if an answer
 * is due and no byte arrives (connection.ts): shortly after `statementMs`, or if a caller waits
 * for the transaction, as soon as the transaction is `callerMs` old. Including the wait for a
 * connection, nothing waits for more than 8 s.
 */
import { Pool as Tarn } from 'tarn'
import type { DatabaseAddress } from './address.ts'
import { type Connection, connect } from './connection.ts'
import type { PoolOptions } from './pool-options.ts'
import type { SessionLimits } from './session-settings.ts'
import { heartbeatMs, heartbeatsOf } from './silence.ts'
import { checkedOpening } from './statement.ts'
import { runTransaction, type TransactionOptions, type Tx } from './transaction.ts'
import { type Lane, Turns } from './turns.ts'
import { DatabaseUnavailable, isCollision, translated } from './unavailable.ts'

export type { PoolOptions } from './pool-options.ts'
export type { Row, Rows, TransactionOptions, Tx } from './transaction.ts'
export { DatabaseUnavailable } from './unavailable.ts'

export interface PoolCounts {
  readonly size: number
  readonly free: number
  readonly used: number
  readonly waiting: number
  /** Lanes with waiting transactions. */
  readonly waitingLanes: number
  /** Connections that died or were given up since the pool was opened. */
  readonly discarded: number
  /** How many connections one lane may hold while others need some. */
  readonly share: number
  /** How often a connection was lent since then. */
  readonly lent: number
}

export interface Pool {
  /**
   * Runs work in one transaction. `opening` goes right behind `begin` in the same message:
   * `set local role svc_tenant; set local app.tenant_id = '…'`, or nothing.
   *
   * Work runs again from its start, up to three times, after a serialization failure or a deadlock,
   * so it must do nothing outside the transaction that may not happen twice. Throws what the work
   * threw, or DatabaseUnavailable. From a commit, the latter means that the outcome is unknown.
   */
  transaction<T>(opening: string, work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Whether a transaction that a caller asks for now in this lane would get its connection in time. `lateMs`: how long the
   * caller has waited already.
   */
  isInTime(lane: string, lateMs: number): boolean
  /** A call of the lane took so long from its whole request to its answer. `kind`: calls of one kind are compared. */
  took(lane: string, kind: string, ms: number): void
  /** Stops lending, waits for running transactions, and after `graceMs` (5,000) ends their connections. */
  close(graceMs?: number): Promise<void>
  readonly counts: PoolCounts
}

const retries = 3
const acquireMs = 2_000
const reconnectMs = 100
/** Half an hour, so that the plans and memory of a session do not grow for ever. */
const lifetimeMs = 30 * 60_000
/** A new connection plans its statements anew, so it is not given up between two calls of a person. */
const idleMs = 60_000
/** How long a returned connection rests here before it goes back to the package. */
const restMs = 1_000
/** How many silent beats such a transaction still has: an answer may be on its way. */
const lastHeartbeats = 2
/** More than an attempt to connect can take; the driver gives up after two seconds. */
const createMs = 5_000

/** Opens a pool; connections are made when they are needed. */
export function openPool(address: DatabaseAddress, options: PoolOptions): Pool {
  const connections = new Connections(address, options)

  return {
    async transaction(opening, work, transactionOptions = {}) {
      const checked = checkedOpening(opening)
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await connections.lend(
            (connection) => runTransaction(connection, checked, work, transactionOptions),
            transactionOptions,
          )
        } catch (error) {
          if (!isCollision(error)) throw translated(error)
          if (attempt > retries) throw new DatabaseUnavailable('the transaction kept colliding', { cause: error })
          await pause(Math.random() * 10 * attempt)
        }
      }
    },
    isInTime: (lane, lateMs) => connections.turns.isInTime(lane, lateMs),
    took: (lane, kind, ms) => connections.turns.took(lane, kind, ms),
    close: (graceMs = 5_000) => connections.close(graceMs),
    get counts() {
      return connections.counts
    },
  }
}

/** A transaction that waits for a connection. */
interface Waiter {
  readonly lane: Lane<Waiter>
  resolve(connection: Connection): void
  reject(error: Error): void
  readonly deadline: NodeJS.Timeout
  /** It was already refused; a connection that is found for it later goes to another. */
  isOver: boolean
}

/** What holds a connection. */
interface Loan {
  readonly lane: Lane<Waiter>
  /** The beat at which it was requested, if a caller waits. */
  readonly askedAt: number | undefined
}

/**
 * The package makes, checks and reaps the connections. A busy pool passes a connection on directly,
 * or lets it rest for a moment: through the package, that would cost more than a look-up by key.
 */
class Connections {
  private readonly options: PoolOptions
  readonly turns: Turns<Waiter>
  private readonly patience: number
  private readonly callerBeats: number
  private readonly loans = new Map<Connection, Loan>()
  private beats = 0
  private heartbeats: NodeJS.Timeout | undefined
  /**
   * Connections that are lent, resting or requested from the package; never more than `size`. None of them rests while
   * a transaction waits, unless the pool is crowded (turns.ts).
   */
  private held = 0
  /** Returned a moment ago; the one that was used last is lent next. */
  private readonly resting: Connection[] = []
  private rest: NodeJS.Timeout | undefined
  private readonly open = new Set<Connection>()
  private readonly tarn: Tarn<Connection>
  private running = 0
  private discarded = 0
  private lent = 0
  private notBefore = 0
  private closing: PromiseWithResolvers<void> | undefined

  constructor(address: DatabaseAddress, options: PoolOptions) {
    this.options = options
    this.turns = new Turns(options.size, options.maxWaiting ?? 200)
    this.patience = heartbeatsOf(options.silenceMs ?? options.statementMs ?? 5_000)
    this.callerBeats = (options.callerMs ?? 7_000) / heartbeatMs
    const limits: SessionLimits = {
      applicationName: options.applicationName,
      statementMs: options.statementMs ?? 5_000,
      lockMs: options.lockMs ?? 2_000,
      idleInTransactionMs: options.idleInTransactionMs ?? 10_000,
      ...(options.userTimeoutMs === undefined ? {} : { userTimeoutMs: options.userTimeoutMs }),
      isPooled: options.isPooled ?? false,
    }
    this.tarn = new Tarn<Connection>({
      min: 0,
      max: options.size,
      acquireTimeoutMillis: options.acquireMs ?? acquireMs,
      createTimeoutMillis: createMs,
      createRetryIntervalMillis: reconnectMs,
      idleTimeoutMillis: options.idleMs ?? idleMs,
      propagateCreateError: false,
      create: () => this.create(address, limits),
      validate: isLendable,
      destroy: (connection) => this.discard(connection),
    })
  }

  get counts(): PoolCounts {
    const { tarn, discarded, lent, options, resting, turns } = this
    const waiting = turns.waiting + tarn.numPendingAcquires() + tarn.numPendingValidations()
    const free = tarn.numFree() + resting.length
    const used = tarn.numUsed() - resting.length
    return {
      size: options.size,
      free,
      used,
      waiting,
      waitingLanes: turns.waitingLanes,
      share: turns.share,
      discarded,
      lent,
    }
  }

  async lend<T>(use: (connection: Connection) => Promise<T>, options: TransactionOptions): Promise<T> {
    if (this.closing) throw new DatabaseUnavailable('the connection pool is closed')
    const lane = this.turns.lane(options.lane ?? '')
    const loan = { lane, askedAt: options.answersCaller ? this.beats : undefined }
    this.heartbeats ??= setInterval(() => this.heartbeat(), heartbeatMs).unref()
    this.running += 1
    try {
      const connection = await this.acquire(lane, options.answersCaller ?? false)
      this.lent += 1
      const lentAt = performance.now()
      this.loans.set(connection, loan)
      connection.patience = this.patience
      try {
        return await use(connection)
      } finally {
        this.loans.delete(connection)
        this.letRest(lane, performance.now() - lentAt)
        this.giveBack(connection, lane)
      }
    } finally {
      this.running -= 1
      this.resolveWhenIdle()
    }
  }

  async close(graceMs: number): Promise<void> {
    this.closing ??= Promise.withResolvers<void>()
    this.resolveWhenIdle()
    const deadline = setTimeout(this.closing.resolve, graceMs)
    await this.closing.promise
    clearTimeout(deadline)
    this.endRest()

    await Promise.all([...this.open].map((connection) => this.discard(connection)))
    await this.tarn.destroy()
  }

  private resolveWhenIdle(): void {
    if (this.running === 0) this.closing?.resolve()
  }

  /** Runs only while a connection is lent or waited for. */
  private heartbeat(): void {
    this.beats += 1
    for (const [connection, { askedAt }] of this.loans) {
      const isOld = askedAt !== undefined && this.beats - askedAt > this.callerBeats
      connection.heartbeat(isOld ? lastHeartbeats : Number.POSITIVE_INFINITY)
    }
    this.serveWaiting()
    if (this.running > 0) return
    clearInterval(this.heartbeats)
    this.heartbeats = undefined
  }

  private acquire(lane: Lane<Waiter>, answersCaller: boolean): Connection | Promise<Connection> {
    if (!this.turns.admits(lane, answersCaller)) return this.wait(lane, answersCaller)
    for (let rested = this.resting.pop(); rested; rested = this.resting.pop()) {
      if (isLendable(rested)) {
        lane.held += 1
        return rested
      }
      this.tarn.release(rested) // the package destroys it
      this.held -= 1
    }
    if (this.held < this.options.size) {
      this.held += 1
      lane.held += 1
      return this.ask(lane)
    }
    return this.wait(lane, answersCaller)
  }

  private wait(lane: Lane<Waiter>, answersCaller: boolean): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        waiter.isOver = true
        this.turns.leave(lane, waiter)
        reject(noneFree())
      }, this.options.acquireMs ?? acquireMs)
      const waiter: Waiter = { lane, resolve, reject, deadline, isOver: false }
      const leaving = this.turns.enter(lane, waiter, answersCaller)
      if (!leaving) return
      clearTimeout(leaving.deadline)
      leaving.reject(new DatabaseUnavailable('too many are waiting for a connection'))
    })
  }

  private giveBack(connection: Connection, lane: Lane<Waiter>): void {
    lane.held -= 1
    this.offer(connection)
  }

  private letRest(lane: Lane<Waiter>, heldMs: number): void {
    const ms = this.turns.rest(lane, heldMs)
    if (ms === 0) return
    setTimeout(() => {
      lane.isResting = false
      this.serveWaiting()
    }, Math.ceil(ms))
  }

  /** Hands the connection to the next waiter; a dead one is replaced. Answers whether a waiter took it. */
  private offer(connection: Connection): boolean {
    if (!isLendable(connection)) {
      this.tarn.release(connection)
      return this.passOn()
    }
    const next = this.turns.next()
    if (next) {
      clearTimeout(next.deadline)
      next.resolve(connection)
      return true
    }
    this.resting.push(connection)
    this.rest ??= setTimeout(() => this.endRest(), restMs).unref()
    return false
  }

  /** When the pool is no longer crowded, serves the waiters that had to leave a connection free. */
  private serveWaiting(): void {
    while (this.turns.waiting > 0) {
      const rested = this.resting.pop()
      if (!rested && this.held >= this.options.size) return
      if (!rested) this.held += 1
      if (!(rested ? this.offer(rested) : this.passOn())) return
    }
  }

  /** Returns resting connections to the package, which ends those that stay unused for long. */
  private endRest(): void {
    clearTimeout(this.rest)
    this.rest = undefined
    for (const connection of this.resting.splice(0)) {
      this.tarn.release(connection)
      this.held -= 1
    }
  }

  /** Requests a connection in a free place for the next waiter, whose deadline keeps running. */
  private passOn(): boolean {
    const next = this.turns.next()
    if (!next) {
      this.held -= 1
      return false
    }
    this.ask(next.lane)
      .then((connection) => {
        if (next.isOver) this.giveBack(connection, next.lane)
        else next.resolve(connection)
      }, next.reject)
      .finally(() => clearTimeout(next.deadline))
    return true
  }

  private async ask(lane: Lane<Waiter>): Promise<Connection> {
    try {
      return await this.tarn.acquire().promise
    } catch (error) {
      lane.held -= 1
      this.passOn()
      throw noneFree(error)
    }
  }

  private async create(address: DatabaseAddress, limits: SessionLimits): Promise<Connection> {
    // After a refusal, the waiters do not all ask the server again at once.
    await pause(this.notBefore - performance.now())
    try {
      const connection = await connect(address, limits)
      this.open.add(connection)
      return connection
    } catch (error) {
      this.notBefore = performance.now() + reconnectMs
      throw error
    }
  }

  private async discard(connection: Connection): Promise<void> {
    if (this.open.delete(connection)) this.discarded += 1
    await connection.end()
  }
}

const noneFree = (cause?: unknown) =>
  new DatabaseUnavailable('no connection to the database was free in time', cause === undefined ? {} : { cause })

function isLendable({ alive, openedAt }: Connection): boolean {
  return alive && performance.now() - openedAt < lifetimeMs
}

async function pause(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds))
}
