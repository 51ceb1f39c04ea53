/**
 * Converts one value of a COPY row to JSON, bytes to bytes: each function reads `row` from `from`
 * to `end`, writes to `out` at `at`, and answers the position after its last byte.
 *
 * COPY escapes backspace, form feed, line feed, carriage return, tab and vertical tab as `\b \f \n
 * \r \t \v`, and a backslash as two; every other byte is unchanged, control characters too. UTF-8
 * passes through both formats unchanged.
 */

export type Cell = (row: Bytes, from: number, end: number, out: Bytes, at: number) => number

/** Bytes that are read and written one by one, or four at a time: the call of `set` would cost more than a short value. */
export interface Bytes {
  readonly each: Uint8Array
  readonly fours: DataView
}

export const bytesOf = (each: Uint8Array): Bytes => ({
  each,
  fours: new DataView(each.buffer, each.byteOffset, each.byteLength),
})

/** A text of ours, in fours; the last ones are filled up. */
export interface Text {
  readonly fours: Int32Array
  readonly length: number
}

export function textOf(text: string): Text {
  const { length } = Buffer.from(text)
  const filled = Buffer.alloc(Math.ceil(length / 4) * 4)
  filled.write(text)
  return { fours: Int32Array.from({ length: filled.length / 4 }, (_, at) => filled.readInt32LE(at * 4)), length }
}

const quote = 0x22
const backslash = 0x5c

/** How a column's text becomes JSON. Unknown types are strings, which loses nothing. */
export function cellOf(type: string): Cell {
  switch (type) {
    case 'boolean':
      return (row, from, _end, out, at) => put(row.each[from] === 0x74 ? yes : no, out, at)
    case 'smallint':
    case 'integer':
    case 'bigint':
      return copy
    case 'uuid':
      return (row, from, end, out, at) => {
        out.each[at] = quote
        const next = copy(row, from, end, out, at + 1)
        out.each[next] = quote
        return next + 1
      }
    case 'jsonb':
      return json
    case 'timestamp with time zone':
      return moment
    default:
      return string
  }
}

/** How many bytes a value has at least, if it begins with a digit of hexadecimal numbers: the search of its end begins there. */
export const leastOf = (type: string): number =>
  type === 'uuid' ? 36 : type === 'timestamp with time zone' ? '0001-01-01 00:00:00+00'.length : 0

/** An upper bound of the bytes that a row's values become, without the columns' names and quotation marks. */
export function roomFor(packet: Uint8Array, from: number, end: number, most: number): number {
  // One byte can become six (`\u0001`). An exact count pays only for long rows.
  let room = end - from
  if (room * 6 <= most) return room * 6
  for (let i = from; i < end; i += 1) {
    const byte = packet[i]!
    if (byte < 0x20 || byte === quote || byte === backslash) room += 5
  }
  return room
}

const yes = textOf('true')
const no = textOf('false')

/** Writes up to three bytes more than the text has: there must be room. */
export function put({ fours, length }: Text, out: Bytes, at: number): number {
  for (let i = 0; i < fours.length; i += 1) out.fours.setInt32(at + i * 4, fours[i]!, true)
  return at + length
}

const copy: Cell = (row, from, end, out, at) => {
  let next = from
  let to = at
  for (; next + 4 <= end; next += 4, to += 4) out.fours.setInt32(to, row.fours.getInt32(next, true), true)
  for (; next < end; next += 1, to += 1) out.each[to] = row.each[next]!
  return to
}

/** `2026-11-20 11:55:22.123456+00` in the form of RFC 3339; the session's time zone is UTC. */
const moment: Cell = (row, from, end, out, at) => {
  out.each[at] = quote
  let to = copy(row, from, end, out, at + 1)
  let space = at + 11 // in years of four digits
  if (out.each[space] !== 0x20) space = out.each.indexOf(0x20, at)
  if (space >= 0 && space < to) out.each[space] = 0x54
  if (out.each[to - 3] === 0x2b) to = put(minutes, out, to)
  out.each[to] = quote
  return to + 1
}

const minutes = textOf(':00')

/** Removes COPY's escapes. The value is JSON already; COPY has doubled its backslashes. */
const json: Cell = (row, from, end, out, at) => {
  let to = at
  for (let i = from; i < end; i += 1) {
    if (row.each[i] === backslash) i += 1
    out.each[to++] = row.each[i]!
  }
  return to
}

const string: Cell = (row, from, end, out, at) => {
  const { each: source } = row
  const { each: target } = out
  target[at] = quote
  let to = at + 1
  for (let i = from; i < end; i += 1) {
    const byte = source[i]!
    if (byte === backslash) {
      i += 1
      to = escaped(source[i]!, target, to)
    } else if (byte === quote) {
      target[to++] = backslash
      target[to++] = quote
    } else if (byte < 0x20) to = control(byte, target, to)
    else target[to++] = byte
  }
  target[to] = quote
  return to + 1
}

/** Writes the escape for a letter after COPY's backslash: JSON knows the same letters, except v. */
function escaped(letter: number, out: Uint8Array, at: number): number {
  if (letter === 0x76) return control(0x0b, out, at)
  out[at] = backslash
  out[at + 1] = letter
  return at + 2
}

const hex = Buffer.from('0123456789abcdef')

function control(byte: number, out: Uint8Array, at: number): number {
  out[at] = backslash
  out[at + 1] = 0x75
  out[at + 2] = 0x30
  out[at + 3] = 0x30
  out[at + 4] = hex[byte >> 4]!
  out[at + 5] = hex[byte & 15]!
  return at + 6
}
