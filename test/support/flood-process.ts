/**
 * A flood as a process of its own, so that what it does is not felt by whoever measures: the
 * same request over so many connections at once, each again as soon as it is answered. Says
 * `begun` once the first were answered, and its counts by status when its standard input ends.
 */
import { Agent, request } from 'node:http'

interface Flooding {
  readonly url: string
  readonly method: string
  readonly token?: string
  readonly body?: object
  readonly atOnce: number
}

const { url, method, token, body, atOnce } = JSON.parse(process.argv[2] ?? '{}') as Flooding
const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
const text = body === undefined ? undefined : JSON.stringify(body)
const counts: Record<string, number> = {}

const once = () =>
  new Promise<void>((resolve) => {
    const count = (what: string | number) => {
      counts[what] = (counts[what] ?? 0) + 1
      resolve()
    }
    const sent = request(url, {
      agent,
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(text === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      },
    })
    sent.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? 'error'))
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => count(response.statusCode ?? 0))
    })
    sent.end(text)
  })

let isOver = false
const lane = async () => {
  while (!isOver) await once()
}
const lanes = Array.from({ length: atOnce }, lane)
while (Object.keys(counts).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
process.stdout.write('begun\n')
process.stdin.resume().once('end', async () => {
  isOver = true
  await Promise.all(lanes)
  process.stdout.write(`${JSON.stringify(counts)}\n`)
  process.exit()
})
