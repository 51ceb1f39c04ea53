/**
 * The tables that an archive is loaded into: the columns that both know, and the keys that hold among them.
 *
 * Nothing of it is written down: columns, types and keys are those of this database's catalog, as an archive's are (entities.ts). A
 * key counts where all its columns are loaded, a reference where what it refers to is. Spec: Keeping, 3.
 */
import type { Tx } from '../../../kernel/database/transaction.ts'
import { type Entity, readEntities } from '../entities.ts'

export interface Key {
  readonly columns: readonly string[]
  readonly isPrimary: boolean
  readonly areNullsEqual: boolean
}

export interface Reference {
  readonly columns: readonly string[]
  readonly table: string
  readonly to: readonly string[]
}

export interface LoadedTable extends Entity {
  readonly keys: readonly Key[]
  readonly references: readonly Reference[]
}

interface KeyRow extends Key {
  readonly table_name: string
}

interface ReferenceRow extends Reference {
  readonly table_name: string
}

/** The tables of a backup, referenced ones first. */
export async function readShape(tx: Tx): Promise<LoadedTable[]> {
  const entities = await readEntities(tx, 'TENANT_BACKUP')
  const tables = tx.list(entities.map(({ table }) => table))
  const keys = await tx<KeyRow[]>`
    select c.relname as table_name, i.indisprimary as "isPrimary", i.indnullsnotdistinct as "areNullsEqual",
           (select json_agg(a.attname order by k.place) from unnest(i.indkey::int2[]) with ordinality k (attnum, place)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum) as columns
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and c.relname in ${tables} and i.indisunique and i.indpred is null and i.indexprs is null
    order by c.relname, i.indisprimary desc, i.indexrelid`
  const references = await tx<ReferenceRow[]>`
    select c.relname as table_name, p.relname as table,
           (select json_agg(a.attname order by k.place) from unnest(f.conkey) with ordinality k (attnum, place)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum) as columns,
           (select json_agg(a.attname order by k.place) from unnest(f.confkey) with ordinality k (attnum, place)
            join pg_attribute a on a.attrelid = p.oid and a.attnum = k.attnum) as to
    from pg_constraint f join pg_class c on c.oid = f.conrelid join pg_class p on p.oid = f.confrelid
    where f.contype = 'f' and c.relnamespace = 'public'::regnamespace and c.relname in ${tables} and p.relname in ${tables}
    order by c.relname, f.oid`
  return entities.map((entity) => ({
    ...entity,
    keys: keys.filter(({ table_name }) => table_name === entity.table),
    references: references.filter(({ table_name }) => table_name === entity.table),
  }))
}
