/**
 * The writing side of events: from what a rule emits to the row of the outbox.
 *
 * What may be emitted is the catalog's (contract/event-catalog.ts); how it is written is
 * kernel/outbox/cloud-event.ts's. Spec: Events; decisions 5.
 */

import { type EventData, type EventDeclaration, subjectOf, typeOf } from '../../contract/event.ts'
import { catalog, type NewEvent } from '../../contract/event-catalog.ts'
import { type Actor, accountIdOf } from '../values/actor.ts'
import { newId } from '../values/id.ts'
import { writeCloudEvent } from './cloud-event.ts'

export type { DataOf, EventName, NewEvent } from '../../contract/event-catalog.ts'

export interface EventRow {
  readonly tenant_id: string
  readonly id: string
  readonly type: string
  readonly occurred_at: string
  /** Whose people may be told of it; null: an event of the whole workspace. */
  readonly container_id: string | null
  readonly body: string
}

/** The outbox row of an event of one workspace. What its schema does not name is dropped, as from an answer. */
export function eventRow(namespace: string, tenantId: string, actor: Actor, at: Date, event: NewEvent): EventRow {
  const id = newId()
  const type = typeOf(namespace, event.name)
  const declared: EventDeclaration = catalog[event.name]
  const { container } = declared
  const data = declared.data.parse(event.data) as EventData
  const body = writeCloudEvent({
    id,
    type,
    tenantId,
    subject: subjectOf(declared, data),
    time: at,
    actor: accountIdOf(actor) ?? actor.kind.toLowerCase(),
    data,
  })
  const containerId = container === null ? null : (data[container] as string | null)
  return { tenant_id: tenantId, id, type, occurred_at: at.toISOString(), container_id: containerId, body }
}
