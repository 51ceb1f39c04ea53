/**
 * The writing side of events: from what a rule emits to the row of the outbox.
 *
 * What may be emitted is the catalog's (events/catalog.ts); how it is written is
 * events/cloud-event.ts's. Spec: Events; decisions 5.
 */
import { type Actor, accountIdOf } from './actor.ts'
import { catalog, type NewEvent } from './events/catalog.ts'
import { writeCloudEvent } from './events/cloud-event.ts'
import type { EventDeclaration } from './events/declaration.ts'
import { typeOf } from './events/declaration.ts'
import { newId } from './id.ts'

export type { EventName, NewEvent } from './events/catalog.ts'

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
  const { data: schema, container }: EventDeclaration = catalog[event.name]
  const data = schema.parse(event.data) as Readonly<Record<string, unknown>>
  const body = writeCloudEvent({
    id,
    type,
    tenantId,
    subject: event.subject,
    time: at,
    actor: accountIdOf(actor) ?? actor.kind.toLowerCase(),
    data,
  })
  const containerId = container === null ? null : (data[container] as string | null)
  return { tenant_id: tenantId, id, type, occurred_at: at.toISOString(), container_id: containerId, body }
}
