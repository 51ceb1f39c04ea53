/**
 * JSON as the API reads and writes it: int64 exact, nothing ambiguous.
 *
 * Reading: integers above 2^53 become bigint (plain `JSON.parse` rounds them), a fraction
 * never becomes the integer it rounds to, two members of one name are refused (readers
 * disagree on which counts), nesting is bounded. Writing: a bigint is written as the integer it is, unquoted.
 *
 * Spec: decisions 1, Values.
 */
import { Problem } from './problem.ts'

const maxDepth = 32
/** Fewer digits than these are read exactly or stay a fraction, and a smaller exponent does not end at 0. */
const maybeRounded = /[0-9.]{16}|[0-9][eE]-[0-9]{3,}(?![0-9a-fA-F-])/

/** Parses a body or an answer. Refuses request.malformed. */
export function readJson(text: string): unknown {
  let value: unknown
  try {
    value = maybeRounded.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
  } catch {
    throw new Problem('request.malformed', {}, { errors: [{ pointer: '', code: 'json.syntax', params: {} }] })
  }
  checkShape(text)
  return value
}

/** Node 24 has it; its type declarations do not yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

/** Writes an answer; undefined members are left out. `indent` in spaces, for people. */
export function writeJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent)
  } catch {
    // A bigint is somewhere in it. Looking at every member for one makes writing five times slower.
    return JSON.stringify(value, exactly, indent)
  }
}

/** JSON that is written already: a rule answers it where a text has to reach the caller byte for byte. */
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
  // No number of JavaScript's is this fraction; NaN is what no schema takes for an integer.
  return Number.isInteger(value) && isFraction(source) ? Number.NaN : value
}

/** Whether digits other than 0 are left behind the point, once the exponent has moved it. */
function isFraction(source: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(source) ?? []
  const places = fraction.length - Number(exponent)
  return places > 0 && /[1-9]/.test(`${whole}${fraction}`.slice(-places))
}

/** Walks a text that is known to be JSON, for what the parser does not tell: depth, and members named twice. */
function checkShape(text: string): void {
  const names: (Set<string> | undefined)[] = [] // one entry per open bracket; undefined for a list
  let at = 0
  let expectsName = false
  while (at < text.length) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      if (expectsName) noteName(names.at(-1), text.slice(at, end))
      expectsName = false
      at = end
      continue
    }
    if (character === '{' || character === '[') {
      names.push(character === '{' ? new Set() : undefined)
      if (names.length > maxDepth) throw shapeFault('json.depth', { maximum: maxDepth })
    } else if (character === '}' || character === ']') names.pop()
    if (character === '{' || character === ',') expectsName = names.at(-1) !== undefined
    at += 1
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function noteName(names: Set<string> | undefined, quoted: string): void {
  const name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
  if (names?.has(name)) throw shapeFault('json.duplicate_member', {})
  names?.add(name)
}

const shapeFault = (code: string, params: Record<string, unknown>) =>
  new Problem('request.malformed', {}, { errors: [{ pointer: '', code, params }] })
