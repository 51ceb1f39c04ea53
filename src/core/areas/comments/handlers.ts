/** The rules of this area, by operation. */
import type { commentOperations } from '../../contract/comments/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { deleteComment } from './deletion.ts'
import { listComments } from './list.ts'
import { setCommentReactions } from './reactions.ts'
import { createComment, updateComment } from './writing.ts'

export const commentsHandlers = {
  listComments,
  createComment,
  updateComment,
  deleteComment,
  setCommentReactions,
} satisfies HandlersOf<typeof commentOperations>
