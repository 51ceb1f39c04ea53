/** Reads the bytes of a file. Spec: items 4, O9. */
import type { mediaOperations as ops } from '../../contract/media/operations.ts'
import type { BytesAnswer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isSafeInline } from './file-kind.ts'
import { keyOf, visibleWithPreviews } from './media-row.ts'
import { isMissing, mediaStore } from './store.ts'

/** Refuses not_found, media.not_ready; the reading refuses media.store_failed. */
export async function getMediaContent(
  ctx: Ctx,
  { mediaId, variant, disposition }: Received<typeof ops.getMediaContent>,
): Promise<BytesAnswer> {
  const media = await visibleWithPreviews(ctx, mediaId)
  const { state, sha256, content_type: contentType } = media
  if (state !== 'READY' || sha256 === null || contentType === null) refuse('media.not_ready', { state })
  const store = mediaStore(ctx)
  const key = keyOf(ctx.account.tenantId, mediaId)
  const isAskedInline = disposition === 'INLINE'
  if (variant !== 'ORIGINAL') {
    const sizeBytes = variant === 'SMALL' ? media.small_bytes : media.medium_bytes
    if (sizeBytes === null) refuse('not_found')
    return {
      etag: `"${sha256}-${variant.toLowerCase()}"`,
      contentType: 'image/webp',
      sizeBytes,
      filename: `${media.filename}.webp`,
      isInline: isAskedInline,
      // One that the store has lost is one that the file does not have.
      open: (from, to) =>
        store.read({ ...key, variant }, { from, to }).catch((error: unknown) => {
          if (isMissing(error)) refuse('not_found')
          throw error
        }),
    }
  }
  return {
    etag: `"${sha256}"`,
    contentType: contentType.startsWith('text/') ? `${contentType}; charset=utf-8` : contentType,
    sizeBytes: Number(media.size_bytes),
    filename: media.filename,
    isInline: isAskedInline && isSafeInline(contentType),
    open: (from, to) => store.read(key, { from, to }),
  }
}
