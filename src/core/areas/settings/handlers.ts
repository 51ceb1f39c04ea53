/** The rules of this area, by operation. */
import type { settingsOperations } from '../../contract/settings/operations.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { getSettings, prepareReplacement, replaceSettings } from './replacement.ts'

export const settingsHandlers = {
  getSettings,
  replaceSettings: withWork(prepareReplacement, replaceSettings),
} satisfies HandlersOf<typeof settingsOperations>
