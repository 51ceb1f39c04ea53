/**
 * The writing side of events: from what a rule emits to the row of the outbox.
 *
 * The catalog decides what may be emitted (contract/event-catalog.ts); kernel/outbox/cloud-event.ts
 * writes the text. Spec: Events; decisions 5.
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
  /** The container whose people may be told of it; null: an event of the whole workspace. */
  readonly container_id: string | null
  readonly body: string
}

/** The outbox row of an event of one workspace. Members that its schema lacks are dropped, as in an answer. */
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
