/** The rules of this area, by operation. */
import type { attachmentOperations } from '../../contract/media/attachments.ts'
import type { mediaOperations } from '../../contract/media/operations.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { attachItemMedia, detachItemMedia, listItemAttachments } from './attachments.ts'
import { getMediaContent } from './content.ts'
import { createMedia } from './creation.ts'
import { linkMedia } from './links.ts'
import { listMedia } from './list.ts'
import { visibleMedia } from './media-row.ts'
import { deleteMedia } from './removal.ts'
import { takeBytes, uploadMedia } from './upload.ts'

export const mediaHandlers = {
  createMedia,
  uploadMedia: withWork(takeBytes, uploadMedia),
  getMedia: (ctx, { mediaId }) => visibleMedia(ctx, mediaId),
  getMediaContent,
  linkMedia,
  listMedia,
  deleteMedia,
  listItemAttachments,
  attachItemMedia,
  detachItemMedia,
} satisfies HandlersOf<typeof mediaOperations & typeof attachmentOperations>
