/** Lists the comments on an item. Spec: items 4, O1. */
import type { Comment, commentOperations as ops } from '../../contract/comments/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Followed, firstId, lastId, pageOfRows, pageStart, withinPage } from '../../kernel/transaction/page.ts'
import { together } from '../../kernel/transaction/together.ts'
import { fromSeen } from '../items/item.ts'
import { columnsOf } from './comment.ts'

type Listed = Comment & Followed

/** A comment that was deleted is there while another one replies to it. Refuses not_found, cursor.invalid. */
export async function listComments(
  ctx: Ctx,
  { itemId, order, id, cursor, size }: Received<typeof ops.listComments>,
): Promise<Answer<typeof ops.listComments>> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const list = { operation: 'listComments', filters: { itemId, order, id } }
  const after = pageStart(ctx, list, cursor)
  const isBehind =
    order === 'ASC' ? tx.part`k.id > ${after ?? firstId}::uuid` : tx.part`k.id < ${after ?? lastId}::uuid`
  const byId = order === 'ASC' ? tx.part`id` : tx.part`id desc`
  const rows = tx.part`
    select ${columnsOf(ctx)} from comment k
    where k.tenant_id = ${tenantId} and k.item_id = ${itemId} and ${isBehind}
      ${id === undefined ? tx.part`` : tx.part`and k.id = ${id}`}
      and (k.deleted_at is null or exists (
        select from comment r where r.tenant_id = k.tenant_id and r.reply_to_id = k.id and r.deleted_at is null))
    order by k.${byId} limit ${size + 1}`
  const bytes = tx.part`octet_length(body) + octet_length(media_ids::text) + octet_length(reactions::text)`
  const [seen, found] = await together(
    tx`select 1 ${fromSeen(ctx, itemId)}`,
    tx.last<Listed[]>`${withinPage(ctx, rows, { order: byId, bytes })}`,
  )
  if (seen.length === 0) refuse('not_found')
  return pageOfRows(ctx, list, found, size)
}
