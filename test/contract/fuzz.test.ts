/**
 * Requests made from the OpenAPI document, right ones and spoilt ones, against the daemon:
 * no failure of ours, no status the document does not name, no answer that breaks its
 * schema. 1,000 requests; 10,000 with SVC_FAULTS=full. A failure prints the seed.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../../src/daemon/openapi-schemas.ts'
import { type Answered, type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { naughtyStrings } from '../kit/naughty-strings.ts'
import { person, setUp, workspace } from '../kit/people.ts'

const count = process.env['SVC_FAULTS'] === 'full' ? 10_000 : 1_000

interface Described {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly {
    name: string
    in: 'path' | 'query' | 'header'
    required: boolean
    schema: JsonSchema
  }[]
  readonly body: { readonly type: string; readonly schema: JsonSchema } | undefined
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: JsonSchema }> }>>
}

let daemon: TestDaemon
let described: Described[]
let components: Record<string, JsonSchema>
/** The same, as a schema that stands alone refers to them. */
let definitions: Record<string, z.core.JSONSchema.BaseSchema>
const tokens: (string | undefined)[] = [undefined, 'garbage']
const ids: string[] = ['0190c9d2-7a3b-7cde-8f01-23456789abcd', '00000000-0000-0000-0000-000000000000']

beforeAll(async () => {
  daemon = await testDaemon()
  const home = await setUp(daemon)
  const other = await workspace(daemon, 'other')
  await daemon.db.sql`insert into tenant_quota select id, 'api_requests_per_minute', 0 from tenant`
  // The workspace that may be suspended has none of the callers.
  const { accountId } = await person(daemon, other)
  ids.push(other, accountId)
  const operator = await person(daemon, home.tenantId, { operator: true })
  const second = await person(daemon, home.tenantId, { operator: true, kind: 'SESSION' })
  tokens.push(
    operator.token,
    operator.token,
    operator.token,
    second.token,
    (await person(daemon, home.tenantId, { role: 'VIEWER', scopes: ['workspace:read'] })).token,
  )
  const containers = await daemon.db.sql<{ id: string }[]>`select id from container`
  ids.push(...containers.map(({ id }) => id))
  const { json } = await daemon.call('GET', '/api/v1/openapi.json')
  components = json.components.schemas
  definitions = asDefinitions(components)
  described = readDocument(json.paths)
})
afterAll(() => daemon.close())

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by the names it is expected to have
const readDocument = (paths: Record<string, Record<string, any>>): Described[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, parameters = [], requestBody, responses }]) => {
      const [type, media] = Object.entries<{ schema?: JsonSchema }>(requestBody?.content ?? {})[0] ?? []
      return {
        operationId,
        method: method.toUpperCase(),
        path,
        parameters,
        responses,
        // A file has no schema.
        body: type && media ? { type, schema: media.schema ?? { type: 'string' } } : undefined,
      }
    }),
  )

const resolved = (schema: JsonSchema): JsonSchema =>
  schema.$ref ? (components[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...naughtyStrings),
  fc.constantFrom(null, true, false, 0, -1, 1.5, 2 ** 53, -(2 ** 63), [], {}, [[]], { a: {} }),
  fc.string({ maxLength: 300, unit: 'binary' }),
  fc.jsonValue({ maxDepth: 3 }),
)

/** The named schemas that a value is being made of. */
const within = new Set<string>()

/** A value of the schema. One that holds itself, such as a filter, does so once. */
function right(given: JsonSchema): fc.Arbitrary<unknown> {
  const name = given.$ref
  const isInner = name !== undefined && within.has(name)
  if (name !== undefined) within.add(name)
  try {
    return rightOf(resolved(given), (branch) => !isInner || !leadsTo(branch, name))
  } finally {
    if (name !== undefined && !isInner) within.delete(name)
  }
}

