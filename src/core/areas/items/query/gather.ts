/**
 * Matches that are gathered first: to be sorted where no index has the order, to be grouped, or to be counted.
 *
 * At most 10,000 are, of at most as many items as one page looks at (candidates.ts), and at least of 10,000. A count says that there may be
 * more; an order of a part would be none, so it is refused. Nothing sorts last in either order, and then the id.
 * Spec: Work on boards, 2, N3.
 */
import type { Item } from '../../../contract/items/operations.ts'
import { mostGroups, mostMatches, mostOfGroup } from '../../../contract/items/query.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { roomFor } from '../../../kernel/transaction/page.ts'
import { isShown, once } from '../filter/compile.ts'
import { titleField } from '../filter/keys.ts'
import { representation } from '../item.ts'
import type { Asked } from './asked.ts'
import type { Source } from './candidates.ts'
import { type Group, groupKeys } from './group-key.ts'
import type { SortKey } from './sort-key.ts'
import type { Listed, Page } from './walk.ts'

interface Gathered {
  readonly matches: number
  /** Whether items were left that nobody looked at. */
  readonly is_cut: boolean
}

type Sorted = Listed & Gathered & { readonly k1: string | null; readonly k2: string | null }

/** A filter of many conditions is no reason to refuse what may be gathered. */
const mostGathered = ({ config: { queryScanRows } }: Ctx, { mostLooked }: Source): number =>
  Math.max(mostLooked, Math.min(queryScanRows, mostMatches))

/** Whether more were looked at than may be. */
function isCut(ctx: Ctx, source: Source): Part {
  const most = mostGathered(ctx, source)
  return ctx.tx.part`exists (select from (${source.candidates(undefined, most + 1, false)}) c offset ${most}::int)`
}

const looked = (ctx: Ctx, source: Source): Part => source.candidates(undefined, mostGathered(ctx, source), false)

/** The item of what was found `f`: by its id, because how many were found, PostgreSQL cannot know when it plans. */
const itemOf = (ctx: Ctx): Part => ctx.tx.part`(
  select i.* from item i where i.tenant_id = ${ctx.account.tenantId} and i.id = f.id offset 0)`

/**
 * The matches `i` of what must not be cut. Whether it is comes first: nothing is compared for an answer that is a refusal, and
 * 10,000 items beside fifty conditions are seconds.
 */
const cut = (ctx: Ctx, source: Source): Part =>
  ctx.tx.part`cut as materialized (select ${isCut(ctx, source)} as is_cut)`
const uncut = (ctx: Ctx, source: Source): Part => ctx.tx.part`(
  select i.* from (${looked(ctx, source)}) i where not (select is_cut from cut) and ${source.where} limit ${mostMatches + 1})`

/** How many items match, and whether there may be more. */
export async function countMatches(ctx: Ctx, source: Source): Promise<{ total: number; total_capped: boolean }> {
  const { tx } = ctx
  const [row] = await tx<Gathered[]>`${once(tx.part`
    select (select count(*)::int from (select from (${looked(ctx, source)}) i where ${source.where} limit ${mostMatches + 1}) m) as matches,
           ${isCut(ctx, source)} as is_cut`)}`
  const matches = row?.matches ?? 0
  return { total: Math.min(matches, mostMatches), total_capped: matches > mostMatches || row?.is_cut === true }
}

/** The ids of all matches, oldest first. Refuses query.too_broad. */
export async function allMatches(ctx: Ctx, source: Source): Promise<readonly string[]> {
  const { tx } = ctx
  const rows = await tx<(Gathered & { id: string | null })[]>`${once(tx.part`
    with ${cut(ctx, source)},
    found as materialized (select i.id from ${uncut(ctx, source)} i)
    select n.*, f.id from (select count(*)::int as matches, (select is_cut from cut) as is_cut from found) n
    left join found f on true order by f.id`)}`
  refuseBroad(ctx, source, rows[0])
  return rows.flatMap(({ id }) => id ?? [])
}

/** Refuses query.too_broad. */
export async function sortedPage(ctx: Ctx, asked: Asked, source: Source): Promise<Page> {
  const { tx } = ctx
  const [first, second] = asked.sorts.map((sort) => ({ sort, key: keyOf(ctx, sort) }))
  const keys = tx.part`${first?.key ?? tx.part`null::text`} as k1, ${second?.key ?? tx.part`null::text`} as k2`
  const order = orderOf(ctx, asked.sorts)
  const rows = await tx<(Sorted | (Gathered & { id: null }))[]>`${once(tx.part`
    with ${cut(ctx, source)},
    found as materialized (select i.id, ${keys} from ${uncut(ctx, source)} i)
    select n.*, p.* from (select count(*)::int as matches, (select is_cut from cut) as is_cut from found) n
    left join (
      select ${representation(ctx)}, i.without_keys, f.k1, f.k2
      from (select * from found where ${behind(ctx, asked)} order by ${order} limit ${asked.size + 1}) f
      cross join lateral ${itemOf(ctx)} i) p on true
    order by ${order}`)}`
  refuseBroad(ctx, source, rows[0])
  const items = rows.filter((row): row is Sorted => row.id !== null)
  const shown = items.slice(0, roomFor(items, asked.size))
  const last = shown.at(-1)
  const isFollowed = items.length > shown.length && last !== undefined
  const place = (key: string | null) => (key === null ? 'none' : `=${key}`)
  return { items: shown, next: isFollowed ? [place(last.k1), place(last.k2), last.id] : undefined }
}

