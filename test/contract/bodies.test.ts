/** T-27, T-28, T-29, T-34: what a body may not do, for every body there is. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyMemberName, isRecord, sendBody, withValue, writables } from '../kit/bodies.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let operator: Person
let signedIn: Person

beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true })
  signedIn = await person(daemon, tenantId, { operator: true, kind: 'SESSION' })
  await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
})
afterAll(() => daemon.close())

const named = writables.map((writable) => [writable.operation.id, writable] as const)
const pointerOf = (path: readonly string[]) => path.map((name) => `/${name}`).join('')
const as = () => ({ token: operator.token, sessionToken: signedIn.token, id: operator.tenantId })

/** Whatever a body could have changed. */
async function state(): Promise<unknown> {
  const { sql } = daemon.db
  return [
    await sql`select * from tenant order by id`,
    await sql`select * from tenant_quota order by tenant_id, quota`,
    await sql`select id, state, version from account order by id`,
    (
      await sql`select (select count(*) from journal) as journal, (select count(*) from audit_entry) as trail, (select count(*) from credential) as credentials, (select count(*) from operator) as operators`
    )[0],
  ]
}

/** Values of every JSON type, with those that other languages turn into one another. */
const values: readonly [type: string, json: string][] = [
  ['boolean', 'false'],
  ['boolean', 'true'],
  ['string', '""'],
  ['string', '"0"'],
  ['string', '"true"'],
  ['string', '"null"'],
  ['number', '0'],
  ['number', '1'],
  ['fraction', '1.5'],
  ['beyond every number', '1e400'],
  ['array', '[]'],
  ['array', '[7]'],
  ['object', '{}'],
  ['object', '{"valueOf":1}'],
  ['null', 'null'],
]

const isFull = process.env['SVC_FAULTS'] === 'full'

const takes = (types: ReadonlySet<string>, type: string) =>
  types.has(type) || (type === 'number' && types.has('integer')) || (type === 'fraction' && types.has('number'))

describe('T-28: nothing is coerced', () => {
  test.each(named)('%s', async (_, { operation, sample, nodes }) => {
    const before = await state()
    let tried = 0
    for (const [node, { path, types }] of nodes.entries()) {
      // In the short form each member takes another third of the values.
      const others = values.filter(([type], at) => !takes(types, type) && (isFull || (at + node) % 3 === 0))
      for (const [, json] of others) {
        const marked = JSON.stringify(withValue(sample, path, '\u0001here'))
        const body = marked.replace('"\\u0001here"', json)
        const answer = await sendBody(daemon, operation, body, as())
        expect([body, answer.status, answer.json.code]).toEqual([body, 422, 'request.invalid'])
        const pointers = answer.json.errors.map(({ pointer }: { pointer: string }) => pointer)
        expect([body, pointers.some((pointer: string) => pointer.startsWith(pointerOf(path)))]).toEqual([body, true])
        tried += 1
      }
    }
    // A custom field's value may be of any type but one.
    expect(tried).toBeGreaterThanOrEqual(nodes.filter(({ types }) => types.size <= 2).length * (isFull ? 10 : 2))
    expect(await state()).toEqual(before)
  })

  test('a required member that is missing is named', async () => {
    for (const { operation, schema, sample } of writables) {
      for (const name of schema.required ?? []) {
        const { [name]: _, ...rest } = sample
        const { status, json } = await sendBody(daemon, operation, rest, as())
        expect([operation.id, status, json.errors]).toEqual([
          operation.id,
          422,
          expect.arrayContaining([{ pointer: `/${name}`, code: 'member.required', params: {} }]),
        ])
      }
    }
  })
})

const inGroups = (names: readonly string[], size: number) =>
  Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size))

describe('T-34: no member is taken that is not declared', () => {
  const names = everyMemberName()

  test.each(named)('%s', async (_, { operation, sample, nodes }) => {
    expect(names.size).toBeGreaterThan(60)
    const before = await state()
    for (const { path, schema } of nodes.filter((node) => node.types.has('object') && !isRecord(node.schema))) {
      const unknown = [...names, 'tenant_id', 'is_enforced_from_file', 'toString', 'hasOwnProperty'].filter(
        (name) => !(name in (schema.properties ?? {})),
      )
      // In the long form each by itself; otherwise 15 together, because an answer names 20.
      for (const together of inGroups(unknown, isFull ? 1 : 15)) {
        const body = together.reduce((whole, name) => withValue(whole, [...path, name], 'x') as typeof sample, sample)
        const { status, json } = await sendBody(daemon, operation, body, as())
        const told = together.map((name) => ({
          pointer: pointerOf([...path, name]),
          code: 'member.unknown',
          params: {},
        }))
        expect([status, json.errors]).toEqual([422, expect.arrayContaining(told)])
      }
    }
    expect(await state()).toEqual(before)
  })
})

