/** What a pool of connections is opened with. */

/** Times in milliseconds. */
export interface PoolOptions {
  readonly size: number
  /** The name of the sessions in pg_stat_activity. */
  readonly applicationName: string
  /** Longest wait for a connection; 2,000. */
  readonly acquireMs?: number
  /** Longest statement; 5,000. */
  readonly statementMs?: number
  /** Longest wait for a lock; 2,000. */
  readonly lockMs?: number
  /** Longest pause between two statements of a transaction; 10,000. */
  readonly idleInTransactionMs?: number
  /** How many transactions of one lane may wait for a connection; 200, and five times as many in all lanes. */
  readonly maxWaiting?: number
  /** Longest silence of the server while an answer is due; `statementMs` and a moment. */
  readonly silenceMs?: number
  /** From this age on, a transaction that a caller waits for tolerates no more silence; 7,000. */
  readonly callerMs?: number
  /** Longest time for which the server sends while nothing is read; absent if slow reading is allowed. */
  readonly userTimeoutMs?: number
  /** How long a connection that nobody needs is kept; 60,000. */
  readonly idleMs?: number
  /** The server is behind a pooler in transaction mode. */
  readonly isPooled?: boolean
}
