/**
 * The vocabulary of the contracts: the value shapes that several operations share.
 *
 * Contracts hold neither transforms nor Date objects, so that one zod schema serves the
 * daemon, the command line and the OpenAPI document alike. What a JSON Schema cannot be
 * derived from (lengths in code points, int64) states its JSON Schema in `meta`.
 *
 * Spec: Resources; decisions 1, Values.
 */
import { z } from 'zod'

/** The nil UUID stands for the installation itself, where a row can belong to a workspace or to it. */
export const installationScope = '00000000-0000-0000-0000-000000000000'

/** A violation of one of our own rules; validation.ts reads it. */
const broken = (code: string, params: Record<string, unknown> = {}) => ({
  code: 'custom' as const,
  params: { rule: code, ...params },
})

/** Counts code points, like PostgreSQL; `.max()` would count UTF-16 units. */
const lengthOf = (value: string) => {
  let length = 0
  for (const _ of value) length += 1
  return length
}

/**
 * A string answered exactly as it was sent; `min` and `max` in code points.
 * NUL and unpaired surrogates are refused: PostgreSQL cannot store the one, UTF-8 cannot carry the other.
 */
export const text = (min: number, max: number) =>
  z
    .string()
    .check((context) => {
      const { value } = context
      const length = value.length > max * 2 ? value.length : lengthOf(value)
      const issue = value.includes('\u0000')
        ? broken('text.nul')
        : !value.isWellFormed()
          ? broken('text.surrogate')
          : length < min
            ? broken('text.too_short', { minimum: min })
            : length > max
              ? broken('text.too_long', { maximum: max })
              : undefined
      if (issue) context.issues.push({ ...issue, input: value })
    })
    .meta({ minLength: min, maxLength: max })

/** A string of a pattern; the pattern must be linear and anchored (test/house checks both). */
export const patterned = (pattern: RegExp) => z.string().regex(pattern)

/** Accepted in either case and converted to lower case (RFC 9562, 4), so that rules, fingerprints and comparisons see one spelling of an id. */
export const uuid = z.guid().toLowerCase().meta({ format: 'uuid' })

/** A string of a named format; the violation has the name of the format. */
export const withFormat = (format: string, pattern: RegExp, schema: z.ZodString) =>
  schema
    .check((context) => {
      if (!pattern.test(context.value))
        context.issues.push({ ...broken('value.format', { format }), input: context.value })
    })
    .meta({ ...schema.meta(), pattern: pattern.source })

/** RFC 3986: a scheme, followed by characters that a URI may contain. */
const uriShape = /^[a-z][a-z0-9+.-]*:(?:[!#$&-;=?-Z[\]_a-z~]|%[0-9a-f]{2})+$/i

/** A URI with a host and at most `max` characters; the egress guard decides whether it may be called. */
export const uri = (max: number) =>
  text(1, max)
    .check((context) => {
      const { value } = context
      if (!uriShape.test(value) || !URL.parse(value)?.hostname)
        context.issues.push({ ...broken('value.format', { format: 'uri' }), input: value })
    })
    .meta({ minLength: 1, maxLength: max, format: 'uri' })

/** A URI of the web. */
export const webUri = (max: number) => withFormat('uri', /^[Hh][Tt][Tt][Pp][Ss]?:\/\//, uri(max))

/** RFC 3339, from year 1 to 9999 in UTC; answered in UTC with milliseconds and `Z`. Any offset is taken to UTC. */
export const moment = z.iso
  .datetime({ offset: true })
  .check((context) => {
    const year = new Date(context.value).getUTCFullYear() // NaN: the format is already refused
    if (year < 1 || year > 9999)
      context.issues.push({ ...broken('value.format', { format: 'date-time' }), input: context.value })
  })
  .overwrite(inUtc)

/**
 * The moment with `Z` and without what is below a microsecond: RFC 3339 has offsets up to 23:59, and PostgreSQL takes none
 * above 15:59; it would round the last moment of the year 9999 up.
 */
function inUtc(value: string): string {
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return value
  const [fraction = ''] = /\.\d{1,6}/.exec(value) ?? []
  return at.toISOString().replace(/\.\d{3}Z$/, `${fraction}Z`)
}

/** The first and the last day whose milliseconds are moments in every zone. */
const firstDay = '0001-01-02'
const lastDay = '9999-12-30'

/** A day of the calendar, `YYYY-MM-DD`, without a zone. */
export const day = z.iso
  .date()
  .check((context) => {
    const { value } = context
    if (value < firstDay) context.issues.push({ ...broken('value.minimum', { minimum: firstDay }), input: value })
    if (value > lastDay) context.issues.push({ ...broken('value.maximum', { maximum: lastDay }), input: value })
  })
  .meta({ format: 'date' })

/** An integer of 64 bits, never negative; a bigint above 2^53, written unquoted either way. */
export const int64 = z
  .union([z.int().min(0), z.bigint().min(0n).max(9223372036854775807n)])
  .meta({ type: 'integer', format: 'int64', minimum: 0, maximum: 9223372036854775807n.toString() })

export const email = z
  .email()
  .check((context) => {
    if (lengthOf(context.value) > 254)
      context.issues.push({ ...broken('text.too_long', { maximum: 254 }), input: context.value })
  })
  .meta({ maxLength: 254 })

/** The body of a list: all of it, or a page with the cursor of the next one. */
export const listOf = <Row extends z.ZodType>(row: Row) => z.object({ data: z.array(row) })
export const pageOf = <Row extends z.ZodType>(row: Row) =>
  z.object({ data: z.array(row), next_cursor: z.string().nullable() })

/** A cursor holds a position, and that may be a rank of a thousand characters, encrypted. */
export const longestCursor = 2048

/** Query members of a paged list; `size` above `maximum` is refused (400). */
export const paging = (maximum: number, size: number) => ({
  cursor: z.string().max(longestCursor).optional(),
  size: count(1, maximum).default(size),
})

/** Query members of a list that is whole unless a page is asked for. */
export const optionalPaging = (maximum: number) => ({
  cursor: z.string().max(longestCursor).optional(),
  size: count(1, maximum).optional(),
})

/** A whole number; in a query it travels as digits (validation.ts reads them). */
export const count = (minimum: number, maximum: number) => z.int().min(minimum).max(maximum)

export const slug = patterned(/^[a-z0-9][a-z0-9-]{2,39}$/)
export const version = z.int().min(1)

/** Who did what a record tells of. */
export const recordedActor = z.object({
  kind: z.enum(['ACCOUNT', 'SERVICE', 'RECOVERY', 'SYSTEM']),
  account_id: uuid.nullable(),
  via: z.enum(['API', 'RECOVERY', 'JOB']),
})

export const roles = ['VIEWER', 'COMMENTER', 'MEMBER', 'ADMIN', 'OWNER'] as const
export type Role = (typeof roles)[number]
/** The rank of each role; a call that needs one is served from that rank upwards (decisions 2). */
export const rankOf: Record<Role, number> = { VIEWER: 10, COMMENTER: 20, MEMBER: 30, ADMIN: 40, OWNER: 50 }
export const role = z.enum(roles)

export const scopes = ['workspace:read', 'workspace:write', 'workspace:admin', 'admin:tenants'] as const
export type Scope = (typeof scopes)[number]
export const scope = z.enum(scopes)

/** The `plan_hash` of a body. Spec: decisions 7, Plans. */
export const planHash = text(1, 64)
  .optional()
  .describe('the `hash` of the plan that was shown; goes on only while that is the plan')
