/**
 * Gauges of what waits in the database: jobs in the queue, jobs that people asked for, deliveries, the gate, archives.
 *
 * One transaction reads it, in one packet. Each statement reads by an index, and at most `mostCounted` rows of a kind;
 * test/house/plans.test.ts asks for their plans. The queue itself counts what runs and what has failed, once a minute.
 */
import { Gauge, type Registry } from 'prom-client'
import { asQueue } from '../../core/kernel/database/roles.ts'
import type { Installation } from '../../core/kernel/transaction/installation.ts'
import { readingEach } from './reading.ts'

const eachMs = 15_000
/** Counting more would read more than anybody needs to know. */
export const mostCounted = 10_000

interface QueueRow {
  readonly name: string
  readonly ready: number
  readonly deferred: number
  /** For how long the job that is due longest has waited. */
  readonly late_seconds: number
  readonly active: number
  readonly failed: number
}

interface JobRow {
  readonly kind: string
  readonly state: string
  readonly count: number
}

interface OneRow {
  readonly is_gated: boolean
  readonly archive_seconds: number | null
  readonly pending: number
  readonly failed: number
}

export interface WaitingWork {
  readonly one: OneRow
  readonly jobs: readonly JobRow[]
  readonly queues: readonly QueueRow[]
}

export function readWaiting(installation: Installation): Promise<WaitingWork> {
  return installation.transaction({ kind: 'SYSTEM', job: 'metrics' }, { readOnly: true }, async ({ tx }) => {
    const one = tx<OneRow[]>`
      select (select gated_at is not null from installation) as is_gated,
             (select extract(epoch from (now() - max(finished_at)))::float8 from job
              where kind = 'TENANT_EXPORT' and state = 'SUCCEEDED') as archive_seconds,
             count(*) filter (where status = 'PENDING')::int as pending,
             count(*) filter (where status = 'FAILED')::int as failed
      from (select status from delivery where finished_at is null
            order by tenant_id, webhook_id, due_at limit ${mostCounted}) open`
    const jobs = tx<JobRow[]>`
      select kind, state, count(*)::int as count
      from (select kind, state from job where state in ('QUEUED', 'RUNNING') order by beat_at limit ${mostCounted}) open
      group by kind, state`
    void tx.switch(asQueue)
    const queues = tx.text<QueueRow[]>(
      `select q.name, w.ready, w.deferred, w.late_seconds, q.active_count as active, q.failed_count as failed
      from pgboss.queue q
      cross join lateral (
        select count(*) filter (where start_after <= now())::int as ready,
               count(*) filter (where start_after > now())::int as deferred,
               greatest(0, coalesce(extract(epoch from (now() - min(start_after))), 0))::float8 as late_seconds
        from (select start_after from pgboss.job j
              where j.name = q.name and j.state < 'active' and not j.blocked limit $1) waiting) w`,
      [mostCounted],
    )
    const [[row], jobRows, queueRows] = await Promise.all([one, jobs, queues])
    if (!row) throw new Error('an aggregate without a row')
    return { one: row, jobs: jobRows, queues: queueRows }
  })
}

export function gaugeBacklog(register: Registry, installation: Installation): void {
  const gauge = <const Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers: [register], collect: () => reading() })
  const more = `${mostCounted.toLocaleString('en')} stands for more.`
  const queued = gauge('svc_queue_jobs', `Jobs in the queue by state; ${more}`, 'queue', 'state')
  const late = gauge('svc_queue_late_seconds', 'How long the job that has waited longest is due.', 'queue')
  const jobs = gauge('svc_jobs', `Jobs that people asked for and that have not ended; ${more}`, 'kind', 'state')
  const deliveries = gauge('svc_deliveries', `Deliveries that have not ended; ${more}`, 'status')
  const gate = gauge('svc_gate_closed', '1 while the gate of the installation is closed for a recovery, otherwise 0.')
  const archive = gauge('svc_archive_age_seconds', 'Time since the last archive of any workspace was written.')
  archive.remove() // without any archive there is no sample: 0 would be a fresh one
  const readAt = gauge('svc_backlog_read_timestamp_seconds', 'When the database was last asked for what waits.')

  const reading = readingEach(eachMs, async () => {
    const { one, jobs: open, queues } = await readWaiting(installation)
    for (const { name, late_seconds, ...counts } of queues) {
      for (const [state, count] of Object.entries(counts))
        if (typeof count === 'number') queued.labels(name, state).set(count)
      late.labels(name).set(late_seconds)
    }
    jobs.reset()
    for (const { kind, state, count } of open) jobs.labels(kind, state).set(count)
    deliveries.labels('PENDING').set(one.pending)
    deliveries.labels('FAILED').set(one.failed)
    gate.set(Number(one.is_gated))
    if (one.archive_seconds === null) archive.remove()
    else archive.set(one.archive_seconds)
    readAt.set(Date.now() / 1000)
  })
}
