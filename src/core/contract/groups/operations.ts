/** Groups of accounts, which hold roles as accounts do. Spec: Index, Identity; people 2. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, text, uuid, version } from '../vocabulary.ts'

/** Of a workspace, of a group, of an account. */
export const mostGroups = 1000
export const mostMembers = 10_000
export const mostGroupsOfAnAccount = 100

const name = text(1, 120)
const description = text(0, 2000).nullable()
const externalId = text(1, 200)
  .nullable()
  .describe('what a directory calls the group; the service decides nothing by it')

const Binding = z
  .strictObject({
    provider_id: uuid,
    value: text(1, 200).describe('what the claim `groups` holds for a member of the group, exactly'),
  })
  .meta({ id: 'GroupBinding' })
const binding = Binding.nullable().describe(
  'at each sign-in through the provider its claim `groups` decides whether the account is a member; null: nothing does',
)

export const Group = z
  .object({
    id: uuid,
    name,
    description,
    external_id: externalId,
    binding,
    member_count: z.int().min(0).describe('not part of `version`'),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Group' })
export type Group = z.output<typeof Group>

const GroupCreate = z
  .strictObject({
    name,
    description: description.optional(),
    external_id: externalId.optional(),
    member_ids: z.array(uuid).max(200).default([]).describe('who is in it from the beginning; without doubles'),
    binding: binding.optional(),
  })
  .meta({ id: 'GroupCreate' })

const GroupUpdate = z
  .strictObject({
    name: name.optional(),
    description: description.optional(),
    external_id: externalId.optional(),
    binding: binding.optional(),
  })
  .meta({ id: 'GroupUpdate' })

export const GroupMember = z
  .object({
    account_id: uuid,
    added_at: moment,
    added_by: uuid.nullable().describe('null: no account, such as a provider'),
    source: z
      .enum(['DIRECT', 'PROVIDER', 'DIRECTORY'])
      .describe('who put the account in: a person, an identity provider at a sign-in, a directory'),
  })
  .meta({ id: 'GroupMember' })
export type GroupMember = z.output<typeof GroupMember>

const ofGroup = z.strictObject({ groupId: uuid })
const ofMember = z.strictObject({ groupId: uuid, accountId: uuid })
const reading = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
const keeping = { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' } as const
const recovery = { refused: "who is in which group is the workspace's own business" } as const
const spec = 'Index, Identity; people 2, Groups'
const ofGuests = 'a guest sees the groups with a role in a container that the guest sees; others answer as unknown'
const mayGrant =
  'whoever adds a member must be able to grant each role of the group: ADMIN where it is in a private container that the caller sees, OWNER where the caller does not see it'
const ofOperators = 'an account in the operator register is put in and taken out by operators alone'

export const groupOperations = defineOperations('identity', {
  listGroups: {
    method: 'GET',
    path: '/groups',
    summary: 'The groups of the workspace, by name',
    spec,
    query: z.strictObject({
      account_id: uuid.optional().describe('those that the account is a member of'),
      q: text(1, 120).optional().describe('a part of the name; case and accents do not count'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Group) },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: [ofGuests, 'by the folded name, in which case and accents do not count'],
  },
  createGroup: {
    method: 'POST',
    path: '/groups',
    summary: 'Make a group, with its first members',
    spec,
    body: GroupCreate,
    success: { status: 201, answer: Group, location: (made: { id: string }) => `/groups/${made.id}` },
    needs: keeping,
    idempotent: true,
    refuses: ['group.name_taken', 'structure.full', 'auth.role_required', 'admin.operator_required'],
    recovery,
    assumed: [
      `${mostGroups} groups of a workspace, ${mostMembers} members of a group, ${mostGroupsOfAnAccount} groups of an account`,
      'a binding takes the role OWNER, and a provider of the workspace or one of the installation’s that it has switched on; one for everybody on the internet is refused at its pointer',
      'a bound group has no `member_ids`: the provider decides',
      ofOperators,
    ],
  },
  getGroup: {
    method: 'GET',
    path: '/groups/{groupId}',
    summary: 'One group',
    spec,
    params: ofGroup,
    success: { status: 200, answer: Group },
    needs: reading,
    recovery,
    assumed: [ofGuests],
  },
  updateGroup: {
    method: 'PATCH',
    path: '/groups/{groupId}',
    patch: 'merge',
    summary: 'Change a group',
    spec,
    params: ofGroup,
    body: GroupUpdate,
    success: { status: 200, answer: Group },
    needs: keeping,
    ifMatch: true,
    refuses: ['group.name_taken', 'auth.role_required'],
    recovery,
    assumed: [
      'a binding is made, changed and ended by an OWNER; members stay until their next sign-in through the provider',
    ],
  },
  deleteGroup: {
    method: 'DELETE',
    path: '/groups/{groupId}',
    summary: 'Delete a group, with its roles; what it gave its members ends with the next request',
    spec,
    params: ofGroup,
    success: { status: 204 },
    needs: keeping,
    ifMatch: true,
    refuses: ['group.in_use', 'admin.operator_required', 'admin.operator_last'],
    recovery,
    assumed: [
      'a member that loses its last role loses every session, token, proof and link, as with a membership',
      'a group with a member in the operator register is deleted by operators alone',
    ],
  },
  listGroupMembers: {
    method: 'GET',
    path: '/groups/{groupId}/members',
    summary: 'Who is in the group, the oldest account first',
    spec: 'people 2, I6',
    params: ofGroup,
    query: z.strictObject(paging(200, 50)),
    success: { status: 200, answer: pageOf(GroupMember) },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: [ofGuests],
  },
  addGroupMember: {
    method: 'PUT',
    path: '/groups/{groupId}/members/{accountId}',
    summary: 'Put an account into the group; it has the roles of the group from its next request',
    spec: 'people 2, I7',
    params: ofMember,
    success: { status: 200, answer: GroupMember },
    needs: keeping,
    actsOn: 'account',
    refuses: ['group.bound', 'structure.full', 'auth.role_required', 'admin.operator_required'],
    recovery,
    assumed: ['an account that is in the group stays as it is, and nothing is written', mayGrant, ofOperators],
  },
  removeGroupMember: {
    method: 'DELETE',
    path: '/groups/{groupId}/members/{accountId}',
    summary: 'Take an account out of the group; what the group gave it ends with its next request',
    spec: 'people 2, I8',
    params: ofMember,
    success: { status: 204 },
    needs: keeping,
    actsOn: 'account',
    refuses: ['group.bound', 'auth.role_required', 'admin.operator_required', 'admin.operator_last'],
    recovery,
    assumed: [
      'an account that is not in the group: 204, and nothing is written',
      'group.bound refuses what the next sign-in would undo: a member that a person put in before the binding can be taken out',
      'with the last role every session, token, proof and link of the account ends; roles of its own in containers stay',
      ofOperators,
    ],
  },
})
