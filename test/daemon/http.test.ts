import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../support/daemon.ts'
import { type Person, person, setUp, workspace } from '../support/people.ts'

let daemon: TestDaemon
let owner: Person

beforeAll(async () => {
  daemon = await testDaemon()
  const home = await setUp(daemon)
  owner = await person(daemon, home.tenantId, { operator: true })
})
afterAll(() => daemon.close())

describe('every answer', () => {
  test('carries a request id of our own, whatever the caller sent', async () => {
    const answers = await Promise.all([
      daemon.call('GET', '/healthz', { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } }),
      daemon.call('GET', '/api/v1/accounts/me', { headers: { 'x-request-id': 'mine' } }),
      daemon.call('GET', '/nowhere'),
      daemon.call('GET', '/api/v1/accounts/me', { token: owner.token }),
      daemon.call('GET', '/%zz'),
    ])
    for (const { headers } of answers) expect(headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(answers.length)
  })

  test('a problem names the request, and holds no text for people', async () => {
    const { status, headers, json } = await daemon.call('GET', '/api/v1/accounts/me')
    expect(status).toBe(401)
    expect(headers['content-type']).toBe('application/problem+json')
    expect(headers['www-authenticate']).toBe('Bearer')
    expect(json).toEqual({
      type: 'urn:problem:svc:auth.unauthenticated',
      status: 401,
      code: 'auth.unauthenticated',
      params: {},
      instance: `urn:uuid:${headers['x-request-id']}`,
    })
  })
})

