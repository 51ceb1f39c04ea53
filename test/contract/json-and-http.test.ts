/** T-31: what is no JSON and no HTTP is refused by a problem document, whole and by name. */
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { brokenBytes, brokenJson, validJson } from '../kit/json-suite.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await testDaemon()
})
afterAll(() => daemon.close())

const inspect = '/api/v1/auth/invitations:inspect'

describe('JSON', () => {
  test('the suite is large enough', () => {
    expect(validJson.length + brokenJson.length + brokenBytes.length).toBeGreaterThan(350)
  })

  test('what is JSON gets as far as the schema', async () => {
    for (const body of validJson) {
      const { status, json } = await daemon.call('POST', inspect, { body })
      expect([body, status, json.code]).toEqual([body, 422, 'request.invalid'])
    }
  })

  test('what is no JSON, or ambiguous, or too deep, is request.malformed', async () => {
    for (const body of brokenJson) {
      const { status, headers, json } = await daemon.call('POST', inspect, { body })
      expect([body.slice(0, 60), status, json.code, headers['content-type']]).toEqual([
        body.slice(0, 60),
        400,
        'request.malformed',
        'application/problem+json',
      ])
    }
  })

  test.each(brokenBytes)('%s', async (_, body) => {
    for (const type of ['application/json', 'application/json; charset=utf-8']) {
      const { status, json } = await daemon.call('POST', inspect, { body, headers: { 'content-type': type } })
      expect([status, json.code]).toEqual([400, 'request.malformed'])
    }
  })

  test.each(['utf-16', 'utf-16le', 'latin1', 'iso-8859-1', 'us-ascii', 'utf8mb4', ''])(
    'the charset %s is not read',
    async (charset) => {
      const { status, json } = await daemon.call('POST', inspect, {
        body: '{}',
        headers: { 'content-type': `application/json; charset=${charset}` },
      })
      expect([status, json.code]).toEqual([415, 'request.media_type'])
    },
  )
})

/** One request on a connection of its own, which it asks to have closed. */
const message = (start: string, headers: readonly string[] = [], body = '') =>
  `${start}\r\n${['Host: svc.example', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n${body}`
const json = 'Content-Type: application/json'
const post = (headers: readonly string[], body: string) => message(`POST ${inspect} HTTP/1.1`, [json, ...headers], body)

