/** What a webhook's target is sent: each type of event with the schema of its data and an example. */
import { type EventDeclaration, typeOf } from '../core/contract/event.ts'
import { catalog } from '../core/contract/event-catalog.ts'
import { exampleOf } from '../core/kernel/outbox/cloud-event.ts'
import type { Schemas } from './openapi-schemas.ts'

/** The default of SVC_EVENT_NAMESPACE; an installation may have another. */
const namespace = 'svc'

export const webhooksOf = (schemas: Schemas) =>
  Object.fromEntries(
    (Object.entries(catalog) as [string, EventDeclaration][]).map(([name, event]) => [
      typeOf(namespace, name),
      { post: delivery(typeOf(namespace, name), event, schemas) },
    ]),
  )

function delivery(type: string, event: EventDeclaration, schemas: Schemas) {
  return {
    operationId: type.replaceAll(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: ['webhooks'],
    summary: `Sent when ${event.when}`,
    description: `The first part of \`type\` is the namespace of the installation, \`${namespace}\` unless it was set. A delivery may come more than once and out of order: \`id\` stays the same.`,
    security: [],
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
      name,
      in: 'header',
      required: true,
      description: headers[name],
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: {
        'application/cloudevents+json': {
          schema: {
            allOf: [
              { $ref: '#/components/schemas/CloudEvent' },
              { type: 'object', properties: { type: { type: 'string' }, data: schemas.of(event.data, 'output') } },
            ],
          },
          example: JSON.parse(exampleOf(type, event)) as unknown,
        },
      },
    },
    responses: {
      '2XX': { description: 'Received. Any other answer, or none within 15 s, is a failed attempt and is repeated.' },
    },
  }
}

const headers: Readonly<Record<string, string>> = {
  'webhook-id': 'The id of the event.',
  'webhook-timestamp': 'When this attempt was signed, in seconds since 1970.',
  'webhook-signature':
    '`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`; several during the rotation of a secret.',
}
