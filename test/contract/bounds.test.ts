/** What a caller may make the daemon do before anybody knows who calls. Spec: decisions 7, Bounds at the door. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { boundsOf, type Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { receive } from '../../src/core/kernel/request/validation.ts'
import { sendBody, writables } from '../kit/bodies.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let owner: Person
beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  owner = await person(daemon, tenantId, { operator: true })
  await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
})
afterAll(() => daemon.close())

const signIn = (body: unknown, headers = {}) => daemon.call('POST', '/api/v1/auth/sessions', { body, headers })
const members = (count: number, value = '1') =>
  `{${Array.from({ length: count }, (_, at) => `"m${at}":${value}`).join(',')}}`
const list = (count: number, element: string) => `[${Array(count).fill(element).join(',')}]`
const pointersOf = ({ json }: { json: { errors: { pointer: string }[] } }) => json.errors.map(({ pointer }) => pointer)

describe('a validation problem', () => {
  test('lists twenty errors, the first by position, and says that there are more', async () => {
    const answer = await signIn(members(900))
    expect([answer.status, answer.json.params, answer.json.errors.length]).toEqual([422, { more: true }, 20])
    expect(pointersOf(answer)).toEqual(Array.from({ length: 20 }, (_, at) => `/m${at}`))
  })

  test('says nothing of more where there are twenty, and names what is missing last', async () => {
    const answer = await signIn(members(18))
    expect([answer.json.params, pointersOf(answer).slice(-3)]).toEqual([{}, ['/m17', '/email', '/password']])
    expect((await signIn(members(19))).json.params).toEqual({ more: true })
  })

  test('has its errors in the order of the document, not in that of the schema', async () => {
    const answer = await signIn({ password: 1, unknown: 1, workspace: 7, email: 7 })
    expect(pointersOf(answer)).toEqual(['/password', '/unknown', '/workspace', '/email'])
  })

  test('in elements and in records, too', async () => {
    const holds = Array.from({ length: 1000 }, () => ({ id: 1, more: 2 }))
    const ofHolds = await sendBody(
      daemon,
      operations.replaceLegalHolds,
      { holds, recovery_point: '2026-01-01T00:00:00Z' },
      { token: owner.token, id: owner.tenantId },
    )
    expect([ofHolds.status, ofHolds.json.params, ofHolds.json.errors.length]).toEqual([422, { more: true }, 20])
    expect(pointersOf(ofHolds).slice(0, 3)).toEqual(['/holds/0/id', '/holds/0/more', '/holds/0/scope'])

    const fields = `{"container_id":"${owner.tenantId}","title":"x","custom_fields":${members(2000, '{}')}}`
    const ofFields = await sendBody(daemon, operations.createItem, fields, { token: owner.token })
    expect([ofFields.status, ofFields.json.errors.length, pointersOf(ofFields)[19]]).toEqual([
      422,
      20,
      '/custom_fields/m19',
    ])
  })

  test('of a list that is too long says that alone', async () => {
    const holds = Array.from({ length: 1001 }, () => ({}))
    const { status, json } = await sendBody(
      daemon,
      operations.replaceLegalHolds,
      { holds, recovery_point: '2026-01-01T00:00:00Z' },
      { token: owner.token, id: owner.tenantId },
    )
    expect([status, json.errors]).toEqual([
      422,
      [{ pointer: '/holds', code: 'list.maximum', params: { maximum: 1000 } }],
    ])
  })

  test('of a body of many values and of one of few are the same', () => {
    const faults = (body: unknown) => {
      try {
        receive(operations.createItem, { body })
        return []
      } catch (error) {
        return (error as { errors: unknown[] }).errors
      }
    }
    const ids = (count: number) => Array(count).fill(owner.tenantId)
    const wrong = { container_id: 'x', title: '', label_ids: ids(1), custom_fields: { 'A B': 1, a: {} }, color: 1 }
    expect(faults({ ...wrong, label_ids: ids(99) })).toEqual(faults(wrong))
    expect(faults(wrong)).toHaveLength(5)
    expect(faults({ container_id: owner.tenantId, title: 'x', label_ids: ids(100) })).toEqual([])
  })
})

describe('members and elements', () => {
  test.each([
    ['ones', list(400_000, '1')],
    ['objects', list(20_000, '{}')],
    ['members', members(5_000)],
    ['lists in a list', list(1_500, '[]')],
    ['integers of 64 bits', list(3_000, '9007199254740993')],
  ])('more %s than anybody may send are not read', async (_, text) => {
    const body = text.length > 65_000 ? `${text.slice(0, 65_000)}` : text
    const { status, json } = await signIn(body)
    expect([status, json.code, json.errors]).toEqual([
      400,
      'request.malformed',
      [{ pointer: '', code: 'json.values', params: { maximum: 1000 } }],
    ])
  })

  test('up to the bound are read, and refused by the schema', async () => {
    expect((await signIn(list(999, '1'))).status).toBe(422)
    expect((await signIn(list(1_000, '1'))).status).toBe(422)
    expect((await signIn(list(1_001, '1'))).status).toBe(400)
    expect((await signIn(JSON.stringify({ a: `${'[,{'.repeat(2_000)}` }))).status).toBe(422)
  })

  test('an operation that takes much is told as much', async () => {
    const send = (count: number) =>
      sendBody(daemon, operations.replaceLegalHolds, list(count, '1'), { token: owner.token, id: owner.tenantId })
    expect((await send(20_000)).status).toBe(422)
    expect((await send(20_001)).json.errors[0]).toEqual({
      pointer: '',
      code: 'json.values',
      params: { maximum: 20_000 },
    })
  })
})

describe('bytes', () => {
  const kib = 1024
  const sized = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`

  test('are bounded by what the operation says of itself', () => {
    const bounds = (Object.values(operations) as Operation[]).map((operation) => [
      operation.needs.caller === 'anyone' ? 64 : operation.takes === 'large' ? 1024 : 256,
      boundsOf(operation).bytes / kib,
    ])
    for (const [wanted, said] of bounds) expect(said).toBe(wanted)
    expect(
      (Object.values(operations) as Operation[]).filter(({ takes }) => takes === 'large').map(({ id }) => id),
    ).toEqual(['setConsentText', 'createTemplate', 'updateTemplate', 'replaceLegalHolds'])
  })

  test.each(writables.map((writable) => [writable.operation.id, writable.operation] as const))(
    '%s',
    async (_, operation) => {
      const { bytes } = boundsOf(operation)
      const as = { token: owner.token, id: owner.tenantId }
      const over = await sendBody(daemon, operation, sized(bytes + 1), as)
      expect([over.status, over.json.params]).toEqual([413, { limit_bytes: bytes }])
      expect((await sendBody(daemon, operation, sized(bytes), as)).status).not.toBe(413)
    },
  )

  test('the configuration may say less, and not more', async () => {
    for (const [bodyLimitBytes, limit] of [
      [2_048, 2_048],
      [10_000_000, 65_536],
    ] as const) {
      const other = await daemon.twin({ bodyLimitBytes })
      const { json } = await other.call('POST', '/api/v1/auth/sessions', { body: sized(70_000) })
      expect(json.params).toEqual({ limit_bytes: limit })
      await other.close()
    }
  })

  test('are those of a stranger everywhere for whoever brings no token', async () => {
    const body = sized(70 * kib)
    const { status, json } = await sendBody(daemon, operations.createItem, body, {})
    expect([status, json.params]).toEqual([413, { limit_bytes: 64 * kib }])
    expect((await sendBody(daemon, operations.createItem, body, { token: owner.token })).status).toBe(422)
  })

  test('a length above the bound is refused before a byte of it came', async () => {
    const answer = await daemon.raw(
      'POST /api/v1/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 65537\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })
})

describe('what nobody reads', () => {
  /** The head alone: an answer shows that the body was not waited for. */
  const headOnly = (path: string, type: string, more = '') =>
    daemon.raw(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: 60000\r\n${more}\r\n`,
    )

  test('the body of an unknown path, of another method, and of another media type', async () => {
    expect(await headOnly('/api/v1/nowhere', 'application/json')).toMatch(/^HTTP\/1\.1 404 /)
    expect(await headOnly('/api/v1/accounts/me', 'application/json')).toMatch(/^HTTP\/1\.1 405 /)
    expect(await headOnly('/api/v1/auth/sessions', 'text/plain')).toMatch(/^HTTP\/1\.1 415 /)
    expect(await headOnly('/api/v1/auth/sessions', 'application/json', 'Content-Encoding: gzip\r\n')).toMatch(
      /^HTTP\/1\.1 415 /,
    )
  })
})

describe('a query', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`).join('&')

  test('of more than fifty members is refused unread', async () => {
    for (const path of ['/api/v1/meta/problems', '/api/v1/accounts/me', '/healthz']) {
      const { status, json } = await daemon.call('GET', `${path}?${names(51)}`)
      expect([path, status, json.code, json.errors]).toEqual([
        path,
        400,
        'request.malformed',
        [{ parameter: '', code: 'query.members', params: { maximum: 50 } }],
      ])
    }
    expect((await daemon.call('GET', `/api/v1/accounts/me?${names(3_500)}`, { token: owner.token })).status).toBe(400)
  })

  test('of fifty is read, and twenty of its faults are told', async () => {
    const { status, json } = await daemon.call('GET', `/api/v1/accounts/me?${names(50)}`, { token: owner.token })
    expect([status, json.errors.length, json.params, json.errors[0]]).toEqual([
      400,
      20,
      { more: true },
      { parameter: 'n0', code: 'member.unknown', params: {} },
    ])
  })

  test('is decoded, and refused where it cannot be', async () => {
    const list = (query: string) => daemon.call('GET', `/api/v1/admin/tenants?${query}`, { token: owner.token })
    expect((await list('sl%75g=home&size=%31')).json.data).toHaveLength(1)
    expect((await list('size=1&size=2')).json.errors).toEqual([
      { parameter: 'size', code: 'value.type', params: { expected: 'number' } },
    ])
    expect((await list('slug=%ff')).json.errors).toEqual([{ parameter: '', code: 'value.encoding', params: {} }])
    expect((await list('__proto__=1')).json.errors).toEqual([
      { parameter: '__proto__', code: 'member.unknown', params: {} },
    ])
  })
})

test('the registry and the document know of `more`', async () => {
  const { json } = await daemon.call('GET', '/api/v1/meta/problems')
  const paramsOf = (wanted: string) => json.data.find(({ code }: { code: string }) => code === wanted).params
  expect([paramsOf('request.invalid'), paramsOf('request.malformed')]).toEqual([['more'], ['more']])
  const { json: document } = await daemon.call('GET', '/api/v1/openapi.json')
  expect(document.components.schemas.RequestInvalidProblem.properties.errors.maxItems).toBe(20)
  expect(document.paths['/api/v1/auth/sessions'].post.requestBody.description).toContain('64 KiB')
})
