/**
 * JSON as the API reads and writes it: int64 exact, nothing ambiguous.
 *
 * Reading: integers above 2^53 become bigint (plain `JSON.parse` rounds them), two
 * members of one name are refused (readers disagree on which counts), nesting is
 * bounded. Writing: a bigint is written as the integer it is, unquoted.
 *
 * Spec: decisions 1, Values.
 */
import { Problem } from './problem.ts'

const maxDepth = 32
const maybeLarge = /[0-9]{16}/

/** Parses a body or an answer. Refuses request.malformed. */
export function readJson(text: string): unknown {
  let value: unknown
  try {
    value = maybeLarge.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)
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

const exactly = (_: string, member: unknown) => (typeof member === 'bigint' ? rawJSON(member.toString()) : member)

function exactInteger(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const source = context?.source ?? ''
  return /^-?[0-9]{1,40}$/.test(source) ? BigInt(source) : value
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
