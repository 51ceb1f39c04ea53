/**
 * The HTTP server: limits, request ids, and problems for every refusal.
 *
 *    bytes → Node's parser ──fault──▶ raw-answers.ts
 *      → full-door.ts ──cannot begin in time──▶ 503
 *      → onRequest: id, head, path ──▶ router ──unknown──▶ 404, or 405 with Allow
 *      → body.ts → mount.ts (gate → perform) → answer
 *                    └─ whatever is thrown, anywhere ──▶ refusals.ts
 *
 * Limits: 10 s for the headers, 30 s for the whole request, 5 s between two requests of a
 * connection, 16 KiB of headers, fifty members of a query. A body has the bound of its
 * operation (operation.ts) and of the configuration. The number of connections
 * (connections.ts) and the bytes that wait for slow readers (readers.ts) are limited, too.
 * The daemon always makes the request id itself, because a caller could otherwise use
 * another caller's id in the log.
 *
 * While the daemon drains, the server still answers requests and closes each connection after
 * its answer. It sends no 503, because it can still do the work.
 *
 * HEAD is served wherever GET is (RFC 9110, 9.1). OPTIONS is answered 405.
 */

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Operation } from '../core/contract/operation.ts'
import { operations } from '../core/contract/operations.ts'
import { Problem } from '../core/contract/problem.ts'
import type { Config } from '../core/kernel/config/config.ts'
import { inside, isTraced, type OpenSpan, openSpan } from '../core/kernel/tracing/tracing.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import { type Actor, isAccount } from '../core/kernel/values/actor.ts'
import { newId } from '../core/kernel/values/id.ts'
import { addBodyParser } from './body.ts'
import { boundConnections, type ConnectionLimits } from './connections.ts'
import { openDocumentTurns } from './document-turns.ts'
import { type DoorOptions, guardDoor, type RefusedCalls } from './full-door.ts'
import { openGate } from './gate.ts'
import { addHealth, type Readiness } from './health.ts'
import { openHeldRefusals } from './held-refusals.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics/metrics.ts'
import { mountOperations } from './mount.ts'
import type { Turn } from './prepared.ts'
import { queryFault, readQuery } from './query.ts'
import { openRate } from './rate.ts'
import { answerParserError, answerTheRest, endConnection } from './raw-answers.ts'
import { followReaders, type ReaderLimits, type Readers } from './readers.ts'
import { addReference } from './reference.ts'
import { refusalOf, sendProblem } from './refusals.ts'
import { headFault, pathOfTarget } from './request-head.ts'
import { allowedMethods } from './routes.ts'
import { isUnknownProxy, sourceOf } from './source.ts'
import { openSourceRate } from './source-rate.ts'
import { openSourceSeats } from './source-seats.ts'
import { addTokenPages, tokenPagePaths } from './token-pages.ts'
import { discardUnread } from './unread.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, after the gate has identified it. */
    actor: Actor | undefined
    /** The code of the answered problem, or why the answer was cut off. */
    refusal: string | undefined
    /** Logs a failure that can no longer be answered. */
    failed(error: unknown): void
    /** Undefined while tracing is off. */
    span: OpenSpan | undefined
    /** When the whole request was here, by the monotonic clock in ms. */
    wholeAt: number
  }
  interface FastifyContextConfig {
    operation?: Operation
    /** The name in metrics and log of a route that is not an operation. */
    label?: string
  }
}

export interface ServerOptions {
  readonly log: Log
  readonly metrics: Metrics
  readonly readiness: Readiness
  /** False for a worker and for the health listener (health-listener.ts): they serve only health. */
  readonly servesApi: boolean
  /** Whether `/metrics` is here; health is on every listener. */
  readonly servesMetrics: boolean
  /** The listener's name in the metrics. */
  readonly listener: string
  readonly connections: ConnectionLimits
  readonly readers: ReaderLimits
  /** Whether the daemon has been told to end. */
  readonly isDraining: () => boolean
}

const limits = {
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  maxRequestsPerSocket: 10_000,
  maxHeaders: 200,
  /** How often Node checks for late requests; with its default of 30 s, slow ones would live three times their limit. */
  connectionsCheckingInterval: 1_000,
  headersTimeout: 10_000,
}

/** The contract's schemas check requests and answers (perform.ts). Those of the framework would load two compilers for nothing. */
const noSchema = () => () => {
  throw new Error('a route has no schema of the framework')
}

const everyOperation: readonly Operation[] = Object.values(operations)
const ofHealth = ['/healthz', '/readyz']
const ofReference = ['/docs', '/docs/', '/api/v1/openapi.json']

