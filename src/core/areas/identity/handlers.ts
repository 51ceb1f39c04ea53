/** The rules of this area, by operation. */
import type { accountOperations } from '../../contract/identity/accounts.ts'
import type { identityOperations } from '../../contract/identity/operations.ts'
import type { preferenceOperations } from '../../contract/identity/preferences.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { disableAccount, enableAccount } from './accounts/disabling.ts'
import { disconnectIdentity } from './accounts/disconnecting.ts'
import { inviteAccount, renewInvitation } from './accounts/inviting.ts'
import { getAccount, listAccounts } from './accounts/list.ts'
import { changePreferences } from './accounts/preferences.ts'
import { getOwnAccount } from './own-account.ts'

export const identityHandlers = {
  getOwnAccount,
  listAccounts,
  getAccount,
  inviteAccount,
  renewInvitation,
  disableAccount,
  enableAccount,
  disconnectIdentity,
  changePreferences,
} satisfies HandlersOf<typeof identityOperations & typeof accountOperations & typeof preferenceOperations>
