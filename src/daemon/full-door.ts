/**
 * The door: a call that could not begin in time is refused before its body is read and before any query.
 *
 *    head → lane of the caller ─▶ would it be lent a connection in time? ──yes──▶ body → gate → work
 *                                  (backlog.ts)      └──no──▶ 503 service.unavailable, Retry-After: 1
 *
 * The lane is that of the workspace for a known token, that of the source for any other. What the event loop is late
 * counts for the call: it has waited so long already. A call without a token has limits of its own (source-rate.ts,
 * source-seats.ts). Health, metrics and the pages are no operations and are always served.
 *
 * A refusal costs far less than a call, so it is answered at once while there are at most three for each call that is
 * admitted. Callers that come back at once would fill the thread with refusals; beyond that, refusals wait for each
 * other, for a second at most. So the work keeps the processor, however many are refused.
 *
 * A refusal says nothing about the token: a workspace's lane and that of a source are refused alike.
 * Spec: decisions 7, Overload; docs/decisions/0185.
 */
import type { FastifyInstance } from 'fastify'
import { Problem } from '../core/contract/problem.ts'
import type { Pool } from '../core/kernel/database/pool.ts'
import type { Gate } from './gate.ts'
import { sendProblem } from './refusals.ts'

export interface RefusedCalls {
  /** Calls refused at the door, since the start. */
  readonly refused: number
}

/** Puts the check before the operations' routes. */
export function guardDoor(
  app: FastifyInstance,
  pool: Pick<Pool, 'isInTime' | 'took'>,
  gate: Pick<Gate, 'laneOf'>,
): RefusedCalls {
  const loop = followLoop(app)
  const pace = openPace(() => loop.admittedPerMs * mostRefusals)
  const counts = { refused: 0 }
  app.addHook('onRequest', (request, reply, done) => {
    const { operation } = request.routeOptions.config
    const lane = operation && operation.needs.caller !== 'anyone' ? gate.laneOf(request.raw) : undefined
    if (lane === undefined) return done()
    if (pool.isInTime(lane, loop.lateMs)) {
      loop.admitted += 1
      request.lane = lane
      return done()
    }
    counts.refused += 1
    pace.keep(() => sendProblem(request, reply, new Problem('service.unavailable')))
  })
  timeCalls(app, pool)
  return counts
}

/** Tells the pool how long successful calls took, without the time that the caller takes to send and to read. */
function timeCalls(app: FastifyInstance, pool: Pick<Pool, 'took'>): void {
  app.decorateRequest('lane', undefined)
  app.decorateRequest('wholeAt', 0)
  app.addHook('preHandler', (request, _reply, done) => {
    // A file is still on its way, at the pace of its sender.
    if (request.routeOptions.config.operation?.takes !== 'bytes') request.wholeAt = performance.now()
    done()
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    const { lane, wholeAt } = request
    const { operation } = request.routeOptions.config
    if (lane !== undefined && operation && wholeAt > 0 && reply.statusCode < 400)
      pool.took(lane, operation.id, performance.now() - wholeAt)
    done()
  })
}

/** Refusals that are answered at once, for each call that is admitted. */
const mostRefusals = 3
const lookEachMs = 20

interface Loop {
  /** Calls admitted since the last look. */
  admitted: number
  /** The mean of the last tenths of a second. */
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
    loop.admittedPerMs += (loop.admitted / elapsed - loop.admittedPerMs) / 10
    loop.admitted = 0
    lookedAt = now
  }, lookEachMs).unref()
  app.addHook('onClose', async () => clearInterval(look))
  return loop
}

/** In a millisecond, however little is admitted. */
const slowest = 0.2
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
