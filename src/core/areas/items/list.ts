/**
 * The list of items.
 *
 * With a bucket it is the bucket's own order, otherwise the order of creation. In both cases a page
 * begins after a key, not after a count: an item that does not move is on exactly one page, however
 * many others move, and every page costs the same. Each combination of filters reads by an index in
 * its order (migration 0020).
 *
 * Spec: Index, Items; decisions 1 (Lists) and 3; docs/decisions/0105.
 */

import type { Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Followed, firstId, pageOfRows, withinPage } from '../../kernel/transaction/page.ts'
import { isSeen, visibleContainerIds } from '../access/access.ts'
import { representation } from './item.ts'
import { byPosition, byRank, inArchive, onBoard, shelfOf } from './shelf.ts'

type Query = Received<typeof ops.listItems>
type Filters = Omit<Query, 'cursor' | 'size'>

/** Refuses request.malformed, cursor.invalid, not_found for a filter that names what the caller does not see. */
export async function listItems(ctx: Ctx, query: Query): Promise<Answer<typeof ops.listItems>> {
  const { cursor, size, ...filters } = query
  const list = listOf(filters)
  const [after, afterId] = cursor === undefined ? [] : ctx.cursor.read(list.operation, list.filters, cursor)
  const containers = containersNamed(ctx, filters)
  const rows = listed(ctx, filters, containers, { after, afterId, size })
  if (filters.bucket_id === 'none' && filters.container_id === undefined)
    refuse('request.malformed', undefined, {
      errors: [{ parameter: 'container_id', code: 'member.required', params: {} }],
    })
  const isByRank = filters.bucket_id !== undefined
  const order = isByRank ? byPosition(ctx, filters.archived) : ctx.tx.part`id`
  const bytes = ctx.tx.part`coalesce(octet_length(description), 0) + pg_column_size(custom_fields)`
  const page = await ofSeen(ctx, containers, withinPage(ctx, rows, { order, bytes }), order)

  return pageOfRows(ctx, list, page, size, ({ id, position }) => (isByRank ? [position, id] : [id]))
}

/** What a cursor is bound to. The board writes cursors of this list. */
export const listOf = ({ archived, ...filters }: Filters) => ({
  operation: 'listItems',
  filters: archived === 'EXCLUDE' ? filters : { ...filters, archived },
})

interface Page {
  /** The last id or rank of the page before. */
  readonly after: string | undefined
  readonly afterId: string | undefined
  readonly size: number
}

/** The rows of a page, and one more. */
function listed(ctx: Ctx, filters: Filters, containers: readonly Part[], page: Page): Part {
  const { tx } = ctx
  const from = (shelf: Part) =>
    containers.length === 0 ? everywhere(ctx, filters, shelf, page) : narrowed(ctx, filters, shelf, containers)
  const begins = behind(ctx, filters, page)
  const most = page.size + 1
  if (filters.archived !== 'INCLUDE')
    return tx.part`select ${representation(ctx)} ${from(shelfOf(ctx, filters.archived))} ${begins} limit ${most}`
  const order = filters.bucket_id === undefined ? tx.part`id` : tx.part`bucket_id, ${byRank(ctx, filters.archived)}`
  return tx.part`
    select ${representation(ctx)} from (
      (select i.* ${from(onBoard(ctx))} ${begins} limit ${most})
      union all
      (select i.* ${from(inArchive(ctx))} ${begins} limit ${most})
      order by ${order} limit ${most}) i`
}

type Listed = Item & Followed

/** The rows of a page, if the caller sees all containers that it names. Refuses not_found. */
async function ofSeen(ctx: Ctx, containers: readonly Part[], rows: Part, order: Part): Promise<readonly Listed[]> {
  const { tx } = ctx
  if (containers.length === 0) return tx.last<Listed[]>`${rows}`
  const seen = containers.reduce((all, id) => tx.part`${all} and ${sees(ctx, id)}`, tx.part`true`)
  // No row: a container is not seen. A row of nulls: all are seen, and the page is empty.
  const found = await tx.last<(Listed | { readonly id: null })[]>`
    select p.* from (select where ${seen}) s left join (${rows}) p on true order by p.${order}`
  if (found.length === 0) refuse('not_found')
  return found[0]?.id === null ? [] : (found as Listed[])
}

