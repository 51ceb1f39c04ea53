/** The rules of this area, by operation. */
import type { accountOperations } from '../../contract/identity/accounts.ts'
import type { addressOperations } from '../../contract/identity/addresses.ts'
import type { managedOperations } from '../../contract/identity/managed.ts'
import type { emergencyNoticeOperations } from '../../contract/identity/notices.ts'
import type { identityOperations } from '../../contract/identity/operations.ts'
import type { preferenceOperations } from '../../contract/identity/preferences.ts'
import type { restrictionOperations } from '../../contract/privacy/restriction.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { addAddress } from '../auth/addresses/adding.ts'
import { removeAddress } from '../auth/addresses/changing.ts'
import { disableAccount, enableAccount } from './accounts/disabling.ts'
import { disconnectIdentity } from './accounts/disconnecting.ts'
import { inviteAccount, renewInvitation } from './accounts/inviting.ts'
import { getAccount, listAccounts } from './accounts/list.ts'
import { createManagedAccount, issueStartPassword, prepareStartPassword } from './accounts/managed.ts'
import { changePreferences } from './accounts/preferences.ts'
import { setAccountRestriction } from './accounts/restricting.ts'
import { listEmergencyNotices } from './notices.ts'
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
  setAccountRestriction,
  changePreferences,
  addAddress,
  removeAddress,
  listEmergencyNotices,
  createManagedAccount: withWork(prepareStartPassword, createManagedAccount),
  issueStartPassword: withWork(prepareStartPassword, issueStartPassword),
} satisfies HandlersOf<
  typeof identityOperations &
    typeof accountOperations &
    typeof preferenceOperations &
    typeof addressOperations &
    typeof emergencyNoticeOperations &
    typeof managedOperations &
    typeof restrictionOperations
>
