/** Other processes: servers that say where they listen, and commands that are timed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Server {
  readonly pid: number
  /** `http://127.0.0.1:8080` */
  readonly address: string
  /** From its start to the line that says where it listens. */
  readonly readyMs: number
  stop(): Promise<void>
}

/** Starts the daemon as it is started in production. */
export const startDaemon = (env: Record<string, string>, ...args: readonly string[]): Promise<Server> =>
  startServer([join(import.meta.dirname, '../bin/svc'), 'daemon', ...args], env)

const unit = readFileSync(join(import.meta.dirname, '../deploy/svc.service'), 'utf8')
const [, niceness = '0'] = /^Nice=(-?[0-9]+)$/m.exec(unit) ?? []

/** What gives a program the priority of the daemon's unit; `nice` leaves it the ordinary one where no other is allowed. */
export const inUnit: readonly string[] = ['nice', '-n', niceness]

/** Starts the daemon with the priority that its unit gives it. */
export const startService = (env: Record<string, string>, ...args: readonly string[]): Promise<Server> =>
  startServer([...inUnit, join(import.meta.dirname, '../bin/svc'), 'daemon', ...args], env)

/** Starts a program and waits until it prints `listening on …`. Its log is dropped. */
export async function startServer(command: readonly string[], env: Record<string, string> = {}): Promise<Server> {
  const [program, ...args] = command
  const started = performance.now()
  const child = spawn(program!, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const address = await addressOf(child)
  return {
    pid: child.pid!,
    address,
    readyMs: performance.now() - started,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  for await (const line of createInterface(child.stdout!)) {
    const [, address] = /^listening on (\S+)$/.exec(line) ?? []
    if (address) return address
  }
  throw new Error('a server ended before it listened')
}

/** How long a command takes from its start to its end, in ms. Throws when it fails. */
export async function commandMs(command: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const [program, ...args] = command
  const started = performance.now()
  const child = spawn(program!, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  const took = performance.now() - started
  if (code !== 0) throw new Error(`${command.join(' ')} exited with ${code}`)
  return took
}
