/**
 * A flood as a process of its own: connections from one address, each of which sends its next call when the one before
 * is answered. Takes its order as JSON from the command line; prints what was answered, and ends with its standard input.
 */
import { Agent, request } from 'node:http'

export interface FloodOrder {
  /** `http://127.0.0.1:8080` */
  readonly daemon: string
  /** The address of this machine that it comes from. */
  readonly from: string
  readonly connections: number
  readonly path: string
  /** The bodies in turn, as JSON; `#` in them is a number that counts up. */
  readonly bodies: readonly string[]
}

const { daemon, from, connections, path, bodies } = JSON.parse(process.argv[2] ?? '{}') as FloodOrder
const { hostname, port } = new URL(daemon)
const agent = new Agent({ keepAlive: true, maxSockets: connections })
const answered: Record<string, number> = {}
let sent = 0

function send(): Promise<string> {
  const body = (bodies[sent % bodies.length] ?? '').replaceAll('#', String(sent))
  sent += 1
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const call = request({ agent, hostname, port, localAddress: from, method: 'POST', path, headers }, (response) => {
      response.resume()
      response.once('close', () => resolve(String(response.statusCode)))
    })
    call.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'error'))
    call.end(body)
  })
}

async function repeat(): Promise<never> {
  for (;;) {
    const status = await send()
    answered[status] = (answered[status] ?? 0) + 1
  }
}
for (let n = 0; n < connections; n += 1) void repeat()

process.stdin.resume().once('end', () => {
  process.stdout.write(JSON.stringify(answered), () => process.exit())
})
