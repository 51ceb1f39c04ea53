/** Policies: what a hub or a collection decides for all that is in it. Spec: items 1, N25. */
import { z } from 'zod'

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

export const EffectivePolicies = z
  .object({ trash_days: trashDays, delete_role: deleteRole })
  .meta({ id: 'EffectivePolicies' })
export type EffectivePolicies = z.output<typeof EffectivePolicies>

/** What holds where neither the container nor its hub says anything. */
export const productPolicies: EffectivePolicies = { trash_days: 30, delete_role: 'MEMBER' }

export const PoliciesSet = z
  .strictObject({ trash_days: trashDays.nullish(), delete_role: deleteRole.nullish() })
  .meta({ id: 'ContainerPoliciesSet' })
