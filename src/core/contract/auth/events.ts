/** Events of people and how they sign in. Spec: Authentication; decisions 2 and 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { accountState } from '../identity/accounts.ts'
import { moment, role, scope, uuid } from '../vocabulary.ts'

const ofAccount = { subject: '/accounts/{id}', kind: 'account', container: null } as const
const ofHolder = { subject: '/accounts/{account_id}', kind: 'account', container: null } as const
const ofSession = { subject: '/auth/sessions/{id}', kind: 'session', container: null } as const
const ofToken = { subject: '/auth/tokens/{id}', kind: 'token', container: null } as const
const ada = { id: exampleId(3) }
const account = z.object({ account_id: uuid })
/** What changes an account's own ways in is told at once by a mail of its own. */
const security = (member: 'id' | 'account_id') =>
  ({ notifies: { tells: [{ category: 'SECURITY', whom: [member], hasOwnMail: true }] } }) as const
const factor = (when: string) => ({
  when,
  ...ofHolder,
  data: account,
  example: { account_id: ada.id },
  ...security('account_id'),
})
const ofAddress = (when: string) => ({
  when,
  ...ofAccount,
  data: z.object({ id: uuid, address_id: uuid }),
  example: { ...ada, address_id: exampleId(13) },
})
const person = z.object({
  id: uuid,
  kind: z.literal('PERSON'),
  state: z.enum(['INVITED', 'ACTIVE']),
  role: role.optional().describe('where the event gives one'),
})
const changed = z.object({
  id: uuid,
  kind: z.enum(['PERSON', 'SERVICE']),
  state: accountState,
})

export const identityEvents = defineEvents({
  'identity.account.invited': {
    when: 'an account was invited',
    ...ofAccount,
    data: person,
    example: { ...ada, kind: 'PERSON', state: 'INVITED', role: 'OWNER' },
  },
  'identity.account.invitation_renewed': {
    when: 'an invited account was invited anew',
    ...ofAccount,
    data: person,
    example: { ...ada, kind: 'PERSON', state: 'INVITED' },
  },
  'identity.account.created': {
    when: 'a managed account was created, with a start password',
    ...ofAccount,
    data: person,
    example: { ...ada, kind: 'PERSON', state: 'INVITED', role: 'MEMBER' },
  },
  'identity.account.start_password_issued': {
    when: 'an account got a start password, and its sessions and tokens ended',
    ...ofAccount,
    data: changed,
    example: { ...ada, kind: 'PERSON', state: 'ACTIVE' },
    notifies: { tells: [{ category: 'SECURITY', whom: ['id'] }] },
  },
  'identity.account.joined': {
    when: 'an account redeemed its invitation, or replaced its start password',
    ...ofAccount,
    data: person,
    example: { ...ada, kind: 'PERSON', state: 'ACTIVE' },
  },
  'identity.account.disabled': {
    when: 'an account was disabled, and everything that let it in ended',
    ...ofAccount,
    data: changed,
    example: { ...ada, kind: 'PERSON', state: 'DISABLED' },
  },
  'identity.account.enabled': {
    when: 'a disabled account may return',
    ...ofAccount,
    data: changed,
    example: { ...ada, kind: 'PERSON', state: 'ACTIVE' },
    notifies: { tells: [{ category: 'ACCESS', whom: ['id'] }] },
  },
  'identity.account.password_changed': {
    when: 'an account changed its password',
    ...ofAccount,
    data: z.object({ id: uuid }),
    example: ada,
    ...security('id'),
  },
  'identity.account.connected': {
    when: 'an account was connected with an identity provider',
    ...ofAccount,
    data: z.object({ id: uuid, provider_id: uuid }),
    example: { ...ada, provider_id: exampleId(9) },
    ...security('id'),
  },
  'identity.account.disconnected': {
    when: 'an identity at a provider was taken from an account',
    ...ofAccount,
    data: z.object({ id: uuid, provider_id: uuid }),
    example: { ...ada, provider_id: exampleId(9) },
    ...security('id'),
  },
  'identity.account.address_asked': ofAddress(
    'an address was asked for an account; it belongs to nobody until it is confirmed',
  ),
  'identity.account.address_confirmed': {
    ...ofAddress('an address of an account was confirmed'),
    ...security('id'),
  },
  'identity.account.primary_address_changed': {
    ...ofAddress('another address of an account became the one that mail goes to'),
    ...security('id'),
  },
  'identity.account.address_removed': { ...ofAddress('an address was taken from an account'), ...security('id') },
  'identity.account.preferences_changed': {
    when: 'the name or a preference of an account was changed',
    ...ofAccount,
    data: z.object({
      id: uuid,
      changed: z.array(z.string()).readonly().describe('the names of the members that changed'),
    }),
    example: { ...ada, changed: ['locale'] },
  },
  'identity.second_factor.confirmed': factor('an account put a second factor in force'),
  'identity.second_factor.replaced': factor('an account moved its second factor to another app'),
  'identity.second_factor.removed': factor('the second factor of an account was removed'),
  'identity.second_factor.recovery_codes_made': factor('an account made new recovery codes'),
  'identity.second_factor.recovery_code_used': {
    when: 'a recovery code stood in for the second factor',
    ...ofHolder,
    data: z.object({ account_id: uuid, recovery_codes_left: z.int().min(0) }),
    example: { account_id: ada.id, recovery_codes_left: 9 },
    ...security('account_id'),
  },
  'identity.service_account.created': {
    when: 'a service account was created',
    ...ofAccount,
    data: z.object({ id: uuid, kind: z.literal('SERVICE'), role }),
    example: { id: exampleId(10), kind: 'SERVICE', role: 'MEMBER' },
  },
  'identity.invitation.expired': {
    when: 'an invitation ended unredeemed',
    ...ofHolder,
    data: account,
    example: { account_id: ada.id },
  },
  'identity.session.started': {
    when: 'somebody signed in',
    ...ofSession,
    data: z.object({ id: uuid, account_id: uuid }),
    example: { id: exampleId(11), account_id: ada.id },
  },
  'identity.session.ended': {
    when: 'a session was ended, or revoked',
    ...ofSession,
    data: z.object({ id: uuid, reason: z.string() }),
    example: { id: exampleId(11), reason: 'signed_out' },
  },
  'identity.token.created': {
    when: 'a personal access token was minted',
    ...ofToken,
    data: z.object({ id: uuid, account_id: uuid, scopes: z.array(scope).readonly(), expires_at: moment.nullable() }),
    example: { id: exampleId(12), account_id: ada.id, scopes: ['workspace:read'], expires_at: null },
  },
  'identity.token.revoked': {
    when: 'a personal access token was revoked',
    ...ofToken,
    data: z.object({ id: uuid }),
    example: { id: exampleId(12) },
  },
})
