/**
 * The conversion of values between PostgreSQL and JavaScript.
 *
 *   int8                     number while it is safe, bigint beyond
 *   timestamptz, timestamp   ISO 8601 in UTC with milliseconds and Z; microseconds are cut
 *                            off, not rounded, so no answer is in the future. `infinity`,
 *                            years past 9999 and BC stay as PostgreSQL writes them
 *   date, uuid, numeric      text
 *   json, jsonb              parsed; bound only through `json()`, which encodes once
 *   bytea                    Buffer
 *   arrays                   text such as `{a,b}`, and not bindable: the driver would have to
 *                            fetch the types first (a round trip per connection). Read them
 *                            with to_jsonb(), pass them with `list()` or `json()`
 *
 * No serializer may throw: if one throws after a pipelined statement, the driver assigns
 * every later answer of that connection to the wrong statement.
 */

interface ColumnType {
  readonly to: number
  readonly from: number[]
  readonly serialize: (value: unknown) => string
  readonly parse: (text: string) => unknown
}

/**
 * PostgreSQL's timestamp text, `2026-01-02 03:04:05.678901+00`, as ISO 8601 in UTC. Cut, and not taken apart by an expression:
 * a page of items has two hundred of them.
 */
function moment(text: string): string {
  const end = text.endsWith('+00') ? text.length - 3 : text.length
  if (isTimeOfDay(text) && isFraction(text, 19, end)) {
    if (end >= 23) return `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, end).padEnd(3, '0')}Z`
  }
  const parsed = Date.parse(text) // a transaction that set another time zone
  return Number.isNaN(parsed) ? text : new Date(parsed).toISOString()
}

/** Whether a year of four digits is followed by a time: neither `infinity` nor the year 10000. */
const isTimeOfDay = (text: string): boolean => text[4] === '-' && text[10] === ' ' && text[16] === ':'

/** Whether there is nothing, or a point and digits, and no time zone. */
function isFraction(text: string, from: number, to: number): boolean {
  if (from === to) return true
  if (text[from] !== '.') return false
  for (let at = from + 1; at < to; at += 1) if (text[at]! < '0' || text[at]! > '9') return false
  return true
}

function wholeNumber(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

const asText = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value))

/** The driver's `types` option: it replaces every built-in serializer that can throw. */
export const columnTypes = {
  int8: { to: 20, from: [20], serialize: String, parse: wholeNumber },
  moment: { to: 1184, from: [1114, 1184], serialize: asText, parse: moment },
  date: { to: 1082, from: [1082], serialize: asText, parse: (text) => text },
  json: {
    to: 3802,
    from: [114, 3802],
    serialize: (value) => (typeof value === 'string' ? value : String(JSON.stringify(value))),
    parse: (text): unknown => JSON.parse(text),
  },
  boolean: {
    to: 16,
    from: [16],
    serialize: (value) => (typeof value === 'boolean' ? (value ? 't' : 'f') : String(value)),
    parse: (text) => text === 't',
  },
  bytea: {
    to: 17,
    from: [17],
    serialize: (value) => (value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value)),
    parse: (text) => Buffer.from(text.slice(2), 'hex'),
  },
} satisfies Record<string, ColumnType>

/** The type id of jsonb, for parameters that are declared as such. */
export const jsonbTypeId = 3802
