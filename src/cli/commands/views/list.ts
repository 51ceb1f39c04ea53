import { Flags } from '@oclif/core'
import { type View, viewOperations } from '../../../core/contract/items/views.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { findCollection } from '../../find/containers.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<View>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'LAYOUT', cell: ({ layout }) => layout, whole: true },
  { head: 'SEEN BY', cell: ({ visibility }) => (visibility === 'PRIVATE' ? 'you' : 'others') },
  { head: 'COLLECTION', cell: ({ container_id }) => container_id ?? 'all' },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class ViewsList extends CallerCommand {
  static override summary = 'List the views that you may use, oldest first'
  static override examples = [
    '<%= config.bin %> views list',
    '<%= config.bin %> views list --collection Roadmap --json',
  ]
  static override flags = {
    collection: Flags.string({ summary: 'Only views of this collection, by its name or id.' }),
  }

  async run(): Promise<{ data: View[] }> {
    const { flags } = await this.parse(ViewsList)
    const caller = await this.open(flags)
    const of = flags.collection === undefined ? {} : { container_id: await findCollection(caller, flags.collection) }
    const data: View[] = []
    for await (const page of pagesOf(caller, viewOperations.listViews, { size: 200, ...of })) data.push(...page.data)
    await this.show(() => table(data, columns, 'There is no view yet. `svc api POST /views` makes one.'))
    return { data }
  }
}
