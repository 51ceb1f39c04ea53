/**
 * Deletes files: the row now, the bytes later.
 *
 *    DELETE or sweep ──commit──▶ no row, no reference, quota given back ──SVC_MEDIA_KEEP_DAYS──▶ no bytes
 *
 * The row `media_removal` outlives the file's own, so bytes without a row are known to the sweep at any time. Bytes of an
 * upload that was not ended stay for longer than a call that still writes them can. Spec: items 4, Store;
 * docs/decisions/0236.
 */

import type { Media, mediaOperations as ops } from '../../contract/media/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import { holdOpen } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { releaseBytes } from './byte-count.ts'
import { detachEverywhere, referencesTo } from './carriers.ts'
import { columnsOf, isSeenMedia, keepsAll } from './media-row.ts'
import { type FileKey, mediaStore } from './store.ts'

/** Longer than a call that lost its claim may write (upload.ts). */
const unendedSeconds = 3_600
const daySeconds = 86_400

interface DeletableRow extends Media {
  readonly is_seen: boolean
}

/** Refuses not_found, auth.role_required, media.in_use. */
export async function deleteMedia(ctx: Ctx, { mediaId }: Received<typeof ops.deleteMedia>): Promise<void> {
  const { tenantId, accountId } = ctx.account
  const [row] = await ctx.tx<DeletableRow[]>`
    select ${columnsOf(ctx)}, ${isSeenMedia(ctx)} as is_seen from media m
    where m.tenant_id = ${tenantId} and m.id = ${mediaId} and m.withheld_at is null for update`
  if (!row) refuse('not_found')
  const isAdmin = keepsAll(ctx)
  if (!isAdmin && row.created_by !== accountId) {
    if (!row.is_seen) refuse('not_found')
    refuse('auth.role_required', { role: 'ADMIN' })
  }
  const references = await referencesTo(ctx, tenantId, mediaId)
  if (!isAdmin && references.length > 0) refuse('media.in_use', { count: references.length })

  await detachEverywhere(ctx, tenantId, mediaId, references)
  await removeMedia(ctx, tenantId, row)
}

/**
 * Takes a file that is locked out of every answer, as if it were removed: purged items carry it, which a hold keeps. Once these
 * are removed it is loose again, and its row and its bytes go.
 */
export async function withholdMedia(ctx: Ctx, tenantId: string, row: Media): Promise<void> {
  void ctx.tx`update media set withheld_at = now(), loose_since = null where tenant_id = ${tenantId} and id = ${row.id}`
  await ctx.record('work.media.removed', row, { state: row.state })
  if (row.state !== 'REFUSED') releaseBytes(ctx, tenantId, row.size_bytes)
}

/** Removes a file that is locked and that nothing carries. One that was withheld is told and counted no more. */
export async function removeMedia(ctx: Ctx, tenantId: string, row: Media, isWithheld = false): Promise<void> {
  void ctx.tx`delete from media where tenant_id = ${tenantId} and id = ${row.id}`
  const isEnded = row.state !== 'UPLOADING'
  // A refused file has given its bytes and their quota back.
  if (row.state !== 'REFUSED')
    removeLater(ctx, tenantId, row.id, isEnded ? ctx.config.media.keepDays * daySeconds : unendedSeconds)
  if (isWithheld) return
  await ctx.record('work.media.removed', row, { state: row.state })
  if (row.state !== 'REFUSED') releaseBytes(ctx, tenantId, row.size_bytes)
}

/** Notes that the store's file goes after so many seconds. */
export function removeLater({ tx }: Ctx, tenantId: string, mediaId: string, seconds: number): void {
  void tx`
    insert into media_removal (tenant_id, media_id, due_at) values (${tenantId}, ${mediaId}, now() + make_interval(secs => ${seconds}))`
}

/**
 * Removes bytes whose row is gone or refused, and the note of them, unless a legal hold is in force. No hold is placed before
 * the commit.
 */
export async function removeBytesOf(ctx: Ctx, key: FileKey): Promise<void> {
  const { tx } = ctx
  const { tenantId, mediaId } = key
  void holdOpen(tx, tenantId)
  const { count } = await tx`
    delete from media_removal where tenant_id = ${tenantId} and media_id = ${mediaId} and ${isFree(tx, tenantId)}`
  if (count === 0) return
  await mediaStore(ctx).remove(key)
  failpoint('media.bytes_removed')
}

/** Whether no legal hold is in force. Which one covers a file whose row is gone, nothing says: any of them keeps its bytes. */
export const isFree = (tx: Tx, tenantId: string): Part => tx.part`
  not exists (select from legal_hold where tenant_id = ${tenantId} and released_at is null)`
