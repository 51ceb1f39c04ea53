/** The list of the trash. Spec: items 3, N1. */
import { mostCountedInTrash, type itemTrashOperations as ops, type TrashRow } from '../../../contract/items/trash.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { firstId, pageOfRows } from '../../../kernel/transaction/page.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { trashDaysOf, visibleContainer } from '../../access/access.ts'
import { trashedContainers, trashedItems } from './content.ts'

interface Listed extends TrashRow {
  /** `deleted_at` to the microsecond, which the order and the cursor are by. */
  readonly place: string
  readonly kept_since: string
}

/** Refuses not_found, auth.role_required, cursor.invalid. */
export async function listTrash(
  ctx: Ctx,
  { kind, container_id, cursor, size }: Received<typeof ops.listTrash>,
): Promise<Answer<typeof ops.listTrash>> {
  const list = { operation: 'listTrash', filters: { kind, container_id } }
  const [at = 'infinity', id = firstId] =
    cursor === undefined ? [] : ctx.cursor.read(list.operation, list.filters, cursor)
  const { tx } = ctx
  const trash = { holder: ctx.account, role: 'MEMBER', containerId: container_id } as const
  const most = size + 1
  const items = tx.part`
    (select 'ITEM' as kind, i.id, i.title, i.container_id, i.deleted_at, i.deleted_by, i.kept_since, i.version
     ${trashedItems(tx, trash)} and (i.deleted_at, i.id) < (${at}::timestamptz, ${id}::uuid)
     order by i.deleted_at desc, i.id desc limit ${most})`
  const containers = tx.part`
    (select 'CONTAINER' as kind, c.id, c.name as title, c.parent_id as container_id, c.deleted_at, c.deleted_by, c.kept_since, c.version
     ${trashedContainers(tx, trash)} and (c.deleted_at, c.id) < (${at}::timestamptz, ${id}::uuid)
     order by c.deleted_at desc, c.id desc limit ${most})`
  const both = tx.part`${items} union all ${containers}`
  const rows = kind === undefined ? both : kind === 'ITEM' ? items : containers
  const [, found] = await together(
    container_id !== undefined && visibleContainer(ctx, container_id, 'MEMBER'),
    tx.last<Listed[]>`
      select t.*, t.deleted_at::text as place,
             greatest(t.deleted_at, t.kept_since) + make_interval(days => nullif(${trashDaysOf(tx, ctx.account.tenantId)}, 0)) as purge_after,
             case t.kind when 'ITEM' then ${countWith(ctx)} else ${countOf(ctx, tx.part`t.id`)} end as item_count
      from (select * from (${rows}) r order by deleted_at desc, id desc limit ${most}) t
      join container c on c.tenant_id = ${ctx.account.tenantId} and c.id = case t.kind when 'ITEM' then t.container_id else t.id end
      left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
      order by t.deleted_at desc, t.id desc`,
  )
  return pageOfRows(ctx, list, found, size, ({ place, id: last }) => [place, last])
}

/** How many items the row `t` of the trash stands for: itself, and what was deleted with it. */
const countWith = ({ tx, account: { tenantId } }: Ctx): Part => tx.part`
  (1 + (select count(*) from item w where w.tenant_id = ${tenantId} and w.deleted_with = t.id and w.purged_at is null))::int`

/** How many items a container has, with those of its collections. Each kind of them has an index of its own. */
function countOf({ tx, account: { tenantId } }: Ctx, containerId: Part): Part {
  const count = (shelf: Part) => tx.part`
    (select count(*) from (
      select 1 from item x
      where x.tenant_id = ${tenantId} and ${shelf} and x.container_id in (
        select k.id from container k where k.tenant_id = ${tenantId} and (k.id = ${containerId} or k.parent_id = ${containerId}))
      limit ${mostCountedInTrash}) counted)`
  return tx.part`least(${mostCountedInTrash},
    ${count(tx.part`x.deleted_at is null and x.archived_at is null`)}
    + ${count(tx.part`x.deleted_at is null and x.archived_at is not null`)}
    + ${count(tx.part`x.deleted_at is not null and x.purged_at is null`)})::int`
}
