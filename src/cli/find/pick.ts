/** Finds the one thing that a name on the command line means. */
import { Problem } from '../../core/contract/problem.ts'
import { Failure } from '../failure.ts'

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const isId = (name: string) => idShape.test(name)

interface Naming<Row> {
  /** The name that people gave it. */
  readonly by: (row: Row) => string | null
  /** What several of them are called, e.g. `targets`. */
  readonly called: string
  readonly none?: () => Failure
}

/** The row of that id or name. Fails (usage) where several have the name, and as `none` says, else not_found, where none has. */
export function pick<Row extends { readonly id: string }>(
  rows: readonly Row[],
  name: string,
  { by, called, none }: Naming<Row>,
): Row {
  const found = rows.filter((row) => row.id === name.toLowerCase() || by(row) === name)
  const several = () => new Failure('usage', `There are ${found.length} ${called} named "${name}".`, 'Name its id.')
  return only(found, several, none)
}

/** The only row. Throws what `several` makes where there are more, and what `none` makes where there is none. */
export function only<Row>(
  found: readonly Row[],
  several: () => Failure,
  none: () => Error = () => new Problem('not_found'),
): Row {
  const [first, ...others] = found
  if (!first) throw none()
  if (others.length > 0) throw several()
  return first
}
