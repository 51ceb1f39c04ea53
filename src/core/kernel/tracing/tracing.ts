/**
 * Tracing: where a request, a job or a delivery spends its time, as spans of OpenTelemetry.
 *
 *    request ─┬─ gate
 *             ├─ rule ── packet, packet …          one packet: statements that are sent together
 *             └─ (origin: kept with the event or the job)
 *                    ├──▶ delivery ──traceparent──▶ the target
 *                    └──▶ job ── packet …
 *
 * It is off unless the daemon starts it (src/daemon/tracing.ts). While it is off, `spanned` runs the work and nothing
 * else, no span and no context is made, and the package is not loaded: this module takes only its types.
 *
 * Spans carry names of this release, request ids, statuses and counts: no path, no query, no SQL, no id of a workspace.
 * docs/tracing.md lists them; docs/decisions/0311.
 */
import type { Attributes, Context, Span, SpanContext, SpanKind, Tracer } from '@opentelemetry/api'

type Api = typeof import('@opentelemetry/api')

interface Tracing {
  readonly api: Api
  readonly tracer: Tracer
  /** Under which a context has the id of the request. */
  readonly requestKey: symbol
}

let tracing: Tracing | undefined

/** Makes spans from now on, until the function that it answers is called. */
export function traceWith(api: Api): () => void {
  tracing = { api, tracer: api.trace.getTracer('svc'), requestKey: api.createContextKey('svc.request_id') }
  return () => {
    tracing = undefined
  }
}

export const isTraced = (): boolean => tracing !== undefined

/** Runs work in a span `<what> <about>`, below the span that is open. */
export function spanned<T>(what: 'gate' | 'rule', about: string, work: () => Promise<T>): Promise<T> {
  return tracing === undefined ? work() : within(open(tracing, `${what} ${about}`), work)
}

/** A span that its owner ends. */
export interface OpenSpan {
  /** For the log. */
  readonly ids: { readonly trace_id: string; readonly span_id: string }
  /** The header that tells a receiver of this span. */
  readonly traceparent: string
  /** Runs work with this span open. */
  run<T>(work: () => T): T
  /** `failure`: why it is no success. */
  end(facts?: Attributes, failure?: string): void
}

/** Runs work with the span open, if there is one. */
export const inside = <T>(span: OpenSpan | undefined, work: () => T): T => (span ? span.run(work) : work())

/**
 * Runs work with no span open: for what is begun here and goes on for others. Its timers would keep the span, and what
 * they do hours later would be in its trace.
 */
export const apart = <T>(work: () => T): T =>
  tracing === undefined ? work() : tracing.api.context.with(tracing.api.ROOT_CONTEXT, work)

/** What a request, a job or a delivery comes from. */
export interface Came {
  /** The header `traceparent` of a caller; anything else is as none. */
  readonly traceparent?: string | undefined
  /** The id of the request; of an origin, the one that it has. */
  readonly requestId?: string | undefined
  /** What `originNow` answered. */
  readonly origin?: string | null | undefined
}

/** Opens the first span of a request, a job or a delivery in this process. Undefined while tracing is off. */
export function openSpan(
  kind: 'SERVER' | 'CONSUMER' | 'CLIENT',
  name: string,
  came: Came,
  facts?: Attributes,
): OpenSpan | undefined {
  if (tracing === undefined) return undefined
  const { api, requestKey } = tracing
  const [traceparent, requestId] = came.origin?.split(' ') ?? [came.traceparent, came.requestId]
  const remote = readTraceparent(api, traceparent)
  let parent = remote ? api.trace.setSpanContext(api.ROOT_CONTEXT, remote) : api.ROOT_CONTEXT
  if (requestId !== undefined) parent = parent.setValue(requestKey, requestId)
  return open(tracing, name, { kind: api.SpanKind[kind], parent, ...(facts ? { facts } : {}) })
}

/** The span that is open and the id of its request, as they are kept with an event or a job; null while there is none. */
export function originNow(): string | null {
  if (tracing === undefined) return null
  const { api, requestKey } = tracing
  const span = api.trace.getActiveSpan()
  if (!span) return null
  const requestId = api.context.active().getValue(requestKey)
  return `${traceparentOf(span.spanContext())}${typeof requestId === 'string' ? ` ${requestId}` : ''}`
}

/** The ids of the span that is open, for the log. */
export function idsNow(): OpenSpan['ids'] | undefined {
  const span = tracing?.api.trace.getActiveSpan()
  return span && idsOf(span.spanContext())
}

/** Opens a span for a packet of statements, below the span that is open; without one there is none for it. */
export function openPacket(): OpenSpan | undefined {
  if (tracing?.api.trace.getActiveSpan() === undefined) return undefined
  return open(tracing, 'packet', { kind: tracing.api.SpanKind.CLIENT, facts: { 'db.system.name': 'postgresql' } })
}

interface Opening {
  readonly kind?: SpanKind
  readonly parent?: Context
  readonly facts?: Attributes
}

function open({ api, tracer, requestKey }: Tracing, name: string, opening: Opening = {}): OpenSpan {
  const { kind = api.SpanKind.INTERNAL, parent = api.context.active(), facts } = opening
  const requestId = parent.getValue(requestKey)
  const attributes = { ...facts, ...(typeof requestId === 'string' ? { 'svc.request_id': requestId } : {}) }
  const span = tracer.startSpan(name, { kind, attributes }, parent)
  const opened = api.trace.setSpan(parent, span)
  return {
    ids: idsOf(span.spanContext()),
    traceparent: traceparentOf(span.spanContext()),
    run: (work) => api.context.with(opened, work),
    end: (told, failure) => end(api, span, told, failure),
  }
}

function end(api: Api, span: Span, facts: Attributes | undefined, failure: string | undefined): void {
  if (facts) span.setAttributes(facts)
  if (failure !== undefined) {
    span.setAttribute('error.type', failure)
    span.setStatus({ code: api.SpanStatusCode.ERROR })
  }
  span.end()
}

async function within<T>(span: OpenSpan, work: () => Promise<T>): Promise<T> {
  try {
    const result = await span.run(work)
    span.end()
    return result
  } catch (error) {
    span.end({}, failureOf(error))
    throw error
  }
}

/** The code of a refusal, otherwise the name of the error: never its message, which may quote what people wrote. */
export function failureOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (typeof code === 'string') return code
  return typeof name === 'string' ? name : 'unknown'
}

const idsOf = ({ traceId, spanId }: SpanContext) => ({ trace_id: traceId, span_id: spanId })

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext) =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`

/** A later version may have more behind the flags (W3C Trace Context, 4.2). */
const shape = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.{0,200})?$/

function readTraceparent(api: Api, text: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = shape.exec(text ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return api.trace.isSpanContextValid(context) ? context : undefined
}
