import { Args, Flags } from '@oclif/core'
import { searchKinds } from '../../core/contract/search/kinds.ts'
import {
  type SearchAnswer,
  type SearchResult,
  searchBounds,
  searchOperations,
} from '../../core/contract/search/operations.ts'
import { CallerCommand } from '../base-command.ts'
import { readJson } from '../input/json-input.ts'
import { searchColumns } from '../render/search.ts'
import { table } from '../render/table.ts'

export default class Search extends CallerCommand {
  static override summary = 'Find items, comments, files and containers by their words'
  static override description =
    'All of the words have to be there. "in this order" is a phrase, -word leaves out, and the last word may be the beginning of one. Write -- before a question that begins with -.'
  static override examples = [
    '<%= config.bin %> search printer jam',
    `<%= config.bin %> search '"paper jam" -solved' --kind ITEM`,
    `<%= config.bin %> search report --filter '{"field":"state","op":"is","value":"OPEN"}' --json`,
  ]
  static override strict = false
  static override args = {
    words: Args.string({
      ignoreStdin: true,
      required: true,
      description: 'the question; several words need no quotes',
    }),
  }
  static override flags = {
    kind: Flags.string({ summary: 'Only results of this kind.', options: searchKinds }),
    filter: Flags.string({ summary: 'What items have to be: JSON, @FILE, or - for stdin (docs/api/filters.md).' }),
    archived: Flags.string({
      summary: 'Whether what is archived is found.',
      options: ['EXCLUDE', 'INCLUDE', 'ONLY'] as const,
      default: 'EXCLUDE',
    }),
    max: Flags.integer({ summary: 'The maximum number of results.', min: 1, max: searchBounds.results, default: 20 }),
  }

  async run(): Promise<Pick<SearchAnswer, 'data' | 'capped' | 'is_behind' | 'unknown'>> {
    const { argv, flags } = await this.parse(Search)
    const filter = flags.filter === undefined ? undefined : await readJson(flags.filter, 'filter')
    const caller = await this.open(flags)
    const body = {
      query: argv.map(String).join(' '),
      archived: flags.archived as 'EXCLUDE' | 'INCLUDE' | 'ONLY',
      size: Math.min(flags.max, 50),
      ...(flags.kind === undefined ? {} : { kinds: [flags.kind as SearchResult['kind']] }),
      ...(filter === undefined ? {} : { filter }),
    }
    let page = await caller.call(searchOperations.search, { body })
    const { capped, is_behind, unknown } = page
    const found: SearchResult[] = [...page.data]
    while (page.next_cursor !== null && found.length < flags.max) {
      page = await caller.call(searchOperations.search, { body: { ...body, cursor: page.next_cursor } })
      found.push(...page.data)
    }
    const data = found.slice(0, flags.max)
    await this.show(() => table(data, searchColumns, 'Nothing has these words.'))
    if (capped) this.tell(`\nMore than ${searchBounds.candidates} have these words; the newest were looked at.`)
    if (is_behind) this.tell('\nThe newest changes are not found yet.')
    for (const { pointer } of unknown)
      this.tell(`What ${pointer} names is gone, or you do not see it: it holds for nothing.`)
    return { data, capped, is_behind, unknown }
  }
}
