/** The archive: items that are read and not changed. Spec: items 1. */
import { defineOperations } from '../operation.ts'
import { change } from './operations.ts'

const spec = 'items 1'

export const itemArchiveOperations = defineOperations('items', {
  archiveItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:archive',
    summary: 'Archive an item: it leaves the lists, and is read only',
    spec,
    refuses: ['container.archived'],
    assumed: [
      'the items below it that are not archived go with it, each with an event and an entry',
      'the item answers by its id, and in lists that ask for it (`archived`)',
      "it counts against the ceiling `items`, and not in its bucket's `item_count`",
    ],
  },
  unarchiveItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:unarchive',
    summary: 'Bring an item back from the archive, to the end of its bucket',
    spec,
    refuses: ['container.archived'],
    assumed: [
      'what was archived with it comes back with it; under a parent that stays archived it comes back as a root',
      'a bucket that was deleted meanwhile has left its archived items where its other items went',
    ],
  },
})
