/**
 * The log: one JSON object per line on stderr.
 *
 * It is an allow-list and not a redaction list: a line has only the members named here, so
 * headers, queries, bodies and tokens cannot get into it. Of an error it has only the name,
 * code, message and stack. Of a database error it has no message, because PostgreSQL quotes
 * values in it.
 *
 * Spec: decisions 6; house rules on secrets.
 */
import pino from 'pino'
import type { Config } from '../core/kernel/config/config.ts'
import { idsNow, isTraced } from '../core/kernel/tracing/tracing.ts'
import { type LogLines, openLogLines } from './log-lines.ts'

/** One answered request. */
interface RequestLine {
  readonly request_id: string
  readonly method: string
  readonly operation: string
  readonly status: number
  readonly duration_ms: number
  readonly code?: string
  readonly tenant_id?: string
  readonly account_id?: string
  readonly trace_id?: string
  readonly span_id?: string
}

export interface Log {
  request(line: RequestLine): void
  info(event: string, facts?: Readonly<Record<string, string | number | boolean>>): void
  warn(event: string, facts?: Readonly<Record<string, string | number | boolean>>): void
  /** An internal failure, with its request if there is one. */
  failure(event: string, error: unknown, requestId?: string): void
  fatal(event: string, error: unknown): void
  /** Writes the buffered lines if possible; called before the process ends. */
  flush(): Promise<void>
}

export function openLog(
  level: Config['logLevel'],
  destination: Pick<LogLines, 'write'> & Partial<LogLines> = openLogLines(2),
): Log {
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp,
      messageKey: 'event',
      formatters: { level: (label) => ({ level: label }) },
      // A line that is written while a span is open names it. A request's line may be written when none is, and brings its own.
      ...(isTraced() ? { mixin: () => idsNow() ?? {} } : {}),
    },
    destination,
  )
  destination.onLost?.((lines) => logger.warn({ lines }, 'lines of the log were lost'))
  return {
    request: (line) => logger.info(line, 'request'),
    info: (event, facts = {}) => logger.info(facts, event),
    warn: (event, facts = {}) => logger.warn(facts, event),
    failure: (event, error, requestId) =>
      logger.error({ ...(requestId ? { request_id: requestId } : {}), error: describe(error) }, event),
    fatal: (event, error) => logger.fatal({ error: describe(error) }, event),
    flush: async () => destination.flush?.(),
  }
}

/** The time of a line, cached: there are many lines in a millisecond, and formatting a date takes longer than the rest of a line. */
let millisecond = 0
let written = ''
function timestamp(): string {
  const now = Date.now()
  if (now !== millisecond) {
    millisecond = now
    written = `,"time":"${new Date(now).toISOString()}"`
  }
  return written
}

/** Silent, for tools that need a server and no log. */
export const silentLog: Log = { request() {}, info() {}, warn() {}, failure() {}, fatal() {}, async flush() {} }

function describe(error: unknown): Record<string, string> {
  if (!(error instanceof Error)) return { name: typeof error }
  const { code, severity, cause } = error as { code?: unknown; severity?: unknown; cause?: unknown }
  const fromDatabase = severity !== undefined || error.name === 'PostgresError'
  // The first line of a stack repeats the message.
  const frames = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  return {
    name: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    ...(fromDatabase ? {} : { message: error.message }),
    ...(frames.length > 0
      ? {
          stack: frames
            .slice(0, 12)
            .map((line) => line.trim())
            .join('\n'),
        }
      : {}),
    ...(cause instanceof Error ? { cause: describe(cause)['code'] ?? cause.name } : {}),
  }
}
