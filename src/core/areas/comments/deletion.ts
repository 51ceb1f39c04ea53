/** Deletes a comment. Spec: items 4, O4; docs/decisions/0225. */
import type { commentOperations as ops } from '../../contract/comments/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { rankOf } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { isCommentHeld } from '../items/trash/holds.ts'
import { lockComment, recordComment, refuseArchived } from './comment.ts'
import { dropFiles } from './files.ts'
import { purgeTexts } from './purge.ts'

/** Answers alike with a hold and without. Refuses not_found, auth.role_required, container.archived, comment.not_author, precondition.failed, item.archived. */
export async function deleteComment(ctx: Ctx, { commentId }: Received<typeof ops.deleteComment>): Promise<void> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const [{ comment, thread }, isHeld] = await together(lockComment(ctx, commentId), isHeldNow(ctx, commentId))
  const isOwn = comment.created_by === accountId
  if (!isOwn && rankOf[thread.container.role] < rankOf.ADMIN) refuse('comment.not_author')
  ctx.unchanged(comment.version)
  refuseArchived(thread)

  void tx`
    update comment set deleted_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${commentId}`
  await dropFiles(ctx, thread, comment, comment.media_ids)
  if (!isHeld) purgeTexts(ctx, tenantId, [comment])

  const after = {
    ...comment,
    body: '',
    mention_ids: [],
    media_ids: [],
    reactions: [],
    is_deleted: true,
    version: comment.version + 1,
  }
  await recordComment(ctx, 'work.comment.deleted', after, thread)
}

async function isHeldNow({ tx, account: { tenantId } }: Ctx, commentId: string): Promise<boolean> {
  const [row] = await tx<{ is_held: boolean }[]>`
    select ${isCommentHeld(tx, tenantId)} as is_held from comment k where k.tenant_id = ${tenantId} and k.id = ${commentId}`
  return row?.is_held === true
}
