/** How the command line meets servers that are slow, away, broken, or not svc at all. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Home, temporaryHome } from '../kit/svc.ts'

interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let home: Home
let server: Server
let received: Received[]
let answer: (request: Received, response: ServerResponse) => void

beforeEach(async () => {
  home = temporaryHome()
  received = []
  server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    received.push(one)
    answer(one, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
})
afterEach(async () => {
  home.remove()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const token = 'svcp_stand-in-for-a-token'
const run = (...args: string[]) => home.svc(args, { env: { SVC_API_URL: url(), SVC_TOKEN: token } })
const send =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (_: Received, response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
const problem = (status: number, code: string, more: object = {}) =>
  JSON.stringify({
    type: `urn:problem:svc:${code}`,
    status,
    code,
    params: {},
    instance: 'urn:uuid:0190c9d2-7a3b-7cde-8f01-23456789abcd',
    ...more,
  })
const provision = ['tenants', 'provision', '--slug', 'acme', '--display-name', 'A', '--owner-email', 'a@acme.example']

describe('what is sent', () => {
  test('names the client and the token in headers; nothing of it is in the address', async () => {
    answer = send(200, '{"data":[]}')
    await run('tenants', 'list', '--state', 'ACTIVE')
    expect(received).toMatchObject([
      {
        method: 'GET',
        url: '/api/v1/admin/tenants?state=ACTIVE',
        body: '',
        headers: { authorization: `Bearer ${token}` },
      },
    ])
    expect(received[0]?.headers['user-agent']).toMatch(/^svc /)
  })

  test('a workspace that is named by its id is read by its id, in one call', async () => {
    const id = '0190c9d2-7a3b-7cde-8f01-000000000002'
    answer = send(200, JSON.stringify({ id, slug: 'acme', created_at: '2026-01-01T00:00:00Z' }))
    const { code } = await run('tenants', 'show', id.toUpperCase(), '--json')
    expect([code, received.map(({ url }) => url)]).toEqual([0, [`/api/v1/admin/tenants/${id}`]])
  })

  test('a provision carries an Idempotency-Key, always', async () => {
    answer = send(500, problem(500, 'internal'))
    await run(...provision)
    expect(received[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('a quota change is a merge-patch with null for the default', async () => {
    answer = ({ method }, response) =>
      send(200, method === 'GET' ? '{"data":[{"id":"0190c9d2-7a3b-7cde-8f01-23456789abcd","slug":"acme"}]}' : '{}')(
        {} as Received,
        response,
      )
    await run('tenants', 'quotas', 'set', 'acme', 'items=9223372036854775807', 'export_jobs=default')
    expect(received[1]).toMatchObject({
      method: 'PATCH',
      url: '/api/v1/admin/tenants/0190c9d2-7a3b-7cde-8f01-23456789abcd/quotas',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"items":9223372036854775807,"export_jobs":null}',
    })
  })
})

describe('a server that asks to wait', () => {
  test('is asked again, at most twice, and people are told', async () => {
    answer = send(503, problem(503, 'service.unavailable'), { 'retry-after': '0' })
    const ran = await run('tenants', 'list')
    expect(received).toHaveLength(3)
    expect(ran).toMatchObject({ code: 7, stdout: '' })
    expect(ran.stderr).toContain('trying again (1 of 2).')
    expect(ran.stderr).toContain('trying again (2 of 2).')
  })

  test('and then answers, is done', async () => {
    answer = (request, response) =>
      (received.length < 2
        ? send(429, problem(429, 'quota.exceeded'), { 'retry-after': '0' })
        : send(200, '{"data":[]}'))(request, response)
    expect(await run('tenants', 'list', '--json')).toMatchObject({ code: 0, stdout: '{\n  "data": []\n}\n' })
  })

  test('for long is not waited for', async () => {
    answer = send(429, problem(429, 'auth.step_up_locked'), { 'retry-after': '900' })
    expect(await run('tenants', 'list')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('Wait 900 s.'),
    })
    expect(received).toHaveLength(1)
  })

  test('is asked again under the same key where the call has one', async () => {
    answer = send(503, problem(503, 'service.unavailable'), { 'retry-after': '0' })
    await run(...provision)
    expect(received).toHaveLength(3)
    expect(new Set(received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  test('is never asked again for a call that could take effect twice', async () => {
    answer = send(503, problem(503, 'service.unavailable'), { 'retry-after': '0' })
    await run('tokens', 'revoke', '0190c9d2-7a3b-7cde-8f01-23456789abcd')
    expect(received).toHaveLength(1)
  })
})

describe('an answer that is lost', () => {
  test('to a call that could take effect twice is not asked for again', async () => {
    answer = (_, response) => void response.destroy()
    const ran = await run('tokens', 'revoke', '0190c9d2-7a3b-7cde-8f01-23456789abcd')
    expect(received).toHaveLength(1)
    expect(ran).toMatchObject({ code: 7, stdout: '', stderr: expect.stringContaining('did not answer') })
  })

  test('to a provision leaves the key to repeat it with', async () => {
    answer = (_, response) => void response.destroy()
    const { code, stderr } = await run(...provision)
    expect(code).toBe(7)
    expect(received).toHaveLength(3)
    expect(stderr).toContain(`--idempotency-key ${received[0]?.headers['idempotency-key']}`)
  })
})

describe('a server that is not svc', () => {
  test.each([
    [502, '<html>Bad gateway</html>', 7],
    [200, '<html>Welcome</html>', 1],
    [404, 'Not here', 3],
    [500, '{"error":"x"}', 1],
  ])('answering %i is told in one line', async (status, body, code) => {
    answer = send(status, body)
    const ran = await run('tenants', 'list')
    expect(ran).toMatchObject({ code, stdout: '' })
    expect(ran.stderr).toContain('but not in the format of svc.')
    expect(ran.stderr.trim().split('\n')).toHaveLength(1)
  })

  test('a redirect is not followed: the token stays here', async () => {
    answer = ({ url: at }, response) =>
      (at === '/elsewhere' ? send(200, '{"data":[]}') : send(302, '', { location: '/elsewhere' }))(
        {} as Received,
        response,
      )
    expect(await run('tenants', 'list')).toMatchObject({ code: 7, stdout: '' })
    expect(received).toHaveLength(1)
  })
})

describe('refusals', () => {
  test('of a kind this release does not know are told as they are', async () => {
    answer = send(409, problem(409, 'later.code'))
    expect(await run('tenants', 'list')).toMatchObject({
      code: 5,
      stderr: 'The server refused the request: later.code.\n',
    })
  })

  test('name each member and its rule, and never a value', async () => {
    answer = send(
      422,
      problem(422, 'request.invalid', { errors: [{ pointer: '/slug', code: 'slug.reserved', params: {} }] }),
    )
    const { code, stderr } = await run('tenants', 'list')
    expect(code).toBe(2)
    expect(stderr.split('\n')[1]).toBe('  /slug  is reserved; choose another one')
  })

  test('with --json are the document of the server, and the sentence and the remedy that a terminal shows', async () => {
    const document = problem(409, 'quota.exceeded', { params: { quota: 'items', limit: 5, used: 5 } })
    answer = send(409, document)
    const { stdout, stderr } = await run('tenants', 'list', '--json')
    expect(stdout).toBe('')
    const { detail, remedy, ...sent } = JSON.parse(stderr)
    expect(sent).toEqual(JSON.parse(document))
    expect(detail).toBe('The quota items of 5 is exceeded (5 used).')
    expect(remedy).toContain('svc tenants quotas set SLUG items=N')
    expect((await run('tenants', 'list')).stderr).toBe(`${detail} ${remedy}\n`)
  })

  test('a failure of the server names the request, for its log', async () => {
    answer = send(500, problem(500, 'internal'), { 'x-request-id': '0190c9d2-7a3b-7cde-8f01-23456789abcd' })
    expect(await run('tenants', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('request id  0190c9d2-7a3b-7cde-8f01-23456789abcd'),
    })
  })

  test('hostile text in an answer does not reach the terminal', async () => {
    answer = send(
      200,
      JSON.stringify({
        data: [
          {
            id: 'x',
            slug: 'acme',
            display_name: '\u001b]0;pwned\u0007\u202e',
            state: 'ACTIVE',
            account_count: 1,
            created_at: '2026-11-20T12:00:00.000Z',
          },
        ],
      }),
    )
    const { code, stdout } = await run('tenants', 'list')
    expect(code).toBe(0)
    expect(stdout).toContain('\\u001b]0;pwned\\u0007\\u202e')
    expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/)
    const json = await run('tenants', 'list', '--json')
    expect(json.stdout).not.toMatch(/[\u001b\u0007\u202e]/)
    expect(JSON.parse(json.stdout).data[0].display_name).toBe('\u001b]0;pwned\u0007\u202e')
  })
})

describe('svc api', () => {
  const api = (...args: string[]) => run('api', ...args)

  test('fields are the query of a GET and the body of anything else, typed with -F', async () => {
    answer = send(200, '{}')
    await api('GET', '/admin/tenants', '-f', 'state=ACTIVE', '-F', 'size=5')
    await api('post', 'api/v1/admin/operators', '-f', 'workspace=acme', '-F', 'n=null', '-F', 'big=9223372036854775807')
    expect(received).toMatchObject([
      { method: 'GET', url: '/api/v1/admin/tenants?state=ACTIVE&size=5', body: '' },
      {
        method: 'POST',
        url: '/api/v1/admin/operators',
        body: '{"workspace":"acme","n":null,"big":9223372036854775807}',
      },
    ])
  })

  test('a PATCH is a merge-patch unless a header says otherwise', async () => {
    answer = send(200, '{}')
    await api('PATCH', '/x', '-F', 'a=1')
    await api('PATCH', '/x', '-F', 'a=1', '-H', 'Content-Type: application/json')
    expect(received.map(({ headers }) => headers['content-type'])).toEqual([
      'application/merge-patch+json',
      'application/json',
    ])
  })

  test('the body comes from a file or standard input', async () => {
    answer = send(200, '{}')
    await home.svc(['api', 'POST', '/x', '--input', '-'], {
      env: { SVC_API_URL: url(), SVC_TOKEN: token },
      input: '{"a":1}',
    })
    await api('POST', '/x', '--input', home.secretFile('body.json', '{"b":2}'))
    expect(received.map(({ body }) => body)).toEqual(['{"a":1}', '{"b":2}'])
  })

  test('--paginate follows the cursor and prints one list', async () => {
    answer = ({ url: at }, response) =>
      send(200, at.includes('cursor=two') ? '{"data":[2],"next_cursor":null}' : '{"data":[1],"next_cursor":"two"}')(
        {} as Received,
        response,
      )
    expect(JSON.parse((await api('GET', '/list?size=1', '--paginate')).stdout)).toEqual({
      data: [1, 2],
      next_cursor: null,
    })
    expect(received.map(({ url: at }) => at)).toEqual(['/api/v1/list?size=1', '/api/v1/list?size=1&cursor=two'])
  })

  test('-i prints the status and the headers first', async () => {
    answer = send(200, '{}', { etag: '"7"' })
    expect((await api('GET', '/x', '-i')).stdout).toMatch(/^HTTP 200\n(.+\n)*etag: "7"\n/)
  })

  test.each(['https://evil.example/x', '//evil.example/x', '/../x', '/a/../../x', '/x y', '/x\n'])(
    'the path %j is refused and nothing is sent',
    async (path) => {
      expect(await api('GET', path)).toMatchObject({ code: 2, stdout: '' })
      expect(received).toEqual([])
    },
  )

  test.each(['Authorization: Bearer x', 'X: a\r\nY: b', 'nothing', ': x'])(
    'the header %j is refused and nothing is sent',
    async (header) => {
      expect(await api('GET', '/x', '-H', header)).toMatchObject({ code: 2, stdout: '' })
      expect(received).toEqual([])
    },
  )

  test('a refusal ends with its code', async () => {
    answer = send(404, problem(404, 'not_found'))
    expect(await api('GET', '/x')).toMatchObject({ code: 3, stdout: '' })
  })
})
