/** What the daemon answers, and what it logs, when something behind it fails. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLog } from '../../src/daemon/log.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

let daemon: TestDaemon
let operator: Person
let logged = ''
const destination = {
  write(line: string) {
    logged += line
  },
}

beforeAll(async () => {
  daemon = await testDaemon({ log: openLog('trace', destination), config: { poolSize: 2 } })
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true })
})
afterAll(() => daemon.close())

const lines = () =>
  logged
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('a failure of ours is 500 `internal`, tells nothing, and is found in the log by its id', async () => {
  await daemon.db.sql`alter table journal rename column action to act`
  try {
    const { status, headers, json, text } = await daemon.call('GET', '/api/v1/admin/journal', { token: operator.token })
    expect([status, json.code, json.params]).toEqual([500, 'internal', {}])
    expect(text).not.toMatch(/action|column|journal|select/)
    const found = lines().filter((line) => line['request_id'] === headers['x-request-id'])
    expect(found).toContainEqual(
      expect.objectContaining({ event: 'request failed', error: expect.objectContaining({ code: '42703' }) }),
    )
    expect(found).toContainEqual(
      expect.objectContaining({
        event: 'request',
        status: 500,
        operation: 'listJournal',
        tenant_id: operator.tenantId,
        account_id: operator.accountId,
      }),
    )
  } finally {
    await daemon.db.sql`alter table journal rename column act to action`
  }
})

test('what the router itself refuses is logged like any other answer', async () => {
  const { status, headers } = await daemon.call('GET', '/%zz')
  expect(status).toBe(400)
  expect(lines()).toContainEqual(
    expect.objectContaining({
      event: 'request',
      request_id: headers['x-request-id'],
      status: 400,
      code: 'request.malformed',
      duration_ms: expect.any(Number),
    }),
  )
})

describe('while the database does not answer', () => {
  let release: () => Promise<void>

  beforeAll(async () => {
    // Whoever reads credentials waits for this lock, up to the daemon's lock timeout.
    const locker = await daemon.db.sql.reserve()
    await locker`begin`
    await locker`lock table credential in access exclusive mode`
    release = async () => {
      await locker`rollback`
      locker.release()
    }
  })
  test('calls are 503 with Retry-After, and those that need no database are answered all the same', async () => {
    const waiting = Array.from({ length: 8 }, () =>
      daemon.call('GET', '/api/v1/accounts/me', { token: operator.token }),
    )
    try {
      const unneeding = await Promise.all([
        daemon.call('GET', '/healthz'),
        daemon.call('GET', '/api/v1/accounts/me'),
        daemon.call('GET', '/api/v1/accounts/me', { token: 'svcp_garbage' }),
        daemon.call('GET', '/nowhere'),
        daemon.call('POST', '/api/v1/auth/sessions', { body: '{' }),
        daemon.call('GET', '/api/v1/openapi.json'),
      ])
      expect(unneeding.map(({ status }) => status)).toEqual([200, 401, 401, 404, 400, 200])
      for (const { status, headers, json } of await Promise.all(waiting)) {
        expect([status, json.code, headers['retry-after']]).toEqual([503, 'service.unavailable', '1'])
      }
    } finally {
      await release()
    }
    await expect
      .poll(async () => (await daemon.call('GET', '/api/v1/accounts/me', { token: operator.token })).status, {
        timeout: 10_000,
      })
      .toBe(200)
  })
})

test('the log holds no token, no password, no body, no query and no content', async () => {
  const canary = 'CANARY'
  const id = await workspace(daemon, 'canaries')
  const sendings: [string, string, Parameters<TestDaemon['call']>[2]][] = [
    [
      'POST',
      '/api/v1/auth/sessions',
      { body: { workspace: 'home', email: `${canary}@people.example`, password: `${canary}-password` } },
    ],
    ['POST', '/api/v1/auth/sessions', { body: `{"password":"${canary}` }],
    ['POST', '/api/v1/auth/tokens', { token: operator.token, body: { name: canary, scopes: ['workspace:read'] } }],
    ['POST', '/api/v1/auth/step-up', { token: operator.token, body: { password: canary } }],
    ['GET', `/api/v1/admin/tenants?slug=${canary}`, { token: operator.token }],
    ['GET', `/api/v1/${canary}`, { headers: { cookie: canary, 'user-agent': canary, referer: canary } }],
    [
      'POST',
      '/api/v1/admin/tenants',
      {
        token: operator.token,
        body: {
          slug: 'logged',
          display_name: canary,
          owner_email: `${canary}@people.example`,
          owner_display_name: canary,
        },
        headers: { 'idempotency-key': canary },
      },
    ],
    [
      'POST',
      '/api/v1/admin/tenants',
      {
        token: operator.token,
        body: { slug: 'logged', display_name: canary, owner_email: `${canary}@people.example` },
      },
    ],
    ['PATCH', `/api/v1/admin/tenants/${id}/quotas`, { token: operator.token, body: { [canary]: 1 } }],
    ['DELETE', '/api/v1/auth/sessions', { token: operator.token, headers: { 'x-service-step-up': canary } }],
  ]
  // And where the database fails on them, and says so with the value.
  await daemon.db.sql`
    create function complain() returns trigger language plpgsql as $$ begin raise exception 'cannot keep %', new.name using detail = new.name; end $$`
  await daemon.db.sql`
    create trigger complain before insert on credential for each row when (new.name = 'CANARY-2') execute function complain()`
  const failing = await daemon.call('POST', '/api/v1/auth/tokens', {
    token: operator.token,
    body: { name: `${canary}-2`, scopes: ['workspace:read'] },
  })
  expect(failing.status).toBe(500)
  for (const [method, path, sending] of sendings) await daemon.call(method, path, sending)
  expect(logged.split('"event":"request"').length).toBeGreaterThan(sendings.length)
  expect(logged).not.toContain(canary)
  expect(logged).not.toContain(operator.token)
  expect(logged).not.toMatch(/svc[parsui]_[0-9A-Za-z]{20}/)
  expect(() => lines()).not.toThrow()
})
