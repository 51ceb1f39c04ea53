/** Events of memberships. Spec: Index, Identity; decisions 2 and 5. */
import type { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { Membership } from './operations.ts'

const example: z.input<typeof Membership> = {
  id: exampleId(8),
  account_id: exampleId(3),
  group_id: null,
  container_id: exampleId(5),
  role: 'MEMBER',
  created_at: '2026-11-20T17:15:00.000Z',
  updated_at: '2026-11-20T17:15:00.000Z',
  version: 1,
}
const whole = {
  subject: '/memberships/{id}',
  kind: 'membership',
  container: 'container_id',
  data: Membership,
  example,
  notifies: { tells: [{ category: 'ACCESS', whom: ['account_id', { membersOfGroup: 'group_id' }] }] },
} as const

export const membershipEvents = defineEvents({
  'identity.membership.granted': {
    when: 'an account or a group was given a role on the workspace or in a container',
    ...whole,
  },
  'identity.membership.changed': { when: 'an account or a group was given another role in a place', ...whole },
  'identity.membership.removed': { when: 'a role was taken away; the membership as it was', ...whole },
})
