/** The accounts of a workspace: who is there, and the end and the return of one. Spec: Index, Identity; people 1. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { email, moment, pageOf, paging, role, slug, text, uuid, version } from '../vocabulary.ts'
import { accountAddresses } from './addresses.ts'

export const accountStates = ['INVITED', 'ACTIVE', 'DISABLED', 'ERASED'] as const
export type AccountState = (typeof accountStates)[number]
export const accountState = z.enum(accountStates)
const kind = z.enum(['PERSON', 'SERVICE'])

export const ofDirectory = 'what a directory, or whoever invites, calls the account'

/** Identities at identity providers that an account is connected with. */
export const identities = z
  .array(
    z.object({
      id: uuid,
      provider_id: uuid,
      connected_at: moment.describe('when the identity was connected'),
      last_used_at: moment,
    }),
  )
  .describe('at identity providers')

const Administered = z
  .object({
    addresses: accountAddresses,
    identities,
    has_password: z.boolean(),
    has_second_factor: z.boolean().describe('whether a second factor is in force'),
    start_password_expires_at: moment.nullable().describe('null: the password is none that was handed over'),
    last_seen_at: moment.nullable().describe('the last use of a session or token, to the minute'),
    invitation_expires_at: moment.nullable().describe('null: there is no open invitation'),
    external_id: z.string().nullable().describe(ofDirectory),
    open_item_count: z.int().min(0).max(1000).describe('open items assigned to the account; counted up to 1,000'),
  })
  .meta({ id: 'AdministeredAccount' })

export const Account = z
  .object({
    id: uuid,
    kind,
    state: accountState.describe('ERASED: the account of a person who is forgotten'),
    is_restricted: z.boolean().describe('whether the account may only be stored'),
    display_name: z.string().nullable(),
    email: z.string().nullable().describe('null for a service account, and in what a guest is answered about others'),
    sign_in_name: z.string().nullable(),
    is_managed: z.boolean().describe('whether administrators give the account its password: it has no address'),
    role: role.nullable().describe('on the workspace; null: a guest, or somebody who left'),
    created_at: moment,
    joined_at: moment.nullable().describe('null: has not joined, or joined before this was kept'),
    disabled_at: moment.nullable().describe('since when it is DISABLED'),
    version,
    admin: Administered.nullable().describe(
      'for administrators, and of the own account; null: not shown to the caller',
    ),
  })
  .meta({ id: 'Account' })
export type Account = z.output<typeof Account>

const deliver = z
  .enum(['MAIL', 'TOKEN'])
  .default('MAIL')
  .describe('MAIL: by a mail with a link. TOKEN: the token is answered, and nothing is mailed')

/** What a new account begins with. */
export const firstRoles = {
  role: role.nullable().default('MEMBER').describe('on the workspace; null: none, for a guest'),
  memberships: z
    .array(z.strictObject({ container_id: uuid, role }))
    .max(50)
    .default([])
    .describe('roles in containers'),
  group_ids: z.array(uuid).max(20).default([]).describe('the groups that it is in from the beginning'),
}

const AccountInvite = z
  .strictObject({
    email,
    display_name: text(1, 200).optional(),
    ...firstRoles,
    external_id: text(1, 200).optional().describe(ofDirectory),
    deliver,
  })
  .meta({ id: 'AccountInvite' })

export const Invited = z
  .object({
    account: Account,
    expires_at: moment,
    redemption_token: z.string().nullable().describe('null: it is on its way by mail'),
  })
  .meta({ id: 'InvitedAccount' })
export type Invited = z.output<typeof Invited>

const params = z.strictObject({ accountId: uuid })
const seenBy = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
const spec = 'Index, Identity; people 1, Accounts'
const ofGuests =
  'a guest sees the accounts that see a container which the guest sees, without addresses; others answer as unknown'
const changes = {
  success: { status: 200, answer: Account },
  needs: { caller: 'account', changes: 'ways in', stepUp: 'or elevated', others: 'ADMIN' },
  actsOn: 'account',
  ifMatch: true,
  recovery: 'allowed',
} as const

