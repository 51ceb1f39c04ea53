/** Memberships: the role of an account or a group on the workspace, or in one container. Spec: Index, Identity; decisions 2; people 2. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, role, uuid, version } from '../vocabulary.ts'

export const Membership = z
  .object({
    id: uuid,
    account_id: uuid.nullable().describe("null: the role is a group's"),
    group_id: uuid.nullable().describe("null: the role is an account's"),
    container_id: uuid.nullable().describe('null: the whole workspace'),
    role,
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Membership' })
export type Membership = z.output<typeof Membership>

const MembershipGrant = z
  .strictObject({
    account_id: uuid.nullish(),
    group_id: uuid.nullish().describe('exactly one of `account_id` and `group_id`'),
    role,
    container_id: uuid.nullish().describe('none: the whole workspace'),
  })
  .meta({ id: 'MembershipGrant' })

const recovery = { refused: "who sees what in a workspace is the workspace's own business" } as const
const spec = 'Index, Identity; decisions 2, Roles'

export const membershipOperations = defineOperations('identity', {
  listMemberships: {
    method: 'GET',
    path: '/memberships',
    summary: 'Who has which role on the workspace and in the containers that the caller sees, oldest first',
    spec,
    query: z.strictObject({
      account_id: uuid.optional().describe('its own roles, without those of its groups'),
      group_id: uuid.optional(),
      container_id: uuid.optional(),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Membership) },
    needs: { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' },
    refuses: ['cursor.invalid'],
    recovery,
    assumed: ['a guest, who has no role on the workspace, sees those of his containers alone'],
  },
  grantMembership: {
    method: 'POST',
    path: '/memberships',
    summary: 'Give an account or a group a role on the workspace or in a container, or another one than it has there',
    spec,
    body: MembershipGrant,
    success: { status: 201, answer: Membership, location: (made: { id: string }) => `/memberships/${made.id}` },
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN', within: 'container' },
    actsOn: 'role',
    refuses: ['membership.last_owner'],
    idempotent: true,
    recovery,
    assumed: [
      'an account has one role in one place: granting another changes the membership it has and keeps its id; the same one changes nothing',
      'nobody grants more than he has in that place, nor touches a role above his own',
      'the roles of an account in the operator register are given and changed by operators alone',
      'a group never has the role OWNER (422); the role of an account in a place is the highest of its own and of its groups’',
      'the role of a group with a member in the operator register is changed and taken away by operators alone',
    ],
  },
  removeMembership: {
    method: 'DELETE',
    path: '/memberships/{membershipId}',
    summary: 'Take a role away; it holds from the next request',
    spec,
    params: z.strictObject({ membershipId: uuid }),
    success: { status: 204 },
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN', within: 'container' },
    actsOn: 'membership',
    refuses: ['membership.last_owner', 'admin.operator_last'],
    ifMatch: true,
    recovery,
    assumed: [
      'whoever leaves the workspace leaves its containers and groups too: those memberships go with it',
      'with the role of a group goes what it gave each member, who keeps roles of other groups and of his own',
      'with the last role every session, token, proof and link of the account ends; a role given later gives back the right to sign in alone',
      'a role that an account in the operator register has is taken by operators alone, and the last one only while another operator can act',
      'the last OWNER is a person who is ACTIVE and can sign in: by a password that the switches let in, or through a provider in force',
    ],
  },
})
