/** Answers the catalog of events. Spec: Events, 9; decisions 5. */

import type { EventDeclaration } from '../../contract/event.ts'
import { typeOf } from '../../contract/event.ts'
import { catalog } from '../../contract/event-catalog.ts'
import { dataSchemaOf } from '../../contract/event-schema.ts'
import type { CloudEvent, eventTypeOperations as ops } from '../../contract/events/operations.ts'
import type { Answer } from '../../contract/operation.ts'
import { exampleOf } from '../../kernel/outbox/cloud-event.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

/** Made once: an installation has one namespace. */
const made = new Map<string, Answer<typeof ops.listEventTypes>>()

export async function listEventTypes({ config }: Ctx): Promise<Answer<typeof ops.listEventTypes>> {
  const { eventNamespace: namespace } = config
  const answer = made.get(namespace) ?? { data: Object.entries(catalog).map(describedIn(namespace)) }
  made.set(namespace, answer)
  return answer
}

const describedIn =
  (namespace: string) =>
  ([name, event]: [string, EventDeclaration]) => ({
    type: typeOf(namespace, name),
    when: event.when,
    subject: event.subject,
    data_schema: dataSchemaOf(event.data),
    example: JSON.parse(exampleOf(typeOf(namespace, name), event)) as CloudEvent,
  })
