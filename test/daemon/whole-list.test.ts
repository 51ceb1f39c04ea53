/** A whole list is streamed: it is whole, it is valid, and it does not look whole when it is not. */
import { createHash, randomUUIDv7 } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let operator: Person
const workspaces = 3_210

beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true })
  const rows = Array.from({ length: workspaces - 1 }, (_, n) => ({
    id: randomUUIDv7(),
    slug: `workspace-${n}`,
    display_name: 'x'.repeat(200),
    default_locale: 'en',
    default_time_zone: 'UTC',
  }))
  for (let at = 0; at < rows.length; at += 1000)
    await daemon.db.sql`insert into tenant ${daemon.db.sql(rows.slice(at, at + 1000))}`
})
afterAll(() => daemon.close())

const path = '/api/v1/admin/tenants'

test('it holds every row once, in order, as the pages do', async () => {
  const whole = await daemon.call('GET', path, { token: operator.token })
  expect([whole.status, whole.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect(whole.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  expect(Object.keys(whole.json)).toEqual(['data'])
  expect(whole.json.data).toHaveLength(workspaces)

  const paged: unknown[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { json: { data: unknown[]; next_cursor: string | null } } = await daemon.call(
      'GET',
      `${path}?size=1000${cursor ? `&cursor=${cursor}` : ''}`,
      { token: operator.token },
    )
    paged.push(...page.json.data)
    cursor = page.json.next_cursor
  }
  const digest = (rows: unknown) => createHash('sha256').update(JSON.stringify(rows)).digest('hex')
  expect(digest(whole.json.data)).toBe(digest(paged))
})

test('an empty one is whole too', async () => {
  expect((await daemon.call('GET', `${path}?state=PENDING_DELETION`, { token: operator.token })).text).toBe(
    '{"data":[]}',
  )
})

test('HEAD answers its headers alone', async () => {
  const { status, text } = await daemon.call('HEAD', path, { token: operator.token })
  expect([status, text]).toEqual([200, ''])
})

test('a refusal before the first row is still a refusal', async () => {
  const { status, json } = await daemon.call('GET', `${path}?slug=UPPER`, { token: operator.token })
  expect([status, json.code]).toEqual([400, 'request.malformed'])
})

test('a caller who does not read makes the daemon wait, not remember; a failure then cuts the connection', async () => {
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    request(
      { port: daemon.port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${operator.token}` } },
      resolve,
    )
      .on('error', reject)
      .end()
  })
  answer.pause()
  // With the table gone the next page cannot be read, whenever the caller goes on reading.
  await daemon.db.sql`alter table tenant rename to tenant_away`
  try {
    let text = ''
    const ended = new Promise<string>((resolve) => {
      answer.on('end', () => resolve('whole'))
      answer.on('error', () => resolve('cut'))
    })
    answer.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    answer.resume()
    expect(await ended).toBe('cut')
    expect(text.startsWith('{"data":[')).toBe(true)
    expect(() => JSON.parse(text)).toThrow()
  } finally {
    await daemon.db.sql`alter table tenant_away rename to tenant`
  }
  expect((await daemon.call('GET', '/api/v1/admin/overview', { token: operator.token })).status).toBe(200)
  expect((await daemon.call('GET', '/metrics')).text).toContain(
    'svc_request_duration_seconds_count{operation="listTenants",status_class="5xx"} 1',
  )
})
