/** The rules of this area, by operation. */
import type { restoreOperations } from '../../contract/backup/restores.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { applyRestore, undoRestore } from './application.ts'
import { createRestore } from './creation.ts'
import { askFacts, getRestore, listRestores } from './list.ts'
import { findSource } from './source.ts'

export const restoresHandlers = {
  listRestores: withWork(askFacts, listRestores),
  createRestore: withWork(findSource, createRestore),
  getRestore: withWork(askFacts, getRestore),
  applyRestore: withWork(askFacts, applyRestore),
  undoRestore: withWork(askFacts, undoRestore),
} satisfies HandlersOf<typeof restoreOperations>
