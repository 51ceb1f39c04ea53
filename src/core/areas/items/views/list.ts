/** Lists the views that the caller may use. Spec: items 7, O26. */
import type { viewOperations as ops, View, ViewShown } from '../../../contract/items/views.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { type Followed, firstId, pageOfRows, pageStart, withinPage } from '../../../kernel/transaction/page.ts'
import { columnsOf, isOwn, isShared } from './row.ts'
import { withUnknown } from './unknown.ts'

type Query = Received<typeof ops.listViews>

/** Oldest first. Refuses cursor.invalid. */
export async function listViews(ctx: Ctx, query: Query): Promise<Answer<typeof ops.listViews>> {
  const { container_id, id, cursor, size } = query
  const { tx } = ctx
  const list = { operation: 'listViews', filters: { container_id, id } }
  const after = pageStart(ctx, list, cursor) ?? firstId
  const narrowed = tx.part`
    ${container_id === undefined ? tx.part`` : tx.part`and v.container_id = ${container_id}`}
    ${id === undefined ? tx.part`` : tx.part`and v.id = ${id}`}`
  // Each index is read in its order, so that nobody's page walks past other people's private views.
  const some = (which: Part) => tx.part`
    (select ${columnsOf(ctx)} from item_view v where v.tenant_id = ${ctx.account.tenantId} and ${which} and v.id > ${after}::uuid ${narrowed} order by v.id limit ${size + 1})`
  const rows = tx.part`
    select * from (${some(isShared(ctx))} union all ${some(isOwn(ctx))}) both_kinds order by id limit ${size + 1}`
  const bytes = tx.part`coalesce(octet_length(filter::text), 0)`
  const read = await tx<(View & Followed)[]>`${withinPage(ctx, rows, { order: tx.part`id`, bytes })}`
  const { data, next_cursor } = pageOfRows(ctx, list, read, size)
  return { data: (await withUnknown(ctx, data)) satisfies ViewShown[], next_cursor }
}
