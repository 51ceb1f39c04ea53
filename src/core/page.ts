/** Pages of lists that grow: read one row more than asked for, and the cursor is the last row's id. Spec: decisions 1, Lists. */
import type { Ctx } from './context.ts'

interface PagedList {
  /** The operation's id: a cursor of one list opens no other. */
  readonly operation: string
  readonly filters?: Readonly<Record<string, unknown>>
}

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

/** The page of `size` rows, of which `rows` holds one more where there is another page. */
export function pageOfRows<Row extends { readonly id: string }>(
  ctx: Ctx,
  list: PagedList,
  rows: readonly Row[],
  size: number,
) {
  const data = rows.slice(0, size)
  const last = data.at(-1)
  const next_cursor =
    rows.length > size && last ? ctx.cursor.write(list.operation, list.filters ?? {}, [last.id]) : null
  return { data, next_cursor }
}
