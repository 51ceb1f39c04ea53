/**
 * A process that runs commands as bin/svc does, one after the other: what a command needs to
 * start (Node, oclif, the contract, the rules) is loaded once.
 *
 * Each command has its own arguments, environment, folder and standard input. It ends when a
 * separate process would have ended: when nothing that it opened keeps the event loop busy.
 */
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { HostedCommand, HostedEnd } from './command-host.ts'

const built = new URL('../../dist/cli/main.js', import.meta.url)
const { main } = (await import(built.href)) as typeof import('../../src/cli/main.ts')

const bin = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

async function run({ args, env, cwd, input }: HostedCommand): Promise<HostedEnd> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  process.argv = [process.execPath, bin, ...args]
  process.exitCode = undefined
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true })
  const [stdout, stderr] = [collect(process.stdout), collect(process.stderr)]
  try {
    await main()
    while (openResources() > atRest) await pause(1)
  } finally {
    process.stdout.write = stdout.write
    process.stderr.write = stderr.write
  }
  return { code: Number(process.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() }
}

/** Keeps what is written instead of writing it. */
function collect(stream: NodeJS.WriteStream) {
  const write = stream.write
  const pieces: Buffer[] = []
  stream.write = ((piece: string | Uint8Array, ...rest: readonly unknown[]) => {
    pieces.push(Buffer.from(piece as string))
    const done = rest.findLast((one) => typeof one === 'function')
    if (done) process.nextTick(done as () => void)
    return true
  }) as typeof stream.write
  return { write, text: () => Buffer.concat(pieces).toString() }
}

/** How many resources keep the event loop alive. */
const openResources = () => process.getActiveResourcesInfo().length

process.on('message', (command: HostedCommand) => void run(command).then((end) => process.send?.(end)))
process.on('disconnect', () => process.exit())
// The two streams count from their first use.
void [process.stdout, process.stderr]
await pause(1)
const atRest = openResources()
process.send?.('ready')
