/** Covers of items. Spec: items 1, N18 and N19. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { text, uuid } from '../vocabulary.ts'
import { change } from './operations.ts'

const spec = 'items 1, N18 and N19'

const CoverSet = z
  .strictObject({
    media_id: uuid.optional().describe('a picture that the item carries; either this or `color_token`'),
    color_token: text(1, 200).optional().describe("of the client's palette"),
  })
  .meta({ id: 'CoverSet' })

export const itemCoverOperations = defineOperations('items', {
  setItemCover: {
    ...change,
    method: 'PUT',
    path: '/items/{itemId}/cover',
    summary: 'Show a picture that the item carries, or a colour, as its cover',
    spec,
    body: CoverSet,
    refuses: ['container.archived', 'item.archived', 'media.not_ready'],
    assumed: [
      'a file that the item does not carry is 422 at `/media_id`, and so is one that is no picture',
      'a picture that is taken off the item is no cover any more; attached again, it is',
      'a copy has the cover of its original; a picture where it carries the file',
    ],
  },
  removeItemCover: {
    ...change,
    method: 'DELETE',
    path: '/items/{itemId}/cover',
    summary: 'Take the cover off an item',
    spec,
    success: { status: 204 },
    refuses: ['container.archived', 'item.archived'],
    assumed: ['an item without a cover stays as it is; the picture stays attached'],
  },
})
