/**
 * One connection to PostgreSQL, for life: it never reconnects.
 *
 * The driver reconnects within the same object. A late statement of a dead transaction would
 * then run in another transaction, possibly that of another workspace, and row-level security
 * cannot detect that. So each driver client here has one connection and a socket factory that
 * works once. When the socket closes, the connection is dead in the same turn of the event
 * loop:
 *
 *    connect() ──▶ alive ──socket closed or end()──▶ dead, for good
 *
 *  - statements under way are rejected with DatabaseUnavailable: the driver does that when it
 *    is ended, wherever in an answer the connection broke;
 *  - later statements are rejected without reaching the driver.
 *
 * A frozen or vanished server closes no socket. The pool counts silent intervals (silence.ts),
 * and after its limit destroys the socket without a goodbye, which then counts as closed.
 *
 * Every session is read-only unless its transaction says `read write`. A statement outside its
 * transaction (after a `begin` that was cancelled before it ran, with statements in the same
 * packet) is then refused by PostgreSQL and not committed by itself. Through a pooler the pooler has to say that
 * (deploy/pgbouncer.ini).
 *
 * Never set `prepare: false` for a whole client: it ends pipelining, five round trips
 * instead of one. `max_lifetime` and `idle_timeout` stay off: the driver would
 * end the connection between two statements of a transaction. The pool does both.
 */
import { Socket } from 'node:net'
import postgres from 'postgres'
import { type DatabaseAddress, postgresOptions } from './address.ts'
import { columnTypes, jsonbTypeId } from './column-values.ts'
import { copiedOut, type TakeRow } from './copied-out.ts'
import { sendQuery } from './driver-query.ts'
import { nameAfterForm, takePlanNames } from './plan-names.ts'
import { makeObjects } from './row-objects.ts'
import { greetingOf, localSettingsOf, type SessionLimits } from './session-settings.ts'
import { Silence } from './silence.ts'
import { Json, type Statement } from './statement.ts'
import { DatabaseUnavailable, translated } from './unavailable.ts'
import { sendWholePackets } from './whole-packets.ts'

/** The rows of one statement, with their count and PostgreSQL's command tag. */
export type Result = object[] & { readonly count: number; readonly command: string }

export interface Connection {
  readonly alive: boolean
  /**
   * For how many beats an answer may be due while no byte arrives. The pool sets it for each loan; only tx.patience()
   * makes it longer.
   */
  patience: number
  /** When it was opened, by performance.now(). */
  readonly openedAt: number
  /** What each of its transactions sets at its beginning; empty if the session has it. */
  readonly localSettings: string
  /**
   * Sends at once, after everything that was sent before. Rejects when the connection is dead or dies, with what
   * `failed` makes of the error. Never throws; its rejection may be ignored.
   */
  send(statement: Statement, failed?: (error: unknown) => unknown): Promise<Result>
  /**
   * Runs a `copy … to stdout`, row by row; answers how many the server sent. Nothing else may be sent until it ends.
   * After a rejection, the connection can only be ended.
   */
  copyOut(text: string, take: TakeRow): Promise<number>
  /** Calls back once when the connection dies; `undefined` takes the listener away. */
  whenClosed(listener: ((reason: DatabaseUnavailable) => void) | undefined): void
  /** Counts one beat. Destroys the socket after more silent beats than `patience` or `allowed`, whichever is less. */
  heartbeat(allowed: number): void
  /** Ends the connection, and rejects statements under way. Never rejects itself. */
  end(): Promise<void>
}

const connectSeconds = 2
/** The limit for a session's start with our first statement; the driver's own limit ends before that statement. */
const greetingMs = 2_500
/** After so many seconds of silence the system probes the other host, and gives up 10 s later. */
const keepAliveSeconds = 10
/** How long a half-closed socket waits for the server to close its half. */
const goodbyeMs = 1_000

/** The driver's options for each mode; `simple` is missing in its types. */
const modes = {
  plan: { prepare: true, simple: false },
  once: { prepare: false, simple: false },
  simple: { prepare: false, simple: true },
}

const nothing: Statement = { text: 'select', values: [], mode: 'simple' }

