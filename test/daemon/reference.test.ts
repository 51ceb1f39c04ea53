/** The reference page at /docs and the document it shows: nothing of it comes from, or goes to, another host. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await testDaemon()
})
afterAll(() => daemon.close())

describe('/docs', () => {
  test('moves to its folder, so that what it names beside itself is found', async () => {
    const { status, headers } = await daemon.call('GET', '/docs')
    expect([status, headers.location]).toEqual([301, '/docs/'])
  })

  test('is a page that loads its own script and nothing else', async () => {
    const { status, headers, text } = await daemon.call('GET', '/docs/')
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain('<title>svc API</title>')
    expect([...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source)).toEqual(['js/scalar.js'])
    expect(text).not.toMatch(/https?:|\/\/[a-z]/)
  })

  test('its script is served as one', async () => {
    const { status, headers, text } = await daemon.call('GET', '/docs/js/scalar.js')
    expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^(text|application)\/javascript/)])
    expect(text.length).toBeGreaterThan(100_000)
  })

  test('is told to show our document and to leave out every service of its maker', async () => {
    const { text } = await daemon.call('GET', '/docs/')
    const [, given = ''] = /createApiReference\('#app', (\{[\s\S]*?\n {6}\})\)/.exec(text) ?? []
    expect(JSON.parse(given)).toEqual({
      _integration: 'fastify',
      url: '/api/v1/openapi.json',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    })
  })

  test.each(['/docs', '/docs/', '/docs/js/scalar.js'])('%s keeps the browser from every other host', async (path) => {
    const { headers } = await daemon.call('GET', path)
    const policy = Object.fromEntries(
      String(headers['content-security-policy'])
        .split('; ')
        .map((directive) => directive.split(' '))
        .map(([name, ...sources]) => [name, sources]),
    )
    // Whatever a directive does not name falls back to this one; these three do not fall back.
    expect(policy).toMatchObject({
      'default-src': ["'none'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    })
    for (const source of Object.values(policy).flat())
      expect(["'none'", "'self'", "'unsafe-inline'", "'unsafe-eval'", 'data:', 'blob:']).toContain(source)
    // Data may only be asked of us: text that is run or sent must not hide in a data: address.
    expect(policy).toMatchObject({ 'connect-src': ["'self'"], 'script-src': expect.not.arrayContaining(['data:']) })
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  test.each(['/docs/nothing', '/docs/js/', '/docs/openapi.json'])('%s is not there, as a problem', async (path) => {
    const { status, headers, json } = await daemon.call('GET', path)
    expect([status, headers['content-type'], json.code]).toEqual([404, 'application/problem+json', 'not_found'])
  })

  test.each(['/docs', '/docs/'])('%s under a host that is no host is refused', async (path) => {
    const { status, json } = await daemon.call('GET', path, { headers: { host: 'x:99999' } })
    expect([status, json.code]).toEqual([400, 'request.malformed'])
  })

  test.each(['/docs', '/docs/'])('%s is only read', async (path) => {
    const { status, headers } = await daemon.call('POST', path)
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})

describe('/api/v1/openapi.json', () => {
  test('is JSON that caches ask about, and is not sent again while it is the same', async () => {
    const first = await daemon.call('GET', '/api/v1/openapi.json')
    expect([first.status, first.headers['content-type'], first.headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'no-cache',
    ])
    expect(first.json.openapi).toMatch(/^3\.1\./)
    const etag = String(first.headers.etag)
    expect(etag).toMatch(/^"[\w-]{22}"$/)
    const same = await daemon.call('GET', '/api/v1/openapi.json', { headers: { 'if-none-match': etag } })
    expect([same.status, same.text, same.headers.etag]).toEqual([304, '', etag])
    const other = await daemon.call('GET', '/api/v1/openapi.json', { headers: { 'if-none-match': '"other"' } })
    expect([other.status, other.headers.etag]).toEqual([200, etag])
  })
})
