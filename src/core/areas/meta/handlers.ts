/** The rules of this area, by operation. */
import type { metaOperations } from '../../contract/meta/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { listProblems } from './problems.ts'

export const metaHandlers = {
  listProblems,
} satisfies HandlersOf<typeof metaOperations>
