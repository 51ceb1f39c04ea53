/** Events of comments. Spec: items 4, O2 to O5; decisions 5. */
import type { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { uuid } from '../vocabulary.ts'
import { Comment } from './operations.ts'

/** With the container, whose people may be told. */
const ToldComment = Comment.extend({ container_id: uuid }).meta({ id: 'ToldComment' })
const DeletedComment = ToldComment.omit({ body: true }).meta({ id: 'DeletedComment' })

const { body, ...deleted }: z.input<typeof ToldComment> = {
  id: exampleId(13),
  item_id: exampleId(11),
  container_id: exampleId(5),
  reply_to_id: null,
  body: `Ready to be sent, <@${exampleId(3)}>?`,
  mention_ids: [exampleId(3)],
  media_ids: [],
  reactions: [{ reaction: 'HEART', account_ids: [exampleId(4)] }],
  created_by: exampleId(4),
  created_at: '2026-11-20T17:15:00.000Z',
  edited_at: null,
  is_deleted: false,
  version: 1,
}
const ofComment = { subject: '/comments/{id}', kind: 'comment', container: 'container_id' } as const
const whole = { ...ofComment, data: ToldComment, example: { ...deleted, body } } as const
const searched = 'COMMENT'
/** People are told of the item, so that what is said of it in an hour is one notification. */
const about = '/items/{item_id}'

export const commentEvents = defineEvents({
  'work.comment.created': {
    when: 'a comment was written',
    ...whole,
    searched,
    notifies: {
      about,
      tells: [
        { category: 'MENTIONED', whom: ['mention_ids'] },
        { category: 'COMMENTED', whom: [{ peopleOfItem: 'item_id' }, { authorOfComment: 'reply_to_id' }] },
      ],
    },
  },
  'work.comment.changed': {
    when: 'the text or the files of a comment were changed',
    ...whole,
    searched,
    // Those alone whom the change mentions: the others were told.
    notifies: { about, tells: [{ category: 'MENTIONED', whom: [{ param: 'mentioned_ids' }] }] },
  },
  'work.comment.reacted': { when: 'an account changed its reactions to a comment', ...whole },
  'work.comment.deleted': {
    when: 'a comment was deleted; without its text',
    searched,
    ...ofComment,
    data: DeletedComment,
    example: { ...deleted, mention_ids: [], media_ids: [], reactions: [], is_deleted: true, version: 2 },
  },
})
