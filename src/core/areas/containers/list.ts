/** Lists the hubs and collections that the caller sees. Spec: Index, Containers; decisions 3. */

import type { Container, containerOperations as ops } from '../../contract/containers/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Followed, firstId, pageOfRows, pageStart, withinPage } from '../../kernel/transaction/page.ts'
import { hubPolicyColumns, isSeen, type PolicyColumns } from '../access/access.ts'
import { containerOf } from './representation.ts'

type Query = Received<typeof ops.listContainers>
type Listed = Omit<Container, 'policies' | 'effective_policies'> & PolicyColumns & Followed

/**
 * Oldest first; positions are counted before the filters, so they are the same in every list. Refuses cursor.invalid.
 */
export async function listContainers(ctx: Ctx, query: Query): Promise<Answer<typeof ops.listContainers>> {
  const { kind, parent_id, state, cursor, size } = query
  const list = { operation: 'listContainers', filters: { kind, parent_id, state } }
  const { tenantId } = ctx.account
  const after = pageStart(ctx, list, cursor)
  const { tx } = ctx
  const rows = tx.part`
    select id, kind, parent_id, name, description, position, is_private, archived_at, deleted_at, created_at, updated_at, version,
           trash_days, archive_done_after_days, delete_role, comment_role, complete_needs_children, complete_children, auto_assign_group_id,
           hub_trash_days, hub_archive_done_after_days, hub_delete_role, hub_comment_role, hub_complete_needs_children,
           hub_complete_children, hub_auto_assign_group_id
    from (
      select c.*, h.archived_at as hub_archived_at, ${hubPolicyColumns(tx, tenantId)},
             c.deleted_at is null and h.deleted_at is null as is_there,
             count(*) filter (where c.deleted_at is null) over (partition by c.parent_id order by c.rank)::int
               - (c.deleted_at is null)::int as position
      from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
      where c.tenant_id = ${tenantId} and ${isSeen(ctx)}) seen
    where id > ${after ?? firstId}::uuid and ${inState(ctx, state)}
      ${kind === undefined ? tx.part`` : tx.part`and kind = ${kind}`}
      ${parent_id === undefined ? tx.part`` : tx.part`and parent_id = ${parent_id}`}
    order by id limit ${size + 1}`
  const page = withinPage(ctx, rows, { order: tx.part`id`, bytes: tx.part`coalesce(octet_length(description), 0)` })
  const { data, next_cursor } = pageOfRows(ctx, list, await tx.last<Listed[]>`${page}`, size)
  return { data: data.map((row) => containerOf(row, row.position)), next_cursor }
}

function inState({ tx }: Ctx, state: Query['state']): Part {
  switch (state) {
    case undefined:
      return tx.part`is_there`
    case 'ACTIVE':
      return tx.part`is_there and archived_at is null and hub_archived_at is null`
    case 'ARCHIVED':
      return tx.part`is_there and (archived_at is not null or hub_archived_at is not null)`
    case 'DELETED':
      return tx.part`deleted_at is not null and purged_at is null`
  }
}
