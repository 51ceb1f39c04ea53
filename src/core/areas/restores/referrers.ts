/** The foreign keys among the tables of workspaces, as the catalog has them. */
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Referrer } from './writing.ts'

/** What is derived from a row goes with it, and keeps it from nothing. */
const derivedTables = ['bucket_tally', 'item_field_key']

export async function readReferrers(tx: Tx): Promise<Referrer[]> {
  const rows = await tx<{ table: string; columns: string[]; to: string; toColumns: string[] }[]>`
    select c.relname as table, p.relname as to,
           (select json_agg(a.attname order by k.place) from unnest(f.conkey) with ordinality k (attnum, place)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum) as columns,
           (select json_agg(a.attname order by k.place) from unnest(f.confkey) with ordinality k (attnum, place)
            join pg_attribute a on a.attrelid = p.oid and a.attnum = k.attnum) as "toColumns"
    from pg_constraint f join pg_class c on c.oid = f.conrelid join pg_class p on p.oid = f.confrelid
    where f.contype = 'f' and c.relnamespace = 'public'::regnamespace and p.relnamespace = 'public'::regnamespace
    order by c.relname, f.oid`
  return rows.filter(({ table, to }) => !derivedTables.includes(table) && to !== 'tenant')
}
