/**
 * One POST to a configured target, with bounds on everything and a trace.
 *
 *    5 s to connect · 15 s in all · 64 KiB read, 4 KiB of it kept · nothing decompressed · no redirect followed
 *
 * The status decides the result: if the rest of the answer fails, the result stays. If the
 * target closes a kept connection at the moment of its reuse, that is not a failure: the
 * request is made again on a new connection.
 *
 * Spec: decisions 5, Delivery; T-16, T-18.
 */
import type { Dispatcher } from 'undici'
import { EgressRefused, type Guard, type Inspection, portOf } from './guard.ts'
import {
  type Approach,
  type ConnectFailure,
  NotConnected,
  openConnection,
  type TargetConnection,
} from './target-connection.ts'

export type PostFailure =
  | ConnectFailure
  | 'timeout'
  | 'connection.closed'
  | 'response.malformed'
  | 'response.redirect'
  | 'response.status'
  | 'interrupted'

export interface Trace {
  readonly host: string
  readonly dns_answers: readonly string[]
  readonly address: string | null
  readonly rule: Inspection['rule'] | null
  readonly reused: boolean
  readonly tls_version: string | null
  readonly phases_ms: {
    readonly dns: number | null
    readonly connect: number | null
    readonly tls: number | null
    readonly wait: number | null
    readonly read: number | null
  }
}

export interface Posted {
  /** The target's status; null without an answer. */
  readonly status: number | null
  readonly failure: PostFailure | null
  /** The first 4,096 bytes of the answer; null where there was none. */
  readonly body: Buffer | null
  readonly retryAfter: string | undefined
  /** Whether the answer was read to its end, within the limit. */
  readonly isWhole: boolean
  readonly durationMs: number
  readonly trace: Trace
}

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Ends the attempt as interrupted. */
  readonly signal?: AbortSignal
}

export interface WebhookClient {
  /** Never rejects: a failure is part of the result. */
  post(wanted: Post): Promise<Posted>
  close(): Promise<void>
}

/** How long a target has, in milliseconds. */
export interface Bounds {
  readonly connectMs: number
  readonly deadlineMs: number
}

const productBounds: Bounds = { connectMs: 5_000, deadlineMs: 15_000 }

const keptBytes = 4_096
const readBytes = 65_536
/**
 * Limits of idle connections: to one origin, which many webhooks may share; to all origins; and the age at which the
 * name is resolved again.
 */
const idlePerOrigin = 256
const idleAtMost = 512
const connectionLifeMs = 5 * 60_000
/** How many checked URLs are kept: the same few targets are called again and again. */
const readUrls = 1_000

export function openWebhookClient(guard: Guard, { connectMs, deadlineMs }: Bounds = productBounds): WebhookClient {
  const open = (url: URL) => openConnection(guard, url, connectMs)
  const lines = new IdleLines()
  const known = new Map<string, URL>()
  const read = (text: string): URL => {
    const before = known.get(text)
    if (before) return before
    const url = guard.readUrl(text)
    if (known.size >= readUrls) known.clear()
    known.set(text, url)
    return url
  }
  return {
    async post(wanted) {
      const begun = performance.now()
      let url: URL
      try {
        url = read(wanted.url)
      } catch {
        return refusedByForm(wanted.url, performance.now() - begun)
      }
      const left = () => deadlineMs - (performance.now() - begun)
      const first = await carry(() => lines.take(url.origin) ?? open(url), lines, url, wanted, left())
      const isStale = first.failure === 'connection.closed' && first.trace.reused && first.status === null
      const last = isStale && left() > 0 ? await carry(() => open(url), lines, url, wanted, left()) : first
      return { ...last, durationMs: performance.now() - begun }
    },
    close: () => lines.close(),
  }
}

/** Sends over a connection, and keeps it for the next request if the target leaves it open. */
async function carry(
  connectionFor: () => TargetConnection,
  idle: IdleLines,
  url: URL,
  wanted: Post,
  withinMs: number,
): Promise<Omit<Posted, 'durationMs'>> {
  const connection = connectionFor()
  const dialled = connection.dials()
  const exchange = new Exchange(connection, wanted.signal)
  const result = await exchange.run(url, wanted, withinMs)
  const reused = connection.dials() === dialled
  if (result.isWhole) idle.put(url.origin, connection)
  else void connection.client.destroy().catch(() => {})
  return { ...result, trace: traceOf(url, connection.approach(), reused, exchange) }
}

function traceOf(url: URL, approach: Approach, reused: boolean, { waitMs, readMs }: Exchange): Trace {
  const once = (ms: number | null) => (reused || ms === null ? null : rounded(ms))
  return {
    host: `${url.hostname}:${portOf(url)}`,
    dns_answers: approach.answers,
    address: approach.address,
    rule: approach.rule,
    reused,
    tls_version: approach.tlsVersion,
    phases_ms: {
      dns: once(approach.dnsMs),
      connect: once(approach.connectMs),
      tls: once(approach.tlsMs),
      wait: waitMs === null ? null : rounded(waitMs),
      read: readMs === null ? null : rounded(readMs),
    },
  }
}

const rounded = (ms: number) => Math.round(ms * 100) / 100

/** The result for a target whose form the guard has come to refuse since it was stored. */
function refusedByForm(text: string, durationMs: number): Posted {
  const url = URL.parse(text)
  const phases_ms = { dns: null, connect: null, tls: null, wait: null, read: null }
  return {
    status: null,
    failure: 'egress.refused',
    body: null,
    retryAfter: undefined,
    isWhole: false,
    durationMs,
    trace: {
      host: url ? `${url.hostname}:${portOf(url)}` : '',
      dns_answers: [],
      address: null,
      rule: 'refused',
      reused: false,
      tls_version: null,
      phases_ms,
    },
  }
}