export const accountOperations = defineOperations('identity', {
  listAccounts: {
    method: 'GET',
    path: '/accounts',
    summary: 'The accounts of the workspace, oldest first',
    spec,
    query: z.strictObject({
      q: text(1, 120).optional().describe('the beginning of a word of the name or of the address'),
      email: text(1, 254).optional().describe('an address, or the sign-in name of a managed account'),
      external_id: text(1, 200).optional().describe(ofDirectory),
      state: accountState.optional(),
      kind: kind.optional(),
      group_id: uuid.optional().describe('the members of the group'),
      container_id: uuid.optional().describe('who sees the container'),
      workspace: slug.optional().describe('whose accounts; at the database only, where it is needed'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Account) },
    needs: seenBy,
    refuses: ['cursor.invalid'],
    recovery: 'allowed',
    assumed: [
      'with `q` in the order of the matching word: the one order that an index gives at any size',
      '`q` and `email` compare without case and accents; a guest finds others by name alone',
      `${ofGuests}; a container or a group that the caller does not see has no accounts`,
      'a restricted account is listed without its name and addresses, and is found by no filter that finds people',
      '`email` finds by each confirmed address, by the primary one and by the sign-in name, `q` by the words of these',
    ],
  },
  getAccount: {
    method: 'GET',
    path: '/accounts/{accountId}',
    summary: 'One account',
    spec,
    params,
    success: { status: 200, answer: Account },
    needs: seenBy,
    recovery: 'allowed',
    assumed: [ofGuests, '`admin` takes the role ADMIN and the scope workspace:admin, or is of the own account'],
  },
  inviteAccount: {
    method: 'POST',
    path: '/accounts:invite',
    summary: 'Invite somebody by an address, with the roles that are waiting',
    spec: 'people 1, N1',
    body: AccountInvite,
    success: {
      status: 201,
      answer: Invited,
      location: ({ account }: { account: { id: string } }) => `/accounts/${account.id}`,
    },
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' },
    refuses: ['account.address_taken', 'mail.limited', 'group.bound', 'structure.full'],
    idempotent: true,
    secret: true,
    recovery: { refused: "who belongs to a workspace is the workspace's own business" },
    assumed: [
      'roles as `POST /memberships` gives them: none above the own one in that place',
      'the mail goes out in the language and the zone of the workspace, and holds no text of whoever invites',
      'of two invitations of one address at once the second is refused',
      'groups as their members are put in one by one: whoever invites could grant all that the group has',
    ],
  },
  renewInvitation: {
    method: 'POST',
    path: '/accounts/{accountId}:renew-invitation',
    summary: 'Invite an invited account anew; the invitation before is void, also where it has ended',
    spec: 'people 1, N2',
    params,
    body: z.strictObject({ deliver }).meta({ id: 'InvitationRenewal' }),
    success: { status: 200, answer: Invited },
    needs: { caller: 'workspace or operator', scope: 'workspace:admin', role: 'ADMIN' },
    actsOn: 'account',
    refuses: ['account.not_invited', 'mail.limited'],
    idempotent: true,
    secret: true,
    recovery: 'allowed',
    assumed: [
      "an operator renews an OWNER's alone, and while no OWNER is ACTIVE: else 403 auth.role_required; at the database anybody's",
      'an address gets one invitation by mail a minute and five an hour',
    ],
  },
  disableAccount: {
    method: 'POST',
    path: '/accounts/{accountId}:disable',
    summary: 'End an account: its sessions, tokens, invitation and proofs end with this call, and it signs in no more',
    spec: 'people 1, I2',
    params,
    refuses: ['membership.last_owner', 'admin.operator_last'],
    ...changes,
    assumed: [
      'roles, assignments and connected identities stay, for the return; webhooks that act for the account are disabled',
      'an account that is disabled stays as it is, and nothing is written',
    ],
  },
  disconnectIdentity: {
    method: 'DELETE',
    path: '/accounts/{accountId}/identities/{identityId}',
    summary: 'Take away an identity at a provider, with which the account signs in',
    spec: 'people 1, I5',
    params: z.strictObject({ accountId: uuid, identityId: uuid }),
    success: { status: 204 },
    needs: { caller: 'account', changes: 'ways in', stepUp: 'or elevated', others: 'ADMIN' },
    actsOn: 'account',
    refuses: ['account.last_way_in', 'membership.last_owner'],
    recovery: { refused: 'at the database an account is disabled' },
    assumed: [
      'the own last way in is refused; an administrator may take the last one of somebody else, but not of the last owner',
      'sessions go on: `:disable` or `:revoke-others` ends them',
    ],
  },
  enableAccount: {
    method: 'POST',
    path: '/accounts/{accountId}:enable',
    summary: 'Let a disabled account return to the state that it had; it gets no session or token back',
    spec: 'people 1, I3',
    params,
    ...changes,
    assumed: ['an account that is not disabled stays as it is, and nothing is written'],
  },
})
