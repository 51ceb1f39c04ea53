/**
 * From what was sent to what a rule receives.
 *
 * Path, query and headers that break their schema are 400 `request.malformed`, a body is
 * 422 `request.invalid`; both name each member that is wrong and the rule it breaks, and
 * neither repeats the value (it may be a password).
 *
 * Spec: Errors; decisions 1, Problems.
 */
import type { z } from 'zod'
import type { Operation } from './operation.ts'
import { Problem, type Violation } from './problem.ts'

export interface Raw {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
}

/** Issues bring what they are about: a member of the wrong type would be taken for one that is missing. It goes no further than `ruleOf`. */
export const reporting = { reportInput: true } as const

/** Parses path, query and body, in this order. Refuses request.malformed, request.invalid. */
export function receive(operation: Operation, raw: Raw): Record<string, unknown> {
  return { ...receiveAddress(operation, raw), ...receiveBody(operation, raw.body) }
}

/** The path's own syntax, which is checked before anybody asks who is calling. Refuses request.malformed. */
export function receiveParams(operation: Operation, params: unknown): void {
  const parsed = operation.params?.safeParse(params, reporting)
  if (parsed && !parsed.success) throw malformed(parsed.error)
}

function receiveAddress(operation: Operation, raw: Raw): Record<string, unknown> {
  const params = operation.params?.safeParse(raw.params, reporting)
  if (params && !params.success) throw malformed(params.error)
  const query = operation.query?.safeParse(withNumbers(operation.query, raw.query), reporting)
  if (query && !query.success) throw malformed(query.error)
  if (!query && Object.keys(raw.query ?? {}).length > 0)
    throw new Problem('request.malformed', {}, { errors: unknownMembers(Object.keys(raw.query ?? {})) })
  return { ...params?.data, ...query?.data }
}

function receiveBody(operation: Operation, body: unknown): { body?: unknown } {
  if (!operation.body) {
    // An absent body and an empty one are the same; anything else was meant to do something.
    const empty =
      body === undefined ||
      (typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0)
    if (empty) return {}
    throw new Problem('request.invalid', {}, { errors: [{ pointer: '', code: 'body.not_taken', params: {} }] })
  }
  const parsed = operation.body.safeParse(body, reporting)
  if (!parsed.success) throw new Problem('request.invalid', {}, { errors: violationsOf(parsed.error) })
  return { body: parsed.data }
}

/** A query carries digits where the schema says a number; anything else stays text and is refused by the schema. */
function withNumbers(schema: z.ZodObject, query: unknown): unknown {
  if (typeof query !== 'object' || query === null) return query ?? {}
  const entries = Object.entries(query).map(([name, value]) => {
    const digits = typeof value === 'string' && /^[0-9]{1,15}$/.test(value)
    return [name, digits && isNumeric(schema.shape[name]) ? Number(value) : value]
  })
  return Object.fromEntries(entries)
}

function isNumeric(schema: unknown): boolean {
  const { def } = (schema ?? {}) as { def?: { type: string; innerType?: unknown } }
  return def?.type === 'number' || (def?.innerType !== undefined && isNumeric(def.innerType))
}

/** What a schema refuses, as our own codes. */
export const violationsOf = (error: z.ZodError) => error.issues.flatMap((issue) => violations(issue))

const malformed = (error: z.ZodError) =>
  new Problem(
    'request.malformed',
    {},
    {
      errors: violationsOf(error).map(({ pointer, ...rest }) => ({ parameter: pointer?.slice(1) ?? '', ...rest })),
    },
  )

const unknownMembers = (names: readonly string[]): Violation[] =>
  names.map((parameter) => ({ parameter, code: 'member.unknown', params: {} }))

type Issue = z.core.$ZodIssue

/** One zod issue as our own codes, which clients may rely on. */
function violations(issue: Issue): Violation[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ pointer: pointerOf([...issue.path, key]), code: 'member.unknown', params: {} }))
  if (issue.code === 'invalid_union') return [{ pointer: pointerOf(issue.path), ...unionRule(issue) }]
  return [{ pointer: pointerOf(issue.path), ...ruleOf(issue) }]
}

/** Formats that the contract calls by another name than the schema library. */
const formatNames: Readonly<Record<string, string>> = { guid: 'uuid', datetime: 'date-time' }

function ruleOf(issue: Issue): Pick<Violation, 'code' | 'params'> {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? { code: 'member.required', params: {} }
        : { code: 'value.type', params: { expected: issue.expected } }
    case 'too_small':
      return { code: `${sizeOf(issue.origin)}minimum`, params: { minimum: bound(issue.minimum) } }
    case 'too_big':
      return { code: `${sizeOf(issue.origin)}maximum`, params: { maximum: bound(issue.maximum) } }
    case 'invalid_value':
      return issue.input === undefined
        ? { code: 'member.required', params: {} }
        : { code: 'value.one_of', params: { values: issue.values } }
    case 'invalid_format':
      return issue.format === 'regex'
        ? { code: 'value.pattern', params: { pattern: String(issue.pattern).slice(1, -1) } }
        : { code: 'value.format', params: { format: formatNames[issue.format] ?? issue.format } }
    case 'custom': {
      const { rule, ...params } = (issue.params ?? { rule: 'value.invalid' }) as { rule: string } & Record<
        string,
        unknown
      >
      return { code: rule, params }
    }
    default:
      return { code: 'value.invalid', params: {} }
  }
}

/** A union fails as its nearest branch does: the one that got past the type of the value. */
function unionRule(issue: Extract<Issue, { code: 'invalid_union' }>): Pick<Violation, 'code' | 'params'> {
  const branch = issue.errors.flat().find((inner) => inner.code !== 'invalid_type')
  const first = issue.errors[0]?.[0]
  if (branch) return ruleOf(branch)
  return first ? ruleOf({ ...first, input: issue.input } as Issue) : { code: 'value.invalid', params: {} }
}

const sizeOf = (origin: string) =>
  origin === 'string' ? 'text.' : origin === 'array' || origin === 'set' ? 'list.' : 'value.'
const bound = (value: number | bigint) => (typeof value === 'bigint' ? value.toString() : value)

/** RFC 6901. */
const pointerOf = (path: readonly PropertyKey[]) =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