function refuseBroad(ctx: Ctx, source: Source, gathered: Gathered | undefined): void {
  if ((gathered?.matches ?? 0) > mostMatches) refuse('query.too_broad', { limit: mostMatches })
  if (gathered?.is_cut) refuse('query.too_broad', { limit: mostGathered(ctx, source) })
}

/** What an item is sorted by, as text whose order by code unit is that of the values. */
function keyOf(ctx: Ctx, sort: SortKey): Part {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const keyIn = (fieldId: string) => tx.part`
    select coalesce(k.whole, k.key) from item_field_key k
    where k.tenant_id = ${tenantId} and k.field_id = ${fieldId} and k.item_id = i.id limit 1`
  const moment = (at: Part) => tx.part`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') collate "C"`
  switch (sort.by) {
    case 'custom':
      return tx.part`case when ${isShown(ctx, sort.custom)} then (${keyIn(sort.custom.id)}) end`
    case 'title':
      return tx.part`(${keyIn(titleField)})`
    case 'siblings':
      return tx.part`i.sibling_rank`
    case 'updated':
      return moment(tx.part`i.updated_at`)
    case 'start':
      return moment(tx.part`i.start_at`)
    case 'due':
      return moment(tx.part`i.due_at`)
    case 'completed':
      return moment(tx.part`i.completed_at`)
    case 'board':
      // A blank is below and a tilde above every character of a rank.
      return tx.part`coalesce((select b.rank from bucket b where b.tenant_id = ${tenantId} and b.id = i.bucket_id), '~') || ' ' || i.rank`
    case 'created':
      return tx.part`i.id::text collate "C"`
  }
}

function orderOf({ tx }: Ctx, [first, second]: readonly SortKey[]): Part {
  const turn = (sort: SortKey | undefined) => (sort?.isDescending ? tx.part`desc nulls last` : tx.part`nulls last`)
  return tx.part`k1 ${turn(first)}, k2 ${turn(second)}, id`
}

/** Whether a row `k1, k2, id` is behind the place of the cursor. */
function behind({ tx }: Ctx, { after, sorts }: Asked): Part {
  if (after === undefined) return tx.part`true`
  const [place1 = 'none', place2 = 'none', id = ''] = after
  const level = (key: Part, place: string, sort: SortKey | undefined) => {
    if (place === 'none') return { same: tx.part`${key} is null`, further: tx.part`false` }
    const value = tx.part`${place.slice(1)}::text collate "C"`
    const beyond = sort?.isDescending ? tx.part`${key} < ${value}` : tx.part`${key} > ${value}`
    return { same: tx.part`${key} = ${value}`, further: tx.part`(${beyond} or ${key} is null)` }
  }
  const first = level(tx.part`k1`, place1, sorts[0])
  const second = level(tx.part`k2`, place2, sorts[1])
  return tx.part`(${first.further} or ${first.same} and (${second.further} or ${second.same} and id > ${id}::uuid))`
}

interface GroupRow extends Gathered {
  readonly key: string | null
  readonly count: number
  readonly nth: number
}
type GroupedItem = Sorted & GroupRow

export interface FoundGroup {
  readonly key: string | null
  readonly count: number
  readonly items: readonly GroupedItem[]
}

/** The first items of each group, in the order of its key. Refuses query.too_broad. */
export async function groupsOf(ctx: Ctx, asked: Asked, group: Group, source: Source): Promise<FoundGroup[]> {
  const { tx } = ctx
  const size = Math.min(asked.size, mostOfGroup)
  const [first, second] = asked.sorts.map((sort) => keyOf(ctx, sort))
  const order = orderOf(ctx, asked.sorts)
  const rows = await tx<(GroupedItem | (GroupRow & { id: null }))[]>`${once(tx.part`
    with ${cut(ctx, source)},
    found as materialized (
      select i.id, g.key, ${first ?? tx.part`null::text`} as k1, ${second ?? tx.part`null::text`} as k2
      from ${uncut(ctx, source)} i ${groupKeys(ctx, group)}),
    placed as (
      select f.*, count(*) over (partition by f.key)::int as count, row_number() over (partition by f.key order by ${order})::int as nth,
             dense_rank() over (order by f.key collate "C" nulls last) as place from found f)
    select n.*, p.* from (select count(distinct id)::int as matches, (select is_cut from cut) as is_cut from found) n
    left join (
      select ${representation(ctx)}, i.without_keys, f.k1, f.k2, f.key, f.count, f.nth, f.place
      from (select * from placed where nth <= ${size} and place <= ${mostGroups}) f
      cross join lateral ${itemOf(ctx)} i) p on true
    order by p.place, p.nth`)}`
  refuseBroad(ctx, source, rows[0])
  const items = rows.filter((row): row is GroupedItem => row.id !== null)
  const room = items.slice(0, roomFor(items, items.length))
  const counts = new Map(items.map(({ key, count }) => [key, count]))
  return [...counts].map(([key, count]) => ({
    key,
    count,
    items: room.filter((item: Item & GroupRow) => item.key === key),
  }))
}
