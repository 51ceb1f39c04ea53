/** Writes comments, and changes their text. Spec: items 4, O2 and O3; docs/decisions/0225. */
import { isDeepStrictEqual } from 'node:util'
import { type Comment, mostComments, type commentOperations as ops } from '../../contract/comments/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { newId } from '../../kernel/values/id.ts'
import { containerOf, lockComment, lockThread, recordComment, refuseArchived } from './comment.ts'
import { bringFiles, dropFiles, findFiles, refuseFiles } from './files.ts'
import { insertMentions, mentionedIn, mentionedOf } from './mentions.ts'

/**
 * Refuses not_found, auth.role_required, container.archived, item.archived, structure.full, request.invalid,
 * mention.no_access, media.not_ready.
 */
export async function createComment(
  ctx: Ctx,
  { itemId, body: { body, reply_to_id, media_ids = [] } }: Received<typeof ops.createComment>,
): Promise<Comment> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const item = tx.part`${itemId}::uuid`
  const mentioned = mentionedIn(body)
  // The item's lock is the first statement, so that the others see what was written while it was waited for.
  const [thread, count, , { accountIds, groupIds }, files, now] = await together(
    lockThread(ctx, item, 'comment_role'),
    countOf(ctx, itemId),
    reply_to_id ? refuseAsReplied(ctx, itemId, reply_to_id) : undefined,
    mentionedOf(ctx, containerOf(ctx, item), mentioned),
    findFiles(ctx, itemId, media_ids),
    ctx.now(),
  )
  refuseArchived(thread)
  if (count >= mostComments) refuse('structure.full', { limit: mostComments })
  refuseFiles(ctx, thread, files, media_ids)
  const comment: Comment = {
    id: newId(),
    item_id: itemId,
    reply_to_id: reply_to_id ?? null,
    body,
    mention_ids: [...mentioned],
    media_ids: [...media_ids],
    reactions: [],
    created_by: accountId,
    created_at: now,
    edited_at: null,
    is_deleted: false,
    version: 1,
  }

  void tx`
    insert into comment (tenant_id, id, item_id, reply_to_id, body, media_ids, mentioned_group_ids, created_by)
    values (${tenantId}, ${comment.id}, ${itemId}, ${comment.reply_to_id}, ${body}, ${tx.json(media_ids)}, ${tx.json(groupIds)},
            ${accountId})`
  insertMentions(ctx, comment.id, accountIds)
  await bringFiles(ctx, thread, comment.id, files, now)

  await recordComment(ctx, 'work.comment.created', comment, thread)
  return comment
}

/**
 * Refuses not_found, auth.role_required, container.archived, comment.not_author, precondition.failed, item.archived,
 * request.invalid, mention.no_access, media.not_ready, structure.full.
 */
export async function updateComment(
  ctx: Ctx,
  { commentId, body: { body: sent, media_ids } }: Received<typeof ops.updateComment>,
): Promise<Comment> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const { comment, thread, now } = await lockComment(ctx, commentId)
  if (comment.created_by !== accountId) refuse('comment.not_author')
  ctx.unchanged(comment.version)
  refuseArchived(thread)
  const body = sent ?? comment.body
  const wanted = media_ids ?? comment.media_ids
  if (body === comment.body && isDeepStrictEqual(wanted, comment.media_ids)) return comment
  const mentioned = mentionedIn(body)
  const added = without(mentioned, comment.mention_ids)
  const dropped = without(comment.mention_ids, mentioned)
  if (new Set(wanted).size < wanted.length) refuseMember('/media_ids', 'list.unique')
  const [{ accountIds, groupIds }, files] = await together(
    mentionedOf(ctx, tx.part`${thread.container.id}::uuid`, added),
    findFiles(ctx, thread.itemId, without(wanted, comment.media_ids)),
  )
  refuseFiles(ctx, thread, files, wanted)

  void tx`
    update comment set body = ${body}, media_ids = ${tx.json(wanted)}, edited_at = now(), version = version + 1,
           mentioned_group_ids = ${tx.json(groupIds)} || coalesce((
             select jsonb_agg(g) from jsonb_array_elements_text(mentioned_group_ids) g where g in ${tx.list(mentioned)}), '[]')
    where tenant_id = ${tenantId} and id = ${commentId}`
  insertMentions(ctx, commentId, accountIds)
  if (dropped.length > 0)
    void tx`
      delete from comment_mention
      where tenant_id = ${tenantId} and comment_id = ${commentId} and account_id in ${tx.list(dropped)}`
  await bringFiles(ctx, thread, commentId, files, now)
  await dropFiles(ctx, thread, comment, without(comment.media_ids, wanted))

  const after = {
    ...{ ...comment, body, mention_ids: [...mentioned], media_ids: [...wanted] },
    ...{ edited_at: now, version: comment.version + 1 },
  }
  await recordComment(ctx, 'work.comment.changed', after, thread, added.length > 0 ? { mentioned_ids: added } : {})
  return after
}

const without = (ids: readonly string[], others: readonly string[]) => ids.filter((id) => !others.includes(id))

/** Comments of the item that are not deleted. */
async function countOf({ tx, account: { tenantId } }: Ctx, itemId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from comment where tenant_id = ${tenantId} and item_id = ${itemId} and deleted_at is null`
  return row?.count ?? 0
}

/** Only a comment of the item that is there and replies to none can be replied to. Refuses request.invalid at /reply_to_id. */
async function refuseAsReplied({ tx, account: { tenantId } }: Ctx, itemId: string, commentId: string): Promise<void> {
  const [found] = await tx<{ reply_to_id: string | null }[]>`
    select reply_to_id from comment
    where tenant_id = ${tenantId} and id = ${commentId} and item_id = ${itemId} and deleted_at is null`
  if (!found) refuseMember('/reply_to_id', 'reference.unknown')
  if (found.reply_to_id !== null) refuseMember('/reply_to_id', 'comment.is_reply')
}
