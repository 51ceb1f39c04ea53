import { Args, Flags } from '@oclif/core'
import { type Comment, commentOperations } from '../../../core/contract/comments/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<Comment>[] = [
  { head: 'WRITTEN', cell: ({ created_at }) => moment(created_at), whole: true },
  {
    head: 'COMMENT',
    cell: ({ body, reply_to_id, is_deleted }) => `${reply_to_id === null ? '' : '> '}${is_deleted ? 'deleted' : body}`,
  },
  { head: 'REACTIONS', cell: ({ reactions }) => reactions.map(reacted).join(', ') },
  { head: 'BY', cell: ({ created_by }) => created_by, whole: true },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]
const reacted = ({ reaction, account_ids }: Comment['reactions'][number]) => `${reaction} ${account_ids.length}`

export default class CommentsList extends CallerCommand {
  static override summary = 'List the comments on an item, the oldest first; a reply begins with >'
  static override examples = [
    '<%= config.bin %> comments list 0199c0de-7a3b-7cde-8f01-23456789abcd',
    '<%= config.bin %> comments list 0199c0de-7a3b-7cde-8f01-23456789abcd --newest --max 5 --json',
  ]
  static override args = { item: Args.string({ ignoreStdin: true, required: true, description: "the item's id" }) }
  static override flags = {
    newest: Flags.boolean({ summary: 'The newest first.' }),
    max: Flags.integer({ summary: 'The maximum number of comments.', min: 1, default: 200 }),
  }

  async run(): Promise<{ data: Comment[] }> {
    const { args, flags } = await this.parse(CommentsList)
    const caller = await this.open(flags)
    const order = flags.newest ? ('DESC' as const) : ('ASC' as const)
    const asked = { itemId: args.item, order, size: Math.min(flags.max, 200) }
    const found: Comment[] = []
    for await (const page of pagesOf(caller, commentOperations.listComments, asked)) {
      found.push(...page.data)
      if (found.length >= flags.max) break
    }
    const data = found.slice(0, flags.max)
    await this.show(() => table(data, columns, 'There is no comment yet. `svc comments add ITEM TEXT` writes one.'))
    return { data }
  }
}
