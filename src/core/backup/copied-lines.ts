/**
 * The rows of one entity as JSON Lines.
 *
 * PostgreSQL copies the rows out as text, which costs it a fifth of what its own JSON
 * functions take, and this process writes the JSON meanwhile. Backpressure reaches the
 * server's socket, so memory stays constant whatever the table holds.
 *
 * The text format of COPY: columns between tabs, rows between line feeds, `\\N` for null,
 * and a backslash before what would be mistaken. jsonb is JSON already and passes as it is.
 *
 * Spec: Admin: workspaces, rule 4; docs/archive-format.md has the table of types.
 */
import type { Tx } from '../database/transaction.ts'
import type { Entity } from './entities.ts'

export interface Lines {
  /** Each ended by a line feed. */
  readonly text: string
  readonly rows: number
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** How many rows there are in this snapshot. */
export async function countRows(tx: Tx, { table, owner }: Entity, tenantId: string): Promise<number> {
  const [row] = await tx.text<{ count: number }[]>(
    `select count(*)::int8 as count from ${quoted(table)} where ${quoted(owner)} = $1`,
    [tenantId],
  )
  return Number(row?.count ?? 0)
}

/** Every row of the entity, in no order; nothing where it has none. */
export async function* linesOf(tx: Tx, { table, owner, columns }: Entity, tenantId: string): AsyncGenerator<Lines> {
  // COPY takes no parameter.
  if (!uuidShape.test(tenantId)) throw new TypeError('a workspace id is a lower-case UUID')
  const names = columns.map(({ name }) => quoted(name)).join(', ')
  const write = rowWriter(columns)
  let rest: Buffer[] = []
  for await (const chunk of tx.copyOut(
    `copy (select ${names} from ${quoted(table)} where ${quoted(owner)} = '${tenantId}') to stdout`,
  )) {
    // A line feed inside a value is escaped, so the last one ends a row.
    const end = chunk.lastIndexOf(0x0a)
    rest.push(end < 0 ? chunk : chunk.subarray(0, end))
    if (end < 0) continue
    const rows = Buffer.concat(rest).toString('utf8').split('\n')
    rest = [chunk.subarray(end + 1)]
    yield { text: `${rows.map(write).join('\n')}\n`, rows: rows.length }
  }
}

type Cell = (text: string) => string

function rowWriter(columns: Entity['columns']): (row: string) => string {
  const cells = columns.map(({ name, type }, at) => ({
    before: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`,
    write: cellOf(type),
  }))
  return (row) => {
    const values = row.split('\t')
    let line = ''
    for (const [at, { before, write }] of cells.entries()) {
      const value = values[at] ?? ''
      line += before + (value === '\\N' ? 'null' : write(value))
    }
    return `${line}}`
  }
}

/** How a column's text becomes JSON. Unknown types are strings, which loses nothing. */
function cellOf(type: string): Cell {
  switch (type) {
    case 'boolean':
      return (text) => (text === 't' ? 'true' : 'false')
    case 'smallint':
    case 'integer':
    case 'bigint':
      return (text) => text
    case 'uuid':
      return (text) => `"${text}"`
    case 'jsonb':
      return plain
    case 'timestamp with time zone':
      return (text) => `"${text.replace(' ', 'T').replace(/\+00$/, '+00:00')}"`
    default:
      return (text) => (needsNoEscape.test(text) ? `"${text}"` : JSON.stringify(plain(text)))
  }
}

/** Printable ASCII without quotation mark and backslash: most of what there is, at a third of the price. */
const needsNoEscape = /^[ !#-[\]-~]*$/

const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** The value without COPY's escapes. */
const plain: Cell = (text) =>
  text.includes('\\') ? text.replace(/\\(.)/g, (_, one: string) => controls[one] ?? one) : text
