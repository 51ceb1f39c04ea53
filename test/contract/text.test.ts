/** T-30: a text is stored and answered exactly as it was sent, or refused; never changed, never a failure of ours. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendBody, withValue, writables } from '../kit/bodies.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { naughtyStrings, unstorableStrings } from '../kit/naughty-strings.ts'
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

const lengthOf = (text: string) => [...text].length
const isStorable = (text: string) =>
  !unstorableStrings.includes(text) && text.isWellFormed() && !text.includes('\u0000')

test('there are enough of them', () => {
  expect(naughtyStrings.length).toBeGreaterThan(300)
})

test("a token's name comes back to the code point, from 1 to 120 of them, and every other is 422", async () => {
  const kept: string[] = []
  for (const name of naughtyStrings) {
    const { status, json } = await daemon.call('POST', '/api/v1/auth/tokens', {
      token: operator.token,
      body: { name, scopes: ['workspace:read'] },
    })
    const fits = isStorable(name) && lengthOf(name) >= 1 && lengthOf(name) <= 120
    expect([name, status]).toEqual([name, fits ? 201 : 422])
    if (!fits) expect(json.errors[0].pointer).toBe('/name')
    else {
      expect(json.name).toBe(name)
      kept.push(name)
    }
  }
  const rows = await daemon.db.sql<
    { name: string }[]
  >`select name from credential where account_id = ${operator.accountId} and name <> 'test'`
  expect(rows.map(({ name }) => name).sort()).toEqual(kept.sort())
})

test('a length counts code points: 120 emoji fit where 121 letters do not', async () => {
  const create = (name: string) =>
    daemon.call('POST', '/api/v1/auth/tokens', { token: operator.token, body: { name, scopes: ['workspace:read'] } })
  expect((await create('😀'.repeat(120))).status).toBe(201)
  const { status, json } = await create('x'.repeat(121))
  expect([status, json.errors]).toEqual([422, [{ pointer: '/name', code: 'text.too_long', params: { maximum: 120 } }]])
})

describe('every string of every body takes every text without a failure of ours', () => {
  /** Each of these costs a password hash, so they take few of the texts. */
  const slow = new Set(['signIn', 'stepUp', 'changePassword', 'redeemInvitation', 'createManagedAccount'])
  const fields = writables.flatMap((writable) =>
    writable.nodes
      .filter(({ types, schema }) => types.has('string') && !schema['enum'])
      .map(({ path }) => [`${writable.operation.id} /${path.join('/')}`, writable, path] as const),
  )

  const isFull = process.env['SVC_FAULTS'] === 'full'

  test.each(fields)('%s', async (field, { operation, sample }, path) => {
    // In the short form each field takes other ones of the texts.
    const every = slow.has(operation.id) ? 30 : isFull ? 1 : 20
    const texts = naughtyStrings.filter((text, at) => (at + field.length) % every === 0 || !isStorable(text))
    for (const text of texts) {
      const { status, headers, json } = await sendBody(daemon, operation, withValue(sample, path, text), {
        token: operator.token,
        sessionToken: signedIn.token,
        id: operator.tenantId,
      })
      expect([text, status < 500]).toEqual([text, true])
      if (status >= 400)
        expect([text, headers['content-type'], json.instance]).toEqual([
          text,
          'application/problem+json',
          `urn:uuid:${headers['x-request-id']}`,
        ])
      if (!isStorable(text)) expect([text, status]).toEqual([text, 422])
    }
  })
})

test('a text in the query or the path is refused by its shape, and nothing else happens', async () => {
  for (const text of naughtyStrings.filter((text) => text.isWellFormed())) {
    const encoded = encodeURIComponent(text)
    const query = await daemon.call('GET', `/api/v1/admin/tenants?slug=${encoded}`, { token: operator.token })
    expect([text, query.status]).toEqual([text, expect.toBeOneOf([200, 400])])
    const cursor = await daemon.call('GET', `/api/v1/admin/journal?cursor=${encoded}`, { token: operator.token })
    expect([text, cursor.status]).toEqual([text, 400])
    const path = await daemon.call('GET', `/api/v1/containers/${encoded}/buckets`, { token: operator.token })
    expect([text, path.status]).toEqual([text, expect.toBeOneOf([400, 404])])
  }
})

test('a header value with a naughty text is refused or ignored', async () => {
  const printable = naughtyStrings.filter((text) => text.length < 1000 && /^[\t\x20-\x7e\x80-\xff]*$/.test(text))
  expect(printable.length).toBeGreaterThan(150)
  for (const text of printable) {
    const headers = {
      'idempotency-key': text,
      'if-match': text,
      'x-service-step-up': text,
      'x-request-id': text,
      'user-agent': text,
    }
    const { status, json } = await daemon.call('POST', '/api/v1/admin/tenants', {
      token: operator.token,
      headers,
      body: { slug: 'never', display_name: 'Never', owner_email: 'n@never.example' },
    })
    expect([text, status, json.errors]).toEqual([
      text,
      400,
      [{ parameter: 'Idempotency-Key', code: 'value.format', params: { format: 'uuid' } }],
    ])
  }
})
