/** The order of items, and copies of them. Spec: items 1, N14 and N15. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { text, uuid } from '../vocabulary.ts'
import { change, Item } from './operations.ts'

export const copiedParts = ['FIELDS', 'LABELS', 'CHILDREN', 'ATTACHMENTS', 'DATES', 'PEOPLE'] as const
export type CopiedPart = (typeof copiedParts)[number]
/** Attachments that one copy has, with those of what is below it. */
export const mostCopiedFiles = 2_000

const ItemReorder = z
  .strictObject({
    before_item_id: uuid.nullish().describe('of the same bucket, or of the same parent; none: at the end'),
    within: z.enum(['BUCKET', 'PARENT']).default('BUCKET').describe('which of its two orders'),
  })
  .meta({ id: 'ItemReorder' })

const ItemDuplicate = z
  .strictObject({
    container_id: uuid.optional().describe('a collection; absent: its own'),
    bucket_id: uuid
      .nullish()
      .describe('of the copy; null: none; absent: its own, or the leftmost of another container'),
    title: text(1, 500).optional().describe('of the copy; absent: the same'),
    include: z.array(z.enum(copiedParts)).max(copiedParts.length).optional().describe('absent: all'),
  })
  .meta({ id: 'ItemDuplicate' })

export const itemTreeOperations = defineOperations('items', {
  reorderItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:reorder',
    summary: 'Put an item to another place of its bucket, or among the children of its parent',
    spec: 'items 1, N14',
    body: ItemReorder,
    refuses: ['container.archived', 'item.archived', 'order.exhausted'],
    assumed: [
      'it changes neither bucket nor parent: a neighbour that was moved away meanwhile is 422 at `/before_item_id`',
      'a root has no siblings: 422 at `/within`',
      'to where it stands changes nothing',
    ],
  },
  duplicateItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:duplicate',
    summary: 'Make a copy of an item, with all that is below it',
    spec: 'items 1, N15',
    body: ItemDuplicate,
    success: { status: 201, answer: Item, location: (made: { id: string }) => `/items/${made.id}` },
    refuses: ['container.archived', 'item.tree_full', 'structure.full', 'quota.exceeded'],
    idempotent: true,
    assumed: [
      'MEMBER in both containers; the item itself does not change, and may be archived',
      'copies are OPEN, also of what is done, and stand at the ends of the buckets of their originals; of a done bucket in the leftmost other one',
      'in its own container the copy is the last child of the same parent; in another one a root, and all copies are in its bucket',
      'children that are archived are not copied, unless the item is archived itself',
      'to another container labels go by their names, and values by the key and the kind of their fields; what does not fit is left out, and so are people without access there',
      `at most ${mostCopiedFiles.toLocaleString('en')} attachments are copied at once, each with its own event: more are structure.full`,
      'comments with the files that they brought, reminders and the trail stay with the original',
    ],
  },
})
