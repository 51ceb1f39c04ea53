/** Begins uploads. Spec: items 4, O6. */
import type { Media, mediaOperations as ops } from '../../contract/media/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { newId } from '../../kernel/values/id.ts'
import { reserveBytes } from './byte-count.ts'
import { columnsOf } from './media-row.ts'

/** Refuses media.too_large, quota.exceeded. */
export async function createMedia(ctx: Ctx, { body }: Received<typeof ops.createMedia>): Promise<Media> {
  const { tx, config } = ctx
  const { tenantId, accountId } = ctx.account
  const { maxBytes } = config.media
  if (body.size_bytes > maxBytes) refuse('media.too_large', { limit_bytes: maxBytes })

  const [media] = await tx<[Media]>`
    insert into media as m (tenant_id, id, filename, size_bytes, announced_sha256, created_by)
    values (${tenantId}, ${newId()}, ${body.filename}, ${body.size_bytes}, ${body.sha256 ?? null}, ${accountId})
    returning ${columnsOf(ctx)}`

  await ctx.audit('media.created', {
    subject: { kind: 'media', id: media.id },
    params: { size_bytes: body.size_bytes },
  })
  reserveBytes(ctx, body.size_bytes)
  return media
}
