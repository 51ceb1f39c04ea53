/** The rules of this area, by operation. */
import type { encryptionOperations } from '../../contract/keyring/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { getEncryption } from './keyring-use.ts'
import { resealEncryption } from './request.ts'

export const keyringHandlers = {
  getEncryption,
  resealEncryption,
} satisfies HandlersOf<typeof encryptionOperations>
