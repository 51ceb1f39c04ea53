/** What the document says of a header is what the daemon takes, to the character. Spec: decisions 1, ETag and Idempotency-Key. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isIfMatch, isMatched, isUnchanged } from '../../src/core/kernel/values/etag.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let owner: Person
let collection: string
const patterns = new Map<string, RegExp>()

interface Parameter {
  readonly in: string
  readonly name: string
  readonly schema: { readonly pattern?: string }
}

beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  owner = await person(daemon, tenantId, { operator: true })
  const hub = await daemon.call('POST', '/api/v1/containers', {
    token: owner.token,
    body: { kind: 'HUB', name: 'Hub' },
  })
  collection = hub.json.id
  const { json } = await daemon.call('GET', '/api/v1/openapi.json')
  for (const item of Object.values(json.paths))
    for (const { parameters = [] } of Object.values(item as Record<string, { parameters?: Parameter[] }>))
      for (const { in: place, name, schema } of parameters)
        if (place === 'header' && schema.pattern) patterns.set(name, new RegExp(schema.pattern))
})
afterAll(() => daemon.close())

const patch = (ifMatch: string) =>
  daemon.call('PATCH', `/api/v1/containers/${collection}`, {
    token: owner.token,
    body: {},
    headers: { 'if-match': ifMatch },
  })
const create = (key: string) =>
  daemon.call('POST', '/api/v1/containers', {
    token: owner.token,
    body: { kind: 'HUB', name: 'Hub' },
    headers: { 'idempotency-key': key },
  })

const key = '0190c9d2-7a3b-7cde-8f01-23456789abcd'

describe('If-Match', () => {
  test.each(['*', '"1"', 'W/"1"', '"1", "2"', '"1","2" ,\t"3"', '""', '"a,*,b"', '"\u00e9"'])(
    '%s is taken',
    async (tag) => {
      expect([200, 412]).toContain((await patch(tag)).status)
      expect(patterns.get('If-Match')?.test(tag)).toBe(true)
    },
  )

  test.each(['', '1', '"1', '1"', '""1"', '"1" "2"', '"1",', ',"1"', '*, "1"', 'w/"1"', '"a b"', "'1'"])(
    '%s is refused',
    async (tag) => {
      const { status, json } = await patch(tag)
      expect([status, json.errors]).toEqual([
        400,
        [{ parameter: 'If-Match', code: 'value.format', params: { format: 'etag' } }],
      ])
      expect(patterns.get('If-Match')?.test(tag)).toBe(false)
    },
  )

  test('a star inside of a tag is no star', async () => {
    expect((await patch('"9,*,9"')).status).toBe(412)
    expect([isMatched('"9,*,9"', '"1"'), isUnchanged('"9,*,9"', '"1"'), isMatched('"0","1"', '"1"')]).toEqual([
      false,
      false,
      true,
    ])
    expect([isMatched('W/"1"', '"1"'), isUnchanged('W/"1"', '"1"')]).toEqual([false, true])
  })
})

describe('Idempotency-Key', () => {
  test.each([key, key.toUpperCase(), `"${key}"`])('%s is taken', async (sent) => {
    expect([200, 201]).toContain((await create(sent)).status)
    expect(patterns.get('Idempotency-Key')?.test(sent)).toBe(true)
  })

  test('is one key in either case, with or without quotes', async () => {
    const [first, ...others] = [await create(key), await create(key.toUpperCase()), await create(`"${key}"`)]
    for (const other of others)
      expect([other.json.id, other.headers['idempotency-replayed']]).toEqual([first.json.id, 'true'])
  })

  test.each([`"${key}`, `${key}"`, `""${key}""`, `'${key}'`, '', '""', `{${key}}`, `urn:uuid:${key}`, `${key} ${key}`])(
    '%s is refused',
    async (sent) => {
      const { status, json } = await create(sent)
      expect([status, json.errors]).toEqual([
        400,
        [{ parameter: 'Idempotency-Key', code: 'value.format', params: { format: 'uuid' } }],
      ])
      expect(patterns.get('Idempotency-Key')?.test(sent)).toBe(false)
    },
  )
})

test('whatever the patterns say of a text, the daemon does', () => {
  const unit = fc.constantFrom('"', '"', ',', ' ', 'W/', '*', '1', 'a', '\\', '\u00e9')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      expect(isIfMatch(text)).toBe(patterns.get('If-Match')?.test(text))
    }),
  )
})

test('a step-up that cannot be one is refused, and the document says which can', async () => {
  const pattern = patterns.get('X-Service-Step-Up')
  expect(pattern?.test(`svcu_${'a'.repeat(49)}`)).toBe(true)
  for (const proof of ['', 'x', `svcp_${'a'.repeat(49)}`, `svcu_${'a'.repeat(48)}`]) {
    expect(pattern?.test(proof)).toBe(false)
    const { status } = await daemon.call('POST', `/api/v1/admin/tenants/${owner.tenantId}:delete`, {
      token: owner.token,
      body: { confirmation: 'Home' },
      headers: { 'x-service-step-up': proof },
    })
    expect(status).toBe(401)
  }
})
