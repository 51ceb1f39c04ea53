/**
 * The content of an archive: the entities that tables.ts names, with the columns that the
 * database's catalog names.
 *
 * Neither list is repeated here, so a new table or column is in the next archive automatically,
 * unless tables.ts says why not. Entities come in the order that an importer needs: referenced
 * tables first, which is the order of removal reversed.
 *
 * Spec: Admin: workspaces, rule 4; T-25, F-25.
 */

import { workspaceTables } from '../../contract/tables.ts'
import { readRemovalOrder } from '../../kernel/database/removal-order.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { ArchiveKind } from './archive-format.ts'

export interface Entity {
  readonly name: string
  readonly table: string
  /** The column that holds the id of the workspace. */
  readonly owner: string
  /** Columns in an archive, in the table's order, with PostgreSQL's names of their types. */
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

interface ColumnRow {
  readonly table_name: string
  readonly column_name: string
  readonly type: string
}

/** The workspace itself: its row in the installation's register, which row-level security lets the workspace read. */
const workspace = { name: 'workspace', table: 'tenant', owner: 'id', withheld: ['restoring_at'] as readonly string[] }

/** What the rows of a table become in an archive of this kind; undefined: nothing. */
function entityOf(table: string, kind: ArchiveKind): string | undefined {
  const { export: exported, backup } = workspaceTables[table] ?? {}
  if (typeof exported === 'string') return exported
  return kind === 'TENANT_BACKUP' ? backup : undefined
}

/** The tables that become entities, referenced tables first. Throws where the database lacks one. */
async function readTables(tx: Tx, kind: ArchiveKind): Promise<readonly string[]> {
  const tables = (await readRemovalOrder(tx)).toReversed()
  const isWanted = (table: string) => entityOf(table, kind) !== undefined
  const missing = Object.keys(workspaceTables).find((table) => isWanted(table) && !tables.includes(table))
  if (missing !== undefined) throw new Error(`tables.ts names ${missing}, which the database does not have`)
  return tables.filter(isWanted)
}

/** Tables whose rows are in no archive of this kind, and why; the manifest repeats it. */
export const omittedTables = (kind: ArchiveKind): Record<string, string> =>
  Object.fromEntries(
    Object.entries(workspaceTables).flatMap(([table, { export: entity }]) =>
      typeof entity === 'string' || entityOf(table, kind) !== undefined ? [] : [[table, entity.omitted]],
    ),
  )

/** The entities of this database, as this transaction sees them. */
export async function readEntities(tx: Tx, kind: ArchiveKind): Promise<Entity[]> {
  const found = (await readTables(tx, kind)).map((table) => {
    const { withheld = [], backupHolds = [] } = workspaceTables[table]!
    const held = kind === 'TENANT_BACKUP' ? backupHolds : []
    const left = [...withheld.filter((column) => !held.includes(column)), 'tenant_id']
    return { name: String(entityOf(table, kind)), table, owner: 'tenant_id', withheld: left }
  })
  const wanted = [workspace, ...found]
  const columns = await tx<ColumnRow[]>`
    select c.relname as table_name, a.attname as column_name, format_type(a.atttypid, null) as type
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relname in ${tx.list(wanted.map(({ table }) => table))}
    order by c.relname, a.attnum`
  return wanted.map(({ name, table, owner, withheld }) => ({
    name,
    table,
    owner,
    columns: columns
      .filter(({ table_name, column_name }) => table_name === table && !withheld.includes(column_name))
      .map(({ column_name, type }) => ({ name: column_name, type })),
  }))
}
