/**
 * A target of webhooks on loopback: keeps what it got, verifies it as a customer would, and answers as a test tells it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export interface Received {
  readonly at: number
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** Names as they arrived, one for each line. */
  readonly headerNames: readonly string[]
  readonly body: string
  readonly eventId: string
}

export type Respond = (request: Received, response: ServerResponse) => void

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  /** The answer from now on; at first 204. */
  respond(how: Respond): void
  /** Resolves once so many deliveries have arrived. */
  until(count: number): Promise<void>
  close(): Promise<void>
}

export async function receiver(): Promise<Receiver> {
  const received: Received[] = []
  let how: Respond = (_, response) => response.writeHead(204).end()
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const one = readReceived(request, Buffer.concat(chunks).toString('utf8'))
      received.push(one)
      how(one, response)
      for (const wake of waiting) wake()
      waiting.clear()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    respond(next) {
      how = next
    },
    async until(count) {
      while (received.length < count) await new Promise<void>((resolve) => waiting.add(resolve))
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const readReceived = (request: IncomingMessage, body: string): Received => ({
  at: Date.now(),
  path: request.url ?? '',
  headers: request.headers,
  headerNames: request.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()),
  body,
  eventId: String(request.headers['webhook-id']),
})

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (_, response) =>
    response.writeHead(code, headers).end(body)

/**
 * Whether the signature was right under the secret when it arrived, by the receiver's own library, which accepts none
 * that is five minutes old.
 */
export function verifies(secret: string, { at, body, headers }: Received): boolean {
  const { now } = Date
  Date.now = () => at
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  } finally {
    Date.now = now
  }
}
