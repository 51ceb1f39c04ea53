import { Args, Flags } from '@oclif/core'
import { type Item, itemOperations } from '../../../core/contract/items/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { findCollection } from '../../find/containers.ts'
import { itemColumns } from '../../render/item.ts'
import { table } from '../../render/table.ts'

export default class ItemsList extends CallerCommand {
  static override summary = 'List the items of a collection, or all that you see, oldest first'
  static override examples = [
    '<%= config.bin %> items list Roadmap --state OPEN',
    '<%= config.bin %> items list --archived ONLY --json',
  ]
  static override args = {
    collection: Args.string({ ignoreStdin: true, description: "the collection's name or id; none: every item" }),
  }
  static override flags = {
    state: Flags.string({ summary: 'Only items in this state.', options: ['OPEN', 'DONE'] as const }),
    archived: Flags.string({
      summary: 'Whether archived items are listed.',
      options: ['EXCLUDE', 'INCLUDE', 'ONLY'] as const,
      default: 'EXCLUDE',
    }),
    max: Flags.integer({ summary: 'The maximum number of items.', min: 1, default: 50 }),
  }

  async run(): Promise<{ data: Item[] }> {
    const { args, flags } = await this.parse(ItemsList)
    const caller = await this.open(flags)
    const asked = {
      archived: flags.archived as 'EXCLUDE' | 'INCLUDE' | 'ONLY',
      size: Math.min(flags.max, 200),
      ...(flags.state === undefined ? {} : { state: flags.state as Item['state'] }),
      ...(args.collection === undefined ? {} : { container_id: await findCollection(caller, args.collection) }),
    }
    const found: Item[] = []
    for await (const page of pagesOf(caller, itemOperations.listItems, asked)) {
      found.push(...page.data)
      if (found.length >= flags.max) break
    }
    const data = found.slice(0, flags.max)
    await this.show(() => table(data, itemColumns, 'No item matches. `svc items create TITLE` makes one.'))
    return { data }
  }
}
