/**
 * A board in one answer: the container, its buckets, and the first items of each. It is the first
 * screen of every client, which would otherwise call once for each bucket.
 *
 * All statements see one moment (`ofOneMoment`). The items are read by the index of their order, for
 * each bucket no more than are asked for. Spec: decisions 7, the board; docs/decisions/0178.
 */
import type { Board, Item, itemOperations as ops } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import type { Bucket } from '../../contract/structure/operations.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Followed, roomOnPage, withinPage } from '../../kernel/transaction/page.ts'
import { together } from '../../kernel/transaction/together.ts'
import { visibleContainer } from '../access/access.ts'
import { positionOf } from '../containers/order.ts'
import { containerOf } from '../containers/representation.ts'
import { bucketsOf } from '../structure/buckets/bucket-row.ts'
import { representation } from './item.ts'
import { listOf } from './list.ts'
import { byPosition, byRank, inArchive, onBoard, shelfOf } from './shelf.ts'

/** Of how many items of a bucket nobody keeps count: archived ones, and those in no bucket. */
const unknown = Number.POSITIVE_INFINITY

type Query = Received<typeof ops.getBoard>
type Placed = Item & Followed & { readonly bucket_rank: string | null }

/** Refuses not_found. */
export async function readBoard(ctx: Ctx, query: Query): Promise<Board> {
  const { containerId } = query
  const [row, buckets, items, position] = await together(
    visibleContainer(ctx, containerId),
    ctx.tx<Bucket[]>`select * from (${bucketsOf(ctx, containerId)}) b order by b.position`,
    firstItems(ctx, query),
    positionOf(ctx, containerId, ctx.tx.last),
  )
  const room = roomOnPage(items, items.length)
  const isWhole = room === items.length && items.at(-1)?.is_followed !== true
  const shown = new Map([...buckets.map(({ id }) => id), null].map((id) => [id, [] as Placed[]]))
  for (const item of items.slice(0, room)) shown.get(item.bucket_id)?.push(item)

  const part = (bucketId: string | null, most: number) => {
    const read = shown.get(bucketId) ?? []
    const data = read.slice(0, query.size)
    const isFollowed = read.length > data.length || (!isWhole && data.length < Math.min(most, query.size))
    const next_cursor = isFollowed ? cursorAfter(ctx, query, bucketId, data.at(-1)) : null
    return { items: data, next_cursor }
  }
  return {
    container: containerOf(row, position),
    buckets: buckets.map((bucket) => ({
      ...bucket,
      ...part(bucket.id, query.archived === 'EXCLUDE' ? bucket.item_count : unknown),
    })),
    unbucketed: part(null, unknown),
  }
}

/** Of each bucket from the left, and then of no bucket, one item more than is asked for. Ends at about 1 MiB. */
function firstItems(ctx: Ctx, query: Query): Promise<Placed[]> {
  const { containerId, archived } = query
  const { tenantId } = ctx.account
  const { tx } = ctx
  const order = byRank(ctx, archived)
  const firstOfEach = firstOf(ctx, query, tx.part`i.bucket_id = b.id`, order)
  const firstOfNone = firstOf(ctx, query, tx.part`i.bucket_id is null`, tx.part`bucket_id, ${order}`)
  const rows = tx.part`
    select of_bucket.*, b.rank as bucket_rank from bucket b cross join lateral (${firstOfEach}) of_bucket
    where b.tenant_id = ${tenantId} and b.container_id = ${containerId}
    union all
    select of_none.*, null from (${firstOfNone}) of_none`
  return tx<Placed[]>`
    ${withinPage(ctx, rows, {
      order: tx.part`bucket_rank nulls last, ${byPosition(ctx, archived)}`,
      bytes: tx.part`coalesce(octet_length(description), 0) + pg_column_size(custom_fields)`,
    })}`
}

/** The first `size` items of a bucket or of no bucket, and one more. */
function firstOf(ctx: Ctx, { containerId, size, state, archived }: Query, inBucket: Part, order: Part): Part {
  const { tenantId } = ctx.account
  const { tx } = ctx
  const inState = state === undefined ? tx.part`` : tx.part`and i.state = ${state}`
  const from = tx.part`from item i where i.tenant_id = ${tenantId} and i.container_id = ${containerId} and ${inBucket} ${inState}`
  const most = size + 1
  if (archived !== 'INCLUDE')
    return tx.part`select ${representation(ctx)} ${from} and ${shelfOf(ctx, archived)} order by ${order} limit ${most}`
  return tx.part`
    select ${representation(ctx)} from (
      (select i.* ${from} and ${onBoard(ctx)} order by ${order} limit ${most})
      union all
      (select i.* ${from} and ${inArchive(ctx)} order by ${order} limit ${most})
      order by ${order} limit ${most}) i`
}

/** Where `GET /items` goes on in a bucket, behind the last item shown. */
function cursorAfter(ctx: Ctx, query: Query, bucketId: string | null, last: Item | undefined): string {
  const { containerId, state, archived } = query
  const bucket = bucketId === null ? { container_id: containerId, bucket_id: 'none' } : { bucket_id: bucketId }
  const { operation, filters } = listOf({ ...bucket, state, archived })
  return ctx.cursor.write(operation, filters, last ? [last.position, last.id] : [''])
}