/** Opens a connection and waits until PostgreSQL answers on it. Refuses with DatabaseUnavailable. */
export async function connect(address: DatabaseAddress, limits: SessionLimits): Promise<Connection> {
  let death: DatabaseUnavailable | undefined
  let goodbye: Promise<void> | undefined
  let listener: ((reason: DatabaseUnavailable) => void) | undefined
  const silence = new Silence()

  const socket = new Socket()
  const client = postgres({
    ...postgresOptions(address),
    ...sessionOptions(limits),
    socket: once(() => dial(socket, address)),
    onclose: () => die('the connection to the database closed'),
  } as postgres.Options<Record<string, never>>)
  takePlanNames(client)

  function die(reason: string, withinMs = goodbyeMs): void {
    if (death) return
    death = new DatabaseUnavailable(reason)
    goodbye = hangUp(client, socket, withinMs)
    listener?.(death)
  }

  function send(statement: Statement, failed = same): Promise<Result> {
    if (death) return ignoreRejection(Promise.reject(failed(death)))
    const query = queryOf(client, statement)
    silence.due += 1
    const answer = new Promise<Result>((resolve, reject) => {
      const answered = (result: unknown) => {
        silence.due -= 1
        resolve(rowsOf(statement, result))
      }
      const refused = (error: unknown) => {
        silence.due -= 1
        reject(failed(translated(error)))
      }
      sendQuery(query, answered, refused)
    })
    return ignoreRejection(answer)
  }

  const connection: Connection = {
    get alive() {
      return death === undefined
    },
    openedAt: performance.now(),
    localSettings: localSettingsOf(limits),
    patience: Number.POSITIVE_INFINITY,
    send,
    copyOut: async (text, take) => {
      if (silence.due > 0) await send(nothing)
      if (death) throw death
      silence.due += 1
      return copiedOut(client, address.ssl === false ? socket : undefined, text, take, silence).finally(() => {
        silence.due -= 1
      })
    },
    heartbeat: (allowed) => {
      if (silence.heartbeat(socket.bytesRead) > Math.min(connection.patience, allowed))
        die('the database has fallen silent', 0)
    },
    whenClosed: (next) => {
      listener = next
    },
    end: async () => {
      die('the connection was ended')
      await goodbye
    },
  }

  return greeted(connection, () => die('the database did not greet in time', 0))
}

/** The connection, once PostgreSQL answers on it. */
async function greeted(connection: Connection, late: () => void): Promise<Connection> {
  const deadline = setTimeout(late, greetingMs)
  try {
    await connection.send(nothing)
  } catch (error) {
    await connection.end()
    throw error
  } finally {
    clearTimeout(deadline)
  }
  return connection
}

function queryOf(client: postgres.Sql, statement: Statement) {
  const { text, values, mode } = statement
  const bound = values.map((value) => (value instanceof Json ? client.typed(value.text as never, jsonbTypeId) : value))
  const query = client.unsafe(text, bound as never[], modes[mode])
  // `begin` and `commit` have no plan, and they rarely fail.
  if (mode === 'simple') return query
  nameAfterForm(query, statement)
  return query.values()
}

function sessionOptions(limits: SessionLimits): object {
  return {
    max: 1,
    fetch_types: false,
    prepare: true,
    idle_timeout: 0,
    max_lifetime: 0,
    connect_timeout: connectSeconds,
    keep_alive: keepAliveSeconds,
    types: columnTypes,
    onnotice: () => {},
    connection: greetingOf(limits),
  }
}

/** Works once and then throws. This keeps the driver from reconnecting. */
function once<T>(make: () => T): () => T {
  let used = false
  return () => {
    if (used) throw new DatabaseUnavailable('this connection was closed and does not come back')
    used = true
    return make()
  }
}

function dial(socket: Socket, { host, port }: DatabaseAddress): Socket {
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port, noDelay: true }
  socket.on('error', () => {}) // the driver removes its listeners before the last error may come
  // Connects in the next turn: an immediate failure would come before the driver listens.
  setImmediate(() => {
    if (socket.destroyed) return
    socket.connect(target)
    sendWholePackets(socket) // not earlier: `connect` sets `write` back
  })
  // `host` is the name the driver checks a certificate against.
  return Object.assign(socket, { host })
}

async function hangUp(client: postgres.Sql, socket: Socket, withinMs: number): Promise<void> {
  // Destroys in this turn of the event loop: nothing is read from a server that wakes up a moment later.
  if (withinMs === 0) socket.destroy()
  const deadline = setTimeout(() => socket.destroy(), withinMs)
  await client.end({ timeout: 0 }).catch(() => {})
  if (socket.closed) clearTimeout(deadline)
  else socket.once('close', () => clearTimeout(deadline))
}

/** The rows as objects. A text of several statements answers with a list of results, of which the last one counts. */
function rowsOf({ mode }: Statement, answered: unknown): Result {
  const result = answered as Result & { readonly columns: readonly { readonly name: string }[] }
  if (mode === 'simple') {
    const last: unknown = result.at(-1)
    return Array.isArray(last) ? (last as Result) : result
  }
  makeObjects(result, result.columns)
  return result
}

const same = (error: unknown) => error

/** A promise whose rejection may be left unhandled. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignored)
  return promise
}

const ignored = () => {}
