/** Attachments: the files that an item carries. Spec: items 1, N22 to N24; docs/decisions/0238. */
import { z } from 'zod'
import { recovery, writing } from '../items/operations.ts'
import { defineOperations } from '../operation.ts'
import { listOf, moment, text, uuid } from '../vocabulary.ts'
import { Media } from './operations.ts'

const spec = 'items 1, N22 to N24'

/** Files of an item, and items of a file. */
export const mostAttachments = 100

const carried = {
  name: z.string().nullable().describe('the name here; null: that of the file'),
  alt: z.string().nullable().describe('what it shows, for people who do not see it'),
  comment_id: uuid.nullable().describe('the comment that brought it'),
  added_by: uuid,
  added_at: moment,
}
export const Attachment = z.object({ media: Media, ...carried }).meta({ id: 'Attachment' })
export type Attachment = z.output<typeof Attachment>

/** What an event tells: a file is named by its id, because its own name is content (docs/decisions/0237). */
export const AttachmentTold = z
  .object({ item_id: uuid, container_id: uuid, media_id: uuid, added_by: uuid, added_at: moment })
  .meta({ id: 'AttachmentTold' })

const AttachmentSet = z
  .strictObject({
    name: text(1, 255).nullish().describe('absent: it stays as it is; null: that of the file'),
    alt: text(1, 1000).nullish().describe('absent: it stays as it is'),
  })
  .meta({ id: 'AttachmentSet' })

const ofItem = z.strictObject({ itemId: uuid })
const one = z.strictObject({ itemId: uuid, mediaId: uuid })
const reading = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
/** MEMBER for other people's files; the rule asks for it. */
const attaching = { ...writing, role: 'COMMENTER' } as const

export const attachmentOperations = defineOperations('items', {
  listItemAttachments: {
    method: 'GET',
    path: '/items/{itemId}/attachments',
    summary: 'The files that an item carries, the oldest first',
    spec,
    params: ofItem,
    success: { status: 200, answer: listOf(Attachment) },
    needs: reading,
    recovery,
    assumed: [`at most ${mostAttachments}, so the list has no pages`],
  },
  attachItemMedia: {
    method: 'PUT',
    path: '/items/{itemId}/attachments/{mediaId}',
    summary: 'Attach a file to an item, or rename it there',
    spec,
    params: one,
    body: AttachmentSet,
    success: { status: 200, answer: Attachment },
    needs: attaching,
    ifMatch: true,
    refuses: ['auth.role_required', 'container.archived', 'item.archived', 'media.not_ready', 'structure.full'],
    recovery,
    assumed: [
      'the caller sees the file',
      'COMMENTER for the own file, MEMBER for others',
      'a file that was refused is not attached; one that is still uploading is',
      'a file is attached to 100 items at most',
      "`If-Match` is the item's; attaching leaves its version alone",
    ],
  },
  detachItemMedia: {
    method: 'DELETE',
    path: '/items/{itemId}/attachments/{mediaId}',
    summary: 'Take a file off an item',
    spec,
    params: one,
    success: { status: 204 },
    needs: attaching,
    ifMatch: true,
    refuses: ['auth.role_required', 'container.archived', 'item.archived'],
    recovery,
    assumed: [
      'COMMENTER for what the caller has attached, MEMBER for others',
      'a file that nothing carries goes a day later',
    ],
  },
})
