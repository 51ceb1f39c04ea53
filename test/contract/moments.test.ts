/** A moment is taken with any offset that RFC 3339 has; PostgreSQL itself takes none above 15:59. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { moment } from '../../src/core/contract/vocabulary.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let owner: Person
beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  owner = await person(daemon, tenantId, { operator: true })
})
afterAll(() => daemon.close())

const call = (method: string, path: string, body?: unknown) =>
  daemon.call(method, `/api/v1${path}`, { token: owner.token, ...(body === undefined ? {} : { body }) })

test.each([
  ['2026-05-01T00:00:00+23:59', '2026-04-30T00:01:00Z'],
  ['0011-04-07T06:27:51.123456-22:40', '0011-04-08T05:07:51.123456Z'],
  ['2026-05-01T00:00:00.5Z', '2026-05-01T00:00:00.5Z'],
  ['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.999999Z'],
])('%s is %s', (sent, taken) => {
  expect(moment.parse(sent)).toBe(taken)
})

test('the last moment stays in its year', async () => {
  const { json } = await call('GET', '/containers')
  const container_id = json.data.find(({ kind }: { kind: string }) => kind === 'COLLECTION').id
  const made = await call('POST', '/items', { container_id, title: 'Last', due_at: '9999-12-31T23:59:59.9999999Z' })
  expect([made.status, made.json.due_at], made.text).toEqual([201, '9999-12-31T23:59:59.999Z'])
})

test('in a query, a body and a filter', async () => {
  for (const path of ['/audit?until=0011-04-07T06:27:51-22:40', '/audit?from=2026-05-01T00:00:00%2B23:59'])
    expect((await call('GET', path)).status).toBe(200)
  const { json } = await call('GET', '/containers')
  const container_id = json.data.find(({ kind }: { kind: string }) => kind === 'COLLECTION').id
  const made = await call('POST', '/items', { container_id, title: 'Far', due_at: '2026-05-01T00:00:00+23:59' })
  expect([made.status, made.json.due_at], made.text).toEqual([201, '2026-04-30T00:01:00.000Z'])
  const filter = { field: 'due', op: 'before', value: '2026-05-01T00:00:00-23:59' }
  const found = await call('POST', '/items:query', { filter })
  expect([found.status, found.json.data?.length], found.text).toEqual([200, 1])
})
