/**
 * A line of an archive, taken apart without reading its values: numbers keep their digits, and JSON its text.
 *
 * A line is written by copied-lines.ts: one object, no white space between its members. Whatever else comes is archive.invalid.
 */
import { invalid } from '../archive-reader.ts'

/**
 * Makes of a line the row that COPY takes, without a line feed. Every line has the members `names`; `cells` says what becomes of the text
 * of each value, and has nothing for those that are left out. Refuses archive.invalid.
 */
export function rowOf(names: readonly string[], cells: readonly (Cell | undefined)[]): (line: string) => string {
  const members = names.map((name, at) => ({ opening: `${at === 0 ? '{' : ','}"${name}":`, cell: cells[at] }))
  return (line) => {
    const row: string[] = []
    let at = 0
    for (const { opening, cell } of members) {
      if (!line.startsWith(opening, at)) return invalid('line')
      const from = at + opening.length
      at = endOfValue(line, from)
      if (cell) row.push(cell(line.slice(from, at)))
    }
    if (at !== line.length - 1 || line.charCodeAt(at) !== closingCurly) return invalid('line')
    return row.join('\t')
  }
}

/** What becomes of the text of a value. */
export type Cell = (raw: string) => string

/** The members in their order: the name, and the text of the value. Refuses archive.invalid. */
export function membersOf(line: string): [name: string, raw: string][] {
  if (line.charCodeAt(0) !== curly) return invalid('line')
  const members: [string, string][] = []
  let at = 1
  for (;;) {
    if (line.charCodeAt(at) !== quote) return invalid('line')
    const nameEnd = endOfText(line, at)
    if (line.charCodeAt(nameEnd) !== colon) return invalid('line')
    const valueEnd = endOfValue(line, nameEnd + 1)
    members.push([line.slice(at + 1, nameEnd - 1), line.slice(nameEnd + 1, valueEnd)])
    if (line.charCodeAt(valueEnd) === closingCurly) {
      if (valueEnd !== line.length - 1) return invalid('line')
      return members
    }
    if (line.charCodeAt(valueEnd) !== comma) return invalid('line')
    at = valueEnd + 1
  }
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const comma = 0x2c
const curly = 0x7b
const closingCurly = 0x7d
const square = 0x5b
const closingSquare = 0x5d

/** The position behind a string that begins here: at the first quote that has an even number of backslashes before it. */
function endOfText(line: string, from: number): number {
  for (let end = line.indexOf('"', from + 1); end >= 0; end = line.indexOf('"', end + 1)) {
    let before = end - 1
    while (line.charCodeAt(before) === backslash) before -= 1
    if ((end - before) % 2 === 1) return end + 1
  }
  return invalid('line')
}

function endOfValue(line: string, from: number): number {
  const first = line.charCodeAt(from)
  if (first === quote) return endOfText(line, from)
  let depth = 0
  for (let at = from; at < line.length; at += 1) {
    const code = line.charCodeAt(at)
    if (code === quote && depth === 0) return invalid('line')
    if (code === quote) at = endOfText(line, at) - 1
    else if (code === curly || code === square) depth += 1
    else if (depth === 0 && (code === comma || code === closingCurly)) return at
    else if (code === closingCurly || code === closingSquare) depth -= 1
  }
  return invalid('line')
}

const asItIs: Cell = (raw) => (raw === 'null' ? '\\N' : raw)
const asJson: Cell = (raw) => (raw.includes('\\') ? raw.replaceAll('\\', '\\\\') : asItIs(raw))
const asText: Cell = (raw) => (raw === 'null' ? '\\N' : escaped(textOf(raw)))

/** Makes of the text of a value a cell of COPY. `type` is PostgreSQL's name of the column's. The cell refuses archive.invalid. */
export function copiedCell(type: string): Cell {
  switch (type) {
    case 'boolean':
    case 'smallint':
    case 'integer':
    case 'bigint':
      return asItIs
    case 'jsonb':
      return asJson
    default:
      return asText
  }
}

function textOf(raw: string): string {
  if (raw.charCodeAt(0) !== quote) return invalid('line')
  if (!raw.includes('\\')) return raw.slice(1, -1)
  try {
    return JSON.parse(raw) as string
  } catch {
    return invalid('line')
  }
}

const special = /[\\\b\f\n\r\t\v]/g
const letters: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}
const escaped = (text: string) => text.replace(special, (letter) => letters[letter] ?? letter)