/** The ids of the containers that the filters name, directly, or by a bucket, a label or an item in them. */
function containersNamed(ctx: Ctx, { container_id, bucket_id, label_id, parent_id }: Filters): Part[] {
  const { tenantId } = ctx.account
  const { part } = ctx.tx
  return [
    ...(container_id === undefined ? [] : [part`${container_id}::uuid`]),
    ...(bucket_id === undefined || bucket_id === 'none'
      ? []
      : [part`(select container_id from bucket where tenant_id = ${tenantId} and id = ${bucket_id})`]),
    ...(label_id === undefined
      ? []
      : [
          part`(select container_id from label where tenant_id = ${tenantId} and id = ${label_id} and deleted_at is null)`,
        ]),
    ...(parent_id === undefined
      ? []
      : [
          part`(select container_id from item where tenant_id = ${tenantId} and id = ${parent_id} and deleted_at is null)`,
        ]),
  ]
}

/** Whether the caller sees a container. */
const sees = (ctx: Ctx, containerId: Part): Part => ctx.tx.part`exists (
  select from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
  where c.tenant_id = ${ctx.account.tenantId} and c.id = ${containerId} and c.deleted_at is null and h.deleted_at is null
    and ${isSeen(ctx)})`

/**
 * All items that the caller sees. A guest sees few containers, so each is read separately, for one page at most. Other
 * callers see nearly all containers, so items of unseen containers are skipped.
 */
function everywhere(ctx: Ctx, { state }: Filters, shelf: Part, { after, size }: Page): Part {
  const { tenantId, isGuest } = ctx.account
  const { tx } = ctx
  const inState = state === undefined ? tx.part`` : tx.part`and i.state = ${state}`
  if (!isGuest)
    return tx.part`
      from item i
      where i.tenant_id = ${tenantId} and ${shelf} ${inState} and i.container_id in (${visibleContainerIds(ctx)})`
  return tx.part`
    from (${visibleContainerIds(ctx)}) seen, lateral (
      select i.* from item i
      where i.tenant_id = ${tenantId} and i.container_id = seen.id and ${shelf} ${inState} and i.id > ${after ?? firstId}::uuid
      order by i.id limit ${size + 1}) i
    where i.tenant_id = ${tenantId}`
}

/**
 * The items of filters that name at least one container. With a label but no bucket, the label's index drives the
 * query: it is in the order of items.
 */
function narrowed(
  ctx: Ctx,
  { bucket_id, label_id, parent_id, state }: Filters,
  shelf: Part,
  containers: readonly Part[],
): Part {
  const { tenantId } = ctx.account
  const { part } = ctx.tx
  const isByLabel = label_id !== undefined && bucket_id === undefined
  const from = isByLabel
    ? part`from item_label x join item i on i.tenant_id = x.tenant_id and i.id = x.item_id
        where x.tenant_id = ${tenantId} and x.label_id = ${label_id} and ${shelf}`
    : part`from item i where i.tenant_id = ${tenantId} and ${shelf}`
  const conditions = [
    // Filters that name different containers match no item.
    ...containers.map((id) => part`i.container_id = ${id}`),
    ...(bucket_id === undefined
      ? []
      : [bucket_id === 'none' ? part`i.bucket_id is null` : part`i.bucket_id = ${bucket_id}`]),
    ...(state === undefined ? [] : [part`i.state = ${state}`]),
    ...(parent_id === undefined ? [] : [part`i.parent_id = ${parent_id}`]),
    ...(label_id === undefined || isByLabel
      ? []
      : [
          part`exists (select from item_label x where x.tenant_id = ${tenantId} and x.item_id = i.id and x.label_id = ${label_id})`,
        ]),
  ]
  return conditions.reduce((all, one) => part`${all} and ${one}`, from)
}

function behind(ctx: Ctx, { bucket_id, label_id, archived }: Filters, { after, afterId }: Page): Part {
  const { tx } = ctx
  if (bucket_id !== undefined) {
    const isBehind =
      archived === 'EXCLUDE'
        ? tx.part`i.rank > ${after ?? ''}`
        : tx.part`(i.rank, i.id) > (${after ?? ''}, ${afterId ?? firstId}::uuid)`
    // With the bucket: where that is null, PostgreSQL would sort all items by their rank alone.
    return tx.part`and ${isBehind} order by bucket_id, ${byRank(ctx, archived)}`
  }
  if (label_id !== undefined) return tx.part`and x.item_id > ${after ?? firstId}::uuid order by x.item_id`
  return tx.part`and i.id > ${after ?? firstId}::uuid order by i.id`
}