/** Whether a schema holds a named one, itself or in what it refers to. */
function leadsTo(schema: JsonSchema, name: string, seen = new Set<string>()): boolean {
  const refs = [...JSON.stringify(schema).matchAll(/"(#\/components\/schemas\/\w+)"/g)].map(([, ref]) => ref ?? '')
  return refs.some((ref) => {
    if (ref === name) return true
    if (seen.has(ref)) return false
    seen.add(ref)
    return leadsTo(resolved({ $ref: ref }), name, seen)
  })
}

function rightOf(schema: JsonSchema, isTaken: (branch: JsonSchema) => boolean): fc.Arbitrary<unknown> {
  const anyOf = schema['anyOf'] as JsonSchema[] | undefined
  if (anyOf) return fc.oneof(...anyOf.filter(isTaken).map(right))
  if (schema['enum']) return fc.constantFrom(...(schema['enum'] as unknown[]))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({
        min: Number(schema['minimum'] ?? 0),
        max: Math.min(Number(schema['maximum'] ?? 100), 1_000_000),
      })
    case 'array':
      return fc.array(right(schema['items'] as JsonSchema), {
        minLength: Number(schema['minItems'] ?? 0),
        maxLength: Number(schema['maxItems'] ?? 4),
      })
    case 'object':
      return object(schema, right)
    default:
      return text(schema)
  }
}

/** One arbitrary for each pattern: making one takes longer than a request. */
const patterns = new Map<string, fc.Arbitrary<string>>()

function matching(pattern: string): fc.Arbitrary<string> {
  const known = patterns.get(pattern)
  if (known) return known
  const made = fc.stringMatching(new RegExp(pattern))
  patterns.set(pattern, made)
  return made
}

function text(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema['format'] === 'uuid') return fc.constantFrom(...ids)
  if (schema['format'] === 'email') return fc.nat(9).map((n) => `somebody${n}@people.example`)
  if (schema['format'] === 'date-time')
    return fc
      .date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
      .map((at) => at.toISOString())
  if (schema['pattern']) return matching(String(schema['pattern']))
  return fc.string({
    unit: 'grapheme',
    minLength: Number(schema['minLength'] ?? 0),
    maxLength: Math.min(Number(schema['maxLength'] ?? 40), 60),
  })
}

/** A value of the schema, spoilt in a place or two. */
function spoilt(given: JsonSchema): fc.Arbitrary<unknown> {
  const schema = resolved(given)
  if (schema.type !== 'object')
    return fc.oneof({ weight: 1, arbitrary: right(schema) }, { weight: 1, arbitrary: hostile })
  return fc.oneof({ weight: 4, arbitrary: object(schema, spoilt) }, { weight: 1, arbitrary: hostile })
}

function object(schema: JsonSchema, member: (schema: JsonSchema) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, value]) => [name, member(value)]),
  )
  return fc.record(members, { requiredKeys: schema.required ?? [] })
}

interface Made {
  readonly operation: Described
  readonly path: string
  readonly headers: Record<string, string>
  readonly token: string | undefined
  readonly body: string | undefined
}

/** An object may name its members as it likes, `toString` as well. */
const textOf = (value: unknown) => (typeof value === 'object' ? JSON.stringify(value) : String(value)).toWellFormed()
const printable = (value: unknown) => textOf(value).replace(/[^\x20-\x7e]/g, '?')

function requestFor(operation: Described): fc.Arbitrary<Made> {
  const argument = (schema: JsonSchema) =>
    fc.oneof({ weight: 5, arbitrary: right(schema) }, { weight: 1, arbitrary: hostile })
  const parameters = fc.record(
    Object.fromEntries(operation.parameters.map(({ name, schema }) => [name, argument(schema)])),
    {
      requiredKeys: operation.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
    },
  )
  const body = operation.body
    ? fc.option(
        fc.oneof(
          { weight: 2, arbitrary: right(operation.body.schema) },
          { weight: 3, arbitrary: spoilt(operation.body.schema) },
        ),
        { freq: 20, nil: undefined },
      )
    : fc.constant(undefined)
  return fc
    .record({ values: parameters, token: fc.constantFrom(...tokens), body })
    .map(({ values, token, body: sent }) => {
      const given = operation.parameters
        .filter(({ name }) => name in values)
        .map((parameter) => ({ ...parameter, value: (values as Record<string, unknown>)[parameter.name] }))
      const query = given
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, value }) => `${name}=${encodeURIComponent(textOf(value))}`)
      const path = given
        .filter((parameter) => parameter.in === 'path')
        .reduce(
          (filled, { name, value }) => filled.replace(`{${name}}`, encodeURIComponent(textOf(value)) || '-'),
          operation.path,
        )
      const headers = Object.fromEntries(
        given.filter((parameter) => parameter.in === 'header').map(({ name, value }) => [name, printable(value)]),
      )
      return {
        operation,
        path: query.length > 0 ? `${path}?${query.join('&')}` : path,
        headers: operation.body ? { 'content-type': operation.body.type, ...headers } : headers,
        token,
        body: sent === undefined ? undefined : JSON.stringify(sent),
      }
    })
}

