/** The rules of this area, by operation. */
import type { searchOperations } from '../../contract/search/operations.ts'
import { type HandlersOf, ofOneMoment } from '../../kernel/request/handler.ts'
import { reindexSearch } from './reindex.ts'
import { search } from './search.ts'

export const searchHandlers = {
  search: ofOneMoment(search),
  reindexSearch,
} satisfies HandlersOf<typeof searchOperations>
