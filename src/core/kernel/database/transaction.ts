/**
 * One transaction on one connection, and the handle a rule gets for it.
 *
 *    open ──work returned──▶ closed: commit
 *      │──work threw───────▶ closed: rollback
 *      │──tx.last()────────▶ closed: its commit is already sent
 *      └──connection died──▶ closed: nothing more is sent
 *
 * Always true:
 *  - a statement is sent only while the transaction is open and its connection is alive; both
 *    are checked in the same turn in which the driver gets the statement. A rule that uses its
 *    handle too late gets a rejection, never another transaction;
 *  - the work races against the end of its connection, so nothing hangs. If the connection ends
 *    first, the work continues with a handle that refuses everything;
 *  - a failed statement fails the transaction even if the rule ignores the error: commit then
 *    answers ROLLBACK, and its command tag is checked;
 *  - every promise of this module is handled, awaited or not.
 *
 * Not guaranteed: if the connection ends during the commit, DatabaseUnavailable is thrown, and
 * the transaction may or may not have been applied.
 *
 * `begin`, the set-up of the role and the first statement are sent in one packet if the work
 * sends that statement before it awaits anything else.
 */
import { type Connection, ignoreRejection, type Result } from './connection.ts'
import type { TakeRow } from './copied-out.ts'
import { refuse, Session } from './session.ts'
import { heartbeatsOf } from './silence.ts'
import {
  jsonPart,
  listPart,
  Part,
  rowsPart,
  type Statement,
  statementOf,
  switchStatement,
  textStatement,
  type Value,
} from './statement.ts'
import type { DatabaseUnavailable } from './unavailable.ts'

export type { TakeRow } from './copied-out.ts'
export { TransactionOver } from './session.ts'

export type Row = object

/** The rows, and how many rows the statement touched. */
export type Rows<T extends readonly Row[] = Row[]> = T & { readonly count: number }

type Template<T> = (strings: TemplateStringsArray, ...values: readonly Value[]) => T

/** What a rule may do inside its transaction. See column-values.ts for how values are read and bound. */
export interface Tx {
  /** One statement with bound values. It is sent at the call, awaited or not. Refuses undefined, arrays and objects. */
  <T extends readonly Row[] = Row[]>(strings: TemplateStringsArray, ...values: readonly Value[]): Promise<Rows<T>>
  /** The last statement of a transaction that only reads: `commit` leaves in the same packet, anything later is refused. */
  last<T extends readonly Row[] = Row[]>(strings: TemplateStringsArray, ...values: readonly Value[]): Promise<Rows<T>>
  /** A piece of a statement, to be put into another one. */
  part: Template<Part>
  /** `("a", "b") values (…), (…)` for an insert; columns default to the first object's keys. */
  rows(list: object | readonly object[], ...columns: string[]): Part
  /** `($1, $2, …)` for `in`; nothing is in an empty list. */
  list(values: readonly Value[]): Part
  /** One jsonb parameter. */
  json(value: unknown): Part
  /** Text with `$1 …`, for a library that brings its own SQL. Several statements only without values. */
  text<T extends readonly Row[] = Row[]>(text: string, values?: readonly unknown[]): Promise<Rows<T>>
  /**
   * Runs `copy (select …) to stdout` in PostgreSQL's text format, row by row, and answers how many the server sent; the
   * caller gives the whole text. If it fails, the transaction and its connection end.
   */
  copyOut(text: string, take: TakeRow): Promise<number>
  /**
   * Runs work that may fail without failing the transaction: if it throws, its statements are undone, and the error is
   * thrown on. Not for concurrent branches.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>
  /**
   * From now on statements are still sent at once, but their answers are handed out only after `verdict` has resolved, and
   * the verdicts before it. If one of them rejects, each statement rejects with its error.
   */
  withhold(verdict: Promise<void>): void
  /** Waits for the answers of all statements so far. Throws the failure of one that was not awaited. */
  settled(): Promise<void>
  /** Throws TransactionOver if nothing can be sent any more: for what sends several statements and awaits none. */
  assertOpen(): void
  /**
   * Changes role and workspace, or another setting, until the end of the transaction; the same text as a transaction's opening.
   * A role is set with the next statement.
   */
  switch(opening: string): Promise<unknown>
  /**
   * Until the end of the transaction, a statement may wait for a lock for so many seconds, and may take one second
   * more. Sets the limits of the server and of the pool.
   */
  patience(seconds: number): Promise<unknown>
}

