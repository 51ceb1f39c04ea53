/** The rules of this area, by operation. */
import type { accountOperations } from '../../contract/identity/accounts.ts'
import type { identityOperations } from '../../contract/identity/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { disableAccount, enableAccount } from './accounts/disabling.ts'
import { inviteAccount, renewInvitation } from './accounts/inviting.ts'
import { getAccount, listAccounts } from './accounts/list.ts'
import { getOwnAccount } from './own-account.ts'

export const identityHandlers = {
  getOwnAccount,
  listAccounts,
  getAccount,
  inviteAccount,
  renewInvitation,
  disableAccount,
  enableAccount,
} satisfies HandlersOf<typeof identityOperations & typeof accountOperations>
