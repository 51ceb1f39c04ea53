/**
 * Places: which bucket an item goes to, and its rank there.
 *
 * Who puts an item before another one holds the places of that bucket until the commit, so that two at once do not find
 * the same gap. Who puts it at the end holds nothing: two at once get different ranks (`rankBehind`), and in which order
 * they stand is not decided by who began. If they ever got the same rank, the index `item_in_order` fails one of them,
 * which runs again. Only the row that moves is written. One transaction assigns one rank, and waits for places last. The
 * neighbours need no lock: removing one makes room and keeps the order.
 *
 * A deadlock is possible with the deletion of a bucket, which locks the bucket before its items: one of the two runs
 * again.
 *
 * Spec: `before_item_id`; decisions 3; docs/decisions/0105 and 0181.
 */

import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { rankBehind, rankBetween } from '../../kernel/values/rank.ts'
import { holdPlaces } from '../structure/buckets/places.ts'
import { onBoard } from './shelf.ts'

/** A place in a container, which the functions take as a query for its id. */
interface Place {
  /** Null: among the items without a bucket. Undefined: the leftmost bucket. */
  readonly bucketId: string | null | undefined
  /** Only among the done buckets (true) or the others, where the leftmost bucket is meant. */
  readonly isDone?: boolean
  /** Absent or null: the end. */
  readonly before?: string | null | undefined
  /** The item that moves, which does not count as a neighbour; absent for a new one. */
  readonly moving?: string
}

/** A place, by its neighbours; null is the open end. */
interface Gap {
  readonly bucket_id: string | null
  /** The bucket whose places are held; at an open end none are, and it is the same as `bucket_id`. */
  readonly held_id: string | null
  readonly left: string | null
  readonly right: string | null
}

interface Found {
  readonly bucketId: string | null
  readonly gap: Gap
}

interface Standing {
  readonly bucketId: string | null
  readonly rank: string
}

/**
 * The bucket and the rank of a place; the bucket does not change until the commit. Refuses request.invalid at /bucket_id and
 * /before_item_id, order.exhausted.
 */
export async function placeAt(ctx: Ctx, containerId: Part, place: Place): Promise<Standing> {
  const { bucketId, gap } = await gapFor(ctx, containerId, place)
  return { bucketId, rank: rankIn(gap) }
}

/** A place, found. Its bucket does not change until the commit, nor do its neighbours before an item. Refuses as `placeAt`. */
export async function gapFor(ctx: Ctx, containerId: Part, place: Place): Promise<Found> {
  const [bucketId, gap] = await together(bucketFor(ctx, containerId, place), gapAt(ctx, containerId, place))
  if (place.bucketId === undefined && (bucketId === null || !isOf(gap, bucketId)))
    return gapFor(ctx, containerId, { ...place, bucketId })
  return { bucketId, gap: known(place, gap) }
}

/** The end of the leftmost done bucket, or of the leftmost other one; undefined if there is none. */
export async function placeInKind(
  ctx: Ctx,
  containerId: Part,
  { isDone, moving }: Required<Pick<Place, 'isDone' | 'moving'>>,
): Promise<Standing | undefined> {
  const [bucketId, gap] = await together(
    leftmostBucket(ctx, containerId, isDone),
    gapAt(ctx, containerId, { bucketId: undefined, isDone, moving }),
  )
  if (bucketId === null) return undefined
  if (!isOf(gap, bucketId)) return placeAt(ctx, containerId, { bucketId, moving })
  return { bucketId, rank: rankIn(gap) }
}

/** The rank of a place in the item's own bucket: its current rank if it is already there. Refuses as `placeAt`. */
export async function rankFor(ctx: Ctx, containerId: Part, place: Place, current: string): Promise<string> {
  return rankFrom(known(place, await gapAt(ctx, containerId, place)), current)
}

/** The rank in a gap: the current one if it is already there; undefined in another bucket. Refuses order.exhausted. */
export function rankFrom(gap: Pick<Gap, 'left' | 'right'>, current: string | undefined): string {
  if (current === undefined) return rankIn(gap)
  const isThere = (gap.left === null || gap.left < current) && (gap.right === null || current < gap.right)
  return isThere ? current : rankIn(gap)
}

const rankIn = ({ left, right }: Pick<Gap, 'left' | 'right'>): string =>
  right === null ? rankBehind(left) : rankBetween(left, right)

/**
 * Whether the three statements found the same leftmost bucket: the lock of its row, that of its places, and the look at
 * its items. If another one became the leftmost meanwhile, the bucket whose row is locked is asked for by its id.
 */
const isOf = (gap: Gap, bucketId: string) => gap.bucket_id === bucketId && gap.held_id === bucketId

