/**
 * Translates the faults that a schema finds into our own, stable codes.
 *
 * They never repeat a value, because it may be a password. Spec: Errors; decisions 1, Problems.
 */
import type { z } from 'zod'
import type { Violation } from '../../contract/problem.ts'

/** Issues contain the input; without it, a wrong type would look like a missing member. Only `ruleOf` reads it. */
export const reporting = { reportInput: true } as const

/** What a schema refuses, as our own codes. */
export const violationsOf = (error: z.ZodError) => error.issues.flatMap((issue) => violations(issue))

type Issue = z.core.$ZodIssue

/** One zod issue as our own codes. */
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

/** A union reports the fault of its nearest branch: the one that accepts the type of the value. */
function unionRule(issue: Extract<Issue, { code: 'invalid_union' }>): Pick<Violation, 'code' | 'params'> {
  if (issue.discriminator !== undefined) return discriminatorRule(issue)
  const branch = issue.errors.flat().find((inner) => inner.code !== 'invalid_type')
  const first = issue.errors[0]?.[0]
  if (branch) return ruleOf(branch)
  return first ? ruleOf({ ...first, input: issue.input } as Issue) : { code: 'value.invalid', params: {} }
}

/** The member that says which branch is meant is missing, or says none. The library's type lacks the `options`. */
function discriminatorRule(
  issue: Extract<Issue, { code: 'invalid_union' }> & { readonly options?: readonly unknown[] },
) {
  const { discriminator = '', options = [], input } = issue
  const isMissing = (input as Readonly<Record<string, unknown>> | undefined)?.[discriminator] === undefined
  return isMissing ? { code: 'member.required', params: {} } : { code: 'value.one_of', params: { values: options } }
}

const sizeOf = (origin: string) =>
  origin === 'string' ? 'text.' : origin === 'array' || origin === 'set' ? 'list.' : 'value.'
const bound = (value: number | bigint) => (typeof value === 'bigint' ? value.toString() : value)

/** RFC 6901. */
export const pointerOf = (path: readonly PropertyKey[]) =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
