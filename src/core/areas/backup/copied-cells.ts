/**
 * Converts one value of a COPY row to JSON, bytes to bytes: each function reads `row` from `from`
 * to `end`, writes to `out` at `at`, and answers the position after its last byte.
 *
 * COPY escapes backspace, form feed, line feed, carriage return, tab and vertical tab as `\b \f \n
 * \r \t \v`, and a backslash as two; every other byte is unchanged, control characters too. UTF-8
 * passes through both formats unchanged.
 */

export type Cell = (row: Uint8Array, from: number, end: number, out: Uint8Array, at: number) => number

const quote = 0x22
const backslash = 0x5c

/** How a column's text becomes JSON. Unknown types are strings, which loses nothing. */
export function cellOf(type: string): Cell {
  switch (type) {
    case 'boolean':
      return (row, from, _end, out, at) => put(row[from] === 0x74 ? yes : no, out, at)
    case 'smallint':
    case 'integer':
    case 'bigint':
      return bytes
    case 'uuid':
      return (row, from, end, out, at) => {
        out[at] = quote
        const next = bytes(row, from, end, out, at + 1)
        out[next] = quote
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

/** An upper bound of the bytes that a row's values become, without the columns' names and quotation marks. */
export function roomFor(row: Uint8Array, most: number): number {
  // One byte can become six (`\u0001`). An exact count pays only for long rows.
  if (row.length * 6 <= most) return row.length * 6
  let room = row.length
  for (const byte of row) if (byte < 0x20 || byte === quote || byte === backslash) room += 5
  return room
}

const yes = Buffer.from('true')
const no = Buffer.from('false')

/** A text of ours: `set` is twice as fast as a loop over its bytes (and slower where a view of a row has to be made for it). */
export function put(text: Uint8Array, out: Uint8Array, at: number): number {
  out.set(text, at)
  return at + text.length
}

const bytes: Cell = (row, from, end, out, at) => {
  let to = at
  for (let i = from; i < end; i += 1) out[to++] = row[i]!
  return to
}

/** `2026-11-20 11:55:22.123456+00` in the form of RFC 3339; the session's time zone is UTC. */
const moment: Cell = (row, from, end, out, at) => {
  out[at] = quote
  let to = at + 1
  for (let i = from; i < end; i += 1) out[to++] = row[i] === 0x20 ? 0x54 : row[i]!
  if (row[end - 3] === 0x2b) {
    out[to++] = 0x3a
    out[to++] = 0x30
    out[to++] = 0x30
  }
  out[to] = quote
  return to + 1
}

/** Removes COPY's escapes. The value is JSON already; COPY has doubled its backslashes. */
const json: Cell = (row, from, end, out, at) => {
  let to = at
  for (let i = from; i < end; i += 1) {
    if (row[i] === backslash) i += 1
    out[to++] = row[i]!
  }
  return to
}

const string: Cell = (row, from, end, out, at) => {
  out[at] = quote
  let to = at + 1
  for (let i = from; i < end; i += 1) {
    const byte = row[i]!
    if (byte === backslash) {
      i += 1
      to = escaped(row[i]!, out, to)
    } else if (byte === quote) {
      out[to++] = backslash
      out[to++] = quote
    } else if (byte < 0x20) to = control(byte, out, to)
    else out[to++] = byte
  }
  out[to] = quote
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
