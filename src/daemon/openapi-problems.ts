/**
 * The schemas of refusals: one component for each code, so that a generated client that has found the code knows the
 * parameters. What an operation refuses at a status is a union of these, told apart by `code`.
 */
import { refusalExample } from '../core/contract/examples/refusals.ts'
import { mostErrors, type ProblemCode, problems } from '../core/contract/problem.ts'
import { paramsOf } from '../core/contract/problem-params.ts'
import type { JsonSchema, Schemas } from './openapi-schemas.ts'

const refTo = (name: string) => `#/components/schemas/${name}`

/** `QuotaExceededProblem` for `quota.exceeded`. */
const componentOf = (code: ProblemCode) =>
  `${code
    .split(/[._]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')}Problem`

/** The refusals that an operation can meet, each by its code. */
export function problemComponents(schemas: Schemas, met: ReadonlySet<ProblemCode>): Record<string, JsonSchema> {
  return {
    Violation: violation,
    ...Object.fromEntries([...met].map((code) => [componentOf(code), problemSchema(code, schemas)])),
  }
}

/** The schema of a refusal with one of these codes. */
export function oneOf(listed: readonly ProblemCode[]): JsonSchema {
  const [only, ...others] = listed
  if (only !== undefined && others.length === 0) return { $ref: refTo(componentOf(only)) }
  return {
    oneOf: listed.map((code) => ({ $ref: refTo(componentOf(code)) })),
    discriminator: {
      propertyName: 'code',
      mapping: Object.fromEntries(listed.map((code) => [code, refTo(componentOf(code))])),
    },
  }
}

function problemSchema(code: ProblemCode, schemas: Schemas): JsonSchema {
  const row: { readonly status: number; readonly rateStatus?: number; readonly says: string } = problems[code]
  const { status, rateStatus, says } = row
  return {
    type: 'object',
    description: says,
    required: ['type', 'status', 'code', 'params', 'instance'],
    properties: {
      type: { type: 'string', const: `urn:problem:svc:${code}` },
      status:
        rateStatus === undefined
          ? { type: 'integer', const: status }
          : { type: 'integer', description: 'The HTTP status.', enum: [status, rateStatus] },
      code: { type: 'string', const: code },
      params: { ...schemas.of(paramsOf(code), 'output'), description: 'What this refusal is about, by name.' },
      instance: { type: 'string', description: '`urn:uuid:` and the request id.', pattern: '^urn:uuid:' },
      errors: {
        type: 'array',
        description: 'The members that break a rule, where there are some.',
        maxItems: mostErrors,
        items: { $ref: refTo('Violation') },
      },
    },
    examples: [exampleOf(code)],
  }
}

/** The body as problemBody (contract/problem.ts) makes it. */
function exampleOf(code: ProblemCode): JsonSchema {
  const { status, params, errors } = refusalExample(code)
  const instance = 'urn:uuid:01954fd0-8000-7000-8000-000000000000'
  return { type: `urn:problem:svc:${code}`, status, code, params, instance, ...(errors ? { errors } : {}) }
}

const violation: JsonSchema = {
  type: 'object',
  description: 'One member that breaks its rule: where it is, and the rule.',
  required: ['code', 'params'],
  properties: {
    pointer: { type: 'string', description: 'JSON pointer into the body.' },
    parameter: { type: 'string', description: 'Name of a parameter of the path, the query or the headers.' },
    code: { type: 'string', description: 'The rule that is broken.' },
    params: { type: 'object', description: 'What the rule wants, by name.', additionalProperties: true },
  },
}
