import { Flags } from '@oclif/core'
import { type Item, type ItemQueryAnswer, itemOperations } from '../../../core/contract/items/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findCollection } from '../../find/containers.ts'
import { findView } from '../../find/views.ts'
import { readJson } from '../../input/json-input.ts'
import { itemColumns } from '../../render/item.ts'
import { table } from '../../render/table.ts'

/** `due:desc` as an order of the API. Fails (usage). */
function orderOf(given: string): { by: string; order: 'ASC' | 'DESC' } {
  const [, by = '', order = 'asc'] = /^([a-z0-9_.]+)(?::(asc|desc))?$/i.exec(given) ?? []
  if (by === '')
    throw new Failure('usage', `"${given}" is no order.`, 'Write a key, or a key and a direction: due:desc.')
  return { by, order: order.toLowerCase() === 'desc' ? 'DESC' : 'ASC' }
}

export default class ItemsQuery extends CallerCommand {
  static override summary = 'Ask for items by a filter or a view'
  static override description = 'The filter language is described in docs/api/filters.md.'
  static override examples = [
    `<%= config.bin %> items query --filter '{"field":"state","op":"is","value":"OPEN"}' --sort due`,
    "<%= config.bin %> items query --view 'Due this week' --count",
    '<%= config.bin %> items query --collection Roadmap --filter @open.json --json',
  ]
  static override flags = {
    filter: Flags.string({ summary: 'The filter: JSON, @FILE, or - for stdin.' }),
    view: Flags.string({ summary: 'A view, by its name or id.' }),
    collection: Flags.string({ summary: 'Only items of this collection, by its name or id.' }),
    archived: Flags.string({
      summary: 'Whether what is archived is looked at.',
      options: ['EXCLUDE', 'INCLUDE', 'ONLY'] as const,
      default: 'EXCLUDE',
    }),
    sort: Flags.string({ summary: 'The order: a key, or a key and asc or desc. At most two.', multiple: true }),
    count: Flags.boolean({ summary: 'Count the items that match.' }),
    max: Flags.integer({ summary: 'The maximum number of items.', min: 1, default: 50 }),
  }

  async run(): Promise<Pick<ItemQueryAnswer, 'data' | 'unknown' | 'total' | 'total_capped'>> {
    const { flags } = await this.parse(ItemsQuery)
    const sort = flags.sort?.map(orderOf)
    const filter = flags.filter === undefined ? undefined : await readJson(flags.filter, 'filter')
    const caller = await this.open(flags)
    const body = {
      size: Math.min(flags.max, 200),
      count: flags.count,
      archived: flags.archived as 'EXCLUDE' | 'INCLUDE' | 'ONLY',
      ...(filter === undefined ? {} : { filter }),
      ...(sort === undefined ? {} : { sort }),
      ...(flags.view === undefined ? {} : { view_id: await findView(caller, flags.view) }),
      ...(flags.collection === undefined ? {} : { container_id: await findCollection(caller, flags.collection) }),
    }
    const data: Item[] = []
    let page = await caller.call(itemOperations.queryItems, { body })
    const { unknown, total, total_capped } = page
    data.push(...page.data, ...(page.groups ?? []).flatMap((group) => group.data))
    while (page.next_cursor !== null && data.length < flags.max) {
      page = await caller.call(itemOperations.queryItems, { body: { ...body, count: false, cursor: page.next_cursor } })
      data.push(...page.data)
    }
    const shown = data.slice(0, flags.max)
    await this.show(() => table(shown, itemColumns, 'No item matches.'))
    if (total !== undefined) this.tell(`\n${total_capped ? 'More than ' : ''}${total} match.`)
    for (const { pointer } of unknown)
      this.tell(`What ${pointer} names is gone, or you do not see it: it holds for nothing.`)
    return { data: shown, unknown, ...(total === undefined ? {} : { total, total_capped }) }
  }
}
