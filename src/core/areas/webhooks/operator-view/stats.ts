/**
 * Statistics of deliveries, by workspace and host: counts, states and durations, never content.
 *
 * All open deliveries are counted. Ended ones are counted within the requested hours: attempts by
 * the index on their time, deliveries by their attempts.
 *
 * Spec: decisions 5. The operation is ours.
 */

import type { Answer, Received } from '../../../contract/operation.ts'
import {
  type DeliveryStats,
  durationClassesMs,
  type deliveryOperations as ops,
} from '../../../contract/webhooks/operator-view.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

interface OpenRow {
  readonly tenant_id: string
  readonly slug: string
  readonly host: string
  readonly webhooks: DeliveryStats['webhooks']
  readonly pending: number
  readonly failed: number
  readonly waiting: number
  readonly oldest_due_at: string | null
}

interface EndedRow {
  readonly tenant_id: string
  readonly slug: string
  readonly host: string
  readonly error: string | null
  readonly ended_as: 'SUCCEEDED' | 'DEAD_LETTER' | null
  readonly class: number
  readonly count: number
}

const atMost = 1000

/** Rows with the most waiting deliveries first. */
export async function getDeliveryStats(
  ctx: Ctx,
  received: Received<typeof ops.getDeliveryStats>,
): Promise<Answer<typeof ops.getDeliveryStats>> {
  const rows = new Map<string, DeliveryStats>()
  for (const open of await readOpen(ctx, received)) {
    const row = rowOf(rows, open)
    Object.assign(row.webhooks, open.webhooks)
    row.deliveries.PENDING = open.pending
    row.deliveries.FAILED = open.failed
    row.waiting = open.waiting
    row.oldest_due_at = open.oldest_due_at
  }
  for (const ended of await readEnded(ctx, received)) addEnded(rowOf(rows, ended), ended)
  const data = [...rows.values()].sort((a, b) => b.waiting - a.waiting || a.slug.localeCompare(b.slug))
  return { data: data.slice(0, atMost) }
}

function readOpen({ tx }: Ctx, { tenant_id }: Received<typeof ops.getDeliveryStats>): Promise<OpenRow[]> {
  return tx<OpenRow[]>`
    with open as (
      select tenant_id, webhook_id, count(*) filter (where status = 'PENDING') as pending,
             count(*) filter (where status = 'FAILED') as failed,
             count(*) filter (where due_at <= now() and started_at is null) as waiting,
             min(due_at) filter (where started_at is null) as oldest_due_at
      from delivery where finished_at is null and (${tenant_id ?? null}::uuid is null or tenant_id = ${tenant_id ?? null})
      group by tenant_id, webhook_id)
    select w.tenant_id, t.slug, w.host,
           json_build_object(
             'ACTIVE', count(*) filter (where w.state = 'ACTIVE'), 'PAUSED', count(*) filter (where w.state = 'PAUSED'),
             'DISABLED', count(*) filter (where w.state = 'DISABLED')) as webhooks,
           coalesce(sum(o.pending), 0)::int as pending, coalesce(sum(o.failed), 0)::int as failed,
           coalesce(sum(o.waiting), 0)::int as waiting, min(o.oldest_due_at) as oldest_due_at
    from webhook w
    join tenant t on t.id = w.tenant_id
    left join open o on o.tenant_id = w.tenant_id and o.webhook_id = w.id
    where ${tenant_id ?? null}::uuid is null or w.tenant_id = ${tenant_id ?? null}
    group by w.tenant_id, t.slug, w.host
    order by waiting desc, t.slug, w.host limit ${atMost}`
}

function readEnded({ tx }: Ctx, { tenant_id, hours }: Received<typeof ops.getDeliveryStats>): Promise<EndedRow[]> {
  return tx<EndedRow[]>`
    select a.tenant_id, t.slug, a.host, a.error, d.status as ended_as,
           width_bucket(coalesce(a.duration_ms, 0)::float8, ${`{${durationClassesMs.map((bound) => bound + 0.5).join(',')}}`}::float8[]) as class,
           count(*)::int as count
    from delivery_attempt a
    join tenant t on t.id = a.tenant_id
    left join delivery d on d.tenant_id = a.tenant_id and d.id = a.delivery_id and d.attempt = a.n and d.finished_at is not null
    where a.ended_at > now() - make_interval(hours => ${hours}) and (${tenant_id ?? null}::uuid is null or a.tenant_id = ${tenant_id ?? null})
    group by 1, 2, 3, 4, 5, 6`
}

function addEnded(row: DeliveryStats, { error, ended_as, class: at, count }: EndedRow): void {
  row.attempts += count
  if (ended_as !== null) row.deliveries[ended_as] += count
  const bin = row.duration_ms[at]
  if (bin) bin.attempts += count
  if (error === null) return
  row.failed_attempts += count
  const name = error as keyof typeof row.errors
  row.errors[name] = (row.errors[name] ?? 0) + count
}

function rowOf(
  rows: Map<string, DeliveryStats>,
  { tenant_id, slug, host }: { tenant_id: string; slug: string; host: string },
): DeliveryStats {
  const key = `${tenant_id} ${host}`
  const known = rows.get(key)
  if (known) return known
  const fresh: DeliveryStats = {
    tenant_id,
    slug,
    host,
    webhooks: { ACTIVE: 0, PAUSED: 0, DISABLED: 0 },
    deliveries: { PENDING: 0, SUCCEEDED: 0, FAILED: 0, DEAD_LETTER: 0 },
    waiting: 0,
    oldest_due_at: null,
    attempts: 0,
    failed_attempts: 0,
    errors: {},
    duration_ms: [...durationClassesMs, null].map((up_to_ms) => ({ up_to_ms, attempts: 0 })),
  }
  rows.set(key, fresh)
  return fresh
}
