/**
 * Deliveries: listed with every attempt, replayed, sent on demand.
 *
 *    PENDING ──2xx──▶ SUCCEEDED
 *       │
 *       └─else─▶ FAILED ──eighth in a row, or 410──▶ DEAD_LETTER ──:replay──▶ PENDING
 *                 ▲  └─due─┐                              ▲                      │
 *                 └────────┘                              └── the one attempt failed
 *
 * The row is the only source of truth (decision 0115). `attempt` only grows: a replay continues its
 * count and keeps the event's id. dispatch/** makes the attempts; ladder.ts decides what follows
 * from each.
 *
 * Spec: States: Delivery; Webhooks and event pull, rules 3 and 4; decisions 5.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryCause,
  DeliveryStatus,
  webhookOperations as ops,
} from '../../contract/webhooks/operations.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Followed, lastId, pageOfRows, pageStart, withinPage } from '../../kernel/transaction/page.ts'
import { readSeenEvent, seenEvents } from './sight.ts'
import { type FlightRecord, shownToWorkspace } from './trace.ts'
import { readWebhook } from './webhook-row.ts'

interface DeliveryRow {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly event_type: string
  readonly cause: DeliveryCause
  readonly status: DeliveryStatus
  readonly attempt: number
  readonly next_attempt_at: string | null
  readonly started_at: string | null
  readonly created_at: string
  readonly finished_at: string | null
}

type AttemptRow = Omit<DeliveryAttempt, 'trace'> & {
  readonly delivery_id: string
  readonly trace: FlightRecord | null
}

/** Newest first. Refuses not_found, cursor.invalid, gone. */
export async function listDeliveries(
  ctx: Ctx,
  { webhookId, cursor, size, status }: Received<typeof ops.listDeliveries>,
): Promise<Answer<typeof ops.listDeliveries>> {
  const { tenantId } = ctx.account
  const list = { operation: 'listDeliveries', filters: { webhookId, status } }
  const before = pageStart(ctx, list, cursor) ?? lastId
  const { tx } = ctx
  await readWebhook(ctx, tenantId, webhookId)
  const rows = deliveryRows(
    ctx,
    tenantId,
    tx.part`webhook_id = ${webhookId} and id < ${before}::uuid
      ${status === undefined ? tx.part`` : tx.part`and status = ${status}`}`,
    size + 1,
  )
  // The attempts make a delivery large, and their number is unlimited. Their size is summed up before they are read.
  const page = await tx<
    (DeliveryRow & Followed)[]
  >`${withinPage(ctx, rows, { order: tx.part`id desc`, bytes: bytesOfAttempts(ctx, tenantId) })}`
  return pageOfRows(ctx, list, await withAttempts(ctx, tenantId, page.slice(0, size)), size)
}

/** The size of the attempts at the delivery `r`, in bytes. */
const bytesOfAttempts = ({ tx }: Ctx, tenantId: string): Part => tx.part`(
  select coalesce(sum(coalesce(octet_length(a.body), 0) + coalesce(pg_column_size(a.trace), 0)), 0) from delivery_attempt a
  where a.tenant_id = ${tenantId} and a.delivery_id = r.id)`

/** Refuses not_found. */
export async function getDelivery(
  ctx: Ctx,
  { webhookId, deliveryId }: Received<typeof ops.getDelivery>,
): Promise<Delivery> {
  const { tenantId } = ctx.account
  await readWebhook(ctx, tenantId, webhookId)
  return readDelivery(ctx, tenantId, webhookId, deliveryId)
}

