/** The rules of this area, by operation. */
import type { retentionOperations } from '../../contract/retention/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { getHold, listHolds, placeHold, releaseHold } from './hold.ts'

export const retentionHandlers = {
  listHolds,
  placeHold,
  getHold,
  releaseHold,
} satisfies HandlersOf<typeof retentionOperations>
