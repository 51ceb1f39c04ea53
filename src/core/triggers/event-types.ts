/** Answers the catalog of events. Spec: Events, 9; decisions 5. */
import type { Ctx } from '../context.ts'
import { catalog } from '../events/catalog.ts'
import { exampleOf } from '../events/cloud-event.ts'
import { dataSchemaOf } from '../events/data-schema.ts'
import type { EventDeclaration } from '../events/declaration.ts'
import { typeOf } from '../events/declaration.ts'
import type { Answer } from '../operation.ts'
import type { CloudEvent, eventTypeOperations as ops } from './contract.ts'

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
