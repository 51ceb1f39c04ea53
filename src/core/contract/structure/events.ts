/** Events of what shapes a container. Spec: Structure; decisions 3 and 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { uuid } from '../vocabulary.ts'
import { CustomFieldDefinition } from './custom-fields.ts'
import { Bucket, Label } from './operations.ts'

const times = { created_at: '2026-11-20T17:15:00.000Z', updated_at: '2026-11-20T17:15:00.000Z', version: 1 }
const inBoard = { container_id: exampleId(5) }

const ofBucket = {
  subject: '/containers/{container_id}/buckets/{id}',
  kind: 'bucket',
  container: 'container_id',
} as const
const done = { id: exampleId(6), ...inBoard, name: 'Done', is_done_bucket: true }
const bucket: z.input<typeof Bucket> = {
  ...done,
  position: 2,
  wip_limit: null,
  over_limit: false,
  color_token: null,
  item_count: 0,
  ...times,
}
const wholeBucket = { ...ofBucket, data: Bucket, example: bucket } as const
const became = {
  moved_item_count: z.int().describe('entries that were in it'),
  moved_to_bucket_id: uuid.nullable().describe('where they are now; null: in no bucket'),
}
const moved = { moved_item_count: 12, moved_to_bucket_id: exampleId(9) }

const ofLabel = { subject: '/containers/{container_id}/labels/{id}', kind: 'label', container: 'container_id' } as const
const urgent = { id: exampleId(7), ...inBoard, name: 'Urgent', color_token: 'red' }
const wholeLabel = {
  ...ofLabel,
  data: Label,
  example: { ...urgent, description: null, ...times },
} as const

const field: z.input<typeof CustomFieldDefinition> = {
  id: exampleId(10),
  collection_id: exampleId(5),
  key: 'size',
  kind: 'SELECT',
  options: ['S', 'M', 'L'],
  is_required: false,
  applies_to: ['TASK'],
  ...times,
}
const wholeField = {
  subject: '/custom-fields/{id}',
  kind: 'custom_field',
  container: 'collection_id',
  data: CustomFieldDefinition,
  example: field,
} as const

export const structureEvents = defineEvents({
  'work.bucket.created': {
    when: 'a bucket was created; provisioning tells the first four members alone',
    ...ofBucket,
    data: z.object({
      ...Bucket.partial().shape,
      id: uuid,
      container_id: uuid,
      name: z.string(),
      is_done_bucket: z.boolean(),
    }),
    example: done,
  },
  'work.bucket.changed': { when: 'the name, limit, colour or doneness of a bucket was changed', ...wholeBucket },
  'work.bucket.reordered': { when: 'a bucket was moved among those of its container', ...wholeBucket },
  'work.bucket.emptied': {
    when: 'entries of a bucket moved out of it, ahead of its deletion',
    ...ofBucket,
    data: z.object({ id: uuid, container_id: uuid, ...became }),
    example: { id: exampleId(6), ...inBoard, ...moved },
  },
  'work.bucket.deleted': {
    when: 'a bucket was deleted, and its entries moved out of it',
    ...ofBucket,
    data: Bucket.extend(became),
    example: { ...bucket, ...moved },
  },
  'work.label.created': {
    when: 'a label was created; provisioning tells the first four members alone',
    ...ofLabel,
    data: z.object({
      ...Label.partial().shape,
      id: uuid,
      container_id: uuid,
      name: z.string(),
      color_token: z.string(),
    }),
    example: urgent,
  },
  'work.label.changed': {
    when: 'the name, colour or description of a label was changed',
    ...wholeLabel,
    searched: 'LABEL',
  },
  'work.label.deleted': {
    when: 'a label was taken out of the vocabulary of its container',
    ...wholeLabel,
    searched: 'LABEL',
  },
  'work.label.restored': { when: 'a deleted label was put back', ...wholeLabel, searched: 'LABEL' },
  'work.custom_field.created': { when: 'a custom field was defined', ...wholeField, searched: 'FIELD' },
  'work.custom_field.changed': {
    when: 'options, need or types of a custom field were changed',
    ...wholeField,
    searched: 'FIELD',
  },
  'work.custom_field.deleted': { when: 'a custom field was deleted', ...wholeField, searched: 'FIELD' },
})
