/** Events of groups. Those of their roles are events of memberships. Spec: people 2; decisions 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { uuid } from '../vocabulary.ts'
import { Group, GroupMember } from './operations.ts'

const example: z.input<typeof Group> = {
  id: exampleId(30),
  name: 'Design',
  description: null,
  external_id: null,
  binding: null,
  member_count: 3,
  created_at: '2026-11-20T17:15:00.000Z',
  updated_at: '2026-11-20T17:15:00.000Z',
  version: 1,
}
const whole = { subject: '/groups/{id}', kind: 'group', container: null, data: Group, example } as const

const Member = z.object({ group_id: uuid, account_id: uuid, source: GroupMember.shape.source })
const ofMember = {
  subject: '/groups/{group_id}/members/{account_id}',
  kind: 'account',
  container: null,
  data: Member,
  example: { group_id: exampleId(30), account_id: exampleId(3), source: 'DIRECT' },
  notifies: { tells: [{ category: 'ACCESS', whom: ['account_id'] }] },
} as const

export const groupEvents = defineEvents({
  'identity.group.created': { when: 'a group of accounts was made', ...whole },
  'identity.group.changed': { when: 'the name, the description or the binding of a group was changed', ...whole },
  'identity.group.deleted': { when: 'a group was deleted; the group as it was', ...whole },
  'identity.group.member_added': { when: 'an account was put into a group', ...ofMember },
  'identity.group.member_removed': { when: 'an account was taken out of a group', ...ofMember },
})