export function buildServer(installation: Installation, options: ServerOptions): FastifyInstance {
  const { bodyLimitBytes } = installation.config
  const app = fastify({
    logger: false,
    genReqId: () => newId(),
    requestIdHeader: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    maxRequestsPerSocket: limits.maxRequestsPerSocket,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: true,
    schemaController: { compilersFactory: { buildValidator: noSchema, buildSerializer: noSchema } },
    routerOptions: { maxParamLength: 100, querystringParser: readQuery },
    rewriteUrl: ({ url }) => pathOfTarget(url),
    // A missing Host is refused below, because Node would answer it without a body.
    http: {
      headersTimeout: limits.headersTimeout,
      connectionsCheckingInterval: limits.connectionsCheckingInterval,
      requireHostHeader: false,
    },
    clientErrorHandler: answerParserError,
    frameworkErrors: (error, request, reply) => {
      sendRefusal(options.log, error, request, reply)
      // The router failed before any hook could run.
      logRequest(options.log, request, reply.statusCode, 0)
    },
  })
  app.server.maxHeadersCount = limits.maxHeaders
  answerTheRest(app.server)
  const connections = boundConnections(app.server, options.connections)

  app.decorateRequest('actor', undefined)
  app.decorateRequest('refusal', undefined)
  app.decorateRequest('span', undefined)
  app.decorateRequest('failed', function failed(this: FastifyRequest, error: unknown) {
    this.refusal = 'internal'
    inside(this.span, () => options.log.failure('answer was cut off', error, this.id))
  })
  addBodyParser(app)
  discardUnread(app)
  addObservation(app, options)
  if (options.servesApi) addProxyWarning(app, options.log, installation.config.trustedProxies)
  app.addHook('onRequest', checkRequest)
  const isLeaving = addFarewell(app, options.isDraining)
  app.setErrorHandler((error, request, reply) => sendRefusal(options.log, error, request, reply))
  const readers = followReaders(app, options.readers)
  const served = options.servesMetrics ? [...ofHealth, '/metrics'] : ofHealth
  const refuseUnknown = options.servesApi
    ? refuseUnknownRoute(everyOperation, [...served, ...ofReference, ...tokenPagePaths])
    : refuseUnknownRoute([], served)
  // Checked before the body, because the framework refuses bodies of some methods by itself.
  app.addHook('onRequest', (request, reply, done) => (request.is404 ? refuseUnknown(request, reply) : done()))
  app.setNotFoundHandler(refuseUnknown)

  addHealth(app, options)
  const calls = options.servesApi ? mountApi(app, installation, { ...options, readers, isLeaving }) : { refused: 0 }
  options.metrics.watch(options.listener, {
    connections,
    calls,
    get readers() {
      return readers.counts
    },
  })
  return app
}

/** What the operations need of the server. */
interface ApiOptions extends Pick<DoorOptions, 'log' | 'metrics' | 'isLeaving'> {
  readonly readers: Readers
}

function mountApi(app: FastifyInstance, installation: Installation, options: ApiOptions): RefusedCalls {
  const { readers } = options
  const held = openHeldRefusals()
  const sourceRate = openSourceRate(installation.config.sourceRate, held)
  const gate = openGate(installation, openRate(installation.pool), sourceRate)
  const seats = openSourceSeats(held, installation.config.sourceRate)
  const refused = guardDoor(app, { ...options, pool: installation.pool, gate })
  const turns = openDocumentTurns()
  const turn: Turn = (request, bytes) => turns.wait(sourceOf(request.raw, installation.config.trustedProxies), bytes)
  mountOperations(app, { installation, gate, seats, readers, turn }, everyOperation)
  addReference(app, everyOperation, turn)
  addTokenPages(app)
  return refused
}

/** Warns once about an unknown forwarder: either a proxy behind which all callers count as one, or a false header. */
function addProxyWarning(app: FastifyInstance, log: Log, proxies: Config['trustedProxies']): void {
  let isSaid = false
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isSaid && isUnknownProxy(request.raw, proxies)) {
      isSaid = true
      log.warn('an address that is not in SVC_TRUSTED_PROXIES forwards calls', {
        from: request.raw.socket.remoteAddress ?? '',
      })
    }
    done()
  })
}

/**
 * While the daemon drains, every answer has `connection: close`, so that no further request is sent on its connection.
 * Answers whether that is so.
 */
function addFarewell(app: FastifyInstance, isDraining: () => boolean): () => boolean {
  let isClosing = false
  const isLeaving = () => isClosing || isDraining()
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isLeaving()) reply.header('connection', 'close')
    done(null, payload)
  })
  return isLeaving
}

