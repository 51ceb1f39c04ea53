/** Sets the caller's reactions to a comment. Spec: items 4, O5. */
import {
  type Comment,
  mostReactions,
  type commentOperations as ops,
  type Reaction,
} from '../../contract/comments/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lockComment, recordComment, refuseArchived } from './comment.ts'

type Reactions = Comment['reactions']

/** Refuses request.invalid, not_found, auth.role_required, container.archived, item.archived, structure.full. */
export async function setCommentReactions(
  ctx: Ctx,
  { commentId, body }: Received<typeof ops.setCommentReactions>,
): Promise<Comment> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const wanted = new Set(body.reactions)
  if (wanted.size < body.reactions.length) refuseMember('/reactions', 'list.unique')
  const { comment, thread } = await lockComment(ctx, commentId)
  refuseArchived(thread)
  const own = new Set(
    comment.reactions.flatMap(({ reaction, account_ids }) => (account_ids.includes(accountId) ? [reaction] : [])),
  )
  const added = [...wanted].filter((reaction) => !own.has(reaction))
  const taken = [...own].filter((reaction) => !wanted.has(reaction))
  if (added.length + taken.length === 0) return comment
  const others = withOut(comment.reactions, accountId)
  const after = { ...comment, reactions: joined([...others, ...[...wanted].map((one) => of(one, accountId))]) }
  const count = after.reactions.reduce((sum, { account_ids }) => sum + account_ids.length, 0)
  if (added.length > 0 && count > mostReactions) refuse('structure.full', { limit: mostReactions })

  if (taken.length > 0)
    void tx`
      delete from comment_reaction
      where tenant_id = ${tenantId} and comment_id = ${commentId} and account_id = ${accountId} and reaction in ${tx.list(taken)}`
  const rows = added.map((reaction) => ({
    tenant_id: tenantId,
    comment_id: commentId,
    account_id: accountId,
    reaction,
  }))
  if (rows.length > 0)
    void tx`insert into comment_reaction ${tx.rows(rows, 'tenant_id', 'comment_id', 'account_id', 'reaction')}`

  await recordComment(ctx, 'work.comment.reacted', after, thread)
  return after
}

const of = (reaction: Reaction, accountId: string): Reactions[number] => ({ reaction, account_ids: [accountId] })

const withOut = (reactions: Reactions, accountId: string): Reactions =>
  reactions.map(({ reaction, account_ids }) => ({
    reaction,
    account_ids: account_ids.filter((id) => id !== accountId),
  }))

/** In the order in which they are read: by name, and the accounts by id; without those that nobody gives any more. */
const joined = (reactions: Reactions): Reactions =>
  [...Map.groupBy(reactions, ({ reaction }) => reaction)]
    .map(([reaction, some]) => ({ reaction, account_ids: some.flatMap(({ account_ids }) => account_ids).sort() }))
    .filter(({ account_ids }) => account_ids.length > 0)
    .sort((a, b) => (a.reaction < b.reaction ? -1 : 1))
