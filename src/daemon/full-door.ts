/**
 * The door: a call that could not begin in time is refused before the framework, before its body is read and before any query.
 *
 *    head → lane of the caller ─▶ would it be lent a connection in time? ──yes──▶ router → body → gate → work
 *                                  (backlog.ts)      └──no──▶ 503 service.unavailable, Retry-After: 1
 *
 * The lane is that of the workspace for a known token, that of the source for any other. What the event loop is late
 * counts for the call: it has waited so long already. A call without a token has limits of its own (source-rate.ts,
 * source-seats.ts). Health, metrics and the pages are no operations and are always served.
 *
 * A refusal has to cost far less than a call: at twice the rate there is one for each answer. Behind the framework it took half
 * as long again. It is answered at once while there are at most three for each call that is admitted, or two thousand a second.
 * Callers that come back at once would fill the thread with refusals; beyond that, refusals wait for each other, for a second
 * at most. So the work keeps the processor, however many are refused.
 *
 * A refusal says nothing about the token or the operation: a workspace's lane and that of a source are refused alike. A head
 * that is at fault is left to the framework, which ends its connection.
 * Spec: decisions 7, Overload; docs/decisions/0185.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../core/contract/problem.ts'
import type { Pool } from '../core/kernel/database/pool.ts'
import type { Gate } from './gate.ts'
import type { Log } from './log.ts'
import type { RequestCounts } from './metrics/requests.ts'
import { rawAnswer } from './raw-answers.ts'
import { headFault, pathOfTarget } from './request-head.ts'
import { root } from './routes.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** The lane of a call that the door has admitted, if it has a token. */
    lane?: string
  }
}

export interface RefusedCalls {
  /** Calls refused at the door, since the start. */
  readonly refused: number
}

export interface DoorOptions {
  readonly pool: Pick<Pool, 'isInTime' | 'took'>
  readonly gate: Pick<Gate, 'laneOf'>
  readonly log: Log
  readonly metrics: RequestCounts
  /** Whether each answer ends its connection. */
  readonly isLeaving: () => boolean
}

const callsBegin = `${root}/`
const refusal = new Problem('service.unavailable')

/** Puts the check before the framework. */
export function guardDoor(app: FastifyInstance, options: DoorOptions): RefusedCalls {
  const { pool, gate } = options
  const loop = followLoop(app)
  const pace = openPace(() => loop.admittedPerMs * mostRefusals)
  const counts = { refused: 0 }
  standBefore(app, (request, response) => {
    const lane = pathOfTarget(request.url).startsWith(callsBegin) ? gate.laneOf(request) : undefined
    if (lane === undefined) return false
    const isInTime = pool.isInTime(lane, loop.lateMs)
    if (!isInTime && !headFault(request, request.url ?? '')) {
      counts.refused += 1
      refuseAt(pace, request, response, options)
      return true
    }
    loop.admitted += 1
    request.lane = lane
    return false
  })
  timeCalls(app, pool)
  return counts
}

/** Asks before the framework's own listener, which is the last one. An error of its own would end the process. */
function standBefore(app: FastifyInstance, refuses: (request: IncomingMessage, response: ServerResponse) => boolean) {
  const serve = app.server.listeners('request').at(-1) as RequestListener
  app.server.off('request', serve)
  app.server.on('request', (request, response) => {
    let isRefused = false
    try {
      isRefused = refuses(request, response)
    } catch {
      // The gate reads the same of the request, and its errors are answered.
    }
    if (!isRefused) serve(request, response)
  })
}

/** Answers the refusal in its turn, with its line in the log and its observation. */
function refuseAt(pace: Pace, request: IncomingMessage, response: ServerResponse, options: DoorOptions): void {
  const { log, metrics, isLeaving } = options
  const startedAt = performance.now()
  const { id, head, body } = rawAnswer(refusal)
  metrics.started()
  response.once('close', () => {
    const status = response.writableFinished ? refusal.status : 499
    const seconds = (performance.now() - startedAt) / 1000
    metrics.answered(unnamed, status, seconds, refusal.code)
    log.request({
      request_id: id,
      method: request.method ?? '',
      operation: unnamed,
      status,
      duration_ms: Math.round(seconds * 10_000) / 10,
      code: refusal.code,
    })
  })
  pace.keep(() => {
    response.writeHead(refusal.status, { ...head, 'retry-after': '1', ...(isLeaving() ? { connection: 'close' } : {}) })
    response.end(body)
  })
}

/** The name, in metrics and log, of an operation that was not looked for. */
const unnamed = 'none'

/** Tells the pool how long successful calls took, without the time that the caller takes to send and to read. */
function timeCalls(app: FastifyInstance, pool: Pick<Pool, 'took'>): void {
  app.decorateRequest('wholeAt', 0)
  app.addHook('preHandler', (request, _reply, done) => {
    // A file is still on its way, at the pace of its sender.
    if (request.routeOptions.config.operation?.takes !== 'bytes') request.wholeAt = performance.now()
    done()
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { wholeAt, raw } = request
    const { operation } = request.routeOptions.config
    if (raw.lane !== undefined && operation && wholeAt > 0 && reply.statusCode < 400)
      pool.took(raw.lane, operation.id, performance.now() - wholeAt)
    done()
  })
}

/** Refusals that are answered at once, for each call that is admitted. */
const mostRefusals = 3
const lookEachMs = 20
/** In so many looks the mean follows what is admitted: when it rises, and when it falls. */
const looksUp = 10
const looksDown = 500

interface Loop {
  /** Calls admitted since the last look. */
  admitted: number
  /** See meanAdmitted: while the database stands still, refusals keep their pace. */
  admittedPerMs: number
  /** How late the event loop is: the mean of the last looks, each half as heavy as the next. */
  lateMs: number
}

function followLoop(app: FastifyInstance): Loop {
  const loop = { admitted: 0, admittedPerMs: 0, lateMs: 0 }
  let lookedAt = performance.now()
  const look = setInterval(() => {
    const now = performance.now()
    const elapsed = now - lookedAt
    loop.lateMs = (loop.lateMs + Math.max(0, elapsed - lookEachMs)) / 2
    loop.admittedPerMs = meanAdmitted(loop.admittedPerMs, loop.admitted / elapsed)
    loop.admitted = 0
    lookedAt = now
  }, lookEachMs).unref()
  app.addHook('onClose', async () => clearInterval(look))
  return loop
}

/** Follows within tenths of a second what rises, and within seconds what falls. */
export const meanAdmitted = (mean: number, latest: number): number =>
  mean + (latest - mean) / (latest > mean ? looksUp : looksDown)

/** In a millisecond, however little is admitted. */
const slowest = 2
/** The time of Retry-After. */
const mostMs = 1_000

interface Pace {
  /** Calls `tell` at once, or when those before it have been told. */
  keep(tell: () => void): void
}

/** `perMs`: how many refusals may be told in a millisecond. */
export function openPace(perMs: () => number): Pace {
  let nextAt = 0
  return {
    keep(tell) {
      const moment = performance.now()
      const waitMs = Math.min(Math.max(0, nextAt - moment), mostMs)
      nextAt = moment + waitMs + 1 / Math.max(slowest, perMs())
      // A timer counts whole milliseconds.
      if (waitMs < 1) tell()
      else setTimeout(tell, waitMs)
    },
  }
}