/** What is sent, and which statuses may be the answer. */
const requests: readonly (readonly [string, string, readonly number[]])[] = [
  ['a right request', message('GET /healthz HTTP/1.1'), [200]],
  ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', [400]],
  ['two Hosts', message('GET /healthz HTTP/1.1', ['Host: other.example']), [400]],
  ['an empty Host', 'GET /nowhere HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', [404]],
  ['a Host with a slash', 'GET /healthz HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n', [400]],
  ['a Host with a user', 'GET /healthz HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n', [400]],
  ['HTTP/1.0 without Host', 'GET /nowhere HTTP/1.0\r\n\r\n', [404]],
  ['HTTP/0.9', 'GET /healthz\r\n\r\n', [400]],
  ['HTTP/2.0 in words', 'GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n', [400]],
  ['HTTP/9.9', 'GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n', [400]],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
  ['garbage', 'garbage\r\n\r\n', [400]],
  ['zeros', '\0\0\0\0\r\n\r\n', [400]],
  ['an unknown method', message('BREW /healthz HTTP/1.1'), [400]],
  ['a method in lower case', message('get /healthz HTTP/1.1'), [400]],
  ['CONNECT', 'CONNECT svc.example:443 HTTP/1.1\r\nHost: svc.example\r\n\r\n', [405]],
  ['TRACE', message('TRACE /healthz HTTP/1.1'), [405]],
  ['OPTIONS *', message('OPTIONS * HTTP/1.1'), [400, 404, 405]],
  ['no path', message('GET  HTTP/1.1'), [400]],
  ['a path without its slash', message('GET healthz HTTP/1.1'), [400, 404]],
  ['the absolute form', message('GET http://svc.example/nowhere HTTP/1.1'), [404]],
  ['a path with a space', message('GET /health z HTTP/1.1'), [400]],
  ['a path with a NUL', message('GET /health\0z HTTP/1.1'), [400]],
  ['a path with a control character', message('GET /health\x01z HTTP/1.1'), [400, 404]],
  ['a path in Latin-1', message('GET /caf\xe9 HTTP/1.1'), [400, 404]],
  ['a bad percent', message('GET /%zz HTTP/1.1'), [400]],
  ['half a percent', message('GET /% HTTP/1.1'), [400]],
  ['an overlong percent', message('GET /%c0%ae HTTP/1.1'), [400, 404]],
  ['a percent NUL', message('GET /%00 HTTP/1.1'), [404]],
  ['a long path', message(`GET /${'a'.repeat(8000)} HTTP/1.1`), [404]],
  ['a path longer than all headers may be', message(`GET /${'a'.repeat(20_000)} HTTP/1.1`), [400]],
  ['a header of 32 kB', message('GET /healthz HTTP/1.1', [`X-A: ${'a'.repeat(32_000)}`]), [400]],
  [
    '3,000 headers',
    message(
      'GET /healthz HTTP/1.1',
      Array.from({ length: 3000 }, (_, at) => `X-${at}: a`),
    ),
    [400],
  ],
  ['a header with a NUL', message('GET /healthz HTTP/1.1', ['X-A: a\0b']), [400]],
  ['a header without a colon', message('GET /healthz HTTP/1.1', ['X-A']), [400]],
  ['a header without a name', message('GET /healthz HTTP/1.1', [': a']), [400]],
  ['a space before the colon', message('GET /healthz HTTP/1.1', ['X-A : a']), [400]],
  ['a folded header', message('GET /healthz HTTP/1.1', ['X-A: a', ' b']), [400]],
  ['a bare LF', 'GET /healthz HTTP/1.1\nHost: x\nConnection: close\n\n', [400]],
  ['a bare CR', 'GET /healthz HTTP/1.1\rHost: x\r\r', [400]],
  ['CR LF missing behind the headers', 'GET /healthz HTTP/1.1\r\nHost: x\nConnection: close\r\n\r\n', [400]],
  ['two lengths', post(['Content-Length: 2', 'Content-Length: 3'], '{}'), [400]],
  ['two equal lengths', post(['Content-Length: 2', 'Content-Length: 2'], '{}'), [400, 422]],
  ['a negative length', post(['Content-Length: -2'], '{}'), [400]],
  ['a length in words', post(['Content-Length: two'], '{}'), [400]],
  ['a length with a sign', post(['Content-Length: +2'], '{}'), [400]],
  ['a length in hex', post(['Content-Length: 0x2'], '{}'), [400]],
  ['a length list', post(['Content-Length: 2, 2'], '{}'), [400]],
  ['an enormous length', post(['Content-Length: 99999999999999999999'], '{}'), [400]],
  ['a length above the limit', post(['Content-Length: 99999999'], '{}'), [413]],
  ['a length and chunks', post(['Content-Length: 2', 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'), [400]],
  ['chunks and a length', post(['Transfer-Encoding: chunked', 'Content-Length: 2'], '2\r\n{}\r\n0\r\n\r\n'), [400]],
  ['chunks', post(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'), [422]],
  ['chunks with an extension', post(['Transfer-Encoding: chunked'], '2;a=b\r\n{}\r\n0\r\n\r\n'), [422]],
  ['chunks with a trailer', post(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\nX-A: b\r\n\r\n'), [422]],
  ['a chunk of a wrong size', post(['Transfer-Encoding: chunked'], '1\r\n{}\r\n0\r\n\r\n'), [400]],
  ['a chunk without a size', post(['Transfer-Encoding: chunked'], '\r\n{}\r\n0\r\n\r\n'), [400]],
  ['a chunk of a negative size', post(['Transfer-Encoding: chunked'], '-2\r\n{}\r\n0\r\n\r\n'), [400]],
  ['a chunk larger than anything', post(['Transfer-Encoding: chunked'], 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'), [400]],
  ['chunks that end with LF', post(['Transfer-Encoding: chunked'], '2\n{}\n0\n\n'), [400]],
  ['an encoding that is not chunked', post(['Transfer-Encoding: gzip'], '{}'), [400]],
  ['chunked twice', post(['Transfer-Encoding: chunked, chunked'], '2\r\n{}\r\n0\r\n\r\n'), [400]],
  ['chunked disguised', post(['Transfer-Encoding: xchunked'], '2\r\n{}\r\n0\r\n\r\n'), [400]],
  ['chunked, then identity', post(['Transfer-Encoding: chunked, identity'], '2\r\n{}\r\n0\r\n\r\n'), [400]],
  ['an unknown expectation', post(['Expect: 200-ok', 'Content-Length: 2'], '{}'), [400]],
  ['an upgrade', message('GET /nowhere HTTP/1.1', ['Upgrade: websocket', 'Connection: Upgrade']), [404]],
  [
    'two tokens',
    message('GET /api/v1/accounts/me HTTP/1.1', ['Authorization: Bearer a', 'Authorization: Bearer b']),
    [400],
  ],
  ['two content types', post(['Content-Type: text/plain', 'Content-Length: 2'], '{}'), [400]],
  ['a compressed body', post(['Content-Encoding: gzip', 'Content-Length: 2'], '{}'), [415]],
]

describe('HTTP', () => {
  test('the list is long enough', () => {
    expect(requests.length).toBeGreaterThanOrEqual(60)
  })

  test.each(requests)('%s', async (_, bytes, statuses) => {
    const answer = await daemon.raw(bytes)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
    expect(statuses).toContain(status)
    expect(head).toMatch(/^x-request-id: [0-9a-f-]{36}$/im)
    expect(head).toMatch(/^connection: close$/im)
    if (status >= 400) {
      expect(head).toMatch(/^content-type: application\/problem\+json$/im)
      const problem = JSON.parse(body)
      expect(problem).toMatchObject({ status, type: `urn:problem:svc:${problem.code}`, params: expect.any(Object) })
      expect(head.toLowerCase()).toContain(`x-request-id: ${problem.instance.slice('urn:uuid:'.length)}`)
    }
  })

  test('a second request that hides in the body of a refused one is not run', async () => {
    const hidden = message('GET /healthz HTTP/1.1')
    for (const bytes of [
      post(['Content-Length: 99999999'], hidden),
      post(['Content-Length: 3', 'Transfer-Encoding: chunked'], `0\r\n\r\n${hidden}`),
      post(['Content-Length: 0', 'Content-Length: 44'], hidden),
    ]) {
      expect((await daemon.raw(bytes)).match(/HTTP\/1\.1 \d/g)).toHaveLength(1)
    }
  })

  test('pipelined requests are answered in order', async () => {
    const first = 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'
    const answer = await daemon.raw(`${first}${first}${message('GET /healthz HTTP/1.1')}`)
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 404', 'HTTP/1.1 200'])
  })

  test('headers that never end are given up on, with a problem, after one idle time of a connection and before three', async () => {
    const idle = idleTimes()
    const answers = await Promise.all([
      daemon.raw('GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: '),
      daemon.raw(`POST ${inspect} HTTP/1.1\r\nHost: x\r\n`),
    ])
    for (const answer of answers) expectTimeout(answer)
    expect(idle.ended()).toBeOneOf([1, 2])
    idle.stop()
  })

  // Half a minute: only in the long form.
  if (process.env['SVC_FAULTS'] === 'full') {
    test('a body that never ends is given up on, with a problem, after four idle times and before seven', async () => {
      const idle = idleTimes()
      const answer = await daemon.raw(
        `POST ${inspect} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
      )
      expectTimeout(answer)
      expect(idle.ended()).toBeOneOf([4, 5, 6])
      idle.stop()
    }, 120_000)
  }

  test('the daemon still serves after all of it', async () => {
    expect((await daemon.call('GET', '/readyz')).status).toBe(200)
  })
})

function expectTimeout(answer: string): void {
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
  expect(answer).toMatch(/^content-type: application\/problem\+json\r$/m)
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status: 408, code: 'request.timeout' })
}

/**
 * Counts, by the daemon's own clock, the times of 5 s after which it ends an idle connection
 * (Node adds one): a limit of 10 s lies behind the first and before the third, however slow
 * the machine is.
 */
function idleTimes(): { ended(): number; stop(): void } {
  let ended = 0
  let socket: Socket | undefined
  const begin = () => {
    socket = connect(daemon.port, '127.0.0.1')
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    socket.resume().once('end', () => {
      ended += 1
      begin()
    })
  }
  begin()
  return { ended: () => ended, stop: () => socket?.removeAllListeners('end').destroy() }
}
