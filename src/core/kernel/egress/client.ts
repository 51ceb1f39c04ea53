/**
 * The only module that opens connections to other hosts, over HTTP or raw, after the guard has vetted them.
 *
 *    host → guard.vet → connect to a vetted address → is the peer one of them? → bytes
 *
 * It never follows redirects, uses no proxy of the environment and keeps no cookies. It does
 * not read an answer in a coding that was not requested, because decompression could make a
 * thousand bytes of each byte before any bound applies. Each call has a deadline. TLS is
 * checked against the requested name, not against the address.
 *
 * test/house/imports.test.ts forbids every other module to open a socket. Spec: decisions 5,
 * Egress guard; T-16, T-17.
 */
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import {
  Agent,
  buildConnector,
  type Dispatcher,
  Headers,
  type RequestInit,
  type Response,
  fetch as undiciFetch,
} from 'undici'
import { EgressRefused, type Guard, type GuardOptions, openGuard, portOf } from './guard.ts'
import { type Bounds, openWebhookClient, type WebhookClient } from './post.ts'

export { EgressRefused } from './guard.ts'

export interface Egress {
  /** Reads and checks a URL's form. Throws EgressRefused. */
  readUrl(text: string): URL
  /** Whether a host may be connected to at this moment. Throws EgressRefused, or what the resolver throws. */
  vet(host: string, port: number): Promise<readonly string[]>
  /** A request to a vetted address; a redirect rejects. `deadlineMs` (15,000) bounds all of it, the body included. */
  fetch(url: string | URL, init?: RequestInit & { readonly deadlineMs?: number }): Promise<Response>
  /** One POST with its trace. Never rejects: a failure is part of the result (post.ts). */
  readonly post: WebhookClient['post']
  /** A raw connection to a vetted address, for protocols that are not HTTP. */
  connect(host: string, port: number): Promise<Socket>
  close(): Promise<void>
}

const connectMs = 5_000
const deadlineMs = 15_000

export function openEgress(options: GuardOptions & { readonly bounds?: Bounds }): Egress {
  const guard = openGuard(options)
  const agent = agentOf(guard)
  const dispatcher = agent.compose(plainAnswersOnly)
  const webhookClient = openWebhookClient(guard, options.bounds)
  return {
    post: webhookClient.post,
    readUrl: (text) => guard.readUrl(text),
    vet: (host, port) => guard.vet(host, port),

    async fetch(target, { deadlineMs: limit = deadlineMs, ...init } = {}) {
      const url = guard.readUrl(String(target))
      // The connector vets again, unless it has an open connection; this call gives the clear refusal.
      await guard.vet(url.hostname, portOf(url))
      const deadline = AbortSignal.timeout(limit)
      const signal = init.signal ? AbortSignal.any([deadline, init.signal as AbortSignal]) : deadline
      const headers = new Headers(init.headers)
      headers.set('accept-encoding', 'identity')
      return undiciFetch(url, { ...init, headers, signal, redirect: 'error', dispatcher }).catch((error: unknown) => {
        throw refusalIn(error) ?? error
      })
    },

    async connect(host, port) {
      const addresses = await guard.vet(host, port)
      return dial(addresses, port)
    },

    async close() {
      await Promise.all([agent.destroy(), webhookClient.close()])
    },
  }
}

/** An agent that connects only to vetted addresses, whatever the name resolves to by then. */
function agentOf(guard: Guard): Agent {
  return new Agent({
    connections: 8,
    connect(wanted, done) {
      const port = Number(wanted.port || (wanted.protocol === 'http:' ? 80 : 443))
      guard.vet(wanted.hostname, port).then(
        (addresses) => {
          const connector = buildConnector({
            timeout: connectMs,
            lookup: answering(addresses),
          } as buildConnector.BuildOptions)
          connector(wanted, (...[error, socket]) => {
            if (error) done(error, null)
            else if (isVetted(socket, addresses)) done(null, socket)
            else {
              socket.destroy()
              done(new EgressRefused(), null)
            }
          })
        },
        (error: Error) => done(error, null),
      )
    },
  })
}

/** An answer came in a content coding, although none was requested. */
class AnswerEncoded extends Error {
  override readonly name = 'AnswerEncoded'
  readonly code = 'ANSWER_ENCODED'
}

/** fetch decompresses every answer that says it is compressed, so such an answer is ended at its headers. */
const plainAnswersOnly: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch(options, {
    onRequestStart: (...given) => handler.onRequestStart?.(...given),
    onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
    onResponseStart: (controller, status, headers, message) => {
      const coding = String(headers['content-encoding'] ?? '').trim()
      if (coding !== '' && coding.toLowerCase() !== 'identity') controller.abort(new AnswerEncoded('it has a coding'))
      else handler.onResponseStart?.(controller, status, headers, message)
    },
    onResponseStarted: () => handler.onResponseStarted?.(),
    onResponseData: (...given) => handler.onResponseData?.(...given),
    onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
    onResponseError: (...given) => handler.onResponseError?.(...given),
  })

/** A resolver with one fixed answer. */
function answering(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_name, options, done) => {
    if (options.all) done(null, all)
    else done(null, all[0]?.address ?? '', all[0]?.family)
  }
}

const isVetted = ({ remoteAddress }: Socket, addresses: readonly string[]) =>
  remoteAddress !== undefined &&
  (addresses.includes(remoteAddress) || addresses.includes(remoteAddress.replace(/^::ffff:/, '')))

/** Connects to the first address that answers. */
async function dial(addresses: readonly string[], port: number): Promise<Socket> {
  let failure: unknown
  for (const address of addresses) {
    try {
      return await dialOne(address, port)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function dialOne(address: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true })
    const late = Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })
    const timer = setTimeout(() => socket.destroy(late), connectMs)
    socket.once('close', () => clearTimeout(timer))
    socket.once('error', reject)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/** fetch hides the cause under its own TypeError. */
function refusalIn(error: unknown): EgressRefused | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof EgressRefused) return cause
  return undefined
}
