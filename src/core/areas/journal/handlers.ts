/** The rules of this area, by operation. */
import type { journalOperations } from '../../contract/journal/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { listJournal } from './journal.ts'

export const journalHandlers = {
  listJournal,
} satisfies HandlersOf<typeof journalOperations>
