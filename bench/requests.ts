/** Requests of a benchmark: what they are, and how fast a daemon answers them. */
import { type Dispatcher, Pool } from 'undici'

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT'
  /** Below `/api/v1`. */
  readonly path: string
  readonly body?: object
}

export interface SignedRequest extends Request {
  readonly token: string
}

/** One of them, at random. */
export const anyOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!

export function headersOf({ method, body }: Request, token: string): Record<string, string> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  return { authorization: `Bearer ${token}`, ...(body ? { 'content-type': type } : {}) }
}

interface Answered {
  readonly status: number
  readonly text: string
}

/**
 * Sends a request without the streams of the package, because the callers share the processors with what they measure.
 * `keeps`: whether the text of the answer is wanted.
 */
export function sendVia(pool: Pool, request: SignedRequest, keeps: boolean): Promise<Answered> {
  const { method, path, body, token } = request
  const sent: Dispatcher.DispatchOptions = {
    method,
    path: `/api/v1${path}`,
    headers: headersOf(request, token),
    body: body ? JSON.stringify(body) : null,
  }
  return new Promise((resolve, reject) => {
    let status = 0
    const chunks: Buffer[] = []
    pool.dispatch(sent, {
      onRequestStart() {},
      onResponseStart(_controller, code) {
        status = code
      },
      onResponseData(_controller, chunk) {
        if (keeps) chunks.push(chunk)
      },
      onResponseEnd: () => resolve({ status, text: chunks.length === 0 ? '' : Buffer.concat(chunks).toString() }),
      onResponseError: (_controller, error) => reject(error),
    })
  })
}

export interface Client {
  /** The text of the answer. Throws if it is no success. */
  send(request: SignedRequest): Promise<string>
  /** Answers a second, with all connections busy for `ms`. */
  rate(next: () => SignedRequest, ms: number): Promise<number>
  close(): Promise<void>
}

export function openClient(address: string, connections: number): Client {
  const pool = new Pool(address, { connections, pipelining: 1 })
  async function send(request: SignedRequest): Promise<string> {
    const { status, text } = await sendVia(pool, request, true)
    if (status >= 300) throw new Error(`${request.method} ${request.path} is answered with ${status}: ${text}`)
    return text
  }
  return {
    send,
    async rate(next, ms) {
      const started = performance.now()
      let count = 0
      const lane = async () => {
        while (performance.now() - started < ms) {
          await send(next())
          count += 1
        }
      }
      await Promise.all(Array.from({ length: connections }, lane))
      return count / ((performance.now() - started) / 1000)
    },
    close: () => pool.destroy(),
  }
}
