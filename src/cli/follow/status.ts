/**
 * How an installation is, in the numbers that a person needs at a glance. Over the API they come from two operations, the
 * readiness and the metrics of one daemon; at the database from the database. What a way does not tell is null.
 */
import { overviewOperations } from '../../core/contract/overview/operations.ts'
import { deliveryOperations } from '../../core/contract/webhooks/operator-view.ts'
import type { Caller, Inspected } from '../call/caller.ts'
import { exchange } from '../call/http.ts'
import { type Metrics, readMetrics, sumOf } from './metrics.ts'

type Count = number | null

export interface Status {
  readonly at: string
  readonly where: string
  /** Names of the checks of /readyz that fail, with why; null: not asked. */
  readonly failing: readonly { readonly name: string; readonly error: string }[] | null
  readonly gate_closed_since: string | null
  readonly workspaces: {
    readonly active: number
    readonly suspended: number
    readonly leaving: number
    readonly accounts: number
  }
  readonly requests: { readonly answered: Count; readonly failed: Count; readonly in_flight: Count } | null
  readonly deliveries: {
    readonly waiting: number
    readonly retrying: number
    readonly dead: number
    readonly oldest_due_at: string | null
  }
  readonly jobs: { readonly due: number; readonly running: number; readonly late_seconds: number } | null
  readonly sweeps: { readonly rows: number; readonly late_seconds: number } | null
  readonly ledger: { readonly fault: string | null; readonly copies_behind: number } | null
  readonly clock_ahead_seconds: Count
}

export interface Sources {
  /** Where the metrics are, if not at the API's address. */
  readonly metricsUrl?: string | undefined
}

/** Rejects as the two operations do; a daemon that tells no metrics is not an error. */
export async function statusOf(caller: Caller, { metricsUrl }: Sources): Promise<Status> {
  const { apiUrl } = caller
  const [overview, stats, ready, metrics, inspected] = await Promise.all([
    caller.call(overviewOperations.getOverview, {}),
    caller.call(deliveryOperations.getDeliveryStats, { hours: 24 }),
    apiUrl === undefined ? null : readinessAt(apiUrl),
    apiUrl === undefined && metricsUrl === undefined ? undefined : metricsAt(metricsUrl ?? `${apiUrl}/metrics`),
    caller.inspect?.(),
  ])
  const { ACTIVE, SUSPENDED, PENDING_DELETION } = overview.tenants
  return {
    at: new Date().toISOString(),
    where: caller.where,
    failing: ready,
    gate_closed_since: inspected?.gate.gated_at ?? null,
    workspaces: { active: ACTIVE, suspended: SUSPENDED, leaving: PENDING_DELETION, accounts: overview.accounts },
    requests: metrics ? requestsIn(metrics) : null,
    deliveries: {
      waiting: total(stats.data, ({ waiting }) => waiting),
      retrying: total(stats.data, ({ deliveries }) => deliveries.FAILED),
      dead: total(stats.data, ({ deliveries }) => deliveries.DEAD_LETTER),
      oldest_due_at: stats.data.flatMap(({ oldest_due_at }) => oldest_due_at ?? []).toSorted()[0] ?? null,
    },
    jobs: metrics ? jobsIn(metrics) : null,
    sweeps: inspected ? sweepsOf(inspected) : metrics ? sweepsIn(metrics) : null,
    ledger: inspected ? ledgerOf(inspected) : metrics ? ledgerIn(metrics) : null,
    clock_ahead_seconds: inspected
      ? inspected.clockAheadMs / 1000
      : ((metrics && sumOf(metrics, 'svc_clock_ahead_seconds')) ?? null),
  }
}

const total = <Row>(rows: readonly Row[], of: (row: Row) => number) => rows.reduce((sum, row) => sum + of(row), 0)

async function readinessAt(apiUrl: string): Promise<Status['failing']> {
  const answer = await asked(`${apiUrl}/readyz`)
  if (answer === undefined || (answer.status !== 200 && answer.status !== 503)) return null
  try {
    const { checks } = JSON.parse(answer.text) as { checks: { name: string; ok: boolean; error: string | null }[] }
    return checks.filter(({ ok }) => !ok).map(({ name, error }) => ({ name, error: error ?? '' }))
  } catch {
    return null
  }
}

async function metricsAt(url: string): Promise<Metrics | undefined> {
  const answer = await asked(url)
  return answer?.status === 200 ? readMetrics(answer.text) : undefined
}

const asked = (url: string) => exchange({ method: 'GET', url: new URL(url), headers: {} }).catch(() => undefined)

const requestsIn = (metrics: Metrics): Status['requests'] => ({
  answered: sumOf(metrics, 'svc_request_duration_seconds_count') ?? null,
  failed: sumOf(metrics, 'svc_request_duration_seconds_count', { status_class: '5xx' }) ?? null,
  in_flight: sumOf(metrics, 'svc_requests_in_flight') ?? null,
})

/** Of all queues; jobs for later are not waiting. */
function jobsIn(metrics: Metrics): Status['jobs'] {
  if (!metrics.has('svc_queue_jobs')) return null
  const due = sumOf(metrics, 'svc_queue_jobs', { state: 'ready' })
  const running = sumOf(metrics, 'svc_queue_jobs', { state: 'active' })
  return { due: due ?? 0, running: running ?? 0, late_seconds: most(metrics, 'svc_queue_late_seconds') }
}

function sweepsIn(metrics: Metrics): Status['sweeps'] {
  const rows = sumOf(metrics, 'svc_sweep_rows')
  return rows === undefined ? null : { rows, late_seconds: most(metrics, 'svc_sweep_late_seconds') }
}

function ledgerIn(metrics: Metrics): Status['ledger'] {
  const behind = sumOf(metrics, 'svc_ledger_copies_behind')
  return behind === undefined ? null : { fault: null, copies_behind: behind }
}

const most = (metrics: Metrics, name: string) => Math.max(0, ...(metrics.get(name) ?? []).map(({ value }) => value))

const sweepsOf = ({ sweeps }: Inspected): Status['sweeps'] => ({
  rows: total(sweeps, ({ rows }) => rows),
  late_seconds: Math.max(0, ...sweeps.map(({ lateSeconds }) => lateSeconds)),
})

const ledgerOf = ({ ledger }: Inspected): Status['ledger'] => ({
  fault: ledger.fault,
  copies_behind: ledger.copies.filter(({ lines_missing }) => lines_missing !== 0).length,
})
