/** Lists files. Spec: items 4, O11. */
import type { Media, mediaOperations as ops } from '../../contract/media/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lastId, pageOfRows } from '../../kernel/transaction/page.ts'
import { columnsOf, keepsAll } from './media-row.ts'

type Query = Received<typeof ops.listMedia>

/** More than any file has. */
const largest = '9223372036854775807'

/** The newest or the largest first. Refuses cursor.invalid. */
export async function listMedia(ctx: Ctx, query: Query): Promise<Answer<typeof ops.listMedia>> {
  const { kind, state, is_attached, sort, cursor, size } = query
  const { tx, account } = ctx
  const list = { operation: 'listMedia', filters: { kind, state, is_attached, sort } }
  const place = cursor === undefined ? [] : ctx.cursor.read(list.operation, list.filters, cursor)
  const [id = lastId, bytes = largest] = place
  const whose = keepsAll(ctx) ? tx.part`` : tx.part`and m.created_by = ${account.accountId}`
  const bySize = sort === 'SIZE'
  const rows = await tx.last<Media[]>`
    select ${columnsOf(ctx)} from media m
    where m.tenant_id = ${account.tenantId} and m.withheld_at is null ${whose}
      ${bySize ? tx.part`and (m.size_bytes, m.id) < (${bytes}::bigint, ${id}::uuid)` : tx.part`and m.id < ${id}::uuid`}
      ${kind === undefined ? tx.part`` : tx.part`and m.kind = ${kind}`}
      ${state === undefined ? tx.part`` : tx.part`and m.state = ${state}`}
      ${is_attached === undefined ? tx.part`` : is_attached === 'true' ? tx.part`and m.loose_since is null` : tx.part`and m.loose_since is not null`}
    order by ${bySize ? tx.part`m.size_bytes desc, m.id desc` : tx.part`m.id desc`} limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size, (last) => [last.id, String(last.size_bytes)])
}