const asDefinitions = (schemas: unknown) =>
  JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/$defs/'))

const checks = new Map<string, z.ZodType>()

/** The schema of an answer, as a checker. */
function checkOf(operation: Described, status: number, type: string): z.ZodType | undefined {
  const key = `${operation.operationId} ${status} ${type}`
  const schema = operation.responses[status]?.content?.[type]?.schema
  if (schema && !checks.has(key)) {
    checks.set(key, z.fromJSONSchema({ ...asDefinitions(schema), $defs: definitions }))
  }
  return checks.get(key)
}

function expectAsDescribed({ operation, path }: Made, { status, headers, json, text: sent }: Answered): void {
  const where = `${operation.method} ${path.slice(0, 120)} (${operation.operationId})`
  expect([where, status < 500]).toEqual([where, true])
  // A path with a percent sign is no operation's: the router refuses it for all of them alike.
  if (path.split('?')[0]?.includes('%') && status === 404) return
  expect([where, status, Object.keys(operation.responses)]).toEqual([
    where,
    status,
    expect.arrayContaining([String(status)]),
  ])
  const type = headers['content-type']?.split(';')[0] ?? ''
  if (status === 204 || status === 304) {
    expect(sent).toBe('')
    return
  }
  const check = checkOf(operation, status, type)
  expect([where, status, type, check !== undefined]).toEqual([where, status, type, true])
  const verdict = check?.safeParse(json)
  expect([where, status, verdict?.error?.issues ?? []]).toEqual([where, status, []])
}

test(`${count} requests`, async () => {
  // Those that would end the session, the register or the password of all that follow are somebody else's tests.
  const ending = new Set(['removeOperator', 'revokeToken', 'signOut', 'changePassword', 'stepUp'])
  const tried = described.filter(({ operationId }) => !ending.has(operationId))
  const met = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...tried).chain(requestFor), async (made) => {
      const { operation, path, token, headers, body } = made
      const answer = await daemon.call(operation.method, path, { token, headers, body })
      expectAsDescribed(made, answer)
      met.add(`${operation.operationId} ${answer.status < 300 ? 'done' : 'refused'}`)
    }),
    { numRuns: count, endOnFailure: true },
  )
  // It has been somewhere: every operation was refused, and most were also done.
  expect(met.size).toBeGreaterThan(tried.length)
}, 900_000)

test('a spoilt answer would be noticed', () => {
  const operation = described.find(({ operationId }) => operationId === 'getOverview')!
  const check = checkOf(operation, 200, 'application/json')
  expect(
    check?.safeParse({ mode: 'multi', tenants: { ACTIVE: 1, SUSPENDED: 0, PENDING_DELETION: 0 }, accounts: 1 }).success,
  ).toBe(true)
  expect(
    check?.safeParse({ mode: 'multi', tenants: { ACTIVE: 1, SUSPENDED: 0, PENDING_DELETION: 0 }, accounts: '1' })
      .success,
  ).toBe(false)
  expect(
    check?.safeParse({
      mode: 'multi',
      tenants: { ACTIVE: 1, SUSPENDED: 0, PENDING_DELETION: 0 },
      accounts: 1,
      extra: 1,
    }).success,
  ).toBe(false)
})
