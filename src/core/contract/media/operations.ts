/**
 * Media: files that people upload, and attach to items.
 *
 *    UPLOADING ──last byte──▶ SCANNING ──examined──▶ READY
 *        │                       └──finding, or another hash──▶ REFUSED (no bytes)
 *        └── begun, or attached nowhere, for a day: gone
 *
 * Spec: items 4, O6 to O12; docs/decisions/0235 to 0238.
 */
import { z } from 'zod'
import { recovery } from '../items/operations.ts'
import { defineOperations } from '../operation.ts'
import { int64, longestCursor, moment, pageOf, paging, text, uuid, version } from '../vocabulary.ts'

const spec = 'items 4, O6 to O12'

/** Bytes of a part: all parts but the last have a multiple of them. */
export const partBytes = 8 * 1024 * 1024

const mediaKinds = ['IMAGE', 'VIDEO', 'AUDIO', 'TEXT', 'DOCUMENT', 'ARCHIVE', 'OTHER'] as const
export type MediaKind = (typeof mediaKinds)[number]
const kind = z.enum(mediaKinds)
const state = z.enum(['UPLOADING', 'SCANNING', 'READY', 'REFUSED'])
const filename = text(1, 255)
const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
export const mediaVariants = ['ORIGINAL', 'SMALL', 'MEDIUM'] as const
export type MediaVariant = (typeof mediaVariants)[number]
const variant = z
  .enum(mediaVariants)
  .default('ORIGINAL')
  .describe('SMALL and MEDIUM are WebP of at most 256 and 1024 pixels an edge, of pictures whose `previews` name them')
const edge = z.int().nullable().describe('in pixels, as the picture is seen; null: no picture, or not known yet')

export const Media = z
  .object({
    id: uuid,
    filename: z.string().describe('as it was sent: a text, never a path'),
    kind,
    content_type: z.string().nullable().describe('what the bytes are, whatever the name says; null: not known yet'),
    size_bytes: int64,
    received_bytes: int64.describe('the rest begins here'),
    sha256: sha256.nullable().describe('in hex; null until the file was examined'),
    width: edge,
    height: edge,
    previews: z.array(z.enum(['SMALL', 'MEDIUM'])).describe('the variants besides ORIGINAL'),
    state,
    created_by: uuid,
    created_at: moment,
    version,
  })
  .meta({ id: 'Media' })
export type Media = z.output<typeof Media>

const MediaCreate = z
  .strictObject({
    filename,
    size_bytes: z.int().min(1).describe('exactly; so much of the quota `media_bytes` is taken'),
    sha256: sha256.nullish().describe('in hex; the file is refused if its bytes have another one'),
  })
  .meta({ id: 'MediaCreate' })

const disposition = z
  .enum(['INLINE', 'ATTACHMENT'])
  .default('INLINE')
  .describe('INLINE holds for images, audio, video and plain text; everything else is a download')

const MediaLinkRequest = z
  .strictObject({ media_ids: z.array(uuid).min(1).max(100), variant, disposition })
  .meta({ id: 'MediaLinkRequest' })
const MediaLinks = z
  .object({
    links: z.array(
      z.object({ media_id: uuid, url: z.string().describe('without the host; it needs no token'), expires_at: moment }),
    ),
  })
  .meta({ id: 'MediaLinks' })

const params = z.strictObject({ mediaId: uuid })
const reading = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
const uploading = { caller: 'workspace', scope: 'workspace:write', role: 'COMMENTER', within: 'container' } as const

export const mediaOperations = defineOperations('media', {
  createMedia: {
    method: 'POST',
    path: '/media',
    summary: 'Begin the upload of a file',
    spec,
    body: MediaCreate,
    success: { status: 201, answer: Media, location: (made: Media) => `/media/${made.id}` },
    needs: uploading,
    idempotent: true,
    refuses: ['media.too_large', 'quota.exceeded'],
    recovery,
    assumed: ['a file has one byte or more', 'a medium lies in no container: a COMMENTER anywhere may upload'],
  },
  uploadMedia: {
    method: 'PUT',
    path: '/media/{mediaId}/content',
    summary: 'Send the bytes of a file, whole or from where the last call ended',
    spec,
    params,
    takes: 'bytes',
    success: { status: 200, answer: Media },
    needs: uploading,
    refuses: ['media.offset', 'media.busy', 'media.size_mismatch', 'media.store_failed'],
    recovery,
    assumed: [
      'the uploader alone; another account gets 404',
      'a call without `Content-Range` sends the whole file',
      'what has come is kept in whole parts of 8 MiB when a call is cut off',
      'a call that brings less than 256 KiB in 30 s is closed',
    ],
  },
  getMedia: {
    method: 'GET',
    path: '/media/{mediaId}',
    summary: 'One file',
    spec,
    params,
    success: { status: 200, answer: Media },
    needs: reading,
    recovery,
    assumed: [
      'seen by its uploader and by whoever sees an item that carries it',
      'pictures are PNG, JPEG, WebP and GIF of at most 50 megapixels and 64 MiB',
      'previews of a file of before an upgrade or a restore come within the hour, with a new version and no event',
    ],
  },
  getMediaContent: {
    method: 'GET',
    path: '/media/{mediaId}/content',
    summary: 'The bytes of a file',
    spec,
    params,
    query: z.strictObject({
      variant,
      disposition,
      ticket: z
        .string()
        .max(longestCursor)
        .optional()
        .describe('of `POST /media:link`, for a call without a token; beside a token it means nothing'),
    }),
    success: { status: 200, bytes: true },
    needs: { ...reading, ticket: true },
    refuses: ['media.not_ready', 'media.range', 'media.store_failed'],
    recovery,
    assumed: [
      'the ETag is the SHA-256 in hex; behind that of a preview stands its variant',
      'a variant that the file does not have answers 404',
      'a request of several ranges gets the whole file',
      'a ticket that has ended, is of another file or of a token that has ended answers 404, as does one without sight any more',
    ],
  },
  linkMedia: {
    method: 'POST',
    path: '/media:link',
    summary: 'Links to files for what sends no token, such as an image in a page',
    spec,
    body: MediaLinkRequest,
    reads: true,
    success: { status: 200, answer: MediaLinks },
    needs: reading,
    recovery,
    assumed: [
      'files that the caller does not see, or that do not have the variant, are left out',
      'a link ends with the token that it was made with',
      'sight is asked for at each use',
    ],
  },
  listMedia: {
    method: 'GET',
    path: '/media',
    summary: "The caller's own files; an ADMIN's list is of the whole workspace",
    spec,
    query: z.strictObject({
      kind: kind.optional(),
      state: state.optional(),
      is_attached: z.enum(['true', 'false']).optional(),
      sort: z.enum(['CREATED', 'SIZE']).default('CREATED').describe('the newest, or the largest first'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Media) },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
  },
  deleteMedia: {
    method: 'DELETE',
    path: '/media/{mediaId}',
    summary: 'Delete a file, and detach it everywhere',
    spec,
    params,
    success: { status: 204 },
    needs: uploading,
    refuses: ['media.in_use'],
    recovery,
    assumed: [
      'its uploader while nothing carries it, an ADMIN always',
      'who sees a file without being one of them gets 403',
    ],
  },
})