async function gapAt(ctx: Ctx, containerId: Part, place: Place): Promise<Gap> {
  const { before, moving } = place
  if (before && before === moving) refuseMember('/before_item_id', 'reference.itself')
  if (!before) {
    const [end] = await atTheEnd(ctx, containerId, place)
    return end ? { ...end, held_id: end.bucket_id } : refuse('not_found')
  }
  // The second statement sees what the previous holder of the places committed.
  const [held_id, [gap]] = await together(
    holdPlaces(ctx, containerId, bucketOf(ctx, containerId, place)),
    besides(ctx, containerId, place, before),
  )
  return gap ? { ...gap, held_id } : refuse('not_found')
}

/** The gap before an item that is there. */
function known({ before }: Place, gap: Gap): Gap {
  return before && gap.right === null ? refuseMember('/before_item_id', 'reference.unknown') : gap
}

/** The bucket of a place, as a value or as a query. */
const bucketOf = (ctx: Ctx, containerId: Part, { bucketId, isDone }: Place): Part =>
  bucketId === undefined
    ? ctx.tx.part`(select b.id ${leftmost(ctx, containerId, isDone)})`
    : ctx.tx.part`${bucketId}::uuid`

const besides = (ctx: Ctx, containerId: Part, place: Place, before: string) => ctx.tx<Omit<Gap, 'held_id'>[]>`
  select p.bucket_id, n.rank as right,
         (select i.rank ${among(ctx, containerId, place)} and i.rank < n.rank order by i.bucket_id desc, i.rank desc limit 1) as left
  from (select ${bucketOf(ctx, containerId, place)} as bucket_id) p
  left join lateral (select i.rank ${among(ctx, containerId, place, theItem(ctx, before))}) n on true`

const atTheEnd = (ctx: Ctx, containerId: Part, place: Place) => ctx.tx<Omit<Gap, 'held_id'>[]>`
  select p.bucket_id, (select i.rank ${among(ctx, containerId, place)} order by i.bucket_id desc, i.rank desc limit 1) as left, null as right
  from (select ${bucketOf(ctx, containerId, place)} as bucket_id) p`

/**
 * The items of the bucket `p`, except the one that moves. Their order names the bucket as well: where that is null, the
 * index is in no other order for PostgreSQL, and all of them would be sorted.
 */
const among = (ctx: Ctx, containerId: Part, { bucketId, moving }: Place, items = ctx.tx.part`item`) => {
  const { tenantId } = ctx.account
  const { tx } = ctx
  // Written as a value where it is one: the index does not serve `is not distinct from`.
  const bucket = bucketId === null ? tx.part`i.bucket_id is null` : tx.part`i.bucket_id = p.bucket_id`
  return tx.part`
    from ${items} i where i.tenant_id = ${tenantId} and i.container_id = ${containerId} and ${bucket}
      and ${onBoard(ctx)} and i.id <> ${moving ?? tenantId}`
}

/**
 * One item, found by its id and nothing else: PostgreSQL takes a bucket for small, and would look for the item among all
 * that the bucket has.
 */
const theItem = ({ tx, account: { tenantId } }: Ctx, itemId: string): Part =>
  tx.part`(select * from item x where x.tenant_id = ${tenantId} and x.id = ${itemId} offset 0)`

/** The bucket that a request body names, locked until the commit. Refuses request.invalid at /bucket_id. */
async function bucketFor(ctx: Ctx, containerId: Part, { bucketId }: Place): Promise<string | null> {
  if (bucketId === null) return null
  if (bucketId === undefined) return leftmostBucket(ctx, containerId)
  const [bucket] = await ctx.tx`
    select 1 from bucket b where b.tenant_id = ${ctx.account.tenantId} and b.container_id = ${containerId} and b.id = ${bucketId}
    for share`
  return bucket ? bucketId : refuseMember('/bucket_id', 'reference.unknown')
}

/**
 * The leftmost bucket; with `isDone`, the leftmost done bucket (true) or other bucket (false). Null if there is none.
 * It does not change until the commit.
 */
async function leftmostBucket(ctx: Ctx, containerId: Part, isDone?: boolean): Promise<string | null> {
  const look = () => ctx.tx<{ id: string }[]>`select b.id ${leftmost(ctx, containerId, isDone)} for share`
  const [bucket] = await look()
  if (bucket) return bucket.id
  // The bucket may have been deleted while this statement waited for its lock; a second look finds the next one.
  const [next] = await look()
  return next?.id ?? null
}

const leftmost = (ctx: Ctx, containerId: Part, isDone?: boolean): Part => {
  const { tx } = ctx
  const ofKind = isDone === undefined ? tx.part`` : tx.part`and b.is_done_bucket = ${isDone}`
  return tx.part`
    from bucket b where b.tenant_id = ${ctx.account.tenantId} and b.container_id = ${containerId} ${ofKind}
    order by b.rank limit 1`
}
