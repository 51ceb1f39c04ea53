/**
 * The rows of one entity as JSON Lines.
 *
 * PostgreSQL copies the rows out as text, which costs it a third of its own JSON functions. This
 * process converts each row's bytes to a line's bytes without making strings. Lines are collected
 * in a few buffers that are reused, so memory stays constant for a table of any size.
 *
 * The text format of COPY: columns between tabs, rows ended by a line feed, `\N` for null, and a
 * backslash before characters that would be ambiguous. jsonb is JSON already and is copied as it
 * is.
 *
 * Spec: Admin: workspaces, rule 4; docs/archive-format.md has the table of types.
 */
import { quotedId } from '../../kernel/database/roles.ts'
import type { TakeRow, Tx } from '../../kernel/database/transaction.ts'
import { type Bytes, bytesOf, type Cell, cellOf, leastOf, put, roomFor, type Text, textOf } from './copied-cells.ts'
import type { Entity } from './entities.ts'

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** A table with more is estimated: to count a million rows takes as long as copying out sixty thousand. */
const mostCounted = 10_000

/** How many rows there are in this snapshot: 0 where there is none, and about as many where there are more than 10,000. */
export async function estimateRows(tx: Tx, { table, owner }: Entity, tenantId: string): Promise<number> {
  const [counted] = await tx.text<Counted[]>(
    `select count(*)::int8 as count from (select from ${quoted(table)} where ${quoted(owner)} = $1 limit ${mostCounted + 1}) few`,
    [tenantId],
  )
  const count = Number(counted?.count ?? 0)
  if (count <= mostCounted) return count
  const [sampled] = await tx.text<Counted[]>(
    `select count(*)::int8 * 100 as count from ${quoted(table)} tablesample system (1) where ${quoted(owner)} = $1`,
    [tenantId],
  )
  return Math.max(count, Number(sampled?.count ?? 0))
}

type Counted = { readonly count: number | bigint }

/** Passes every row of the entity to `take` as a COPY row, in no order; answers how many the server sent. */
export function copyRows(tx: Tx, { table, owner, columns }: Entity, tenantId: string, take: TakeRow): Promise<number> {
  const names = columns.map(({ name }) => quoted(name)).join(', ')
  return tx.copyOut(
    `copy (select ${names} from ${quoted(table)} where ${quoted(owner)} = ${quotedId(tenantId)}) to stdout`,
    take,
  )
}

/** Large enough that a chunk is worth a trip to the compressor's thread. */
const chunkBytes = 256 * 1024

/** Unused buffers of chunkBytes; one list serves all files of an archive. */
export type SpareBuffers = Buffer[]

const bufferFrom = (spare: SpareBuffers) => spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes)

/** Receives many lines at a time. The bytes stay unchanged until the promise is settled. */
type TakeLines = (lines: Buffer, rows: number) => Promise<void>

/** Room beside a value: quotation marks, an offset's minutes, a boolean in full, what fills up a text. */
const besideValue = 12

export class LineWriter {
  /** What is before a value, and what stands there where there is none. */
  private readonly columns: readonly {
    readonly before: Text
    readonly absent: Text
    readonly least: number
    readonly write: Cell
  }[]
  private readonly roomOfNames: number
  private readonly take: TakeLines
  private readonly spare: SpareBuffers
  private buffer: Buffer
  private out: Bytes
  /** The last one of which a row came. */
  private packet: Bytes = bytesOf(Buffer.alloc(0))
  private at = 0
  private rows = 0
  /** The promises of the last buffer that was handed on, and of the one before it, until they are taken. */
  private under: Promise<void> | undefined
  private behind: Promise<void> | undefined

  constructor(columns: Entity['columns'], spare: SpareBuffers, take: TakeLines) {
    this.columns = columns.map(({ name, type }, at) => {
      const before = `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`
      return { before: textOf(before), absent: textOf(`${before}null`), least: leastOf(type), write: cellOf(type) }
    })
    this.roomOfNames = this.columns.reduce((sum, { before }) => sum + before.length + besideValue, 2)
    this.take = take
    this.spare = spare
    this.buffer = bufferFrom(spare)
    this.out = bytesOf(this.buffer)
  }

  /** Takes one row; answers a promise if two buffers are full, so that one is filled while another is compressed. */
  readonly row: TakeRow = (packet, from, end) => {
    const needed = this.roomOfNames + roomFor(packet, from, end, chunkBytes / 8)
    if (this.at + needed > this.buffer.length) {
      this.handOn()
      if (needed > chunkBytes) {
        this.spare.push(this.buffer)
        this.buffer = Buffer.allocUnsafeSlow(needed)
        this.out = bytesOf(this.buffer)
      }
    }
    if (packet !== this.packet.each) this.packet = bytesOf(packet)
    this.at = this.write(this.packet, from)
    this.rows += 1
    return this.behind
  }

  /** Hands on what is left, and waits until everything is taken. */
  async end(): Promise<void> {
    this.handOn()
    await this.under
    this.spare.push(this.buffer)
  }

  /** Writes the line of the row that begins there; answers where it ends. */
  private write(packet: Bytes, start: number): number {
    const { each: row } = packet
    const { out } = this
    let { at } = this
    let from = start
    for (const { before, absent, least, write } of this.columns) {
      let end = isHex(row[from]!) ? from + least : from
      // Neither occurs in a value: both are escaped there.
      while (row[end] !== tab && row[end] !== lineFeed) end += 1
      at = isNull(row, from, end) ? put(absent, out, at) : write(packet, from, end, out, put(before, out, at))
      from = end + 1
    }
    out.each[at] = closing
    out.each[at + 1] = lineFeed
    return at + 2
  }

  private handOn(): void {
    if (this.at === 0) return
    const { buffer, under: earlier } = this
    const taken = this.take(buffer.subarray(0, this.at), this.rows).then(() => {
      if (buffer.length === chunkBytes) this.spare.push(buffer)
    })
    taken.catch(() => {}) // the earlier one may have failed first
    const under = earlier ? earlier.then(() => taken) : taken
    this.under = under
    this.behind = earlier
    under.then(
      () => {
        if (this.under === under) this.under = undefined
        if (this.behind === under) this.behind = undefined
      },
      () => {}, // the holder of the promise gets the error
    )
    this.buffer = bufferFrom(this.spare)
    this.out = bytesOf(this.buffer)
    this.at = 0
    this.rows = 0
  }
}

const tab = 0x09
const lineFeed = 0x0a
const closing = 0x7d

const isHex = (byte: number) => (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66)

/** `\N`: COPY doubles a literal backslash, so no value looks like this. */
const isNull = (row: Uint8Array, from: number, end: number) =>
  end === from + 2 && row[from] === 0x5c && row[from + 1] === 0x4e
