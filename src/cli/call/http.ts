/**
 * One exchange over HTTP. It uses node:http and not fetch, so that no redirect carries our
 * token elsewhere, and a refused connection differs from an answer that got lost.
 */
import type { IncomingMessage, RequestOptions } from 'node:http'
import { Failure } from '../failure.ts'

export interface Exchange {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The answer as it came, for one that is no text. */
  readonly bytes: Buffer
}

/** No answer came. `maybeDone`: the request may have reached the server. */
export class NotReached extends Failure {
  readonly maybeDone: boolean

  constructor(message: string, remedy: string, maybeDone: boolean) {
    super('unreached', message, remedy)
    this.maybeDone = maybeDone
  }
}

const connectSeconds = 5
const silenceSeconds = 60
const maximumBytes = 512 * 1024 * 1024

/** Sends the request and reads the whole answer. Throws NotReached. */
export async function exchange({ method, url, headers, body }: Exchange): Promise<HttpAnswer> {
  // `import` would read every export of node:http; one of them loads all of undici (25 ms).
  const { request } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options: RequestOptions = { method, headers: { ...headers, ...length } }
  return new Promise((done, failed) => {
    let connected = false
    const outgoing = request(url, options, (incoming) => void readWhole(incoming).then(done, fail))
    const fail = (error: Error) => failed(notReached(url, error, connected))
    const giveUp = setTimeout(() => outgoing.destroy(new Error('no connection in time')), connectSeconds * 1000)
    outgoing.on('socket', (socket) => {
      const ready = () => {
        connected = true
        clearTimeout(giveUp)
      }
      if (socket.connecting) socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', ready)
      else ready()
    })
    outgoing.setTimeout(silenceSeconds * 1000, () => outgoing.destroy(new Error(`no data for ${silenceSeconds} s`)))
    outgoing.on('error', (error) => {
      clearTimeout(giveUp)
      fail(error)
    })
    outgoing.end(body)
  })
}

async function readWhole(incoming: IncomingMessage): Promise<HttpAnswer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > maximumBytes) throw new Error(`the answer is longer than ${maximumBytes} bytes`)
    pieces.push(piece)
  }
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
  const bytes = Buffer.concat(pieces)
  return {
    status: incoming.statusCode ?? 0,
    headers,
    bytes,
    get text() {
      return bytes.toString('utf8')
    },
  }
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name could not be resolved',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ETIMEDOUT: 'no connection in time',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
}

function notReached(url: URL, error: Error, connected: boolean): NotReached {
  const { code } = error as NodeJS.ErrnoException
  const reason = reasons[code ?? ''] ?? error.message.replace(/\s+/g, ' ')
  const remedy =
    code === 'ENOTFOUND' ? 'Check the API URL.' : 'Is `svc daemon` (or `svc up`) running there? `svc doctor` says more.'
  const what = connected ? 'did not answer' : 'cannot be reached'
  return new NotReached(`The server at ${url.origin} ${what} (${reason}).`, remedy, connected)
}
