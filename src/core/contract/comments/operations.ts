/** Comments on items, and reactions to them. Spec: items 4, O1 to O5; docs/decisions/0225. */
import { z } from 'zod'
import { recovery } from '../items/operations.ts'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, text, uuid, version } from '../vocabulary.ts'

const spec = 'items 4, O1 to O5'

/** Comments of an item, those that reply to others included. */
export const mostComments = 5_000
/** Accounts and groups that one comment mentions. */
export const mostMentions = 20
/** Files that one comment has. */
export const mostFiles = 10
/** Reactions to one comment, of all accounts together. */
export const mostReactions = 1_000

const reaction = z.enum(['THUMBS_UP', 'THUMBS_DOWN', 'LAUGH', 'HOORAY', 'CONFUSED', 'HEART', 'ROCKET', 'EYES'])
export type Reaction = z.output<typeof reaction>

export const Comment = z
  .object({
    id: uuid,
    item_id: uuid,
    reply_to_id: uuid.nullable().describe('the comment that it replies to; null: none'),
    body: z.string().describe('source text, as it was sent; empty for one that is deleted'),
    mention_ids: z.array(uuid).describe('accounts and groups that the text mentions as `<@id>`'),
    media_ids: z.array(uuid).describe('the files that it has, in its order; one that was taken off the item is 404'),
    reactions: z.array(z.object({ reaction, account_ids: z.array(uuid) })).describe('those that somebody gave'),
    created_by: uuid,
    created_at: moment,
    edited_at: moment.nullable().describe('when the text or the files were last changed'),
    is_deleted: z.boolean().describe('deleted, and listed because others reply to it'),
    version,
  })
  .meta({ id: 'Comment' })
export type Comment = z.output<typeof Comment>

const body = text(1, 20_000).describe(`source text; \`<@id>\` mentions an account or a group, at most ${mostMentions}`)

const mediaIds = z
  .array(uuid)
  .max(mostFiles)
  .optional()
  .describe('files that the caller sees, each once; those that the item does not carry are attached to it')

const CommentCreate = z
  .strictObject({
    body,
    reply_to_id: uuid.nullish().describe('a comment of the same item that replies to none itself'),
    media_ids: mediaIds,
  })
  .meta({ id: 'CommentCreate' })

const CommentUpdate = z.strictObject({ body: body.optional(), media_ids: mediaIds }).meta({ id: 'CommentUpdate' })

const ReactionsSet = z
  .strictObject({ reactions: z.array(reaction).max(8).describe("all of the caller's own; empty: none") })
  .meta({ id: 'ReactionsSet' })

const ofItem = z.strictObject({ itemId: uuid })
const ofComment = z.strictObject({ commentId: uuid })
const reading = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
const writing = { caller: 'workspace', scope: 'workspace:write', role: 'COMMENTER', within: 'container' } as const
const one = { status: 200, answer: Comment } as const
const readOnly = ['container.archived', 'item.archived'] as const
const bringing = ['mention.no_access', 'media.not_ready', 'structure.full'] as const

export const commentOperations = defineOperations('comments', {
  listComments: {
    method: 'GET',
    path: '/items/{itemId}/comments',
    summary: 'The comments on an item, by the moment when they were written',
    spec,
    params: ofItem,
    query: z.strictObject({
      order: z.enum(['ASC', 'DESC']).default('ASC').describe('ASC: the oldest first'),
      id: uuid.optional().describe('this comment alone'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Comment) },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: [
      'one list: a client puts each reply below the comment that `reply_to_id` names',
      'a deleted comment is listed, without text, mentions and reactions, as long as a reply to it is there',
    ],
  },
  createComment: {
    method: 'POST',
    path: '/items/{itemId}/comments',
    summary: 'Comment on an item, or reply to a comment',
    spec,
    params: ofItem,
    body: CommentCreate,
    success: {
      status: 201,
      answer: Comment,
      location: (made: Comment) => `/items/${made.item_id}/comments?id=${made.id}`,
    },
    needs: writing,
    idempotent: true,
    refuses: [...readOnly, ...bringing],
    recovery,
    assumed: [
      `${mostComments} comments on an item; deleted ones do not count`,
      'a mentioned account is ACTIVE or INVITED and sees the item; of mentioned groups at most 80 accounts are told, those that see it then',
      'the container may ask for a higher role (`comment_role` of its policies)',
      'its files are attachments of the item, which note the comment that brought them, and count among the 100 of the item',
      'a file of somebody else that the item does not carry yet takes a MEMBER; one that was refused is media.not_ready',
    ],
  },
  updateComment: {
    method: 'PATCH',
    path: '/comments/{commentId}',
    patch: 'merge',
    summary: 'Change the text or the files of a comment of one’s own',
    spec,
    params: ofComment,
    body: CommentUpdate,
    success: one,
    needs: writing,
    ifMatch: true,
    refuses: ['comment.not_author', ...readOnly, ...bringing],
    recovery,
    assumed: [
      'its author, who still is a COMMENTER there; an OWNER changes no words of others',
      'only accounts that are mentioned anew have to see the item: one that lost its access stays mentioned',
      'a file that it has no more leaves the item if this comment brought it and no other one has it',
    ],
  },
  deleteComment: {
    method: 'DELETE',
    path: '/comments/{commentId}',
    summary: 'Delete a comment; its text is purged',
    spec,
    params: ofComment,
    success: { status: 204 },
    needs: writing,
    ifMatch: true,
    refuses: ['comment.not_author', ...readOnly],
    recovery,
    assumed: [
      'its author, or an ADMIN of the container',
      'the files that it brought leave the item, unless another comment has them',
      'the text goes in the same transaction; under a legal hold it stays, hidden, until a day after the release',
    ],
  },
  setCommentReactions: {
    method: 'PUT',
    path: '/comments/{commentId}/reactions',
    summary: "Set the caller's own reactions to a comment",
    spec,
    params: ofComment,
    body: ReactionsSet,
    success: one,
    needs: writing,
    refuses: [...readOnly, 'structure.full'],
    recovery,
    assumed: [
      'the version stays, so there is no `If-Match`',
      `${mostReactions} reactions to a comment, so that an answer has a bound`,
    ],
  },
})