describe('T-27: no body reaches the prototype of anything', () => {
  const keys = ['__proto__', 'constructor', 'prototype', '__defineGetter__', 'toJSON', 'valueOf', 'items']
  const inner = [
    '1',
    'null',
    '[]',
    '"x"',
    '{"polluted":"canary"}',
    '{"prototype":{"polluted":"canary"}}',
    '{"__proto__":{"polluted":"canary"}}',
    '{"constructor":{"prototype":{"polluted":"canary"}}}',
  ]
  const shapes = keys.flatMap((key) =>
    inner.flatMap((value) => [
      `{"${key}":${value}}`,
      `{"items":{"${key}":${value}}}`,
      `[{"${key}":${value}}]`,
      `{"${key}":{"${key}":${value}}}`,
      `{"\\u005f${key.slice(1)}":${value}}`,
    ]),
  )

  test('of 250 shapes and more, by every operation that takes a body', async () => {
    expect(shapes.length).toBeGreaterThan(250)
    const before = await state()
    // In the short form each operation takes other ones of the shapes; patches, which are merged into what is there, take more.
    const isFull = process.env['SVC_FAULTS'] === 'full'
    for (const [n, { operation }] of writables.entries()) {
      const every = isFull ? 1 : operation.patch ? 3 : 14
      const tried = shapes.filter((_, at) => (at + n) % every === 0)
      for (const shape of tried.filter((text) => !/^\{"items":(1|null)\}$/.test(text))) {
        const { status, json } = await sendBody(daemon, operation, shape, as())
        expect([shape, status]).toEqual([shape, expect.toBeOneOf([400, 422])])
        expect(json.polluted).toBeUndefined()
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect((await daemon.call('GET', '/api/v1/accounts/me', { token: operator.token })).text).not.toContain('polluted')
    expect(await state()).toEqual(before)
  })

  test.each(['null', '1', '"x"', 'true', '[]', '[{}]'])('a patch that is %s and no object is 422', async (body) => {
    const { status, json } = await daemon.call('PATCH', `/api/v1/admin/tenants/${operator.tenantId}/quotas`, {
      token: operator.token,
      body,
    })
    expect([status, json.code]).toEqual([422, 'request.invalid'])
  })
})

describe('T-29: an int64 is stored to the digit, or refused', () => {
  const path = () => `/api/v1/admin/tenants/${operator.tenantId}/quotas`
  const put = (literal: string) =>
    daemon.call('PATCH', path(), { token: operator.token, body: `{"media_bytes":${literal}}` })
  const stored = async () =>
    (
      await daemon.db.sql<
        { ceiling: string }[]
      >`select ceiling::text from tenant_quota where tenant_id = ${operator.tenantId} and quota = 'media_bytes'`
    )[0]?.ceiling

  test.each([
    '0',
    '1',
    '4294967296',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '999999999999999999',
    '1000000000000000001',
    '9223372036854775806',
    '9223372036854775807',
  ])('%s', async (literal) => {
    const { status, text } = await put(literal)
    expect(status).toBe(200)
    expect(text).toContain(`"media_bytes":{"value":${literal},"source":"WORKSPACE"`)
    expect(await stored()).toBe(literal)
  })

  test.each([
    ['5.0', '5'],
    ['-0', '0'],
    ['1e3', '1000'],
    ['-0.0', '0'],
    ['1E+2', '100'],
  ])('%s is the integer it says', async (literal, exactly) => {
    expect((await put(literal)).status).toBe(200)
    expect(await stored()).toBe(exactly)
  })

  test.each([
    '-1',
    '1.5',
    '9223372036854775808',
    '18446744073709551616',
    '1e18',
    '1e19',
    '1e400',
    '-1e400',
    '9007199254740993.0',
    '0.1',
    '1e-1',
    '-9223372036854775808',
    '9'.repeat(40),
    '9'.repeat(400),
  ])('%s is refused', async (literal) => {
    await put('7')
    const { status, json } = await put(literal)
    expect([status, json.code]).toEqual([422, 'request.invalid'])
    expect(await stored()).toBe('7')
  })
})