export interface TransactionOptions {
  readonly readOnly?: boolean
  readonly isolation?: 'repeatable read'
  /** The lane in which it waits for a connection (turns.ts): a workspace's id, or another name. */
  readonly lane?: string
  /** A caller waits for the answer, so the silence of the server is limited for the whole transaction. */
  readonly answersCaller?: boolean
}

/** Runs work in one transaction on a connection that nothing else uses. The text of `opening` was checked. */
export async function runTransaction<T>(
  connection: Connection,
  opening: string,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const session = new Session(connection, opening, options.readOnly ?? false)
  const closed = Promise.withResolvers<never>()
  closed.promise.catch(() => {})
  connection.whenClosed((reason: DatabaseUnavailable) => {
    session.over = true
    closed.reject(reason)
  })

  const begun = session.command(beginning(connection.localSettings, opening, options))
  try {
    const result = await Promise.race([started(work, handle(session)), closed.promise])
    await committed(session, begun)
    return result
  } catch (error) {
    await rolledBack(session)
    throw error
  } finally {
    session.over = true
    connection.whenClosed(undefined)
  }
}

function beginning(local: string, opening: string, { readOnly, isolation, answersCaller }: TransactionOptions): string {
  // Nothing that the login may have stored for itself counts; a session of our own has said so in its greeting.
  const level = isolation ?? (local === '' ? undefined : 'read committed')
  const modes = [...(level === undefined ? [] : [`isolation level ${level}`]), `read ${readOnly ? 'only' : 'write'}`]
  const settings = [local, opening, readOnly && answersCaller ? '' : plannedForValues].filter((one) => one !== '')
  return [`begin ${modes.join(', ')}`, ...settings].join('; ')
}

/**
 * A session runs every statement by its kept plan (connection.ts). That holds for calls that read, of whose statements a
 * test asks for both plans (test/house/plans.test.ts); for all others PostgreSQL may look at the values first.
 */
const plannedForValues = "set local plan_cache_mode = 'auto'"

/** Starts the work in this turn, so that its first statement shares the packet of `begin`. */
async function started<T>(work: (tx: Tx) => Promise<T>, tx: Tx): Promise<T> {
  return await work(tx)
}

async function committed(session: Session, begun: Promise<Result>): Promise<void> {
  if (session.refused) throw session.failure
  session.committing ??= session.command('commit')
  session.over = true
  const [, { command }] = await Promise.all([begun, session.committing])
  if (command === 'COMMIT') return
  throw session.failure ?? new Error(`commit was answered with ${command}`)
}

/** Leaves the connection without a transaction, or dead. */
async function rolledBack(session: Session): Promise<void> {
  const { connection, over, committing, torn } = session
  session.over = true
  try {
    if (torn) await connection.end()
    else if (committing)
      await committing.catch(() => {}) // applied or not, it is over
    else if (!over && connection.alive) await connection.send({ text: 'rollback', values: [], mode: 'simple' })
  } catch {
    await connection.end()
  }
}

const ofSession = Symbol('session')

/** A handle as its own methods know it. */
interface Handle {
  readonly [ofSession]: Session
}

/**
 * Two functions for each transaction, which rules choose between (`const look = isLast ? tx.last : tx`). All other methods are
 * shared: to make them for each transaction took more memory than a statement.
 */
