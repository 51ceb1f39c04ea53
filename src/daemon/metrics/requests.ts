/** Counts requests when they are answered: one observation each, and one counter more for some refusals. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { OperationId } from '../../core/contract/operations.ts'

export interface RequestCounts {
  started(): void
  /**
   * `operation` is an operation's id, or the name of a route outside the API; `refusal` the code of the problem that was
   * answered, or why the answer was cut off.
   */
  answered(operation: string, status: number, seconds: number, refusal?: string): void
}

/** What lets somebody in who has no token yet. */
const signIns: ReadonlySet<string> = new Set<OperationId>([
  'signIn',
  'signInWithNewPassword',
  'agreeToTerms',
  'finishOidc',
])

/** Refusals that say more of this daemon, or of a flood, than of one call. */
const isCounted = (status: number) => status === 401 || status === 429 || status >= 500

export function countRequests(register: Registry): RequestCounts {
  const durations = new Histogram({
    name: 'svc_request_duration_seconds',
    help: 'Time from the request to its whole answer.',
    labelNames: ['operation', 'status_class'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [register],
  })
  const refusals = new Counter({
    name: 'svc_refusals_total',
    help: 'Requests answered with 401, 429 or 5xx, by the code of the problem.',
    labelNames: ['status', 'code'] as const,
    registers: [register],
  })
  const refusedSignIns = new Counter({
    name: 'svc_refused_sign_ins_total',
    help: 'Sign-ins that were refused, by the code of the problem.',
    labelNames: ['code'] as const,
    registers: [register],
  })
  let inFlight = 0
  new Gauge({
    name: 'svc_requests_in_flight',
    help: 'Requests not yet answered.',
    registers: [register],
    collect() {
      this.set(inFlight)
    },
  })

  // The package builds the key of the labels at each call. The cache is bounded by operations and classes.
  const labelled = new Map<string, ReturnType<typeof durations.labels>>()
  const series = (operation: string, status: number) => {
    const statusClass = `${Math.floor(status / 100)}xx`
    const name = `${operation} ${statusClass}`
    const known = labelled.get(name) ?? durations.labels(operation, statusClass)
    labelled.set(name, known)
    return known
  }

  return {
    started() {
      inFlight += 1
    },
    answered(operation, status, seconds, refusal) {
      inFlight -= 1
      series(operation, status).observe(seconds)
      if (refusal === undefined) return
      if (isCounted(status)) refusals.labels(String(status), refusal).inc()
      if (signIns.has(operation)) refusedSignIns.labels(refusal).inc()
    },
  }
}
