/**
 * The bodies that the contract's operations take, as data to be made invalid: walked and sampled from their JSON
 * Schemas.
 */
import { type Operation, takesSessionOnly } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type JsonSchema, openSchemas } from '../../src/daemon/openapi-schemas.ts'
import type { Sending, TestDaemon } from './daemon.ts'

interface Node {
  /** Names of the members on the way to it. */
  readonly path: readonly string[]
  readonly schema: JsonSchema
  /** The JSON types it takes. */
  readonly types: ReadonlySet<string>
}

export interface Writable {
  readonly operation: Operation
  readonly schema: JsonSchema
  /** A body that the schema takes, with every member. */
  readonly sample: Record<string, unknown>
  readonly nodes: readonly Node[]
}

const schemas = openSchemas()
const resolved = (schema: JsonSchema): JsonSchema =>
  schema.$ref === undefined
    ? schema
    : resolved(schemas.components()[schema.$ref.slice('#/components/schemas/'.length)] ?? {})

/** The schema of a member that may be null, without the null. */
const nonNull = (schema: JsonSchema): JsonSchema => {
  const anyOf = schema['anyOf'] as JsonSchema[] | undefined
  return anyOf ? nonNull(anyOf.find(({ type }) => type !== 'null') ?? {}) : resolved(schema)
}

/** A union with a name of its own is a language, which has tests of its own (test/items/filter): a text stands for it here. */
const typesOf = (schema: JsonSchema): Set<string> => {
  const anyOf = schema['anyOf'] as JsonSchema[] | undefined
  const typeOf = (one: JsonSchema) => resolved(one).type ?? 'string'
  const typesIn = (branch: JsonSchema) => (branch.$ref === undefined ? [...typesOf(branch)] : [typeOf(branch)])
  return new Set(anyOf ? anyOf.flatMap(typesIn) : [typeOf(schema)])
}

function sampleOf(given: JsonSchema): unknown {
  const schema = nonNull(given)
  if (schema['enum']) return (schema['enum'] as unknown[])[0]
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, member]) => [name, sampleOf(member)]),
      )
    case 'array':
      return [sampleOf(schema['items'] as JsonSchema)]
    case 'integer':
    case 'number':
      return Number(schema['minimum'] ?? 1)
    case 'boolean':
      return true
    default:
      return sampleText(schema)
  }
}

function sampleText(schema: JsonSchema): string {
  if (schema['format'] === 'uuid') return '0190c9d2-7a3b-7cde-8f01-23456789abcd'
  if (schema['format'] === 'email') return 'somebody@people.example'
  if (schema['format'] === 'date-time') return '2030-01-01T00:00:00.000Z'
  return 'a-fine-text-of-some-length'.slice(0, Number(schema['maxLength'] ?? 26))
}

function nodesOf(given: JsonSchema, path: readonly string[] = []): Node[] {
  const schema = nonNull(given)
  const here: Node = { path, schema, types: typesOf(given) }
  return [
    here,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => nodesOf(member, [...path, name])),
  ]
}

export const writables: readonly Writable[] = (Object.values(operations) as Operation[]).flatMap((operation) => {
  if (!operation.body) return []
  const schema = resolved(schemas.of(operation.body, 'input'))
  return [{ operation, schema, sample: sampleOf(schema) as Record<string, unknown>, nodes: nodesOf(schema) }]
})

/** Whether the schema takes members of any name: a record, not an object with members of its own. */
export const isRecord = ({ additionalProperties }: JsonSchema) => typeof additionalProperties === 'object'

/** The sample with another value at one place. */
export function withValue(sample: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  const members = sample as Record<string, unknown>
  return { ...members, [name]: withValue(members[name], rest, value) }
}

/** Sends a body to the operation, with a random-looking id in its path. */
export const sendBody = (
  daemon: TestDaemon,
  operation: Operation,
  body: unknown,
  { sessionToken, ...sending }: Sending & { readonly id?: string; readonly sessionToken?: string } = {},
) =>
  daemon.call(
    operation.method,
    `/api/v1${operation.path.replace(/\{\w+\}/g, sending.id ?? '0190c9d2-7a3b-7cde-8f01-23456789abcd')}`,
    {
      ...sending,
      // An operation that serves sessions alone refuses any other token before it reads the body.
      ...(sessionToken !== undefined && takesSessionOnly(operation.needs) ? { token: sessionToken } : {}),
      body,
      headers: {
        'content-type': operation.patch ? 'application/merge-patch+json' : 'application/json',
        ...sending.headers,
      },
    },
  )

/** Every member name that any request or answer has, anywhere. */
export function everyMemberName(): ReadonlySet<string> {
  const names = new Set<string>()
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { properties } = node as JsonSchema
    for (const name of Object.keys(properties ?? {})) names.add(name)
    for (const member of Object.values(node)) walk(member)
  }
  for (const operation of Object.values(operations) as Operation[]) {
    if (operation.body) walk(schemas.of(operation.body, 'input'))
    if (operation.success.answer) walk(schemas.of(operation.success.answer, 'output'))
  }
  walk(schemas.components())
  return names
}
