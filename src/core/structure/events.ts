/** Events of what shapes a container. Spec: Structure; decisions 3 and 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../events/declaration.ts'
import { uuid } from '../schema.ts'

export const structureEvents = defineEvents({
  'work.bucket.created': {
    when: 'a bucket was created',
    subject: '/containers/{container_id}/buckets/{id}',
    data: z.object({ id: uuid, container_id: uuid, name: z.string(), is_done_bucket: z.boolean() }),
    example: { id: exampleId(6), container_id: exampleId(5), name: 'Done', is_done_bucket: true },
  },
  'work.label.created': {
    when: 'a label was created',
    subject: '/containers/{container_id}/labels/{id}',
    data: z.object({ id: uuid, container_id: uuid, name: z.string(), color_token: z.string() }),
    example: { id: exampleId(7), container_id: exampleId(5), name: 'Urgent', color_token: 'red' },
  },
})
