/**
 * The cover of an item: a picture that it carries, or a colour.
 *
 * The picture is kept by its id. It is shown as long as the item carries it (item.ts), so what detaches a file rewrites no item.
 * Spec: items 1, N18 and N19; docs/decisions/0361.
 */
import { isDeepStrictEqual } from 'node:util'
import type { itemCoverOperations as ops } from '../../contract/items/cover.ts'
import type { Item } from '../../contract/items/operations.ts'
import type { Media } from '../../contract/media/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { type LockedItem, lockItem, recorded } from './item.ts'

type Cover = Item['cover']

/**
 * Refuses request.invalid, not_found, auth.role_required, container.archived, precondition.failed, item.archived,
 * media.not_ready.
 */
export async function setItemCover(ctx: Ctx, { itemId, body }: Received<typeof ops.setItemCover>): Promise<Item> {
  const { media_id: mediaId, color_token } = body
  if (mediaId !== undefined && color_token !== undefined)
    refuseMember('/color_token', 'member.conflicts', { with: ['media_id'] })
  if (mediaId === undefined && color_token === undefined) refuseMember('/media_id', 'member.required')
  const [locked, file] = await together(lockItem(ctx, itemId), mediaId && findFile(ctx, itemId, mediaId))
  if (mediaId !== undefined) refuseFile(file || undefined)

  return write(ctx, locked, mediaId === undefined ? { color_token: color_token ?? '' } : { media_id: mediaId })
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, item.archived. */
export async function removeItemCover(ctx: Ctx, { itemId }: Received<typeof ops.removeItemCover>): Promise<void> {
  await write(ctx, await lockItem(ctx, itemId), null)
}

type File = Pick<Media, 'kind' | 'state'>

/** Behind the lock of the item, whose holder alone attaches and detaches. */
async function findFile(ctx: Ctx, itemId: string, mediaId: string): Promise<File | undefined> {
  const { tenantId } = ctx.account
  const [file] = await ctx.tx<File[]>`
    select m.kind, m.state from media_reference r join media m on m.tenant_id = r.tenant_id and m.id = r.media_id
    where r.tenant_id = ${tenantId} and r.item_id = ${itemId} and r.media_id = ${mediaId}`
  return file
}

/** What a file is, its bytes say: nobody knows before it is READY. */
function refuseFile(file: File | undefined): void {
  if (!file) refuseMember('/media_id', 'reference.unknown')
  if (file.state !== 'READY') refuse('media.not_ready', { state: file.state })
  if (file.kind !== 'IMAGE') refuseMember('/media_id', 'value.not_taken')
}

async function write(ctx: Ctx, locked: LockedItem, cover: Cover): Promise<Item> {
  const { item } = locked
  if (isDeepStrictEqual(item.cover, cover)) return item
  const { tx } = ctx

  void tx`
    update item set cover = ${cover === null ? null : tx.json(cover)}, updated_at = now(), version = version + 1
    where tenant_id = ${ctx.account.tenantId} and id = ${item.id}`

  return recorded(ctx, locked, { cover }, 'work.item.changed', { members: ['cover'] })
}
