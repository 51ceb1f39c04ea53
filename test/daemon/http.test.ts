import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

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
  const quotas = () => `/api/v1/admin/tenants/${owner.tenantId}/quotas`
  const patchedAs = (type: string, headers = {}) =>
    daemon.call('PATCH', quotas(), { token: owner.token, body: {}, headers: { 'content-type': type, ...headers } })
  const postedAs = (type: string, body: string | Buffer = '{}', headers = {}) =>
    daemon.call('POST', '/api/v1/auth/sessions', { body, headers: { 'content-type': type, ...headers } })

  test.each([
    'application/json',
    'application/json-patch+json',
    'text/plain',
    'application/xml',
    'application/merge-patch+json; charset=utf-16',
    'application/merge-patch+json; charset=""',
    '*/*',
    'application/*',
    'garbage',
    '',
  ])('a merge-patch as %s is 415, and Accept-Patch says what is taken', async (type) => {
    const { status, headers, json } = await patchedAs(type)
    expect([status, headers['accept-patch'], headers['accept-post']]).toEqual([
      415,
      'application/merge-patch+json',
      undefined,
    ])
    expect(json).toMatchObject({ code: 'request.media_type', params: { accepted: 'application/merge-patch+json' } })
  })

  test.each([
    'application/merge-patch+json',
    'Application/Merge-Patch+JSON',
    'application/merge-patch+json; charset=utf-8',
    'application/merge-patch+json;charset="UTF-8"',
    'application/merge-patch+json ; boundary=x; charset=utf-8',
  ])('a merge-patch as %s is read', async (type) => {
    expect((await patchedAs(type)).status).toBe(200)
  })

  test.each([
    'application/x-www-form-urlencoded',
    'application/merge-patch+json',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
  ])('a post as %s is 415, and Accept-Post says what is taken', async (type) => {
    const { status, headers, json } = await postedAs(type)
    expect([status, headers['accept-post'], headers['accept-patch']]).toEqual([415, 'application/json', undefined])
    expect(json).toMatchObject({ code: 'request.media_type', params: { accepted: 'application/json' } })
  })

  test('a body without a type is 415 as well', async () => {
    const answer = await daemon.raw(
      'POST /api/v1/auth/sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 415 .*^accept-post: application\/json\r$/ms)
  })

  test.each(['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip'])(
    'a body encoded as %s is 415, and Accept-Encoding says what is taken',
    async (encoding) => {
      const { status, headers, json } = await postedAs('application/json', '{}', { 'content-encoding': encoding })
      expect([status, headers['accept-encoding'], json.code]).toEqual([415, 'identity', 'request.media_type'])
    },
  )

  test('an encoding that changes nothing is read, and so is its body', async () => {
    const { status } = await postedAs('application/json', '{}', { 'content-encoding': 'Identity' })
    expect(status).toBe(422)
  })

  test.each<[string, Buffer, string]>([
    ['a byte order mark', Buffer.from('\ufeff{}'), 'json.byte_order_mark'],
    ['bytes that are no UTF-8', Buffer.from('{"a":"\xff"}', 'latin1'), 'json.encoding'],
    ['half a character', Buffer.from([0x7b, 0x22, 0xe2, 0x82, 0x22, 0x7d]), 'json.encoding'],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 'json.'],
  ])('%s is 400', async (_, bytes, code) => {
    const { status, json } = await postedAs('application/json', bytes)
    expect([status, json.code]).toEqual([400, 'request.malformed'])
    expect(json.errors).toEqual([expect.objectContaining({ code: expect.stringContaining(code) })])
  })

  test('whatever a caller says he accepts, he is answered, and a refusal is a problem document', async () => {
    for (const accept of ['text/html', 'application/xml', 'application/json;q=0', 'garbage', '']) {
      const done = await daemon.call('GET', '/api/v1/accounts/me', { token: owner.token, headers: { accept } })
      expect([accept, done.status, done.headers['content-type']]).toEqual([
        accept,
        200,
        'application/json; charset=utf-8',
      ])
      const refused = await daemon.call('GET', '/api/v1/accounts/me', { headers: { accept } })
      expect([accept, refused.status, refused.headers['content-type']]).toEqual([
        accept,
        401,
        'application/problem+json',
      ])
    }
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
      { code: 'request.too_large', params: { limit_bytes: 65536 } },
    ])
    // The rest of the body is still on its way: nothing else can be read from this connection.
    expect(answer.headers.connection).toBe('close')
  })

  test('so is one whose length nobody has told', async () => {
    const chunk = 'x'.repeat(daemon.config.bodyLimitBytes + 1)
    const answer = await daemon.raw(
      `POST /api/v1/auth/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toMatch(/^connection: close\r$/im)
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
      'clock',
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
})

test('a format is called by its name in the contract, not in the library that checks it', async () => {
  const { status, json } = await daemon.call('GET', '/api/v1/containers/zzz/buckets')
  expect([status, json.errors]).toEqual([
    400,
    [{ parameter: 'containerId', code: 'value.format', params: { format: 'uuid' } }],
  ])
})
