/**
 * A page in the order of creation, or in that of a board: an index is read in its order, up to a bounded number of items.
 *
 *    created   one part: the candidates by id
 *    board     a part for each bucket from the left, and one for the items in none
 *
 * The place is the part (the rank of its bucket, behind a `b`) and the id or the rank of the last item looked at. Where the
 * bound ends a page, it is short, and the next one goes on behind the last item that was looked at.
 */
import type { Item } from '../../../contract/items/operations.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { type Followed, roomFor, withinPage } from '../../../kernel/transaction/page.ts'
import { once } from '../filter/compile.ts'
import { representation } from '../item.ts'
import { onBoard } from '../shelf.ts'
import type { Asked } from './asked.ts'
import { type Source, turned } from './candidates.ts'

export interface Listed extends Item, Followed {
  readonly without_keys: boolean
}

export interface Page {
  readonly items: readonly Listed[]
  /** The place that the next page begins behind; undefined: there is none. */
  readonly next: readonly string[] | undefined
}

interface Stretch {
  /** What names it in a place. */
  readonly mark: string
  /** Items `i` of it behind a place, in order. */
  readonly rows: (after: string | undefined, most: number) => Part
  readonly order: Part
  readonly placeOf: (item: Pick<Item, 'id' | 'position'>) => string
}

export async function walk(ctx: Ctx, asked: Asked, source: Source): Promise<Page> {
  const stretches = await stretchesOf(ctx, asked, source)
  const [mark, from] = asked.after ?? []
  const items: Listed[] = []
  let isFirst = true
  let left = source.mostLooked
  for (const stretch of stretches) {
    if (mark !== undefined && isFirst && stretch.mark < mark) continue
    const after = isFirst && stretch.mark === mark ? from : undefined
    isFirst = false
    const { found, end, looked } = await read(ctx, stretch, source.where, {
      after,
      size: asked.size - items.length,
      most: left,
    })
    items.push(...found)
    if (end !== undefined) return { items, next: [stretch.mark, end] }
    left -= looked
    // The next stretch may be empty; that is seen by the page that asks for it.
    if (items.length === asked.size) return { items, next: nextMark(stretches, stretch) }
  }
  return { items, next: undefined }
}

const nextMark = (stretches: readonly Stretch[], current: Stretch) => {
  const next = stretches[stretches.indexOf(current) + 1]
  return next && [next.mark, '']
}

interface Reading {
  readonly after: string | undefined
  readonly size: number
  readonly most: number
}

/** `end`: the place of the last item looked at, if there may be more behind it. `looked`: how many were. */
async function read(ctx: Ctx, { rows, order, placeOf }: Stretch, where: Part, { after, size, most }: Reading) {
  const { tx } = ctx
  const candidates = rows(after === '' ? undefined : after, most)
  const matches = tx.part`
    select ${representation(ctx)}, i.without_keys from (${candidates}) i where ${where} order by ${order} limit ${size + 1}`
  const bytes = tx.part`coalesce(octet_length(description), 0) + pg_column_size(custom_fields)`
  const plainOrder = placeOf === byRank ? tx.part`position` : order
  const read = await tx<Listed[]>`${once(withinPage(ctx, matches, { order: plainOrder, bytes }))}`
  const found = read.slice(0, roomFor(read, size))
  const last = found.at(-1)
  const isFollowed = read.length > found.length || last?.is_followed === true
  if (isFollowed && last) return { found, end: placeOf(last), looked: found.length }
  const [end] = await tx<{ looked: number; id: string; position: string }[]>`${once(tx.part`
    select n.* from (
      select i.id, i.rank as position, row_number() over (order by ${order})::int as looked from (${candidates}) i) n
    order by n.looked desc limit 1`)}`
  return { found, end: end?.looked === most ? placeOf(end) : undefined, looked: end?.looked ?? 0 }
}

const byRank = ({ position }: Pick<Item, 'position'>) => position
const byId = ({ id }: Pick<Item, 'id'>) => id

async function stretchesOf(
  ctx: Ctx,
  { sorts: [sort], containerId }: Asked,
  { candidates }: Source,
): Promise<Stretch[]> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const isDescending = sort?.isDescending === true
  if (sort?.by !== 'board' || containerId === undefined) {
    const rows: Stretch['rows'] = (after, most) => candidates(after, most, isDescending)
    return [{ mark: 'a', rows, order: tx.part`id ${turned(tx, isDescending)}`, placeOf: byId }]
  }
  const buckets = await tx<{ id: string; rank: string }[]>`
    select id, rank from bucket where tenant_id = ${tenantId} and container_id = ${containerId} order by rank`
  const stretch = (mark: string, inBucket: Part): Stretch => ({
    mark,
    rows: (after, most) => tx.part`
      select i.* from item i
      where i.tenant_id = ${tenantId} and i.container_id = ${containerId} and ${inBucket} and ${onBoard(ctx)}
        and i.rank > ${after ?? ''}
      order by i.bucket_id, i.rank limit ${most}`,
    order: tx.part`i.rank`,
    placeOf: byRank,
  })
  return [
    ...buckets.map(({ id, rank }) => stretch(`b${rank}`, tx.part`i.bucket_id = ${id}`)),
    stretch('c', tx.part`i.bucket_id is null`),
  ]
}
