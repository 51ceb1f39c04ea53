import { Flags } from '@oclif/core'
import { itemTrashOperations, type TrashRow } from '../../../core/contract/items/trash.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { findCollection } from '../../find/containers.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<TrashRow>[] = [
  { head: 'TITLE', cell: ({ title }) => title },
  { head: 'KIND', cell: ({ kind }) => kind.toLowerCase(), whole: true },
  { head: 'ITEMS', cell: ({ item_count: count }) => String(count), align: 'right' },
  { head: 'DELETED', cell: ({ deleted_at }) => moment(deleted_at), whole: true },
  {
    head: 'GONE AFTER',
    cell: ({ purge_after }) => (purge_after === null ? 'never' : moment(purge_after)),
    whole: true,
  },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export default class TrashList extends CallerCommand {
  static override summary = 'List what was deleted and can be restored, newest first'
  static override description =
    '`svc api POST /items/ID:restore` brings an item back, `svc api POST /containers/ID:restore` a container with all in it.'
  static override examples = [
    '<%= config.bin %> trash list',
    '<%= config.bin %> trash list --kind ITEM --collection Roadmap --json',
  ]
  static override flags = {
    kind: Flags.string({ summary: 'Only items, or only containers.', options: ['ITEM', 'CONTAINER'] as const }),
    collection: Flags.string({ summary: 'Only items of this collection, by its name or id.' }),
    max: Flags.integer({ summary: 'The maximum number of rows.', min: 1, default: 50 }),
  }

  async run(): Promise<{ data: TrashRow[] }> {
    const { flags } = await this.parse(TrashList)
    const caller = await this.open(flags)
    const asked = {
      size: Math.min(flags.max, 200),
      ...(flags.kind === undefined ? {} : { kind: flags.kind as TrashRow['kind'] }),
      ...(flags.collection === undefined ? {} : { container_id: await findCollection(caller, flags.collection) }),
    }
    const found: TrashRow[] = []
    for await (const page of pagesOf(caller, itemTrashOperations.listTrash, asked)) {
      found.push(...page.data)
      if (found.length >= flags.max) break
    }
    const data = found.slice(0, flags.max)
    await this.show(() => table(data, columns, 'The trash is empty.'))
    return { data }
  }
}
