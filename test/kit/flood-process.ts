/**
 * A flood of calls in its own process, so that its work does not disturb measurements: connections
 * from one address, each of which sends its next call when the one before is answered. Started by
 * flood.ts; takes its order from the command line, prints `flooding` once a call is answered, or
 * none was for five seconds, and prints the counts of all answers when its standard input ends.
 */
import { Agent, request } from 'node:http'

/** A body of so many bytes: `unit` repeated, between `open` and `close`. */
export interface RepeatedBody {
  readonly open: string
  readonly unit: string
  readonly close: string
  readonly bytes: number
}

export interface FloodOrder {
  /** `http://127.0.0.1:8080` */
  readonly daemon: string
  /** The address of this machine from which it comes. */
  readonly from: string
  readonly connections: number
  readonly method: string
  readonly path: string
  readonly token?: string
  /** Sent in turn; `#` in a text counts the calls, in a unit the units. None: calls without a body. */
  readonly bodies: readonly (string | RepeatedBody)[]
}

const { daemon, from, connections, method, path, token, bodies } = JSON.parse(process.argv[2] ?? '{}') as FloodOrder
const { hostname, port } = new URL(daemon)
const made = bodies.map((body) => (typeof body === 'string' ? body : repeated(body)))
const answered: Record<string, number> = {}
let sent = 0
let isOver = false

function repeated({ open, unit, close, bytes }: RepeatedBody): string {
  const units: string[] = []
  for (let length = open.length + close.length, at = 0; length < bytes; at += 1) {
    const next = unit.replace('#', String(at))
    units.push(next)
    length += next.length + 1
  }
  return `${open}${units.slice(0, -1).join(',')}${close}`
}

function nextBody(): string | undefined {
  const at = sent % Math.max(1, made.length)
  sent += 1
  return typeof bodies[at] === 'string' ? made[at]?.replaceAll('#', String(sent)) : made[at]
}

function send(agent: Agent): Promise<string> {
  const body = nextBody()
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  }
  return new Promise((resolve) => {
    const call = request({ agent, hostname, port, localAddress: from, method, path, headers }, (response) => {
      response.resume().once('close', () => resolve(String(response.statusCode)))
    })
    call.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'error'))
    call.end(body)
  })
}

async function repeat(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  while (!isOver) {
    const status = await send(agent)
    answered[status] = (answered[status] ?? 0) + 1
  }
}
for (let n = 0; n < connections; n += 1) void repeat()

// The daemon may hold the first refusals for a second or two, and a short test may be over by then.
const begun = performance.now()
const looking = setInterval(() => {
  const ms = performance.now() - begun
  if (ms < 500 || (Object.keys(answered).length === 0 && ms < 5_000)) return
  clearInterval(looking)
  process.stdout.write('flooding\n')
}, 50)

process.stdin.resume().once('end', () => {
  isOver = true
  // Calls under way are not awaited: the daemon may hold a call for any time.
  process.stdout.write(`${JSON.stringify(answered)}\n`, () => process.exit())
})
