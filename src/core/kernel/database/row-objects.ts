/**
 * Rows as objects.
 *
 * The driver would make an object of a row member by member. V8 keeps an object that grew like that beyond some twenty members
 * as a hash table, which costs a page of items a third of all the memory it takes. So the driver hands out lists of values, and
 * an object is a copy of a blank one that has all members.
 */

type Columns = readonly { readonly name: string }[]
type Blank = Readonly<Record<string, null>>

/** By the columns of a statement, which the driver keeps with its plan. */
const blanks = new WeakMap<Columns, Blank>()

/** Puts an object in place of each list of values. Of two columns of one name the last one counts. */
export function makeObjects(rows: unknown[], columns: Columns): void {
  if (rows.length === 0) return
  const blank = blankOf(columns)
  for (let at = 0; at < rows.length; at += 1) rows[at] = objectOf(blank, columns, rows[at] as readonly unknown[])
}

function objectOf(blank: Blank, columns: Columns, values: readonly unknown[]): object {
  const made: Record<string, unknown> = { ...blank }
  for (let at = 0; at < columns.length; at += 1) made[columns[at]!.name] = values[at]
  return made
}

function blankOf(columns: Columns): Blank {
  const known = blanks.get(columns)
  if (known) return known
  const blank = Object.fromEntries(columns.map(({ name }) => [name, null]))
  blanks.set(columns, blank)
  return blank
}
