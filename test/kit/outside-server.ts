/**
 * Real programs from outside the project, run for a test on loopback: started, awaited, ended by their own process id.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'

export interface Running {
  readonly process: ChildProcess
  /** What it wrote so far. */
  output(): string
  stop(): Promise<void>
}

/**
 * Ports on which no process listens. They are from a range that the system does not assign by itself: otherwise, in the
 * seconds until the program has its port, a connection or server of another test could take it.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

const startMs = 30_000

/** Starts a program, as another user if one is given, and waits until its port answers. */
export async function runServer(
  command: string,
  args: readonly string[],
  port: number,
  cwd: string,
  account: { readonly uid: number; readonly gid: number } | undefined = undefined,
): Promise<Running> {
  const child = spawn(command, args, {
    cwd,
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: cwd, LANG: 'C.UTF-8' },
  })
  let written = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (written += chunk.toString()))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const deadline = Date.now() + startMs
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`${command} ${args.join(' ')} did not start: ${written.slice(-2000)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    process: child,
    output: () => written,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
