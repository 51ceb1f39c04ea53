/**
 * Pages of growing lists: one row more than requested is read, and the cursor is the position of the last row.
 *
 * A page ends at its size or at about 1 MiB of JSON, whichever comes first: 200 items may be 80 KB of text and
 * megabytes of values each, and an answer stays in memory until the caller has read it. At least one row is answered,
 * however large it is.
 *
 *    rows of the database ──withinPage──▶ about 1 MiB of them ──pageOfRows──▶ 1 MiB of JSON, and the cursor
 *
 * `pageOfRows` alone is sufficient. Lists whose rows can be large also use `withinPage`, so that the database does not
 * send rows for which the page has no room. Spec: decisions 1, Lists; 7, Bounds at the door; decision 0139.
 */

import type { Part } from '../database/statement.ts'
import type { Ctx } from './context.ts'

interface PagedList {
  /** The operation's id: a cursor of one list opens no other. */
  readonly operation: string
  readonly filters?: Readonly<Record<string, unknown>>
}

/** Where a page ends, in bytes of JSON. */
const pageBytes = 1024 * 1024

/** Below and above every id, for the first page of a list by id. */
export const firstId = '00000000-0000-0000-0000-000000000000'
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The id after which the page begins; undefined for the first page. Refuses cursor.invalid. */
export function pageStart(
  ctx: Ctx,
  { operation, filters = {} }: PagedList,
  cursor: string | undefined,
): string | undefined {
  return cursor === undefined ? undefined : ctx.cursor.read(operation, filters, cursor)[0]
}

/** What a row read with `withinPage` says besides its columns. */
export interface Followed {
  /** The size in the database of the large columns of all rows before it, where a number holds it. */
  readonly bytes_before?: unknown
  /** Whether the database has another row behind it. */
  readonly is_followed?: boolean
}

/**
 * The page of `size` rows; `rows` holds one more if there is another page. The cursor is the place of the last row: its
 * id, unless `placeOf` is given.
 */
export function pageOfRows<Row extends object>(
  ctx: Ctx,
  list: PagedList,
  rows: readonly Row[],
  size: number,
  placeOf: (last: Row) => readonly string[] = (last) => [(last as { readonly id: string }).id],
) {
  const data = rows.slice(0, roomOnPage(rows, size))
  const last = data.at(-1)
  const isFollowed = rows.length > data.length || (last as Followed | undefined)?.is_followed === true
  const next_cursor =
    isFollowed && last ? ctx.cursor.ofPage(list.operation, list.filters ?? {}, [...placeOf(last)]) : null
  return { data, next_cursor }
}

/** More than the small columns of a row take as JSON, and how many times as long a text can be as JSON. */
const smallColumns = 12 * 1024
const longest = 6

/** As `roomFor`, of rows that one statement answered: if `withinPage` has measured them, most pages are not measured again. */
export const roomOnPage = (rows: readonly unknown[], size: number): number =>
  isSurelyWithin(rows) ? Math.min(size, rows.length) : roomFor(rows, size)

function isSurelyWithin(rows: readonly unknown[]): boolean {
  const last = rows.at(-1)
  const before = (last as Followed | undefined)?.bytes_before
  return typeof before === 'number' && rows.length * smallColumns + longest * before + bytesOf(last) < pageBytes
}

/** How many of the rows a page of `size` has room for; `weigh` answers a row's bytes as JSON. */
export function roomFor<Row>(rows: readonly Row[], size: number, weigh: (row: Row) => number = bytesOf): number {
  let room = pageBytes
  let count = 0
  while (count < size && count < rows.length) {
    room -= weigh(rows[count] as Row)
    if (room < 0) return Math.max(count, 1)
    count += 1
  }
  return count
}

/**
 * The rows of a statement with a limit and in `order`, up to about 1 MiB. `bytes` is the size of the columns that can
 * be large, and not of what they are compressed to: pg_column_size is that of a stored value. octet_length does not
 * unpack a text that is stored apart, so a row that is left out is not read.
 */
export const withinPage = ({ tx }: Ctx, rows: Part, { order, bytes }: { order: Part; bytes: Part }): Part => tx.part`
  select * from (
    select r.*, sum(${bytes}) over w as bytes_before, lead(true, 1, false) over w as is_followed
    from (${rows}) r window w as (order by ${order} rows between unbounded preceding and 1 preceding)) p
  where coalesce(bytes_before, 0) < ${pageBytes}
  order by ${order}`

/** A shorter text is not measured: as JSON it may be six times as long, which is still little. */
const shortText = 250

/** About how many bytes a value has as JSON; exact for long texts, which make a row large. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string')
    return value.length < shortText ? value.length + 2 : Buffer.byteLength(JSON.stringify(value))
  if (typeof value !== 'object' || value === null) return 5
  let bytes = 2
  if (Array.isArray(value)) for (const one of value) bytes += bytesOf(one) + 1
  else for (const name in value) bytes += name.length + 4 + bytesOf((value as Record<string, unknown>)[name])
  return bytes
}
