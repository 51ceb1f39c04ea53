/**
 * What the page about people marks, against the declarations: the matrices of this folder follow from the declarations, so a mark that
 * is taken away there is missed by none of them. K: Idempotency-Key. M: If-Match. S: step-up. E: or an elevated session. R: at the
 * database, too. T: a session alone. People 1 to 4.
 */
import { expect, test } from 'vitest'
import { type Operation, stepUpOf, takesSessionOnly } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'

const marked: Readonly<Record<string, string>> = {
  inviteAccount: 'ADMIN K',
  renewInvitation: 'ADMIN K R',
  createManagedAccount: 'ADMIN K',
  getAccount: 'VIEWER R',
  issueStartPassword: 'ADMIN K E R',
  addAddress: 'ADMIN E',
  changePreferences: 'ADMIN M',
  listAccounts: 'VIEWER R',
  disableAccount: 'ADMIN M E R',
  enableAccount: 'ADMIN M E R',
  removeAddress: 'ADMIN E',
  disconnectIdentity: 'ADMIN E',
  listGroups: 'VIEWER',
  getGroup: 'VIEWER',
  createGroup: 'ADMIN K',
  updateGroup: 'ADMIN M',
  deleteGroup: 'ADMIN M',
  listGroupMembers: 'VIEWER',
  addGroupMember: 'ADMIN',
  removeGroupMember: 'ADMIN',
  listNotificationPreferences: 'self',
  setNotificationPreference: 'self M',
  listEmergencyNotices: 'self',
  listNotifications: 'self',
  markNotifications: 'self',
  getNotice: 'operator R',
  putNotice: 'operator M R',
  revokeOtherSessions: 'self',
  verifySignIn: 'anyone',
  linkIdentity: 'self S T',
  elevateSession: 'self S T',
  confirmAddress: 'self T',
  stepUpByProvider: 'self',
}

function marksOf({ needs, idempotent, ifMatch, recovery }: Operation): string {
  const named = needs as { readonly role?: string; readonly others?: string }
  const stepUp = stepUpOf(needs)
  return [
    named.role ?? named.others ?? (needs.caller === 'account' ? 'self' : needs.caller),
    ...(idempotent ? ['K'] : []),
    ...(ifMatch ? ['M'] : []),
    ...(stepUp === undefined ? [] : [stepUp === 'or elevated' ? 'E' : 'S']),
    ...(recovery === 'allowed' ? ['R'] : []),
    ...(takesSessionOnly(needs) ? ['T'] : []),
  ].join(' ')
}

test('each operation of the page is declared as it is marked there', () => {
  const all: Readonly<Record<string, Operation>> = operations
  const declared = Object.keys(marked).map((id) => [id, all[id] ? marksOf(all[id]) : 'not declared'])
  expect(Object.fromEntries(declared)).toEqual(marked)
})
