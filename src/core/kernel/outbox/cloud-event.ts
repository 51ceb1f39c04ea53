/**
 * The only writer of events: CloudEvents 1.0 in the JSON format.
 *
 *    {"specversion","id","type","source","subject","time","datacontenttype","actor","data"}
 *
 * The transaction that changes the state makes the text once and stores it. Webhooks, pulls
 * and the daemon itself get the same bytes; the text is never parsed and written again.
 *
 * Spec: Events, 1 and 2; decisions 5.
 */

import { type EventData, type EventDeclaration, exampleId, subjectOf } from '../../contract/event.ts'
import { writeJson } from '../values/json.ts'

export interface CloudEvent {
  readonly id: string
  /** The full type, with namespace and version. */
  readonly type: string
  readonly tenantId: string
  /** Path of the resource below `/api/v1`. */
  readonly subject: string
  readonly time: Date
  /** An account's id, or what acted in place of one: `recovery`, `system`. */
  readonly actor: string
  readonly data: unknown
}

/** The event as text; this is what is stored. */
export const writeCloudEvent = ({ id, type, tenantId, subject, time, actor, data }: CloudEvent): string =>
  writeJson({
    specversion: '1.0',
    id,
    type,
    source: `/tenants/${tenantId}`,
    subject,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    actor,
    data,
  })

/** The example of a type as a whole event, with invented ids. */
export const exampleOf = (type: string, event: Pick<EventDeclaration, 'subject' | 'example'>): string =>
  writeCloudEvent({
    id: exampleId(99),
    type,
    tenantId: exampleId(1),
    subject: subjectOf(event, event.example as EventData),
    time: new Date('2026-09-01T09:00:00.000Z'),
    actor: exampleId(3),
    data: event.example,
  })
