/** Makes links to files, for what sends no token, such as an image in a page. Spec: items 4, O10; docs/decisions/0351. */
import type { mediaOperations as ops } from '../../contract/media/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { ticketParams, writeTicket } from '../../kernel/request/ticket.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { timeNow } from '../../kernel/values/time.ts'
import { isSeenMedia } from './media-row.ts'

/** In the order of the request, without those that the caller does not see or that do not have the variant. */
export async function linkMedia(
  ctx: Ctx,
  { body }: Received<typeof ops.linkMedia>,
): Promise<Answer<typeof ops.linkMedia>> {
  const { tx, account, keyring, config } = ctx
  const { tenantId, credentialId, epoch = '', expiresAt: tokenEnds } = account
  const { variant, disposition } = body
  // A picture has both previews or none.
  const hasVariant = variant === 'ORIGINAL' ? tx.part`true` : tx.part`m.small_bytes is not null`
  const rows = await tx.last<{ id: string }[]>`
    select m.id from media m
    where m.tenant_id = ${tenantId} and m.id in ${tx.list(body.media_ids)} and ${hasVariant} and ${isSeenMedia(ctx)}`
  const ends = timeNow() + config.media.linkSeconds * 1000
  const expiresAt = new Date(tokenEnds ? Math.min(ends, Date.parse(tokenEnds)) : ends).toISOString()
  const seen = new Set(rows.map(({ id }) => id))
  const links = [...new Set(body.media_ids)].flatMap((mediaId) => {
    if (!seen.has(mediaId)) return []
    const bound = { operation: 'getMediaContent', params: ticketParams({ mediaId }, variant) }
    const ticket = writeTicket(keyring, bound, { tenantId, credentialId, epoch, expiresAt })
    const query = new URLSearchParams({ variant, disposition, ticket })
    return [{ media_id: mediaId, url: `/api/v1/media/${mediaId}/content?${query}`, expires_at: expiresAt }]
  })
  return { links }
}
