/**
 * What an archive holds: the entities that tables.ts names, with the columns that the
 * database's catalog names.
 *
 * Neither is written down a second time, so a new table or column is in the next archive
 * by itself, unless tables.ts says why not. Entities come in the order an importer wants:
 * what others refer to comes first.
 *
 * Spec: Admin: workspaces, rule 4; T-25, F-25.
 */

import { workspaceTables } from '../../contract/tables.ts'
import type { Tx } from '../../kernel/database/transaction.ts'

export interface Entity {
  readonly name: string
  readonly table: string
  /** The column that says whose rows these are. */
  readonly owner: string
  /** Columns in an archive, in the table's order, with PostgreSQL's names of their types. */
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

interface ColumnRow {
  readonly table_name: string
  readonly column_name: string
  readonly type: string
}

/** The workspace itself: a row of the installation's register, which row-level security shows its own workspace. */
const workspace = { name: 'workspace', table: 'tenant', owner: 'id', withheld: [] as readonly string[] }

const exported = () =>
  Object.entries(workspaceTables)
    .filter(([, { export: entity }]) => typeof entity === 'string')
    .sort(([, a], [, b]) => b.purge - a.purge)
    .map(([table, { export: entity, withheld = [] }]) => ({
      name: entity as string,
      table,
      owner: 'tenant_id',
      withheld: [...withheld, 'tenant_id'],
    }))

/** Tables whose rows are in no archive, and why; the manifest repeats it. */
export const omittedTables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(workspaceTables).flatMap(([table, { export: entity }]) =>
      typeof entity === 'string' ? [] : [[table, entity.omitted]],
    ),
  )

/** The entities of this database, as this transaction sees them. */
export async function readEntities(tx: Tx): Promise<Entity[]> {
  const wanted = [workspace, ...exported()]
  const columns = await tx<ColumnRow[]>`
    select c.relname as table_name, a.attname as column_name, format_type(a.atttypid, null) as type
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relname in ${tx.list(wanted.map(({ table }) => table))}
    order by c.relname, a.attnum`
  return wanted.map(({ name, table, owner, withheld }) => {
    const own = columns.filter((column) => column.table_name === table)
    if (own.length === 0) throw new Error(`tables.ts names ${table}, which the database does not have`)
    return {
      name,
      table,
      owner,
      columns: own
        .filter(({ column_name }) => !withheld.includes(column_name))
        .map(({ column_name, type }) => ({ name: column_name, type })),
    }
  })
}