describe('methods', () => {
  test.each([
    ['DELETE', '/api/v1/admin/tenants', 'GET, HEAD, POST'],
    ['OPTIONS', '/api/v1/admin/tenants', 'GET, HEAD, POST'],
    ['TRACE', '/api/v1/accounts/me', 'GET, HEAD'],
    ['GET', '/api/v1/auth/sessions:refresh', 'POST'],
    ['PUT', '/api/v1/admin/tenants/0190c9d2-7a3b-7cde-8f01-23456789abcd:suspend', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/api/v1/openapi.json', 'GET, HEAD'],
  ])('%s %s is not served, and Allow says what is', async (method, path, allow) => {
    const answer = await daemon.call(method, path, { token: owner.token })
    expect(answer.status).toBe(405)
    expect(answer.headers.allow).toBe(allow)
    expect(answer.json).toMatchObject({ code: 'request.method', params: { allow } })
  })

  test('HEAD answers what GET does, without the body', async () => {
    const [head, get] = await Promise.all([
      daemon.call('HEAD', '/api/v1/accounts/me', { token: owner.token }),
      daemon.call('GET', '/api/v1/accounts/me', { token: owner.token }),
    ])
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(head.headers.etag).toBe(get.headers.etag)
  })
})

describe('ETag', () => {
  test('a representation carries its version, and a matching If-None-Match is 304', async () => {
    const first = await daemon.call('GET', '/api/v1/accounts/me', { token: owner.token })
    expect(first.headers.etag).toBe(`"${first.json.version}"`)
    for (const tag of [first.headers.etag, `W/${first.headers.etag}`, '*', `"no", ${first.headers.etag}`]) {
      const again = await daemon.call('GET', '/api/v1/accounts/me', {
        token: owner.token,
        headers: { 'if-none-match': String(tag) },
      })
      expect([again.status, again.text]).toEqual([304, ''])
    }
    const other = await daemon.call('GET', '/api/v1/accounts/me', {
      token: owner.token,
      headers: { 'if-none-match': '"999"' },
    })
    expect(other.status).toBe(200)
  })
})

describe('media types', () => {
  const path = () => `/api/v1/admin/tenants/${owner.tenantId}/quotas`

  test.each([
    'application/json',
    'text/plain',
    'application/xml',
    'application/merge-patch+json; charset=utf-16',
    '*/*',
    'garbage',
    '',
  ])('a merge-patch as %s is 415, and Accept-Patch says what is taken', async (type) => {
    const answer = await daemon.call('PATCH', path(), {
      token: owner.token,
      body: {},
      headers: { 'content-type': type },
    })
    expect(answer.status).toBe(415)
    expect(answer.headers['accept-patch']).toBe('application/merge-patch+json')
    expect(answer.json).toMatchObject({
      code: 'request.media_type',
      params: { accepted: 'application/merge-patch+json' },
    })
  })

  test.each([
    'application/merge-patch+json',
    'Application/Merge-Patch+JSON',
    'application/merge-patch+json; charset=utf-8',
    'application/merge-patch+json;charset="UTF-8"',
  ])('a merge-patch as %s is read', async (type) => {
    expect(
      (await daemon.call('PATCH', path(), { token: owner.token, body: {}, headers: { 'content-type': type } })).status,
    ).toBe(200)
  })

  test('a post of another type is 415 with Accept-Post', async () => {
    const answer = await daemon.call('POST', '/api/v1/auth/sessions', {
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect([answer.status, answer.headers['accept-post']]).toEqual([415, 'application/json'])
  })

  test('an empty body with a JSON content type is no body: fine where none is taken, refused by the schema where one is', async () => {
    const id = await workspace(daemon, 'emptied')
    const without = await daemon.call('POST', `/api/v1/admin/tenants/${id}:suspend`, {
      token: owner.token,
      headers: { 'content-type': 'application/json', 'content-length': '0' },
    })
    expect(without.status).toBe(204)
    const needed = await daemon.call('POST', '/api/v1/auth/sessions', {
      headers: { 'content-type': 'application/json', 'content-length': '0' },
    })
    expect(needed.status).toBe(422)
  })

  test('a body larger than the limit is 413, and the limit is told', async () => {
    const answer = await daemon.call('POST', '/api/v1/auth/sessions', {
      body: `"${'x'.repeat(daemon.config.bodyLimitBytes)}"`,
    })
    expect([answer.status, answer.json]).toMatchObject([
      413,
      { code: 'request.too_large', params: { limit_bytes: 1048576 } },
    ])
  })
})

describe('what is known of the daemon itself', () => {
  test('/readyz names its checks', async () => {
    const { status, json } = await daemon.call('GET', '/readyz')
    expect(status).toBe(200)
    expect(json.checks.map(({ name }: { name: string }) => name)).toEqual([
      'process',
      'database',
      'migrations',
      'gate',
      'keyring',
    ])
  })

  test('/readyz is 503 while a migration is missing, and says which', async () => {
    const { sql } = daemon.db
    const [last] = await sql<
      { id: number; name: string; run_on: Date }[]
    >`delete from pgmigrations where name = (select max(name) from pgmigrations) returning *`
    try {
      const { status, json } = await daemon.call('GET', '/readyz')
      expect(status).toBe(503)
      expect(json.checks).toContainEqual({
        name: 'migrations',
        ok: false,
        error: `1 migration(s) pending, the first is ${last?.name}`,
      })
    } finally {
      await sql`insert into pgmigrations ${sql(last ?? {})}`
    }
  })

  test('/metrics counts by operation and status class, and names no workspace', async () => {
    const { text } = await daemon.call('GET', '/metrics')
    expect(text).toMatch(/svc_request_duration_seconds_count\{operation="getOwnAccount",status_class="2xx"\} [1-9]/)
    expect(text).toContain('svc_database_connections{state="size"}')
    expect(text).not.toContain(owner.tenantId)
  })

  test('/docs brings its own script and asks no other host', async () => {
    const moved = await daemon.call('GET', '/docs')
    expect([moved.status, moved.headers.location]).toEqual([301, '/docs/'])
    const page = await daemon.call('GET', '/docs/')
    expect(page.status).toBe(200)
    expect(page.headers['content-security-policy']).toContain("default-src 'none'")
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source)
    expect(sources).toEqual(['js/scalar.js'])
    expect((await daemon.call('GET', '/docs/js/scalar.js')).text.length).toBeGreaterThan(100_000)
    expect((await daemon.call('GET', '/docs', { headers: { host: 'x:99999' } })).status).toBe(400)
  })
})

test('a format is called by its name in the contract, not in the library that checks it', async () => {
  const { status, json } = await daemon.call('GET', '/api/v1/containers/zzz/buckets')
  expect([status, json.errors]).toEqual([
    400,
    [{ parameter: 'containerId', code: 'value.format', params: { format: 'uuid' } }],
  ])
})
