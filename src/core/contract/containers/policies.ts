/** Policies: what a hub or a collection decides for all that is in it. Spec: items 1, N25. */
import { z } from 'zod'
import { uuid } from '../vocabulary.ts'

const days = z.int().min(0).max(3650)

/** Each as a value that is decided. A further policy is one line here, one in `productPolicies`, and a column. */
const decided = {
  trash_days: days.describe('how long the trash is kept; 0: until somebody purges it'),
  archive_done_after_days: days.describe('how long what is done stays on the board; 0: until somebody archives it'),
  delete_role: z.enum(['MEMBER', 'ADMIN', 'OWNER']).describe('the least role that deletes items'),
  comment_role: z.enum(['COMMENTER', 'MEMBER', 'ADMIN', 'OWNER']).describe('the least role that writes comments'),
  complete_needs_children: z.boolean().describe('whether an item is completed only once all below it is done'),
  complete_children: z.boolean().describe('whether completing an item completes all below it'),
}
const group = uuid.nullable().describe('the group among which items are assigned')

const inheriting = <Value extends z.ZodType>(value: Value) =>
  value.nullable().describe(`${value.description}; null inherits`)

export const ContainerPolicies = z
  .object({
    trash_days: inheriting(decided.trash_days),
    archive_done_after_days: inheriting(decided.archive_done_after_days),
    delete_role: inheriting(decided.delete_role),
    comment_role: inheriting(decided.comment_role),
    complete_needs_children: inheriting(decided.complete_needs_children),
    complete_children: inheriting(decided.complete_children),
    auto_assign_group_id: group.describe(`${group.description}; null inherits`),
  })
  .meta({ id: 'ContainerPolicies' })
export type ContainerPolicies = z.output<typeof ContainerPolicies>

export const EffectivePolicies = z
  .object({
    ...decided,
    auto_assign_group_id: group.describe(`${group.description}; null: whoever has a role of the container`),
  })
  .meta({ id: 'EffectivePolicies' })
export type EffectivePolicies = z.output<typeof EffectivePolicies>

/** What holds where neither the container nor its hub says anything. */
export const productPolicies: EffectivePolicies = {
  trash_days: 30,
  archive_done_after_days: 0,
  delete_role: 'MEMBER',
  comment_role: 'COMMENTER',
  complete_needs_children: false,
  complete_children: false,
  auto_assign_group_id: null,
}

export const policyNames = Object.keys(productPolicies) as (keyof EffectivePolicies)[]

export const PoliciesSet = z
  .strictObject({
    trash_days: decided.trash_days.nullish(),
    archive_done_after_days: decided.archive_done_after_days.nullish(),
    delete_role: decided.delete_role.nullish(),
    comment_role: decided.comment_role.nullish(),
    complete_needs_children: decided.complete_needs_children.nullish(),
    complete_children: decided.complete_children.nullish(),
    auto_assign_group_id: group.optional(),
  })
  .meta({ id: 'ContainerPoliciesSet' })
