/** Calls that come from a chosen address: each of 127.0.0.0/8 is another source for the daemon. */
import { request } from 'node:http'
import { BriefAgent } from './brief-agent.ts'
import type { Answered, Sending } from './daemon.ts'

export interface Source {
  post(path: string, body: unknown, sending?: Pick<Sending, 'token' | 'headers'>): Promise<Answered>
  get(path: string, sending?: Pick<Sending, 'token' | 'headers'>): Promise<Answered>
  close(): void
}

/** `address`: of this machine, such as 127.0.0.2. `connections`: as many calls at once. */
export function source(daemon: string, address: string, connections = 64): Source {
  const { hostname, port } = new URL(daemon)
  const agent = new BriefAgent(connections)

  const send = (method: string, path: string, body: unknown, { token, headers }: Sending = {}) =>
    new Promise<Answered>((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const sent = request(
        { agent: agent.dropIdle(), hostname, port, localAddress: address, method, path: `/api/v1${path}` },
        (response) => {
          const pieces: Buffer[] = []
          response.on('data', (piece: Buffer) => pieces.push(piece))
          response.on('error', reject)
          response.on('end', () => {
            const answer = Buffer.concat(pieces).toString()
            const json = answer === '' ? undefined : JSON.parse(answer)
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answer, json })
          })
        },
      )
      sent.on('error', reject)
      if (text !== undefined) sent.setHeader('content-type', 'application/json')
      if (token !== undefined) sent.setHeader('authorization', `Bearer ${token}`)
      for (const [name, value] of Object.entries(headers ?? {})) sent.setHeader(name, value)
      sent.end(text)
    })

  return {
    post: (path, body, sending) => send('POST', path, body, sending),
    get: (path, sending) => send('GET', path, undefined, sending),
    close: () => agent.destroy(),
  }
}