/** Makes one more attempt due now. Refuses not_found, webhook.not_active, webhook.delivery_not_dead, webhook.event_gone, webhook.event_unseen. */
export async function replayDelivery(
  ctx: Ctx,
  { webhookId, deliveryId }: Received<typeof ops.replayDelivery>,
): Promise<Delivery> {
  const { tenantId } = ctx.account
  const webhook = await readWebhook(ctx, tenantId, webhookId)
  const [delivery] = await ctx.tx<{ status: DeliveryStatus; event_id: string; has_event: boolean }[]>`
    select status, event_id,
           exists (select from outbox_event e where e.tenant_id = d.tenant_id and e.id = d.event_id) as has_event
    from delivery d where tenant_id = ${tenantId} and webhook_id = ${webhookId} and id = ${deliveryId} for update`
  if (!delivery) refuse('not_found')
  if (webhook.state !== 'ACTIVE') refuse('webhook.not_active')
  if (delivery.status !== 'DEAD_LETTER') refuse('webhook.delivery_not_dead')
  if (!delivery.has_event) refuse('webhook.event_gone')
  await readSeenEvent(ctx, { eventId: delivery.event_id, actsFor: webhook.acts_for })

  await ctx.tx`
    update delivery set status = 'PENDING', cause = 'REPLAY', due_at = now(), finished_at = null
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and id = ${deliveryId}`
  ctx.ring(webhookId)
  await ctx.audit('webhook.delivery_replayed', {
    subject: { kind: 'delivery', id: deliveryId },
    params: { webhook_id: webhookId, event_id: delivery.event_id },
  })

  return readDelivery(ctx, tenantId, webhookId, deliveryId)
}

/** Delivers an event of the past. Refuses not_found, webhook.event_unseen, webhook.not_active, webhook.event_restored. */
export async function sendEvent(
  ctx: Ctx,
  { webhookId, body: { event_id } }: Received<typeof ops.sendEvent>,
): Promise<Delivery> {
  const { tenantId } = ctx.account
  const webhook = await readWebhook(ctx, tenantId, webhookId)
  const event = await readSeenEvent(ctx, { eventId: event_id, actsFor: webhook.acts_for })
  if (webhook.state !== 'ACTIVE') refuse('webhook.not_active')
  if (event.is_restored) refuse('webhook.event_restored')

  const [made] = await ctx.tx<{ id: string }[]>`
    insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause)
    values (${tenantId}, new_id(), ${webhookId}, ${event_id}, ${event.type}, 'SEND') returning id`
  if (!made) throw new Error('an inserted delivery was not returned')
  ctx.ring(webhookId)
  await ctx.audit('webhook.event_sent', {
    subject: { kind: 'delivery', id: made.id },
    params: { webhook_id: webhookId, event_id },
  })

  return readDelivery(ctx, tenantId, webhookId, made.id)
}

async function readDelivery(ctx: Ctx, tenantId: string, webhookId: string, id: string): Promise<Delivery> {
  const which = ctx.tx.part`webhook_id = ${webhookId} and id = ${id}`
  const rows = await ctx.tx<DeliveryRow[]>`${deliveryRows(ctx, tenantId, which, 1)}`
  const [delivery] = await withAttempts(ctx, tenantId, rows)
  return delivery ?? refuse('not_found')
}

function deliveryRows({ tx }: Ctx, tenantId: string, which: Part, limit: number): Part {
  return tx.part`
    select id, webhook_id, event_id, event_type, cause, status, attempt,
           case when started_at is null then due_at end as next_attempt_at, started_at, created_at, finished_at
    from delivery where tenant_id = ${tenantId} and ${which} order by id desc limit ${limit}`
}

/**
 * Adds their attempts to deliveries, including the one under way. A target's answer may repeat the event, so a caller
 * who does not see the event does not see the answer either.
 */
async function withAttempts<Row extends DeliveryRow>(
  ctx: Ctx,
  tenantId: string,
  rows: readonly Row[],
): Promise<(Row & Delivery)[]> {
  if (rows.length === 0) return []
  const [seen, attempts] = await Promise.all([
    seenEvents(ctx, [...new Set(rows.map(({ event_id }) => event_id))]),
    ctx.tx<AttemptRow[]>`
    select delivery_id, n, at, status, duration_ms, body, error, trace from delivery_attempt
    where tenant_id = ${tenantId} and delivery_id in ${ctx.tx.list(rows.map(({ id }) => id))} order by delivery_id, n`,
  ])
  const ended = Map.groupBy(attempts, ({ delivery_id }) => delivery_id)
  return rows.map((row) => ({
    ...row,
    attempts: [
      ...(ended.get(row.id) ?? []).map((one) => ({
        ...one,
        body: seen.has(row.event_id) ? one.body : null,
        trace: one.trace && shownToWorkspace(one.trace),
      })),
      ...underWay(row),
    ],
  }))
}

function underWay({ started_at, attempt }: DeliveryRow): DeliveryAttempt[] {
  if (started_at === null) return []
  return [{ n: attempt, at: started_at, status: null, duration_ms: null, body: null, error: null, trace: null }]
}
