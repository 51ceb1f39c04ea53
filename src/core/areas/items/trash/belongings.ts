/**
 * What belongs to an item or a container: the rows of other tables that refer to it, and those that refer to these.
 *
 *    item ◀─ item_label, item_member, item_field_value, item_field_key
 *    container ◀─ bucket, label ◀─ item_label, custom_field ◀─ item_field_value, membership, item_view
 *
 * They are found by the foreign keys of the database, so that a table that is added is not forgotten: a row that refers to
 * another one and says nothing of what becomes of it goes with it, those that refer to it first. A key with `on delete
 * cascade` or `set null` sees to itself. Items of a container are no belongings: they have holds of their own.
 */
import type { Tx } from '../../../kernel/database/transaction.ts'

interface ReferenceRow {
  readonly from_table: string
  readonly to_table: string
  /** The columns beside `tenant_id`, in the same order. */
  readonly from_columns: readonly string[]
  readonly to_columns: readonly string[]
}

/** The statements that remove them, in this order: `$1` is the workspace, `$2` the ids as JSON. */
export type Belongings = readonly string[]

export async function readBelongings(tx: Tx, root: 'item' | 'container'): Promise<Belongings> {
  const references = await tx<ReferenceRow[]>`
    select f.conrelid::regclass::text as from_table, f.confrelid::regclass::text as to_table,
           (select json_agg(a.attname order by k.at) from unnest(f.conkey) with ordinality k (num, at)
            join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.num and a.attname <> 'tenant_id') as from_columns,
           (select json_agg(a.attname order by k.at) from unnest(f.confkey) with ordinality k (num, at)
            join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.num and a.attname <> 'tenant_id') as to_columns
    from pg_constraint f
    where f.contype = 'f' and f.connamespace = 'public'::regnamespace and f.confdeltype in ('a', 'r') and f.conrelid <> f.confrelid`
  const rooted = (table: string, rows: string, path: readonly string[]): string[] =>
    references
      .filter(({ from_table, to_table, from_columns }) => {
        const isOwn = to_table === table && from_columns !== null && from_table !== 'item' && from_table !== 'container'
        return isOwn && !path.includes(from_table)
      })
      .flatMap(({ from_table, from_columns, to_columns }) => {
        const condition = `tenant_id = $1 and ${isOneOf(from_columns, `select ${to_columns.map(quoted)} ${rows}`)}`
        return [
          ...rooted(from_table, `from ${quoted(from_table)} where ${condition}`, [...path, from_table]),
          `delete from ${quoted(from_table)} where ${condition}`,
        ]
      })
  const ids = `select value::uuid from jsonb_array_elements_text($2::jsonb)`
  const roots = `from ${root} where tenant_id = $1 and ${isOneOf(['id'], ids)}`
  return rooted(root, roots, [])
}

/** An array is looked up by the index; of a query within `in` PostgreSQL expects so many rows that it reads the whole table. */
const isOneOf = (columns: readonly string[], rows: string): string =>
  columns.length === 1 ? `${columns.map(quoted)} = any (array(${rows}))` : `(${columns.map(quoted)}) in (${rows})`

/** Removes what belongs to the rows with these ids. */
export async function removeBelongings(tx: Tx, belongings: Belongings, tenantId: string, ids: readonly string[]) {
  for (const statement of belongings) void tx.text(statement, [tenantId, JSON.stringify(ids)])
  await tx.settled()
}

/** Names come from the catalog. */
const quoted = (name: string) => `"${name.replaceAll('"', '')}"`
