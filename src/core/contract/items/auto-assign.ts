/** Assignment to whoever has least to do. Spec: items 1, N9. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { uuid } from '../vocabulary.ts'
import { change } from './operations.ts'

/** Open items of one person are counted up to this. */
export const mostCountedItems = 1_000
/** Accounts that are compared at most; of more, the oldest. */
export const mostCandidates = 500

const ItemAutoAssign = z
  .strictObject({
    group_id: uuid.nullish().describe('one of its members; not beside `account_ids`'),
    account_ids: z.array(uuid).min(1).max(100).optional().describe('one of these; each of them once'),
    reassign: z.boolean().default(false).describe('also if somebody is responsible already'),
  })
  .meta({ id: 'ItemAutoAssign' })

export const itemAutoAssignOperations = defineOperations('items', {
  autoAssignItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:auto-assign',
    summary: 'Make the person responsible who has the fewest open items',
    spec: 'items 1, N9',
    body: ItemAutoAssign,
    refuses: ['container.archived', 'item.archived', 'item.no_candidate', 'structure.full'],
    idempotent: true,
    assumed: [
      'without `account_ids` and `group_id` those of the group of the policy `auto_assign_group_id`, else whoever has a role of the container itself',
      'candidates are ACTIVE persons with MEMBER in the container; others that are named are passed over',
      'open items are those on the boards of the workspace that are not done; the item itself does not count',
      'of equals whoever was not picked for longest, then the least id',
      `of more than ${mostCandidates} candidates the oldest accounts`,
      'with `reassign` it may be the same person, which changes nothing',
    ],
  },
})
