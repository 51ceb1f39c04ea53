/**
 * The order in which the tables of a workspace can be emptied, derived from their foreign keys.
 *
 *                 ┌─▶ label ─┐
 *    item_label ──┤          ├─▶ container
 *                 └─▶ item ──┘
 *      rank 0        rank 1       rank 2
 *
 * A table comes before those that it refers to. A purge empties the tables in this order, an archive
 * lists them in its reverse. A new table finds its place by its foreign keys alone.
 *
 * Every foreign key counts, whatever it does on delete: `cascade` would remove rows that a purge never
 * counted, `set null` would write each row once more just before it goes. A key of a table to itself does not
 * count: it orders the rows of one table (areas/tenants/purge/purge-tables.ts).
 *
 * Foreign keys say everything except which tables go last: tables.ts names those (`purgedLast`). docs/decisions/0165.
 */
import { workspaceTables } from '../../contract/tables.ts'
import type { Tx } from './transaction.ts'

export interface TableReferences {
  readonly name: string
  /** The tables that its foreign keys name; null where it has none. */
  readonly refers_to: readonly string[] | null
}

/** The names of all tables with a `tenant_id` that the database has, in the order of removal. Throws where there is no such order. */
export async function readRemovalOrder(tx: Tx): Promise<readonly string[]> {
  const tables = await tx<TableReferences[]>`
    select c.relname as name,
           (select json_agg(distinct p.relname) from pg_constraint f join pg_class p on p.oid = f.confrelid
            where f.contype = 'f' and f.conrelid = c.oid) as refers_to
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
    order by c.relname`
  return removalOrder(tables)
}

const goesLast = (name: string) => workspaceTables[name]?.purgedLast !== undefined

/**
 * Orders the tables by rank, and by name within a rank; those that go last follow all others. References to tables that
 * are not listed do not count. Throws for a circle, and for a table that goes last and refers to one that does not.
 */
export function removalOrder(tables: readonly TableReferences[], isLast = goesLast): readonly string[] {
  const ranks = ranksOf(tables)
  const inOrder = [...ranks.keys()].sort((a, b) => ranks.get(a)! - ranks.get(b)! || (a < b ? -1 : 1))
  for (const { name, refers_to } of tables.filter(({ name }) => isLast(name))) {
    const kept = refers_to?.find((target) => ranks.has(target) && !isLast(target))
    if (kept !== undefined)
      throw new Error(`${name} is removed last (purgedLast in tables.ts), but refers to ${kept}, which goes before it`)
  }
  return [...inOrder.filter((name) => !isLast(name)), ...inOrder.filter(isLast)]
}

/** A table that no other refers to has rank 0; any other is one above the highest that refers to it. Throws for a circle. */
function ranksOf(tables: readonly TableReferences[]): ReadonlyMap<string, number> {
  const referrers = new Map(tables.map(({ name }) => [name, new Set<string>()]))
  for (const { name, refers_to } of tables)
    for (const target of refers_to ?? []) if (target !== name) referrers.get(target)?.add(name)

  const ranks = new Map<string, number>()
  const rank = (name: string, path: readonly string[]): number => {
    if (path.includes(name)) throw circle([...path.slice(path.indexOf(name)), name])
    const known = ranks.get(name)
    if (known !== undefined) return known
    const above = [...(referrers.get(name) ?? [])].map((referrer) => rank(referrer, [...path, name]))
    const own = Math.max(-1, ...above) + 1
    ranks.set(name, own)
    return own
  }
  for (const name of referrers.keys()) rank(name, [])
  return ranks
}

/** `path`: each table is referred to by the next one. */
const circle = (path: readonly string[]) =>
  new Error(
    `Foreign keys form a circle, so no order empties these tables: ${path.toReversed().join(' refers to ')}. Drop one of the keys.`,
  )
