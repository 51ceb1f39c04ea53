/** The rules of this area, by operation. */
import type { metaOperations } from '../../contract/meta/operations.ts'
import type { serverOperations } from '../../contract/meta/server.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { listProblems } from './problems.ts'
import { getServer } from './server.ts'

export const metaHandlers = {
  listProblems,
  getServer,
} satisfies HandlersOf<typeof metaOperations & typeof serverOperations>
