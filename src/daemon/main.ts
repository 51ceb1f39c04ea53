/**
 * The daemon as a process: configuration, log, signals, exit codes.
 *
 *    code and embedded database ──▶ daemon.ts ──▶ "listening on …" ──▶ SIGTERM ──▶ drain (10 s at most) ──▶ exit
 *
 * A failed start prints one line on stderr. An uncaught failure drains as well, within 5 s, because afterwards no state in
 * memory can be trusted. Spec: decisions 6, Process interface.
 */
import { type Config, readConfig } from '../core/kernel/config/config.ts'
import { mistypedVariables } from '../core/kernel/config/mistyped.ts'
import type { Embedded } from '../core/kernel/database/embedded.ts'
import { codeOf, DatabaseUnavailable } from '../core/kernel/database/unavailable.ts'
import { ConfigurationError } from '../core/kernel/values/configuration-error.ts'
import type { Daemon, DaemonRole, ListenFailure } from './daemon.ts'
import { lowerHelperThreads } from './helper-threads.ts'
import { type Log, openLog } from './log.ts'
import { setUpLine } from './set-up-token.ts'
import { keepHeapSmall } from './small-heap.ts'
import { collectStartGarbage } from './start-garbage.ts'
import { startTracing } from './tracing.ts'

const drainMs = 10_000
/** How a shell reports a program that Ctrl-C ended; a service manager sends SIGTERM, which ends with 0 (docs/decisions/0250). */
const interruptedCode = 130
const drainAfterFailureMs = 5_000

/** Runs the daemon as this process, prints its addresses on stdout, and sets the exit code. */
export async function runDaemon({ role }: { readonly role: DaemonRole }): Promise<void> {
  try {
    const { address, healthAddress, setUpTokenFile } = await serveUntilSignal(role)
    // On stdout, apart from the log, for the person or program that started the daemon.
    if (setUpTokenFile !== undefined) process.stdout.write(`${setUpLine(setUpTokenFile)}\n`)
    if (healthAddress !== undefined) process.stdout.write(`health on ${healthAddress}\n`)
    process.stdout.write(`listening on ${address}\n`)
  } catch (error) {
    const { line, code } = startFailure(error)
    process.stderr.write(`${line}\n`)
    process.exitCode = code
  }
}

/** Starts the daemon in this process; SIGTERM and SIGINT drain it and end the process. Throws what startDaemon throws. */
export async function serveUntilSignal(role: DaemonRole): Promise<Daemon> {
  const config = readConfig()
  const tracing = await startTracing(process.env) // before the log, whose lines then name traces
  const log = openLog(config.logLevel)
  for (const line of mistypedVariables(process.env)) log.warn(line)
  const held = await holdAhead(config, log)
  const { startDaemon } = await import('./daemon.ts')
  const daemon = await startDaemon(config, role, log, held?.database)
  void lowerHelperThreads()
  keepHeapSmall()
  collectStartGarbage()

  // Where it says that it listens may be a full disk, or closed by now: no reason to end.
  process.stdout.on('error', () => {})
  const exit = async (code: number) => {
    await log.flush()
    process.exit(code)
  }
  const end = async (code: number, withinMs: number, noticeMs = 0) => {
    setTimeout(() => {
      log.warn('the drain took too long')
      void exit(1)
    }, noticeMs + withinMs).unref()
    await daemon.close(noticeMs)
    await tracing?.close()
    log.info('stopped')
    await exit(code)
  }
  const drain = (signal: string) => {
    log.info('draining', { signal })
    void end(signal === 'SIGINT' ? interruptedCode : 0, drainMs, config.drainNoticeSeconds * 1000)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => drain(signal))
  // On a terminal, SIGHUP means that the terminal was closed, so nobody could stop the daemon any more.
  if (process.stdin.isTTY) process.once('SIGHUP', () => drain('SIGHUP'))
  else process.on('SIGHUP', () => void daemon.reload())
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.once(event, (error: unknown) => {
      process.on(event, () => {}) // a further failure during the drain is ignored
      log.fatal(event, error)
      void end(1, drainAfterFailureMs)
    })
  }
  return daemon
}

/**
 * The embedded database starts beside this process while the daemon's code is loaded, which takes longer. Loading it lets nothing
 * else go on, so the programs of PostgreSQL are started before.
 */
async function holdAhead(config: Config, log: Log): Promise<{ readonly database: Promise<Embedded> } | undefined> {
  if (config.database) return undefined
  const { holdEmbedded } = await import('../core/kernel/database/embedded.ts')
  const { promise: waits, resolve: onWait } = Promise.withResolvers<void>()
  const database = holdEmbedded(config.dataDir, { note: (line) => log.info(line), onWait })
  // A failure is told by the boot, which waits for it.
  await Promise.race([waits, database.catch(() => undefined)])
  return { database }
}

/** One line for people, and the exit code: 2 configuration, 7 database, 1 anything else. */
export function startFailure(error: unknown): { readonly line: string; readonly code: number } {
  if (error instanceof ConfigurationError) return { line: error.message, code: 2 }
  const { name, message, address, port, syscall, setting = 'SVC_PORT' } = error as ListenFailure
  if (codeOf(error) === 'EADDRINUSE')
    return {
      line: `The port ${port} on ${address} is in use. Stop the program that uses it, or set ${setting}.`,
      code: 1,
    }
  if (syscall === 'listen' || syscall === 'bind' || syscall === 'getaddrinfo')
    return {
      line: `Cannot listen on ${address ?? 'SVC_HOST'}: ${codeOf(error)}. Check SVC_HOST and ${setting}.`,
      code: 2,
    }
  const isDatabase =
    error instanceof DatabaseUnavailable || ['SchemaError', 'EmbeddedFailure'].includes(name) || codeOf(error) !== ''
  return isDatabase
    ? { line: `${message || codeOf(error)}`.split('\n')[0] ?? '', code: 7 }
    : { line: `The daemon cannot start: ${String(message).split('\n')[0]}`, code: 1 }
}

if (import.meta.main) await runDaemon({ role: 'all' })
