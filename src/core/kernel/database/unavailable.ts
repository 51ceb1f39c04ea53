/**
 * Distinguishes temporary failures of the database from refusals.
 *
 * `DatabaseUnavailable` becomes 503 `service.unavailable` with `Retry-After`, never 500.
 * All other errors of PostgreSQL keep their `code` and `constraint_name`, so that the problem
 * table can read them.
 *
 * After a failed commit the outcome is unknown: the transaction may have been applied, and
 * only its answer lost. Idempotency keys make a retry safe in this case.
 */

/** The database cannot do it now; the same request may succeed later. `cause` says why. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** SQLSTATE classes: connection lost, out of resources, operator intervention (57014 included). */
const unavailableClasses = ['08', '53', '57']

/** 25P03 idle in transaction for too long, 25P04 transaction for too long, 55P03 lock not granted in time. */
const unavailableStates = new Set(['25P03', '25P04', '55P03'])

/** The driver's and the operating system's codes for a connection that failed or broke. */
const brokenConnection = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ERR_STREAM_DESTROYED',
])

/** The SQLSTATE or system code an error carries, or '' when it carries none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/**
 * Two transactions collided, and one must run again: a serialization failure, a deadlock, or the same place in an order
 * (an index `<table>_in_order`), which is chosen anew.
 */
export function isCollision(error: unknown): boolean {
  const code = codeOf(error)
  if (code === '23505') return String((error as { constraint_name?: string }).constraint_name).endsWith('_in_order')
  return code === '40001' || code === '40P01'
}

/** The error for callers: `DatabaseUnavailable` if it means that, otherwise itself. */
export function translated(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error
  const code = codeOf(error)
  const passing =
    brokenConnection.has(code) ||
    unavailableStates.has(code) ||
    (code.length === 5 && unavailableClasses.includes(code.slice(0, 2)))

  return passing ? new DatabaseUnavailable(`the database is unavailable (${code})`, { cause: error }) : error
}
