/** Actions on many items: on those that the call names, or by a job on those that a filter finds. Spec: items 1, N6. */
import { mostSteps, type itemBulkOperations as ops } from '../../../contract/items/bulk.ts'
import type { Filter } from '../../../contract/items/filter.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuseMember } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { Queued } from '../../../kernel/values/queued.ts'
import { doEach, doTogether } from './each.ts'
import { queueBulk } from './job.ts'

/** Refuses request.invalid, bulk.refused, query.too_broad. */
export async function bulkItems(
  ctx: Ctx,
  { body }: Received<typeof ops.bulkItems>,
): Promise<Answer<typeof ops.bulkItems> | Queued> {
  const { items, filter, actions, mode } = body
  if (filter !== undefined) {
    if (items !== undefined) refuseMember('/filter', 'member.conflicts', { with: ['items'] })
    if (mode === 'ATOMIC') refuseMember('/mode', 'value.not_taken')
    return new Queued(await queueBulk(ctx, filter as Filter, actions))
  }
  if (items === undefined) return refuseMember('/items', 'member.required')
  if (items.length * actions.length > mostSteps)
    refuseMember('/items', 'list.maximum', { maximum: Math.floor(mostSteps / actions.length) })
  if (new Set(items.map(({ id }) => id)).size < items.length) refuseMember('/items', 'list.unique')
  return { results: await (mode === 'EACH' ? doEach : doTogether)(ctx, items, actions) }
}
