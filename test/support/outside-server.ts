/** Programs of the outside world, run for a test on loopback: started, waited for, ended by their own process id. */
import { type ChildProcess, spawn } from 'node:child_process'
import { type AddressInfo, connect, createServer } from 'node:net'

export interface Running {
  readonly process: ChildProcess
  /** What it wrote so far. */
  output(): string
  stop(): Promise<void>
}

/** Ports that nobody listens on at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer()
          server.listen(0, '127.0.0.1', () => resolve(server))
        }),
    ),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

const startMs = 30_000

/** Starts a program and waits until its port answers. */
export async function runServer(command: string, args: readonly string[], port: number, cwd: string): Promise<Running> {
  const child = spawn(command, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', HOME: cwd, LANG: 'C.UTF-8' },
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
