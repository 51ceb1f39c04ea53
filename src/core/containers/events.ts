/** Events of hubs and collections. Spec: Index, Containers; decisions 3 and 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../events/declaration.ts'
import { uuid } from '../schema.ts'

export const containerEvents = defineEvents({
  'work.container.created': {
    when: 'a hub or a collection was created',
    subject: '/containers/{id}',
    data: z.object({
      id: uuid,
      kind: z.enum(['HUB', 'COLLECTION']),
      parent_id: uuid.nullable(),
      name: z.string(),
    }),
    example: { id: exampleId(5), kind: 'COLLECTION', parent_id: exampleId(4), name: 'Board' },
  },
})
