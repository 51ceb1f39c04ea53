/**
 * The tables of a purge, and the removal of one batch from a table.
 *
 * The tables, their order of removal (removal-order.ts) and their keys come from the database's catalog. A table with a
 * `tenant_id` that tables.ts does not list stops every purge before it begins: no purge is better than half a purge.
 *
 * Spec: decisions 4 (a purge leaves nothing in any table); design of the fault campaigns, 3.8.
 */

import { workspaceTables } from '../../../contract/tables.ts'
import { readRemovalOrder } from '../../../kernel/database/removal-order.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'

export interface PurgeTable {
  readonly name: string
  /** Columns of the primary key, without `tenant_id` unless it is the only one. */
  readonly key: readonly string[]
  /** The column that refers to another row of the same table: children are removed first. */
  readonly parent: string | undefined
  readonly isPartitioned: boolean
}

interface KeysRow {
  readonly name: string
  readonly key: readonly string[]
  readonly parents: readonly string[] | null
  readonly is_partitioned: boolean
}

/**
 * Every table of workspaces, in the order of removal. Throws if tables.ts and the database differ, or if foreign keys
 * form a circle.
 */
export async function readPurgeTables(tx: Tx): Promise<readonly PurgeTable[]> {
  const [names, keys] = await Promise.all([readTableNames(tx), readKeys(tx)])
  return names.map((name) => {
    const { key = [], parents, is_partitioned = false } = keys.get(name) ?? {}
    return { name, key: keyOf(key), parent: parents?.[0], isPartitioned: is_partitioned }
  })
}

/** The names of these tables, in the order of removal. Throws as readPurgeTables does. */
export async function readTableNames(tx: Tx): Promise<readonly string[]> {
  const names = await readRemovalOrder(tx)
  checkComplete(names)
  return names
}

async function readKeys(tx: Tx): Promise<ReadonlyMap<string, KeysRow>> {
  const rows = await tx<KeysRow[]>`
    select c.relname as name, c.relkind = 'p' as is_partitioned,
           (select json_agg(a.attname order by k.place) from pg_index i
            cross join unnest(i.indkey::int2[]) with ordinality k (attnum, place)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
            where i.indrelid = c.oid and i.indisprimary) as key,
           (select json_agg(a.attname) from pg_constraint f
            cross join unnest(f.conkey) k (attnum)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum and a.attname <> 'tenant_id'
            where f.contype = 'f' and f.conrelid = c.oid and f.confrelid = c.oid) as parents
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`
  return new Map(rows.map((row) => [row.name, row]))
}

const keyOf = (key: readonly string[]) => (key.length === 1 ? key : key.filter((column) => column !== 'tenant_id'))

function checkComplete(names: readonly string[]): void {
  const listed = Object.keys(workspaceTables)
  const unknown = names.filter((name) => !listed.includes(name))
  const missing = listed.filter((name) => !names.includes(name))
  if (unknown.length + missing.length > 0)
    throw new Error(`tables.ts and the database differ: ${[...unknown, ...missing].join(', ')}; nothing is purged`)
}

/** The key of a row: its columns as texts. */
export type Key = readonly string[]

/** Rows after `after`, up to and including `upto`; undefined: no bound. */
export interface KeyRange {
  readonly after: Key | undefined
  readonly upto: Key | undefined
}

/**
 * Removes at most `size` rows of the workspace in force, in a range of their primary keys, and
 * answers their keys in order. The names come from the catalog, so they can be part of the SQL
 * text.
 */
export async function removeBatch(
  tx: Tx,
  table: PurgeTable,
  tenantId: string,
  size: number,
  { after, upto }: KeyRange,
): Promise<Key[]> {
  const columns = table.key.map((column) => `"${column}"`).join(', ')
  const values: (string | number)[] = [tenantId, size]
  const bound = (than: '>' | '<=', key: Key | undefined) =>
    key ? `and (${columns}) ${than} (${key.map((part) => `$${values.push(part)}`).join(', ')})` : ''
  const within = `${bound('>', after)} ${bound('<=', upto)}`
  const childless = table.parent
    ? `and not exists (select 1 from "${table.name}" c where c.tenant_id = t.tenant_id and c."${table.parent}" = t.id)`
    : ''
  // Each partition has places of its own, so a place names a row in each of them.
  const [place, isDoomed] = table.isPartitioned
    ? [columns, `(${columns}) in (select ${columns} from doomed)`]
    : ['t.ctid as place', 'ctid = any (array(select place from doomed))']
  const gone = await tx.text<Record<string, string>[]>(
    `with doomed as materialized (
       select ${place} from "${table.name}" t where t.tenant_id = $1 ${within} ${childless} order by ${columns} limit $2
     ), gone as (
       delete from "${table.name}" where tenant_id = $1 and ${isDoomed} returning ${columns}
     )
     select ${columns} from gone order by ${columns}`,
    values,
  )
  return gone.map((row) => Object.values(row))
}

/**
 * A batch reads only the rows that it removes if the planner walks the index. On a table that is
 * not analysed, the planner would sort all rows of the workspace for every batch.
 */
export const walksTheIndex =
  "set local enable_sort = 'off'; set local enable_bitmapscan = 'off'; set local enable_seqscan = 'off'; set local enable_hashjoin = 'off'; set local enable_mergejoin = 'off'"

/**
 * Whether the workspace in force has a row in any table. Also quick after a million rows were removed, because the last
 * round has marked their index entries.
 */
export async function hasRows(tx: Tx, tenantId: string): Promise<boolean> {
  await tx.switch(walksTheIndex)
  const names = Object.keys(workspaceTables)
  const checks = names.map((name) => `exists (select 1 from "${name}" where tenant_id = $1)`)
  const [row] = await tx.text<{ found: boolean }[]>(`select ${checks.join(' or ')} as found`, [tenantId])
  return row?.found === true
}

/** How many rows the workspace in force has, by table. */
export async function countRows(tx: Tx, tenantId: string): Promise<ReadonlyMap<string, number>> {
  const counts = Object.keys(workspaceTables).map(
    (name) => `select '${name}' as name, count(*)::int as count from "${name}" where tenant_id = $1`,
  )
  const rows = await tx.text<{ name: string; count: number }[]>(counts.join(' union all '), [tenantId])
  return new Map(rows.map(({ name, count }) => [name, count]))
}