/** One request on one connection. */
class Exchange {
  waitMs: number | null = null
  readMs: number | null = null
  private status: number | null = null
  private retryAfter: string | undefined
  /** The answer was read to its end, so the connection may serve another request. */
  private isWhole = false
  private readonly kept = new Kept()
  private read = 0
  private sentAt = 0
  private answeredAt = 0
  private readonly done = Promise.withResolvers<PostFailure | null>()
  private readonly connection: TargetConnection
  private readonly signal: AbortSignal | undefined

  constructor(connection: TargetConnection, signal: AbortSignal | undefined) {
    this.connection = connection
    this.signal = signal
  }

  async run(url: URL, { headers, body }: Post, withinMs: number) {
    const cut = (failure: PostFailure) => () => this.end(failure)
    const deadline = setTimeout(cut('timeout'), withinMs)
    const interrupted = cut('interrupted')
    if (this.signal?.aborted) interrupted()
    const cuts = this.signal && cutsOf(this.signal)
    cuts?.add(interrupted)
    try {
      this.connection.client.dispatch(
        {
          method: 'POST',
          path: `${url.pathname}${url.search}`,
          headers: { 'user-agent': 'svc', accept: '*/*', 'accept-encoding': 'identity', ...headers },
          body,
        },
        this.handler(),
      )
    } catch {
      this.end('connection.closed')
    }
    const failure = await this.done.promise
    clearTimeout(deadline)
    cuts?.delete(interrupted)
    return {
      status: this.status,
      failure: this.verdict(failure),
      body: this.status === null ? null : this.kept.bytes(),
      retryAfter: this.retryAfter,
      isWhole: this.isWhole,
    }
  }

  /** A status decides the result, whatever happens to the rest of the answer. */
  private verdict(failure: PostFailure | null): PostFailure | null {
    if (this.status === null || failure === 'interrupted') return failure
    if (this.status >= 200 && this.status < 300) return null
    return this.status >= 300 && this.status < 400 ? 'response.redirect' : 'response.status'
  }

  private end(failure: PostFailure | null): void {
    this.done.resolve(failure)
  }

  private handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: () => {
        this.sentAt = performance.now()
      },
      onResponseStart: (_, status, headers) => {
        if (status < 200) return // an interim answer; the deadline still runs
        this.answeredAt = performance.now()
        this.waitMs = this.answeredAt - this.sentAt
        this.status = status
        const retryAfter = headers['retry-after']
        this.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter
      },
      onResponseData: (_, chunk) => {
        this.kept.add(chunk)
        this.read += chunk.length
        if (this.read > readBytes) this.end(null)
      },
      onResponseEnd: () => {
        this.readMs = performance.now() - this.answeredAt
        this.isWhole = true
        this.end(null)
      },
      onResponseError: (_, error) => this.end(failureOf(error)),
    }
  }
}

/** What each signal cuts. It has one listener: it would look through all of them whenever one is added or removed. */
const cutBy = new WeakMap<AbortSignal, Set<() => void>>()

function cutsOf(signal: AbortSignal): Set<() => void> {
  const known = cutBy.get(signal)
  if (known) return known
  const cuts = new Set<() => void>()
  const cutAll = () => {
    for (const cut of [...cuts]) cut()
  }
  signal.addEventListener('abort', cutAll, { once: true })
  cutBy.set(signal, cuts)
  return cuts
}

/**
 * The start of an answer, in its own memory. A copy of each piece would keep a shared slab of memory alive, and a
 * target that sends single bytes would keep as many slabs alive as it sends bytes.
 */
class Kept {
  private memory: Buffer | undefined
  private length = 0

  add(piece: Buffer): void {
    if (this.length === keptBytes) return
    this.memory ??= Buffer.allocUnsafeSlow(keptBytes)
    this.length += piece.copy(this.memory, this.length)
  }

  bytes(): Buffer {
    return this.memory?.subarray(0, this.length) ?? Buffer.alloc(0)
  }
}

function failureOf(error: unknown): PostFailure {
  if (error instanceof NotConnected) return error.code
  if (error instanceof EgressRefused) return 'egress.refused'
  const { code = '', name = '' } = error as NodeJS.ErrnoException
  if (name === 'HTTPParserError' || code.startsWith('HPE_') || code.startsWith('UND_ERR_HEADERS'))
    return 'response.malformed'
  if (['UND_ERR_INVALID_ARG', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_INFO'].includes(code))
    return 'response.malformed'
  return 'connection.closed'
}

/** Idle connections, by origin; the one used last is taken first. */
class IdleLines {
  private readonly byOrigin = new Map<string, TargetConnection[]>()
  private count = 0

  take(origin: string): TargetConnection | undefined {
    const idle = this.byOrigin.get(origin)
    while (idle?.length) {
      const connection = idle.pop()
      this.count -= 1
      if (idle.length === 0) this.byOrigin.delete(origin)
      if (connection?.isOpen() && performance.now() - connection.openedAt < connectionLifeMs) return connection
      void connection?.client.destroy().catch(() => {})
    }
    return undefined
  }

  put(origin: string, connection: TargetConnection): void {
    const idle = this.byOrigin.get(origin) ?? []
    if (!connection.isOpen() || idle.length >= idlePerOrigin || this.count >= idleAtMost) {
      void connection.client.destroy().catch(() => {})
      return
    }
    idle.push(connection)
    this.count += 1
    this.byOrigin.set(origin, idle)
  }

  async close(): Promise<void> {
    const all = [...this.byOrigin.values()].flat()
    this.byOrigin.clear()
    this.count = 0
    await Promise.all(all.map((connection) => connection.client.destroy().catch(() => {})))
  }
}
