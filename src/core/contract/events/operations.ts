/** Pulling events, and what events there are. Spec: Webhooks and event pull, rule 6; Events, 4; decisions 5. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, listOf, moment, text, uuid } from '../vocabulary.ts'

const CloudEvent = z
  .object({
    specversion: z.literal('1.0'),
    id: uuid.describe('stays the same however often the event is answered or delivered'),
    type: z.string(),
    source: z.string().describe('the workspace, as `/tenants/{id}`'),
    subject: z.string().describe("the resource's path below `/api/v1`"),
    time: moment,
    datacontenttype: z.literal('application/json'),
    actor: z.string().describe("an account's id, or `recovery`, `system`, `anyone`"),
    data: z.record(z.string(), z.unknown()).describe('as the type declares it: `GET /meta/event-types`'),
  })
  .meta({ id: 'CloudEvent' })
export type CloudEvent = z.output<typeof CloudEvent>

const EventType = z
  .object({
    type: z.string().describe('the full name: namespace, area, entity, verb, version'),
    when: z.string(),
    subject: z.string(),
    data_schema: z.record(z.string(), z.unknown()).describe('JSON Schema of `data`'),
    example: CloudEvent,
  })
  .meta({ id: 'EventType' })
export type EventType = z.output<typeof EventType>

export const eventTypeOperations = defineOperations('meta', {
  listEventTypes: {
    method: 'GET',
    path: '/meta/event-types',
    summary: 'Every type of event with the JSON Schema of its data and an example',
    spec: 'Events, 9; decisions 5',
    success: { status: 200, fixed: true, answer: listOf(EventType) },
    needs: { caller: 'anyone', rate: { perSource: { calls: 600, seconds: 60 } } },
    recovery: 'allowed',
  },
})

export const triggerOperations = defineOperations('webhooks', {
  pullEvents: {
    method: 'GET',
    path: '/integrations/triggers/{eventType}',
    summary: 'The events of one type, oldest first, from where the last poll ended',
    spec: 'Webhooks and event pull, rule 6; Events, 4; decisions 5',
    params: z.strictObject({ eventType: text(1, 160).describe('the full name: `GET /meta/event-types` lists them') }),
    query: z.strictObject({
      since: z
        .string()
        .max(512)
        .optional()
        .describe('`next_since` of the poll before; absent: the oldest event kept; `now`: none of those there are'),
      limit: count(1, 200).default(100),
    }),
    success: {
      status: 200,
      answer: z.object({
        data: z.array(CloudEvent),
        next_since: z.string().describe('where to go on, also from an empty page'),
        has_more: z.boolean().describe('whether more can be answered at once'),
      }),
    },
    needs: { caller: 'workspace', scope: 'workspace:read', role: 'ADMIN' },
    refuses: ['cursor.invalid', 'gone'],
    recovery: { refused: "content is the workspace's own; `:export` is the operator's way" },
    assumed: [
      'an unknown event type is not_found',
      'a cursor is good for any `limit`',
      '`since=now` answers an empty page and where to go on from, for whoever wants only what is to come',
      'an event is answered as soon as its change is committed, whatever else is under way in the database',
      'a token that may only read is enough, of an account with the role ADMIN',
    ],
  },
})
