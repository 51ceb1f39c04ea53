/** The rules of this area, by operation. */
import type { identityOperations } from '../../contract/identity/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { getOwnAccount } from './own-account.ts'

export const identityHandlers = {
  getOwnAccount,
} satisfies HandlersOf<typeof identityOperations>
