/** One delivery's flight recorder, in full and without content. Spec: decisions 5, Egress guard. */

import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { deliveryOperations as ops, RecordedDelivery } from '../../../contract/webhooks/operator-view.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'

type DeliveryRow = Omit<RecordedDelivery, 'attempts'>
type AttemptRow = RecordedDelivery['attempts'][number]

/** Refuses not_found. */
export async function getRecordedDelivery(
  { tx }: Ctx,
  { deliveryId }: Received<typeof ops.getRecordedDelivery>,
): Promise<RecordedDelivery> {
  // Looks the key up in one workspace after another. An index only for this would add two entries for each delivery.
  const [delivery] = await tx<DeliveryRow[]>`
    with recursive leaps as (
      (select tenant_id from delivery order by tenant_id limit 1)
      union all
      select n.tenant_id from leaps l cross join lateral (
        select tenant_id from delivery where tenant_id > l.tenant_id order by tenant_id limit 1) n)
    select d.id, d.tenant_id, t.slug, d.webhook_id, w.state as webhook_state, w.host, d.event_id, d.event_type, d.status,
           d.attempt, d.cause, case when d.started_at is null then d.due_at end as next_attempt_at, d.created_at, d.finished_at
    from leaps l
    cross join lateral (select * from delivery where tenant_id = l.tenant_id and id = ${deliveryId} offset 0) d
    join tenant t on t.id = d.tenant_id
    left join webhook w on w.tenant_id = d.tenant_id and w.id = d.webhook_id`
  if (!delivery) refuse('not_found')
  const attempts = await tx<AttemptRow[]>`
    select n, at, status, duration_ms, error, trace from delivery_attempt
    where tenant_id = ${delivery.tenant_id} and delivery_id = ${deliveryId} order by n`
  return { ...delivery, attempts }
}
