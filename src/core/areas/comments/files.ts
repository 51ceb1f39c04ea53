/**
 * Files of comments: attachments of the item that note the comment which brought them.
 *
 *    a comment with a file ──▶ on the item already: it stays as it is
 *                          └──▶ else attached, brought by this comment
 *    without it, or deleted ──▶ another comment has it: brought by that one
 *                           └──▶ else taken off the item
 *
 * Locks are taken in this order: item, files. Spec: items 4, O2 to O4; docs/decisions/0360.
 */
import type { Comment } from '../../contract/comments/operations.ts'
import { mostAttachments } from '../../contract/media/attachments.ts'
import type { Media } from '../../contract/media/operations.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { rankOf } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { loosenFiles } from '../items/trash/files.ts'
import { isSeenMedia } from '../media/media-row.ts'
import type { Thread } from './comment.ts'

interface FoundFile extends Pick<Media, 'id' | 'state' | 'created_by'> {
  /** Items that carry it. */
  readonly carriers: number
  /** Whether the item does. */
  readonly is_here: boolean
}

/** The files that a comment is to have, locked, and how many its item carries. */
export interface Files {
  readonly wanted: readonly string[]
  readonly found: ReadonlyMap<string, FoundFile>
  readonly ofItem: number
}

/** Behind the lock of the item. Refuses request.invalid at /media_ids. Without ids it asks nothing. */
export async function findFiles(ctx: Ctx, itemId: string, wanted: readonly string[]): Promise<Files> {
  if (new Set(wanted).size < wanted.length) refuseMember('/media_ids', 'list.unique')
  if (wanted.length === 0) return { wanted, found: new Map(), ofItem: 0 }
  const { tx } = ctx
  const { tenantId } = ctx.account
  const ids = tx.list(wanted)
  // The second one is asked behind the locks.
  const [, found, [count]] = await together(
    tx`select 1 from media where tenant_id = ${tenantId} and id in ${ids} order by id for no key update`,
    tx<FoundFile[]>`
      select m.id, m.state, m.created_by,
             (select count(*)::int from media_reference r where r.tenant_id = ${tenantId} and r.media_id = m.id) as carriers,
             exists (select from media_reference r
                     where r.tenant_id = ${tenantId} and r.media_id = m.id and r.item_id = ${itemId}) as is_here
      from media m where m.tenant_id = ${tenantId} and m.id in ${ids} and ${isSeenMedia(ctx)}`,
    tx<{ of_item: number }[]>`
      select count(*)::int as of_item from media_reference where tenant_id = ${tenantId} and item_id = ${itemId}`,
  )
  return { wanted, found: new Map(found.map((one) => [one.id, one])), ofItem: count?.of_item ?? 0 }
}

/** Refuses request.invalid at a file that is not seen, media.not_ready, auth.role_required, structure.full. `at`: where they begin. */
export function refuseFiles(
  ctx: Ctx,
  { container }: Thread,
  { wanted, found, ofItem }: Files,
  at: readonly string[],
): void {
  let more = 0
  for (const id of wanted) {
    const file = found.get(id) ?? refuseMember(`/media_ids/${at.indexOf(id)}`, 'reference.unknown')
    if (file.is_here) continue
    if (file.state === 'REFUSED') refuse('media.not_ready', { state: file.state })
    const isOwn = file.created_by === ctx.account.accountId
    if (!isOwn && rankOf[container.role] < rankOf.MEMBER) refuse('auth.role_required', { role: 'MEMBER' })
    more += 1
    if (ofItem + more > mostAttachments || file.carriers >= mostAttachments)
      refuse('structure.full', { limit: mostAttachments })
  }
}

/** Attaches those that the item does not carry yet. */
export async function bringFiles(
  ctx: Ctx,
  { itemId, container }: Thread,
  commentId: string,
  { wanted, found }: Files,
  now: string,
): Promise<void> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const brought = wanted.filter((id) => found.get(id)?.is_here === false)
  if (brought.length === 0) return
  const rows = brought.map((media_id) => ({
    ...{ tenant_id: tenantId, item_id: itemId, media_id, comment_id: commentId, added_by: accountId },
  }))
  void tx`insert into media_reference ${tx.rows(rows, 'tenant_id', 'item_id', 'media_id', 'comment_id', 'added_by')}`
  void tx`update media set loose_since = null where tenant_id = ${tenantId} and id in ${tx.list(brought)}`
  for (const media_id of brought)
    await ctx.record('work.item.attachment_added', {
      ...{ item_id: itemId, container_id: container.id, media_id, added_by: accountId, added_at: now },
    })
}

interface Reference {
  readonly media_id: string
  readonly added_by: string
  readonly added_at: string
  /** The oldest other comment of the item that has it. */
  readonly heir: string | null
}

/** Takes off the item what this comment brought and no other one has. */
export async function dropFiles(
  ctx: Ctx,
  { itemId, container }: Thread,
  { id: commentId }: Pick<Comment, 'id'>,
  dropped: readonly string[],
): Promise<void> {
  if (dropped.length === 0) return
  const { tx } = ctx
  const { tenantId } = ctx.account
  const ids = tx.list(dropped)
  const [, references] = await together(
    tx`select 1 from media where tenant_id = ${tenantId} and id in ${ids} order by id for no key update`,
    tx<Reference[]>`
      select r.media_id, r.added_by, r.added_at, (
        select k.id from comment k
        where k.tenant_id = ${tenantId} and k.item_id = ${itemId} and k.id <> ${commentId} and k.deleted_at is null
          and k.media_ids ? r.media_id::text order by k.id limit 1) as heir
      from media_reference r
      where r.tenant_id = ${tenantId} and r.item_id = ${itemId} and r.media_id in ${ids} and r.comment_id = ${commentId}
      order by r.media_id`,
  )
  const gone = references.filter(({ heir }) => heir === null)
  for (const { media_id, heir } of references)
    if (heir !== null)
      void tx`
        update media_reference set comment_id = ${heir}
        where tenant_id = ${tenantId} and item_id = ${itemId} and media_id = ${media_id}`
  if (gone.length === 0) return
  const taken = gone.map(({ media_id }) => media_id)
  void tx`
    delete from media_reference where tenant_id = ${tenantId} and item_id = ${itemId} and media_id in ${tx.list(taken)}`
  loosenFiles(tx, tenantId, taken)
  for (const { heir: _, ...told } of gone)
    await ctx.record('work.item.attachment_removed', { item_id: itemId, container_id: container.id, ...told })
}
