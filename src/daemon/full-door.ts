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
 * A refusal is answered at once, because it costs a twentieth of a call. Callers that come back at once could still fill
 * the thread with refusals, so refusals keep a pace: beyond it they wait for each other, for a second at most.
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
export function guardDoor(app: FastifyInstance, pool: Pick<Pool, 'isInTime'>, gate: Pick<Gate, 'laneOf'>): RefusedCalls {
  const lateness = followLateness(app)
  const pace = openPace()
  const counts = { refused: 0 }
  app.addHook('onRequest', (request, reply, done) => {
    const { operation } = request.routeOptions.config
    const lane = operation && operation.needs.caller !== 'anyone' ? gate.laneOf(request.raw) : undefined
    if (lane === undefined || pool.isInTime(lane, lateness.ms)) return done()
    counts.refused += 1
    pace.keep(() => sendProblem(request, reply, new Problem('service.unavailable')))
  })
  return counts
}

const lookEachMs = 20

/** How late the event loop is: the mean of the last looks, each half as heavy as the next. */
function followLateness(app: FastifyInstance): { readonly ms: number } {
  const lateness = { ms: 0 }
  let lookedAt = performance.now()
  const look = setInterval(() => {
    const now = performance.now()
    lateness.ms = (lateness.ms + Math.max(0, now - lookedAt - lookEachMs)) / 2
    lookedAt = now
  }, lookEachMs).unref()
  app.addHook('onClose', async () => clearInterval(look))
  return lateness
}

/** Between two refusals: 2,000 a second cost a tenth of the thread. */
const eachMs = 0.5
/** The time of Retry-After. */
const mostMs = 1_000

interface Pace {
  /** Calls `tell` at once, or when those before it have been told. */
  keep(tell: () => void): void
}

export function openPace(now = () => performance.now()): Pace {
  let nextAt = 0
  return {
    keep(tell) {
      const moment = now()
      const waitMs = Math.min(Math.max(0, nextAt - moment), mostMs)
      nextAt = moment + waitMs + eachMs
      // A timer counts whole milliseconds.
      if (waitMs < 1) tell()
      else setTimeout(tell, waitMs)
    },
  }
}
