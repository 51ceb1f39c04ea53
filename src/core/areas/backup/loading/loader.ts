/**
 * Loads the entities of an archive into tables of a schema of its own, by COPY.
 *
 *    lines of the archive ──taken apart, columns that both know──▶ COPY ──▶ unlogged tables ──▶ keys and references
 *                          └──────────a digest of its rows                  └──written out again: a digest of them
 *
 * The schema belongs to whoever connects, and nobody else may enter it. Columns that the archive lacks have no value, and those that
 * this release lacks are left out. Rows come in the archive's order, and out in any: the digests do not depend on it.
 * Spec: Keeping, 3 (N18; staging).
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Client } from 'pg'
import { copyIn, copyOut } from '../../../kernel/database/copying.ts'
import type { Archive } from '../archive-reader.ts'
import { invalid } from '../archive-reader.ts'
import { LineWriter } from '../copied-lines.ts'
import { type Cell, copiedCell, membersOf, rowOf } from './raw-line.ts'
import { RowsDigest } from './rows-digest.ts'
import type { LoadedTable } from './shape.ts'

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const listed = (names: readonly string[]) => names.map(quoted).join(', ')

/** Of a chunk that goes to the server. */
const chunkBytes = 256 * 1024

export interface Loaded {
  readonly table: LoadedTable
  /** The columns that came, in the archive's order; none: it has no row. */
  readonly columns: LoadedTable['columns']
  readonly digest: RowsDigest
}

interface LoaderOptions {
  readonly prefix?: string
  readonly rewrite?: Rewrite | undefined
  readonly isDigested?: boolean
}

export class Loader {
  private readonly client: Client
  private readonly schema: string
  private readonly tenantId: string
  private readonly prefix: string
  private readonly rewrite: Rewrite | undefined
  private readonly isDigested: boolean

  /**
   * `prefix` of the tables' names, where the schema has those of several. `rewrite`: what becomes of each value. `isDigested`: whether
   * the rows are compared with what is written out again; else they are counted.
   */
  constructor(
    client: Client,
    schema: string,
    tenantId: string,
    { prefix = '', rewrite, isDigested = true }: LoaderOptions = {},
  ) {
    this.client = client
    this.schema = schema
    this.tenantId = tenantId
    this.prefix = prefix
    this.rewrite = rewrite
    this.isDigested = isDigested
  }

  private place(table: string): string {
    return `${quoted(this.schema)}.${quoted(this.prefix + table)}`
  }

  /** Makes the tables, without a key: rows come first. */
  async make(tables: readonly LoadedTable[]): Promise<void> {
    for (const { table, owner, columns } of tables) {
      const all = columns.map(({ name, type }) => `${quoted(name)} ${type}`)
      if (owner === 'tenant_id') all.unshift('tenant_id uuid not null')
      await this.client.query(`create unlogged table ${this.place(table)} (${all.join(', ')})`)
    }
  }

  /** Refuses archive.invalid, backup.target_failed. */
  async load(archive: Archive, table: LoadedTable, signal: AbortSignal): Promise<Loaded> {
    const digest = new RowsDigest()
    const batches = archive.lines(table.name)
    const first = await batches.next()
    if (first.done) return { table, columns: [], digest }
    const names = membersOf(first.value[0]?.toString('utf8') ?? '').map(([name]) => name)
    const known = names.map((name) => table.columns.find((column) => column.name === name))
    const columns = known.filter((column) => column !== undefined)
    const owned = table.owner === 'tenant_id' ? [table.owner] : []
    const into = `copy ${this.place(table.table)} (${listed([...owned, ...columns.map(({ name }) => name)])}) from stdin`
    const prefix = owned.length > 0 ? `${this.tenantId}\t` : ''
    const rowText = rowOf(
      names,
      known.map((column) => column && this.cellOf(table, column)),
    )
    const isWhole = columns.length === names.length
    const { isDigested } = this
    async function* chunks(): AsyncGenerator<Buffer> {
      let rows = ''
      for (let batch: readonly Buffer[] | undefined = first.value; batch; ) {
        for (const line of batch) {
          const text = line.toString('utf8')
          rows += `${prefix}${rowText(text)}\n`
          if (isDigested) digest.add(isWhole ? line : keptOf(text, columns))
          else digest.count += 1
          if (rows.length > chunkBytes) {
            signal.throwIfAborted()
            yield Buffer.from(rows)
            rows = ''
          }
        }
        // Others of this process have their turn: requests, where a daemon serves as well.
        await turn()
        batch = (await batches.next()).value
      }
      if (rows.length > 0) yield Buffer.from(rows)
    }
    try {
      await copyIn(this.client, into, chunks())
    } finally {
      // Where the server refuses a row, the rest of the file is not read.
      await batches.return(undefined)
    }
    return { table, columns, digest }
  }

  private cellOf(table: LoadedTable, column: Column): Cell {
    const copied = copiedCell(column.type)
    const rewritten = this.rewrite?.(table, column)
    return rewritten ? (raw) => copied(rewritten(raw)) : copied
  }

  /** The keys and the references of what was loaded. Throws the server's error where one does not hold. */
  async validate(tables: readonly LoadedTable[]): Promise<void> {
    for (const { table, keys, ...rest } of tables)
      for (const key of keys) if (hasAll(rest, key.columns)) await this.client.query(this.keyOf(table, key))
    const loaded = new Map(tables.map((one) => [one.table, one]))
    for (const one of tables)
      for (const { columns, table, to } of one.references) {
        const other = loaded.get(table)
        const isKnown = other?.keys.some((key) => isSameSet(key.columns, to) && hasAll(other, key.columns))
        if (isKnown && hasAll(one, columns))
          await this.client.query(
            `alter table ${this.place(one.table)} add foreign key (${listed(columns)}) references ${this.place(table)} (${listed(to)})`,
          )
      }
  }

  private keyOf(table: string, { columns, isPrimary, areNullsEqual }: LoadedTable['keys'][number]): string {
    const kind = isPrimary ? 'primary key' : `unique${areNullsEqual ? ' nulls not distinct' : ''}`
    return `alter table ${this.place(table)} add ${kind} (${listed(columns)})`
  }

  /** What is there now, written as an archive has it. */
  async written({ table, columns }: Loaded): Promise<RowsDigest> {
    const digest = new RowsDigest()
    if (columns.length === 0) {
      const { rows } = await this.client.query(`select from ${this.place(table.table)} limit 1`)
      return rows.length === 0 ? digest : invalid('differs')
    }
    const lines = new LineWriter(columns, [], async (chunk) => digest.addLines(chunk))
    const from = `copy (select ${listed(columns.map(({ name }) => name))} from ${this.place(table.table)}) to stdout`
    await copyOut(this.client, from, (row) => void lines.row(row, 0, row.length))
    await lines.end()
    return digest
  }
}

type Column = LoadedTable['columns'][number]

/** Answers what becomes of the values of a column, as JSON; nothing: they stay. Those of a row are asked in the archive's order. */
export type Rewrite = (table: LoadedTable, column: Column) => Cell | undefined

/** The line as it would be without what this release does not know. */
function keptOf(line: string, columns: readonly Column[]): Buffer {
  const kept = membersOf(line).filter(([name]) => columns.some((column) => column.name === name))
  return Buffer.from(`{${kept.map(([name, raw]) => `"${name}":${raw}`).join(',')}}`)
}

const hasAll = ({ columns }: Pick<LoadedTable, 'columns'>, names: readonly string[]) =>
  names.every((name) => name === 'tenant_id' || columns.some((column) => column.name === name))

const isSameSet = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((name) => other.includes(name))
