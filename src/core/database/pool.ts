/**
 * The pool: lends one connection to one transaction at a time, and to nobody else.
 *
 * A connection that ever closed, that could not be rolled back, or that is older than its
 * lifetime is never lent again (connection.ts says why). While PostgreSQL is away new
 * connections are tried every tenth of a second, so a restart shorter than
 * `acquireMs` is only slow for those who wait; after that, and for everybody beyond
 * `maxWaiting`, it is DatabaseUnavailable.
 */
import { Pool as Tarn } from 'tarn'
import type { DatabaseAddress } from './address.ts'
import { type Connection, connect, type SessionLimits } from './connection.ts'
import { checkedOpening } from './statement.ts'
import { runTransaction, type TransactionOptions, type Tx } from './transaction.ts'
import { DatabaseUnavailable, isCollision, translated } from './unavailable.ts'

export type { Row, Rows, TransactionOptions, Tx } from './transaction.ts'
export { DatabaseUnavailable } from './unavailable.ts'

/** Times in milliseconds. */
export interface PoolOptions {
  readonly size: number
  /** How pg_stat_activity calls us. */
  readonly applicationName: string
  /** Longest wait for a connection; 2,000. */
  readonly acquireMs?: number
  /** Longest statement; 5,000. */
  readonly statementMs?: number
  /** Longest wait for a lock; 2,000. */
  readonly lockMs?: number
  /** Longest pause between two statements of a transaction; 10,000. */
  readonly idleInTransactionMs?: number
  /** How many may wait for a connection at the same time; 200. */
  readonly maxWaiting?: number
}

export interface PoolCounts {
  readonly size: number
  readonly free: number
  readonly used: number
  readonly waiting: number
  /** Connections that died or were given up since the pool was opened. */
  readonly discarded: number
  /** How often a connection was lent since then. */
  readonly lent: number
}

export interface Pool {
  /**
   * Runs work in one transaction. `opening` goes right behind `begin` in the same message:
   * `set local role svc_tenant; set local app.tenant_id = '…'`, or nothing.
   *
   * Work runs again from its start, up to three times, after a serialization failure or a
   * deadlock, so it must do nothing outside the transaction that may not happen twice.
   * Throws what the work threw, or DatabaseUnavailable; out of a commit the latter means
   * that the outcome is unknown.
   */
  transaction<T>(opening: string, work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Lends nothing any more, waits for what is running, and after `graceMs` (5,000) hangs up on it. */
  close(graceMs?: number): Promise<void>
  readonly counts: PoolCounts
}

const retries = 3
const acquireMs = 2_000
const reconnectMs = 100
/** Half an hour, give or take: plans and memory of a session do not grow for ever. */
const lifetimeMs = 30 * 60_000
const idleMs = 10 * 60_000
/** How long a connection that is given back waits for its next user before the package hears of it. */
const restMs = 1_000
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
          return await connections.lend((connection) => runTransaction(connection, checked, work, transactionOptions))
        } catch (error) {
          if (!isCollision(error)) throw translated(error)
          if (attempt > retries) throw new DatabaseUnavailable('the transaction kept colliding', { cause: error })
          await pause(Math.random() * 10 * attempt)
        }
      }
    },
    close: (graceMs = 5_000) => connections.close(graceMs),
    get counts() {
      return connections.counts
    },
  }
}

/** Somebody who waits for a connection that is lent to another. */
interface Waiter {
  resolve(connection: Connection): void
  reject(error: Error): void
  readonly deadline: NodeJS.Timeout
}

/**
 * The package makes, checks and reaps the connections. A pool at work passes a connection from
 * hand to hand, or lets it rest for a moment: through the package that would cost more than a
 * look-up by key does.
 */
class Connections {
  private readonly options: PoolOptions
  private readonly waiting: Waiter[] = []
  /** Connections that are lent, at rest, or asked of the package; never more than `size`, and all of them lent or asked for while anybody waits. */
  private held = 0
  /** Given back a moment ago; the one that was used last is used next. */
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
    const limits: SessionLimits = {
      applicationName: options.applicationName,
      statementMs: options.statementMs ?? 5_000,
      lockMs: options.lockMs ?? 2_000,
      idleInTransactionMs: options.idleInTransactionMs ?? 10_000,
    }
    this.tarn = new Tarn<Connection>({
      min: 0,
      max: options.size,
      acquireTimeoutMillis: options.acquireMs ?? acquireMs,
      createTimeoutMillis: createMs,
      createRetryIntervalMillis: reconnectMs,
      idleTimeoutMillis: idleMs,
      propagateCreateError: false,
      create: () => this.create(address, limits),
      validate: isLendable,
      destroy: (connection) => this.discard(connection),
    })
  }

  get counts(): PoolCounts {
    const { tarn, discarded, lent, options, resting } = this
    const waiting = this.waiting.length + tarn.numPendingAcquires() + tarn.numPendingValidations()
    const free = tarn.numFree() + resting.length
    return { size: options.size, free, used: tarn.numUsed() - resting.length, waiting, discarded, lent }
  }

  async lend<T>(use: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.closing) throw new DatabaseUnavailable('the connection pool is closed')
    if (this.waiting.length >= (this.options.maxWaiting ?? 200)) {
      throw new DatabaseUnavailable('too many are waiting for a connection')
    }
    this.running += 1
    try {
      const connection = await this.acquire()
      this.lent += 1
      try {
        return await use(connection)
      } finally {
        this.giveBack(connection)
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

  private acquire(): Connection | Promise<Connection> {
    for (let rested = this.resting.pop(); rested; rested = this.resting.pop()) {
      if (isLendable(rested)) return rested
      this.tarn.release(rested) // which buries it
      this.held -= 1
    }
    if (this.held < this.options.size) {
      this.held += 1
      return this.ask()
    }
    return new Promise((resolve, reject) => {
      const deadline = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(waiter), 1)
        reject(noneFree())
      }, this.options.acquireMs ?? acquireMs)
      const waiter: Waiter = { resolve, reject, deadline }
      this.waiting.push(waiter)
    })
  }

  /** Hands the connection to who has waited longest; one that died is replaced for him. */
  private giveBack(connection: Connection): void {
    if (!isLendable(connection)) {
      this.tarn.release(connection)
      this.passOn()
      return
    }
    const next = this.nextWaiter()
    if (next) next.resolve(connection)
    else {
      this.resting.push(connection)
      this.rest ??= setTimeout(() => this.endRest(), restMs).unref()
    }
  }

  /** Gives what rests to the package, which ends it when nobody has needed it for long. */
  private endRest(): void {
    clearTimeout(this.rest)
    this.rest = undefined
    for (const connection of this.resting.splice(0)) {
      this.tarn.release(connection)
      this.held -= 1
    }
  }

  /** Gives a place that has become free to the next waiter. */
  private passOn(): void {
    const next = this.nextWaiter()
    if (next) this.ask().then(next.resolve, next.reject)
    else this.held -= 1
  }

  private nextWaiter(): Waiter | undefined {
    const next = this.waiting.shift()
    clearTimeout(next?.deadline)
    return next
  }

  private async ask(): Promise<Connection> {
    try {
      return await this.tarn.acquire().promise
    } catch (error) {
      this.passOn()
      throw noneFree(error)
    }
  }

  private async create(address: DatabaseAddress, limits: SessionLimits): Promise<Connection> {
    // A server that has just refused us is not asked again by everybody who waits.
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
