/**
 * The state of one transaction: whether statements may still be sent, and what failed.
 *
 * A failure is remembered even if the rule ignores it, because PostgreSQL will answer the
 * commit with ROLLBACK, and the error must have a cause. Only a rollback to a savepoint
 * clears it.
 */
import { isTraced } from '../tracing/tracing.ts'
import { type Connection, ignoreRejection, type Result } from './connection.ts'
import { PacketSpans } from './packet-spans.ts'
import { inForceBehind } from './roles.ts'
import { checkedOpening, isAftermath, type Statement, switchStatement } from './statement.ts'

/** A statement came after the transaction it belonged to had ended. */
export class TransactionOver extends Error {
  override name = 'TransactionOver'
}

/** What the handle and the end of its transaction share. */
export class Session {
  readonly connection: Connection
  readonly readOnly: boolean
  over = false
  /** It ended in the middle of a copy: not even a rollback can be sent. */
  torn = false
  /** The first failure that was not undone; it names the cause better than later failures. */
  failure: unknown
  /** A statement was refused before it was sent. PostgreSQL does not know, so we must not commit. */
  refused = false
  /** No answer of a statement is handed out before it resolves, and none at all if it rejects. */
  verdict: Promise<void> | undefined
  /** The answer to a commit that left together with the last statement. */
  committing: Promise<Result> | undefined
  /** The answer to the statement that was sent last; all answers before it have come when it comes. */
  private latest: Promise<unknown> = Promise.resolve()
  private named = 0
  /** The opening by which the server acts at present, and the one by which it has to act from the next statement on. */
  role: { inForce: string; wanted: string }
  /** Undefined unless its packets are traced. */
  private readonly spans: PacketSpans | undefined = isTraced() ? new PacketSpans() : undefined

  constructor(connection: Connection, opening: string, readOnly: boolean) {
    this.connection = connection
    this.readOnly = readOnly
    const inForce = inForceBehind(opening)
    this.role = { inForce, wanted: inForce }
  }

  assertOpen(): void {
    if (this.over) throw new TransactionOver('the transaction is over')
  }

  /** In the role that is wanted. */
  send(build: () => Statement): Promise<Result> {
    return this.attempt(() => {
      const statement = build()
      this.enter()
      return this.sent(statement)
    })
  }

  /** From the next statement on. */
  want(opening: string): Promise<void> {
    return this.attempt(() => {
      this.role.wanted = checkedOpening(opening)
      return Promise.resolve()
    })
  }

  /** Sets the role that is wanted, unless it is in force. Whatever is sent next is sent in the same turn. */
  enter(): void {
    const { inForce, wanted } = this.role
    if (wanted === inForce) return
    this.role.inForce = wanted
    void this.sent(switchStatement(wanted))
  }

  /** What is no matter of roles: the transaction's own commands. */
  command(text: string): Promise<Result> {
    return this.attempt(() => this.sent({ text, values: [], mode: 'simple' }))
  }

  private attempt<T>(act: () => Promise<T>): Promise<T> {
    if (this.over) return ignoreRejection(Promise.reject(new TransactionOver('the transaction is over')))
    try {
      return act()
    } catch (error) {
      this.refused = true
      this.failure ??= error
      return ignoreRejection(Promise.reject(error))
    }
  }

  private sent(statement: Statement): Promise<Result> {
    const answer = this.connection.send(statement, this.failed)
    this.latest = answer
    this.spans?.sent(answer)
    return answer
  }

  /** Statements sent together fail together; each is told why, not that another one failed. */
  private readonly failed = (error: unknown): unknown => {
    this.failure ??= error
    return isAftermath(error) ? this.failure : error
  }

  /** Waits for the answers of all that was sent. Throws the first failure. */
  async settle(): Promise<void> {
    await this.latest.catch(() => {})
    if (this.failure) throw this.failure
  }

  nextName(): string {
    this.named += 1
    return `svc_${this.named}`
  }
}

/** Refuses a mistake of the rule's author. */
export function refuse(message: string): never {
  throw new TypeError(message)
}
