/**
 * Events of media and attachments.
 *
 * A medium lies in no container, so its events are told in the whole workspace, and name no file: who sees it reads its
 * name. Spec: items 4 and 1; docs/decisions/0237.
 */
import type { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { AttachmentTold } from './attachments.ts'
import { Media } from './operations.ts'

const MediaTold = Media.omit({ filename: true, sha256: true, received_bytes: true }).meta({ id: 'MediaTold' })

const example: z.input<typeof MediaTold> = {
  id: exampleId(13),
  kind: 'IMAGE',
  content_type: 'image/png',
  size_bytes: 48_211,
  width: 1_280,
  height: 720,
  previews: ['SMALL', 'MEDIUM'],
  state: 'READY',
  created_by: exampleId(3),
  created_at: '2026-11-20T17:15:00.000Z',
  version: 3,
}
const medium = { subject: '/media/{id}', kind: 'media', container: null, data: MediaTold, example } as const

const attached: z.input<typeof AttachmentTold> = {
  item_id: exampleId(11),
  container_id: exampleId(5),
  media_id: exampleId(13),
  added_by: exampleId(3),
  added_at: '2026-11-20T17:15:00.000Z',
}
const attachment = {
  subject: '/items/{item_id}/attachments/{media_id}',
  kind: 'attachment',
  container: 'container_id',
  data: AttachmentTold,
  example: attached,
  searched: 'MEDIA',
  searchedBy: ['item_id', 'media_id'],
} as const

export const mediaEvents = defineEvents({
  'work.media.ready': { when: 'a file was examined and can be read', ...medium },
  'work.media.refused': { when: 'a file was examined and refused; its bytes are gone', ...medium },
  'work.media.removed': { when: 'a file was deleted, or swept because nothing carried it', ...medium },
  'work.item.attachment_added': { when: 'a file was attached to an item', ...attachment },
  'work.item.attachment_removed': { when: 'a file was taken off an item', ...attachment },
})
