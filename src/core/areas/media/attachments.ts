/**
 * The files that items carry.
 *
 * Locks are taken in this order: item, medium. The medium's lock makes it certain who was the last to detach it: from then
 * on nothing carries it. Spec: items 1, N22 to N24; docs/decisions/0238.
 */
import type { z } from 'zod'
import {
  type Attachment,
  type AttachmentTold,
  mostAttachments,
  type attachmentOperations as ops,
} from '../../contract/media/attachments.ts'
import type { Media } from '../../contract/media/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Role } from '../../contract/vocabulary.ts'
import { insertSearchPending, searchPending } from '../../kernel/outbox/search-pending.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { fromSeen, lockItem } from '../items/item.ts'
import { columnsOf, isSeenMedia } from './media-row.ts'

type Told = z.output<typeof AttachmentTold>
type AttachedRow = Media & Omit<Attachment, 'media'>

const attachedOf = ({ name, alt, comment_id, added_by, added_at, ...media }: AttachedRow): Attachment => ({
  media,
  ...{ name, alt, comment_id, added_by, added_at },
})

/** Refuses not_found. */
export async function listItemAttachments(
  ctx: Ctx,
  { itemId }: Received<typeof ops.listItemAttachments>,
): Promise<Answer<typeof ops.listItemAttachments>> {
  const { tx, account } = ctx
  const seen = tx`select 1 ${fromSeen(ctx, itemId)}`
  const rows = await tx.last<AttachedRow[]>`
    select ${columnsOf(ctx)}, r.name, r.alt, r.comment_id, r.added_by, r.added_at
    from media_reference r join media m on m.tenant_id = r.tenant_id and m.id = r.media_id
    where r.tenant_id = ${account.tenantId} and r.item_id = ${itemId} order by r.added_at, r.media_id limit ${mostAttachments}`
  if ((await seen).length === 0) refuse('not_found')
  return { data: rows.map(attachedOf) }
}

/**
 * Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived, media.not_ready,
 * structure.full.
 */
export async function attachItemMedia(
  ctx: Ctx,
  { itemId, mediaId, body }: Received<typeof ops.attachItemMedia>,
): Promise<Attachment> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const { item, media, before, now } = await lockBoth(ctx, itemId, mediaId)
  if (before && isSame(before, body)) return attachedOf({ ...media, ...before })
  if (!before) {
    if (media.state === 'REFUSED') refuse('media.not_ready', { state: media.state })
    if (media.of_item >= mostAttachments || media.of_media >= mostAttachments)
      refuse('structure.full', { limit: mostAttachments })
  }

  const after = {
    name: body.name === undefined ? (before?.name ?? null) : body.name,
    alt: body.alt === undefined ? (before?.alt ?? null) : body.alt,
    comment_id: before?.comment_id ?? null,
    added_by: before?.added_by ?? accountId,
    added_at: before?.added_at ?? now,
  }
  void tx`
    insert into media_reference as r (tenant_id, item_id, media_id, name, alt, added_by)
    values (${tenantId}, ${itemId}, ${mediaId}, ${after.name}, ${after.alt}, ${accountId})
    on conflict (tenant_id, item_id, media_id) do update set name = excluded.name, alt = excluded.alt`
  if (!before) void tx`update media set loose_since = null where tenant_id = ${tenantId} and id = ${mediaId}`

  if (!before) await ctx.record('work.item.attachment_added', toldOf(item, mediaId, after))
  else {
    void tx`${insertSearchPending(tx, [searchPending(tenantId, 'MEDIA', [itemId, mediaId])])}`
    await ctx.audit('item.attachment_renamed', {
      subject: { kind: 'attachment', id: mediaId },
      params: { item_id: itemId },
    })
  }
  return attachedOf({ ...media, ...after })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
export async function detachItemMedia(
  ctx: Ctx,
  { itemId, mediaId }: Received<typeof ops.detachItemMedia>,
): Promise<void> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const { item, media, before } = await lockBoth(ctx, itemId, mediaId)
  if (!before) return

  void tx`
    delete from media_reference where tenant_id = ${tenantId} and item_id = ${itemId} and media_id = ${mediaId}`
  if (media.of_media === 1)
    void tx`update media set loose_since = now() where tenant_id = ${tenantId} and id = ${mediaId}`

  await ctx.record('work.item.attachment_removed', toldOf(item, mediaId, before))
}

interface Before {
  readonly name: string | null
  readonly alt: string | null
  readonly comment_id: string | null
  readonly added_by: string
  readonly added_at: string
}

interface LockedMedia extends Media {
  readonly of_item: number
  readonly of_media: number
}

/** COMMENTER for what is the caller's own, MEMBER for others. Refuses not_found, auth.role_required, … of an item. */
async function lockBoth(ctx: Ctx, itemId: string, mediaId: string) {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const [seen] = await tx<{ created_by: string; added_by: string | null }[]>`
    select m.created_by, r.added_by from media m
    left join media_reference r on r.tenant_id = m.tenant_id and r.media_id = m.id and r.item_id = ${itemId}
    where m.tenant_id = ${tenantId} and m.id = ${mediaId} and ${isSeenMedia(ctx)}`
  const role: Role = (seen?.added_by ?? seen?.created_by) === accountId ? 'COMMENTER' : 'MEMBER'
  const { item, now } = await lockItem(ctx, itemId, { role })
  if (!seen) refuse('not_found')
  void tx`select 1 from media where tenant_id = ${tenantId} and id = ${mediaId} for no key update`
  const read = tx<LockedMedia[]>`
    select ${columnsOf(ctx)},
           (select count(*)::int from media_reference r where r.tenant_id = ${tenantId} and r.item_id = ${itemId}) as of_item,
           (select count(*)::int from media_reference r where r.tenant_id = ${tenantId} and r.media_id = ${mediaId}) as of_media
    from media m where m.tenant_id = ${tenantId} and m.id = ${mediaId} and m.withheld_at is null`
  const carried = tx<Before[]>`
    select name, alt, comment_id, added_by, added_at from media_reference
    where tenant_id = ${tenantId} and item_id = ${itemId} and media_id = ${mediaId}`
  const [[media], [before]] = await Promise.all([read, carried])
  if (!media) refuse('not_found')
  return { item, media, before, now }
}

const isSame = (before: Before, { name, alt }: { name?: string | null | undefined; alt?: string | null | undefined }) =>
  (name === undefined || name === before.name) && (alt === undefined || alt === before.alt)

const toldOf = (
  { id, container_id }: { readonly id: string; readonly container_id: string },
  mediaId: string,
  { added_by, added_at }: Pick<Before, 'added_by' | 'added_at'>,
): Told => ({ item_id: id, container_id, media_id: mediaId, added_by, added_at })
