/**
 * JSON as the API reads and writes it: exact for int64, and unambiguous.
 *
 * Reading: integers above 2^53 become bigint (plain `JSON.parse` rounds them). A fraction
 * never becomes the integer to which it rounds. Two members with the same name are refused,
 * because parsers disagree on which one counts. Nesting is bounded, and so is the number of
 * members and elements if the caller gives a bound. The bound is checked before values are
 * made of the text, because making half a million values takes longer than the rest of the
 * request. Writing: a bigint is written as an unquoted integer.
 *
 * Spec: decisions 1, Values; 7, Bounds at the door.
 */
import { Problem } from '../../contract/problem.ts'

const maxDepth = 32
/**
 * Numbers that may be rounded. Fewer digits are read exactly or stay a fraction; a smaller exponent does not end at 0.
 */
const maybeRounded = /[0-9.]{16}|[0-9][eE]-[0-9]{3,}(?![0-9a-fA-F-])/

/** Parses a body or an answer; a text of more than `maxValues` members and elements is not read. Refuses request.malformed. */
export function readJson(text: string, maxValues = Number.POSITIVE_INFINITY): unknown {
  const isUnambiguous = checkShape(text, maxValues)
  let value: unknown
  try {
    value = maybeRounded.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
  } catch {
    throw fault('json.syntax')
  }
  if (!isUnambiguous) throw fault('json.duplicate_member')
  return value
}

/** Node 24 has it; its type declarations do not yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

/** Writes an answer; undefined members are left out. `indent` in spaces, for people. */
export function writeJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent)
  } catch {
    // The value contains a bigint. Checking every member in advance would make writing five times slower.
    return JSON.stringify(value, exactly, indent)
  }
}

/** JSON text: a rule answers it if a text must reach the caller byte for byte. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const exactly = (_: string, member: unknown) => (typeof member === 'bigint' ? rawJSON(member.toString()) : member)

function exactNumber(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number') return value
  const source = context?.source ?? ''
  if (/^-?[0-9]{1,40}$/.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source)
  // JavaScript has no number for this fraction; no schema accepts NaN as an integer.
  return Number.isInteger(value) && isFraction(source) ? Number.NaN : value
}

/** Whether digits other than 0 are left after the point, once the exponent has moved it. */
function isFraction(source: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(source) ?? []
  const places = fraction.length - Number(exponent)
  return places > 0 && /[1-9]/.test(`${whole}${fraction}`.slice(-places))
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Walks a text that may not be valid JSON. Checks depth and number against their bounds, and
 * returns whether the members of every object have different names. Members and elements are
 * counted at the bracket before the first one and at the comma before each other one.
 */
function checkShape(text: string, maxValues: number): boolean {
  const names: (Set<string> | undefined)[] = [] // one entry per open bracket; undefined for a list
  let isUnambiguous = true
  let values = 0
  let expectsName = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === quote) {
      const end = endOfString(text, at)
      if (expectsName && !isNewName(names.at(-1), text.slice(at, end + 1))) isUnambiguous = false
      expectsName = false
      at = end
    } else if (character === openObject || character === openList || character === comma) {
      values += 1
      if (values > maxValues) throw fault('json.values', { maximum: maxValues })
      if (character !== comma) names.push(character === openObject ? new Set() : undefined)
      if (names.length > maxDepth) throw fault('json.depth', { maximum: maxDepth })
      expectsName = names.at(-1) !== undefined
    } else if (character === closeObject || character === closeList) names.pop()
  }
  return isUnambiguous
}

/** Where the closing quote of a string stands. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end
    while (text.charCodeAt(first - 1) === backslash) first -= 1
    // A pair of backslashes stands for one backslash; an odd one escapes the quote.
    if ((end - first) % 2 === 0) return end
  }
  throw fault('json.syntax')
}

function isNewName(names: Set<string> | undefined, quoted: string): boolean {
  const name = quoted.includes('\\') ? unescaped(quoted) : quoted.slice(1, -1)
  if (names?.has(name)) return false
  names?.add(name)
  return true
}

function unescaped(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    throw fault('json.syntax')
  }
}

const fault = (code: string, params: Record<string, unknown> = {}) =>
  new Problem('request.malformed', {}, { errors: [{ pointer: '', code, params }] })