function handle(session: Session): Tx {
  const tx = (strings: TemplateStringsArray, ...values: readonly Value[]) =>
    send(session, () => statementOf(strings, values))
  const last = (strings: TemplateStringsArray, ...values: readonly Value[]) => {
    if (!session.readOnly) return send(session, () => refuse('last() is for transactions that only read'))
    const answer = send(session, () => statementOf(strings, values))
    if (session.over || session.refused) return answer
    session.committing = session.command('commit')
    session.over = true
    return answer
  }
  Object.setPrototypeOf(tx, methods)
  return Object.assign(tx, { [ofSession]: session, last }) as unknown as Tx
}

const send = (session: Session, build: () => Statement) =>
  withheld(session, session.send(build)) as Promise<Rows<never>>

/** Those that make a piece of a statement need no session, and serve without their handle. */
const methods: object = Object.assign(Object.create(Function.prototype), {
  part: (strings: TemplateStringsArray, ...values: readonly Value[]) => new Part(strings, values, true),
  rows: (list: object | readonly object[], ...columns: string[]) => rowsPart(list, columns),
  list: listPart,
  json: jsonPart,
  text(this: Handle, text: string, values: readonly unknown[] = []) {
    return send(this[ofSession], () => textStatement(text, values))
  },
  copyOut(this: Handle, text: string, take: TakeRow) {
    return copied(this[ofSession], text, take)
  },
  savepoint<T>(this: Handle, work: () => Promise<T>) {
    return savepoint(this[ofSession], work)
  },
  withhold(this: Handle, verdict: Promise<void>) {
    const session = this[ofSession]
    const earlier = session.verdict
    session.verdict = earlier === undefined ? verdict : ignoreRejection(earlier.then(() => verdict))
  },
  settled(this: Handle) {
    return this[ofSession].settle()
  },
  assertOpen(this: Handle) {
    this[ofSession].assertOpen()
  },
  switch(this: Handle, opening: string) {
    const session = this[ofSession]
    return isRole(opening) ? session.want(opening) : send(session, () => switchStatement(opening))
  },
  patience(this: Handle, seconds: number) {
    return patience(this[ofSession], seconds)
  },
} satisfies { [Name in Exclude<keyof Tx, 'last'>]: unknown })

const isRole = (opening: string) => /^set local role /.test(opening)

const withheld = ({ verdict }: Session, answer: Promise<Result>): Promise<Result> =>
  verdict === undefined ? answer : ignoreRejection(verdict.then(() => answer))

function patience(session: Session, seconds: number): Promise<Result> {
  return session.send(() => {
    if (!Number.isInteger(seconds) || seconds < 1) refuse('patience() takes whole seconds from 1')
    session.connection.patience = heartbeatsOf((seconds + 1) * 1_000)
    const text = `set local lock_timeout = '${seconds}s'; set local statement_timeout = '${seconds + 1}s'`
    return { text, values: [], mode: 'simple' }
  })
}

async function copied(session: Session, text: string, take: TakeRow): Promise<number> {
  if (!/^copy \(select [^;]+\) to stdout$/.test(text)) refuse('copyOut() takes one copy (select …) to stdout')
  session.assertOpen()
  await session.verdict
  session.assertOpen()
  session.enter()
  try {
    return await session.connection.copyOut(text, take)
  } catch (error) {
    session.failure ??= error
    // The server may still send rows, and nothing would read them.
    session.torn = true
    session.over = true
    throw session.failure
  }
}

async function savepoint<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const name = session.nextName()
  const { failure, refused } = session
  const role = { ...session.role }
  const begun = session.command(`savepoint ${name}`)
  if (session.over) await begun // a handle that is used too late: rejects
  try {
    const result = await work()
    const released = session.command(`release savepoint ${name}`)
    // Awaited only after a failure; otherwise it is sent with the next statement.
    if (session.over || session.failure !== failure) await released
    return result
  } catch (error) {
    if (!session.over) {
      await session.command(`rollback to savepoint ${name}; release savepoint ${name}`)
      Object.assign(session, { failure, refused, role })
    }
    throw error
  }
}