function sendRefusal(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (hasLeft(error, request)) {
    // Its line was logged when the connection ended. In a flood, answers that nobody reads would take most of the time.
    reply.hijack()
    return
  }
  const { config, bodyLimit } = request.routeOptions ?? {}
  const refusal = refusalOf(error, config?.operation, bodyLimit)
  const isOurs = refusal === undefined || refusal.status >= 500
  if (isOurs)
    inside(request.span, () => log.failure(refusal ? refusal.code : 'request failed', refusalCause(error), request.id))
  // Headers that were set for the failed answer do not belong to this one.
  for (const name of ['etag', 'location', 'content-length']) reply.removeHeader(name)
  sendProblem(request, reply, refusal ?? new Problem('internal'))
}

/** Whether the caller's connection ended during the body. */
const hasLeft = (error: unknown, { raw }: FastifyRequest) =>
  (error as { code?: unknown } | null)?.code === 'ECONNRESET' && raw.socket.destroyed

/** The cause says more than the error for a lost database. */
const refusalCause = (error: unknown) => (error instanceof Error && error.cause instanceof Error ? error.cause : error)

/** Sets the request id on the answer, and refuses requests that no route can serve. */
function checkRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
  reply.header('x-request-id', request.id)
  const fault = headFault(request.raw, request.originalUrl)
  const unread = queryFault(request.query)
  if (fault) {
    reply.header('connection', 'close')
    endConnection(request.raw.socket)
    done(new Problem('request.malformed', {}, { errors: [fault] }))
  } else if (unread) done(unread)
  else if (pathOf(request.url).includes('%')) done(new Problem('not_found'))
  else done()
}

function refuseUnknownRoute(served: readonly Operation[], pages: readonly string[]) {
  const allowed = allowedMethods(served)
  return (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request.url)
    const methods = pages.includes(path) ? ['GET', 'HEAD'] : allowed(path)
    if (methods.length === 0) return sendProblem(request, reply, new Problem('not_found'))
    const allow = methods.join(', ')
    return sendProblem(request, reply, new Problem('request.method', { allow }, { headers: { allow } }))
  }
}

const pathOf = (url: string) => {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

/** One line in the log and one observation in the metrics for every request that was routed. */
function addObservation(app: FastifyInstance, { log, metrics }: ServerOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now()
    metrics.started()
    if (isTraced()) beginSpan(request)
    // The framework's onResponse is not used: it is not called if the connection ends before the answer.
    reply.raw.once('close', () => {
      const status = statusOf(request, reply)
      const seconds = (performance.now() - startedAt) / 1000
      metrics.answered(nameOf(request), status, seconds, request.refusal)
      logRequest(log, request, status, seconds)
      if (request.span) endSpan(request, request.span, status)
    })
    done()
  })
}

/** The span of a request; its caller may be in a trace. Health and metrics are asked every few seconds, and have none. */
function beginSpan(request: FastifyRequest): void {
  const { operation } = request.routeOptions.config
  if (!operation) return
  const { traceparent } = request.headers
  request.span = openSpan(
    'SERVER',
    `${operation.method} ${operation.path}`,
    { traceparent: typeof traceparent === 'string' ? traceparent : undefined, requestId: request.id },
    { 'svc.operation': operation.id, 'http.request.method': operation.method, 'http.route': operation.path },
  )
}

function endSpan({ refusal }: FastifyRequest, span: OpenSpan, status: number): void {
  const facts = { 'http.response.status_code': status, ...(refusal === undefined ? {} : { 'svc.code': refusal }) }
  span.end(facts, status >= 500 ? (refusal ?? String(status)) : undefined)
}

/** The status that the caller got; 499, as is common, if the caller left before the whole answer, 500 if we cut it off. */
function statusOf({ refusal }: FastifyRequest, { raw, statusCode }: FastifyReply): number {
  if (raw.writableFinished) return statusCode
  return refusal === 'internal' ? 500 : 499
}

function nameOf({ routeOptions }: FastifyRequest): string {
  const { operation, label } = routeOptions?.config ?? {}
  return operation?.id ?? label ?? 'none'
}

function logRequest(log: Log, request: FastifyRequest, status: number, seconds: number): void {
  const { id, method, actor, refusal, span } = request
  log.request({
    request_id: id,
    method,
    operation: nameOf(request),
    status,
    duration_ms: Math.round(seconds * 10_000) / 10,
    ...(refusal === undefined ? {} : { code: refusal }),
    ...span?.ids,
    ...(actor && isAccount(actor) ? { tenant_id: actor.tenantId, account_id: actor.accountId } : {}),
  })
}
