/**
 * Sends deliveries again, one after the other, at a limited rate.
 *
 * A dead letter is replayed: the same delivery gets one more attempt. For a delivery that
 * succeeded, the event is sent in a new delivery, for a receiver that lost its data.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Delivery, webhookOperations } from '../../core/contract/webhooks/operations.ts'
import { type Caller, pagesOf } from '../call/caller.ts'
import { isWithin, type Span } from '../input/span.ts'
import { bar, withToldProgress } from '../render/progress.ts'

export const repeatable = ['DEAD_LETTER', 'SUCCEEDED'] as const
export type Repeatable = (typeof repeatable)[number]

/** The deliveries of that status in the span, oldest first; `over` counts those beyond `max`. */
export async function chosenDeliveries(
  caller: Caller,
  webhookId: string,
  { status, span, max }: { readonly status: Repeatable; readonly span: Span; readonly max: number },
): Promise<{ deliveries: Delivery[]; over: number }> {
  const found: Delivery[] = []
  for await (const page of pagesOf(caller, webhookOperations.listDeliveries, { webhookId, status, size: 200 })) {
    found.push(...page.data.filter(({ created_at }) => isWithin(span, created_at)))
    if (page.data.some(({ created_at }) => Date.parse(created_at) < span.from)) break
  }
  const oldestFirst = found.toReversed()
  return { deliveries: oldestFirst.slice(0, max), over: Math.max(0, oldestFirst.length - max) }
}

export interface Refused {
  readonly delivery_id: string
  readonly code: string
}

/** Sends at most `perSecond` deliveries each second. Refusals of single deliveries are collected; any other error ends it at once. */
export async function repeatAll(
  caller: Caller,
  deliveries: readonly Delivery[],
  perSecond: number,
): Promise<{ repeated: string[]; refused: Refused[] }> {
  const repeated: string[] = []
  const refused: Refused[] = []
  await withToldProgress(`Sending again ${deliveries.length}`, async (tell) => {
    for (const [at, delivery] of deliveries.entries()) {
      const began = performance.now()
      await repeat(caller, delivery).then(
        () => repeated.push(delivery.id),
        (error: unknown) => {
          const { code } = error as { code?: string }
          if (code !== 'webhook.delivery_not_dead' && code !== 'webhook.event_gone' && code !== 'not_found') throw error
          refused.push({ delivery_id: delivery.id, code })
        },
      )
      tell(`Sending again ${bar(at + 1, deliveries.length)} ${at + 1} of ${deliveries.length}`)
      if (at + 1 < deliveries.length) await pause(Math.max(0, 1000 / perSecond - (performance.now() - began)))
    }
  })
  return { repeated, refused }
}

const repeat = (caller: Caller, { id, webhook_id: webhookId, event_id, status }: Delivery) =>
  status === 'SUCCEEDED'
    ? caller.call(webhookOperations.sendEvent, { webhookId, body: { event_id } })
    : caller.call(webhookOperations.replayDelivery, { webhookId, deliveryId: id })
