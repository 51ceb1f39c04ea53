/**
 * The settings of the pool's sessions, and who keeps them.
 *
 *    directly             all go with the greeting and hold for the session; they cost no round trip
 *    through a pooler     a session is lent for one transaction. The greeting has only what PgBouncer keeps for each of its
 *                         clients; all else is set by the message that begins the transaction, and ends with it
 */
import { withoutJit } from './address.ts'

/** What PostgreSQL does by itself with a session; all in milliseconds. */
export interface SessionLimits {
  readonly applicationName: string
  readonly statementMs: number
  readonly lockMs: number
  readonly idleInTransactionMs: number
  /** Longest time for which the server sends while this host reads nothing; absent if slow reading is allowed. */
  readonly userTimeoutMs?: number
  /** The server is behind a pooler in transaction mode. */
  readonly isPooled?: boolean
}

type Settings = Readonly<Record<string, string | number>>

/**
 * Keep-alive of the server: if this host vanishes, its session must not keep its locks for two hours. PostgreSQL
 * ignores these settings over a Unix socket. A pooler has its own.
 */
const serverKeepAlive = { tcp_keepalives_idle: 30, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 }

/** PgBouncer keeps these for each client. */
const keptByPooler = { TimeZone: 'UTC', DateStyle: 'ISO, YMD' }

const ofEach = (limits: SessionLimits): Settings => ({
  statement_timeout: `${limits.statementMs}ms`,
  lock_timeout: `${limits.lockMs}ms`,
  idle_in_transaction_session_timeout: `${limits.idleInTransactionMs}ms`,
  row_security: 'on',
  role: 'none',
  search_path: 'public',
  ...withoutJit,
  // The default of 4 is for a spinning disk. With it, PostgreSQL would read and sort all rows for a page in the
  // order of an index (0174).
  random_page_cost: '1.1',
  // With `auto`, PostgreSQL would plan a page anew for each call beside large containers, because a kept plan does not
  // know the limit. That takes longer than reading the page (0186). Only calls that read keep it (transaction.ts).
  plan_cache_mode: 'force_generic_plan',
})

/** What goes with the greeting. It overrides settings that the login may have stored for itself (rights.ts). */
export function greetingOf(limits: SessionLimits): Settings {
  const named = { application_name: limits.applicationName, ...keptByPooler }
  if (limits.isPooled) return named
  return {
    ...named,
    ...serverKeepAlive,
    ...(limits.userTimeoutMs === undefined ? {} : { tcp_user_timeout: `${limits.userTimeoutMs}ms` }),
    default_transaction_read_only: 'on',
    default_transaction_isolation: 'read committed',
    ...ofEach(limits),
  }
}

/** What each transaction sets at its beginning, as text; empty where the session has it. */
export function localSettingsOf(limits: SessionLimits): string {
  if (!limits.isPooled) return ''
  return Object.entries(ofEach(limits))
    .map(([name, value]) => `set local ${name} = '${value}'`)
    .join('; ')
}
