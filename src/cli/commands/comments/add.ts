import { randomUUID } from 'node:crypto'
import { Args, Flags } from '@oclif/core'
import { type Comment, commentOperations } from '../../../core/contract/comments/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { readStdin } from '../../input/secret-input.ts'
import { details } from '../../render/details.ts'
import { moment } from '../../render/moment.ts'

export default class CommentsAdd extends CallerCommand {
  static override summary = 'Comment on an item, or reply to a comment'
  static override examples = [
    "<%= config.bin %> comments add 0199c0de-7a3b-7cde-8f01-23456789abcd 'Ready to be sent?'",
    '<%= config.bin %> comments add 0199c0de-7a3b-7cde-8f01-23456789abcd - < review.md',
    "<%= config.bin %> comments add 0199c0de-7a3b-7cde-8f01-23456789abcd 'See page 2.' --media 0199c0de-9f01-7abc-8def-0123456789ab",
  ]
  static override args = {
    item: Args.string({ ignoreStdin: true, required: true, description: "the item's id" }),
    text: Args.string({ ignoreStdin: true, required: true, description: 'the comment, or - to read it from stdin' }),
  }
  static override flags = {
    media: Flags.string({
      summary: 'A file that was uploaded, by its id; up to ten.',
      helpValue: 'MEDIA',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'reply-to': Flags.string({ summary: 'The comment to reply to, by its id.', helpValue: 'COMMENT' }),
  }

  async run(): Promise<Comment> {
    const { args, flags } = await this.parse(CommentsAdd)
    const caller = await this.open(flags)
    const body = {
      body: args.text === '-' ? (await readStdin()).replace(/\r?\n$/, '') : args.text,
      ...(flags.media === undefined ? {} : { media_ids: flags.media }),
      ...(flags['reply-to'] === undefined ? {} : { reply_to_id: flags['reply-to'] }),
    }
    const made = await caller.call(commentOperations.createComment, {
      itemId: args.item,
      body,
      idempotencyKey: randomUUID(),
    })
    await this.show(() =>
      details([
        ['comment', made.body],
        ['written', moment(made.created_at)],
        ['mentions', made.mention_ids.join(', ')],
        ['files', made.media_ids.join(', ')],
        ['item', made.item_id],
        ['id', made.id],
      ]),
    )
    return made
  }
}
