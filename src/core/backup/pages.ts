/**
 * The rows of one entity as JSON Lines, page by page.
 *
 * PostgreSQL writes the JSON: what arrives is text, ready to be compressed. A page ends
 * after 2,000 rows or 4 MiB, whichever comes first, so memory stays constant whatever the
 * rows hold, and no statement takes long. The next page is asked for while this one is
 * worked on; it begins behind the last key (the primary key's index serves that), so the
 * order is that of the key.
 *
 * Spec: Admin: workspaces, rule 4.
 */
import type { Tx } from '../database/transaction.ts'
import type { Entity } from './entities.ts'

export interface Page {
  /** Lines, each ended by a line feed. */
  readonly text: string
  readonly rows: number
}

interface PageRow {
  readonly lines: string | null
  readonly rows: number
  readonly [last: `last_${number}`]: string | null
}

const pageRows = 2000
const pageBytes = 4 * 1024 * 1024

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** How many rows there are in this snapshot. */
export async function countRows(tx: Tx, { table, owner }: Entity, tenantId: string): Promise<number> {
  const [row] = await tx.text<{ count: number }[]>(
    `select count(*)::int8 as count from ${quoted(table)} where ${quoted(owner)} = $1`,
    [tenantId],
  )
  return Number(row?.count ?? 0)
}

/** Every row of the entity, in pages; none where it has none. */
export async function* pagesOf(tx: Tx, entity: Entity, tenantId: string): AsyncGenerator<Page> {
  const first = pageStatement(entity, false)
  const next = pageStatement(entity, true)
  let page: PageRow | undefined = (await tx.text<PageRow[]>(first, [tenantId]))[0]
  while (page && page.rows > 0) {
    const last = entity.keys.map((_, at) => page?.[`last_${at}`])
    const coming = entity.keys.length === 0 ? undefined : tx.text<PageRow[]>(next, [tenantId, ...last])
    yield { text: `${page.lines}\n`, rows: page.rows }
    page = (await coming)?.[0]
  }
}

function pageStatement({ table, owner, columns, keys }: Entity, isNext: boolean): string {
  const names = keys.map(({ name }) => quoted(name)).join(', ')
  const behind = keys.map(({ type }, at) => `$${at + 2}::${type}`).join(', ')
  const order = names === '' ? '' : `order by ${names}`
  const lasts = keys.map(({ name }, at) => `, (array_agg(${quoted(name)}::text))[count(*)::int] as last_${at}`).join('')
  return `
    select string_agg(line, E'\\n') as lines, count(*)::int as rows${lasts}
    from (
      select *, sum(octet_length(line)) over (${order} rows unbounded preceding) - octet_length(line) as ahead
      from (
        select row_to_json(r)::text as line${names === '' ? '' : `, ${names}`}
        from (
          select ${columns.map(quoted).join(', ')} from ${quoted(table)}
          where ${quoted(owner)} = $1${isNext ? ` and (${names}) > (${behind})` : ''}
          ${order} limit ${pageRows}
        ) r
      ) lines
    ) counted
    where ahead < ${pageBytes}`
}
