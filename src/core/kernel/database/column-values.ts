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

const utcText = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00)?$/

/** PostgreSQL's timestamp text as ISO 8601 in UTC. */
function moment(text: string): string {
  const match = utcText.exec(text)
  if (match) return `${match[1]}T${match[2]}.${(match[3] ?? '').padEnd(3, '0').slice(0, 3)}Z`
  const parsed = Date.parse(text) // a transaction that set another time zone
  return Number.isNaN(parsed) ? text : new Date(parsed).toISOString()
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
