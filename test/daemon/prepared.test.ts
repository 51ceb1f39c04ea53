/** What is the same for everybody is written and compressed once. Spec: decisions 1, ETag. */
import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepared } from '../../src/daemon/prepared.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await testDaemon()
})
afterAll(() => daemon.close())

const paths = ['/api/v1/openapi.json', '/api/v1/meta/event-types', '/api/v1/meta/problems']

interface Taken {
  readonly status: number | undefined
  readonly headers: NodeJS.Dict<string | string[]>
  readonly bytes: Buffer
}

const take = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<Taken>((resolve, reject) => {
    request({ port: daemon.port, host: '127.0.0.1', path, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })

describe.each(paths)('%s', (path) => {
  test('comes in the coding that the caller takes, and says so', async () => {
    const plain = await take(path)
    const [gzipped, brotli] = [
      await take(path, { 'accept-encoding': 'deflate, gzip' }),
      await take(path, { 'accept-encoding': 'gzip;q=0.5, BR' }),
    ]
    expect([plain, gzipped, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'gzip',
      'br',
    ])
    expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true)
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).toBe(true)
    expect(brotli.bytes.length).toBeLessThan(plain.bytes.length / 3)
    for (const { headers } of [plain, gzipped, brotli]) {
      expect(headers['vary']).toBe('accept-encoding')
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
    }
    expect(JSON.parse(plain.bytes.toString())).toBeTypeOf('object')
  })

  test.each(['identity', 'gzip;q=0', 'br; q=0.000, gzip; q=0', 'zstd', '*;q=0', ''])(
    'comes plain for %j',
    async (coding) => {
      expect((await take(path, { 'accept-encoding': coding })).headers['content-encoding']).toBe(undefined)
    },
  )

  test('has a strong tag of its own in each coding, and is 304 to it alone', async () => {
    const tags = await Promise.all(
      ['', 'gzip', 'br'].map(async (coding) => (await take(path, { 'accept-encoding': coding })).headers['etag']),
    )
    expect(new Set(tags).size).toBe(3)
    for (const tag of tags) expect(tag).toMatch(/^"[!#-~]+"$/)
    const again = await take(path, { 'accept-encoding': 'gzip', 'if-none-match': String(tags[1]) })
    expect([again.status, again.bytes.length, again.headers['etag'], again.headers['vary']]).toEqual([
      304,
      0,
      tags[1],
      'accept-encoding',
    ])
    expect((await take(path, { 'accept-encoding': 'br', 'if-none-match': String(tags[1]) })).status).toBe(200)
  })

  test('HEAD answers what GET does, without the body', async () => {
    const [head, get] = [
      await take(path, { 'accept-encoding': 'gzip' }, 'HEAD'),
      await take(path, { 'accept-encoding': 'gzip' }),
    ]
    expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([200, 0, String(get.bytes.length)])
    expect(head.headers['etag']).toBe(get.headers['etag'])
  })
})

test('a query that nobody declared is refused, as everywhere', async () => {
  for (const path of paths.slice(1)) expect((await take(`${path}?x=1`)).status).toBe(400)
})

test('it is written once, by however many it is asked for at once, and again after a failure', async () => {
  let written = 0
  const send = prepared(
    async () => {
      written += 1
      if (written === 1) throw new Error('the database is away')
      return '{}'
    },
    async () => undefined,
  )
  const ask = (coding: string) => {
    const reply = { header: () => reply, code: () => reply, send: (bytes: unknown) => bytes }
    return send({ headers: { 'accept-encoding': coding } } as never, reply as never)
  }
  await expect(ask('br')).rejects.toThrow('away')
  await Promise.all(['br', 'gzip', '', 'br'].map(ask))
  expect(written).toBe(2)
})
