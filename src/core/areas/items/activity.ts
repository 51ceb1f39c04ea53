/** The history of one item: its own entries in the workspace's trail. Spec: Index, Items; docs/decisions/0109. */

import type { itemOperations as ops } from '../../contract/items/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { pageOfTrail } from '../audit/trail.ts'
import { fromSeen } from './item.ts'

/** Refuses not_found, cursor.invalid. */
export async function listItemActivity(
  ctx: Ctx,
  { itemId, ...page }: Received<typeof ops.listItemActivity>,
): Promise<Answer<typeof ops.listItemActivity>> {
  const [item] = await ctx.tx`select 1 ${fromSeen(ctx, itemId)}`
  if (!item) refuse('not_found')
  return pageOfTrail(ctx, 'listItemActivity', { subject_id: itemId }, page)
}
