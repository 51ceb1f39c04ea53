/** Results of a search, as a table shows them. */
import type { SearchResult } from '../../core/contract/search/operations.ts'
import type { Column } from './table.ts'

/** The first piece of a text in which words are, on one line; the title stands beside it. */
function excerptOf({ matches }: SearchResult): string {
  const match = matches.find(({ member }) => member !== 'title' && member !== 'name')
  return match === undefined ? '' : `${match.member}: ${match.excerpt.replaceAll(/\s+/gu, ' ')}`
}

export const searchColumns: readonly Column<SearchResult>[] = [
  { head: 'KIND', cell: ({ kind }) => kind },
  { head: 'ID', cell: ({ id }) => id, whole: true },
  { head: 'TITLE', cell: ({ title }) => title },
  { head: 'FOUND IN', cell: excerptOf },
]
