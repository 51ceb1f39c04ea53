/**
 * One kept connection to one target, with the trace of how it was opened.
 *
 *    resolve once → guard → connect to a vetted address → is the peer that address? → TLS by name
 *
 * Opening has a deadline of 5 s. A connection carries one request at a time. It is reused while the
 * target keeps it open, for at most five minutes: then the name is resolved again.
 *
 * Spec: decisions 5, Delivery, Egress guard; T-14 to T-16.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { Client } from 'undici'
import { type Guard, type Inspection, portOf } from './guard.ts'

export type ConnectFailure = 'egress.refused' | 'dns.failed' | 'connect.failed' | 'connect.timeout' | 'tls.failed'

/** Why there is no connection. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
  readonly code: ConnectFailure
  constructor(code: ConnectFailure) {
    super(code)
    this.code = code
  }
}

/** How the connection was opened; times in milliseconds. Null for a phase that was not reached. */
export interface Approach {
  answers: readonly string[]
  address: string | null
  rule: Inspection['rule'] | null
  tlsVersion: string | null
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

export interface TargetConnection {
  readonly client: Client
  readonly openedAt: number
  /** The approach of the current connection, which is a new one if the target had closed the last. */
  approach(): Approach
  /** How many connections were made or tried so far. */
  dials(): number
  isOpen(): boolean
}

/** A target's idle connection is closed after this, unless it asks for less. */
const keptMs = 15_000
const headerBytes = 65_536

const unknown = (): Approach => ({
  answers: [],
  address: null,
  rule: null,
  tlsVersion: null,
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
})

export function openConnection(guard: Guard, url: URL, connectMs: number): TargetConnection {
  let approach = unknown()
  let dials = 0
  let socket: Socket | undefined
  const client = new Client(url.origin, {
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keptMs,
    keepAliveMaxTimeout: keptMs,
    // post.ts sets the only deadline, because the client's own timers have a resolution of seconds.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: headerBytes,
    connect: (_wanted, done) => {
      dials += 1
      approach = unknown()
      dial(guard, url, approach, connectMs).then(
        (connected) => {
          socket = connected
          done(null, connected as TLSSocket)
        },
        (error: Error) => done(error, null),
      )
    },
  })
  return {
    client,
    openedAt: performance.now(),
    approach: () => approach,
    dials: () => dials,
    isOpen: () => socket !== undefined && !socket.destroyed && socket.readyState === 'open' && !client.destroyed,
  }
}

/** A connection to a vetted address, within its time. Throws NotConnected; `approach` says how far it came. */
async function dial(guard: Guard, url: URL, approach: Approach, withinMs: number): Promise<Socket> {
  const late = Promise.withResolvers<never>()
  const abort = new AbortController()
  const timer = setTimeout(() => {
    late.reject(new NotConnected('connect.timeout'))
    abort.abort()
  }, withinMs)
  try {
    return await Promise.race([reach(guard, url, approach, abort.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function reach(guard: Guard, url: URL, approach: Approach, signal: AbortSignal): Promise<Socket> {
  const { addresses } = await inspected(guard, url, approach)
  let failure: unknown = new NotConnected('egress.refused')
  for (const address of addresses) {
    if (signal.aborted) break
    approach.address = address
    try {
      const socket = await timed(approach, 'connectMs', () => tcp(address, portOf(url), signal))
      return url.protocol === 'https:' ? await secured(socket, url.hostname, approach, signal) : socket
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

async function inspected(guard: Guard, url: URL, approach: Approach): Promise<Inspection> {
  const found = await timed(approach, 'dnsMs', () => guard.inspect(url.hostname, portOf(url))).catch(() => {
    throw new NotConnected('dns.failed')
  })
  approach.answers = found.answers
  approach.rule = found.rule
  if (found.rule === 'refused') throw new NotConnected('egress.refused')
  return found
}

function tcp(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: address, port, noDelay: true, signal })
    const failed = () => reject(new NotConnected(signal.aborted ? 'connect.timeout' : 'connect.failed'))
    socket.once('error', failed)
    socket.once('connect', () => {
      socket.off('error', failed)
      // Nothing is written unless the peer is a vetted address.
      if (socket.remoteAddress === address || socket.remoteAddress === `::ffff:${address}`) return resolve(socket)
      socket.destroy()
      reject(new NotConnected('egress.refused'))
    })
  })
}

/** TLS, checked against the name that the URL has. */
async function secured(socket: Socket, hostname: string, approach: Approach, signal: AbortSignal): Promise<TLSSocket> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const secure = await timed(
    approach,
    'tlsMs',
    () =>
      new Promise<TLSSocket>((resolve, reject) => {
        const tls = connectTls({
          socket,
          host,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          ALPNProtocols: ['http/1.1'],
        })
        const failed = () => {
          socket.destroy()
          reject(new NotConnected(signal.aborted ? 'connect.timeout' : 'tls.failed'))
        }
        signal.addEventListener('abort', failed, { once: true })
        tls.once('error', failed)
        tls.once('secureConnect', () => {
          signal.removeEventListener('abort', failed)
          tls.off('error', failed)
          resolve(tls)
        })
      }),
  )
  approach.tlsVersion = secure.getProtocol()
  return secure
}

async function timed<T>(
  approach: Approach,
  phase: 'dnsMs' | 'connectMs' | 'tlsMs',
  work: () => Promise<T>,
): Promise<T> {
  const begun = performance.now()
  try {
    return await work()
  } finally {
    approach[phase] = performance.now() - begun
  }
}
