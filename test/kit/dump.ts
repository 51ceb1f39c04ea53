/** The whole database as text, for oracles: what an intruder reads in a dump, and whether anything changed. */
import type postgres from 'postgres'

/** Every row of every table outside PostgreSQL's own schemas, by `schema.table`, in a stable order. Partitions count as their table. */
export async function dump(oracle: postgres.Sql): Promise<Map<string, string[]>> {
  const tables = await oracle<{ schema: string; name: string }[]>`
    select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1, 2`
  const contents = new Map<string, string[]>()
  for (const { schema, name } of tables) {
    const rows = await oracle.unsafe(`select t::text as row from ${schema}.${name} t`)
    contents.set(`${schema}.${name}`, rows.map(({ row }) => row as string).sort())
  }
  return contents
}

/** How many rows each table gained or lost; empty when the two are equal to the letter. */
export function differences(before: Map<string, string[]>, after: Map<string, string[]>): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [new Set(before.get(name)), new Set(after.get(name))]
    const changed = [...is].filter((row) => !was.has(row)).concat([...was].filter((row) => !is.has(row)))
    if (changed.length > 0) found[name] = changed
  }
  return found
}

/** Where a secret stands in clear: as text, or as the bytes of a bytea. */
export function occurrences(contents: Map<string, string[]>, secret: string): string[] {
  const bytes = Buffer.from(secret)
  const spellings = [secret, bytes.toString('hex'), bytes.toString('base64').replaceAll('=', '')]
  const isIn = (row: string) => spellings.some((spelling) => row.includes(spelling))
  return [...contents].filter(([, rows]) => rows.some(isIn)).map(([name]) => name)
}
