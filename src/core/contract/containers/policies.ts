/** Policies: what a hub or a collection decides for all that is in it. Spec: items 1, N25. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { uuid } from '../vocabulary.ts'
import { Container, reading, recovery, writing } from './operations.ts'

const trashDays = z.int().min(0).max(3650)
const deleteRole = z.enum(['MEMBER', 'ADMIN', 'OWNER'])
const inherits = 'null inherits'

export const ContainerPolicies = z
  .object({
    trash_days: trashDays.nullable().describe(`how long the trash is kept; 0: until somebody purges it; ${inherits}`),
    delete_role: deleteRole.nullable().describe(`the least role that deletes items; ${inherits}`),
  })
  .meta({ id: 'ContainerPolicies' })
export type ContainerPolicies = z.output<typeof ContainerPolicies>

const EffectivePolicies = z.object({ trash_days: trashDays, delete_role: deleteRole }).meta({ id: 'EffectivePolicies' })
export type EffectivePolicies = z.output<typeof EffectivePolicies>

/** What holds where neither the container nor its hub says anything. */
export const productPolicies: EffectivePolicies = { trash_days: 30, delete_role: 'MEMBER' }

export const ContainerWithPolicies = Container.extend({
  policies: ContainerPolicies.describe('its own'),
  effective_policies: EffectivePolicies.describe('its own, else those of its hub, else those of the product'),
}).meta({ id: 'ContainerWithPolicies' })
export type ContainerWithPolicies = z.output<typeof ContainerWithPolicies>

const PoliciesSet = z
  .strictObject({ trash_days: trashDays.nullish(), delete_role: deleteRole.nullish() })
  .meta({ id: 'ContainerPoliciesSet' })

const params = z.strictObject({ containerId: uuid })
const one = { status: 200, answer: ContainerWithPolicies } as const

export const containerPolicyOperations = defineOperations('containers', {
  getContainer: {
    method: 'GET',
    path: '/containers/{containerId}',
    summary: 'One hub or collection, with its policies',
    spec: 'Index, Containers; decisions 3; items 1, N25',
    params,
    success: one,
    needs: reading,
    recovery,
  },
  setContainerPolicies: {
    method: 'PUT',
    path: '/containers/{containerId}/policies',
    summary: 'Set what a container decides for all that is in it',
    spec: 'items 1, N25',
    params,
    body: PoliciesSet,
    success: one,
    needs: writing('ADMIN'),
    refuses: ['container.archived'],
    ifMatch: true,
    recovery,
    assumed: [
      'set whole: what is left out inherits',
      'the members of the page that nothing obeys yet are not taken: comment_role, complete_needs_children, complete_children, archive_done_after_days, auto_assign_group_id, calendar_feeds',
      '`delete_role` is MEMBER or higher, since the gate asks MEMBER of every DELETE',
      '`GET /containers/{containerId}` answers both members, too; lists and other events leave them out',
    ],
  },
})
