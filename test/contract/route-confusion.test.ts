/** T-32: only the exact spelling of an action runs it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

const actions = (Object.values(operations) as Operation[]).filter(({ path }) => path.includes(':'))

let daemon: TestDaemon
let operator: Person
let targetId: string

beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true })
  await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  targetId = await workspace(daemon, 'target')
})
afterAll(() => daemon.close())

/** Other spellings of a path with an action; none of them is the action. */
function spellings(path: string): string[] {
  const at = path.lastIndexOf(':')
  const [resource, action] = [path.slice(0, at), path.slice(at + 1)]
  const upper = (text: string) => text.toUpperCase()
  const first = action.charCodeAt(0).toString(16)
  return [
    `${resource}%3A${action}`,
    `${resource}%3a${action}`,
    `${resource}%253A${action}`,
    `${resource}::${action}`,
    `${resource}:${action}:${action}`,
    `${resource}:${upper(action)}`,
    `${resource}:${action}/`,
    `${resource}/:${action}`,
    `${resource}/${action}`,
    `${resource}:${action}x`,
    `${resource}:${action.slice(0, -1)}`,
    `${resource}:%${first}${action.slice(1)}`,
    `${resource}:${action};a=b`,
    `${resource}:${action}%00`,
    `${resource}:${action}%20`,
    `${resource}:${action}.json`,
    `/${path}`,
    path.replace('/v1/', '/v1//'),
    path.replace('/v1/', '/V1/'),
    path.replace('/v1/', '/v1/./'),
    path.replace('/v1/', '/v1/x/../'),
    path.replace('/v1/', '/v1/x/..;/'),
    path.replace('/v1/', '/v1/%2e%2e/v1/'),
    path.replace('/v1/', '/v1%2F'),
    path.replace('/v1/', '/v1\\'),
    upper(path),
  ]
}

const evidence = async () =>
  (
    await daemon.db
      .sql`select (select count(*) from journal) as journal, (select state from tenant where id = ${targetId}) as state, (select count(*) from credential) as credentials`
  )[0]

test.each(actions.map((operation) => [operation.id, operation] as const))(
  '%s runs under no other spelling',
  async (_, operation) => {
    const path = `/api/v1${operation.path.replace(/\{\w+\}/, targetId)}`
    const before = await evidence()
    const others = spellings(path)
    expect(others.length).toBeGreaterThanOrEqual(20)
    for (const other of others) {
      const { status, json } = await daemon.call(operation.method, other, { token: operator.token, body: {} })
      // `sessions/refresh` is a path of its own, served with another method.
      expect([other, status, json.code]).toEqual(
        status === 405 ? [other, 405, 'request.method'] : [other, 404, 'not_found'],
      )
    }
    expect(await evidence()).toEqual(before)
  },
)

test.each(actions.map((operation) => [operation.id, operation] as const))(
  '%s runs by no other method',
  async (_, operation) => {
    const path = `/api/v1${operation.path.replace(/\{\w+\}/, targetId)}`
    const before = await evidence()
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']) {
      const { status, headers } = await daemon.call(method, path, { token: operator.token })
      expect([method, status, headers.allow]).toEqual([method, 405, 'POST'])
    }
    // Neither a header nor a member of the query makes another method of it.
    for (const name of ['x-http-method-override', 'x-method-override', 'x-http-method']) {
      expect(
        (await daemon.call('GET', `${path}?_method=POST`, { token: operator.token, headers: { [name]: 'POST' } }))
          .status,
      ).toBe(405)
    }
    expect(await evidence()).toEqual(before)
  },
)

test('the exact spelling runs it', async () => {
  expect(
    (await daemon.call('POST', `/api/v1/admin/tenants/${targetId}:suspend`, { token: operator.token })).status,
  ).toBe(204)
  expect(await evidence()).toMatchObject({ state: 'SUSPENDED' })
})

test('an id never takes what stands behind a colon for a part of itself', async () => {
  for (const operation of Object.values(operations) as Operation[]) {
    if (!operation.params) continue
    const path = `/api/v1${operation.path.replace(/\{\w+\}/, `${targetId}:bogus`)}`
    const { status, json } = await daemon.call(operation.method, path, { token: operator.token })
    expect([path, status, json.code]).toEqual([path, 404, 'not_found'])
  }
})

test('an overlong path is refused as one', async () => {
  const { status, json } = await daemon.call('POST', `/api/v1/admin/tenants/${'a'.repeat(101)}:suspend`, {
    token: operator.token,
  })
  expect([status, json.code]).toEqual([400, 'request.malformed'])
})
