/** What is fetched comes as it is: an answer that says it is compressed is not read. Spec: decisions 5, Egress guard. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchangeWith } from '../../../src/core/areas/ai/exchange.ts'
import { openS3 } from '../../../src/core/areas/backup/stores/s3.ts'
import { type Egress, openEgress } from '../../../src/core/kernel/egress/client.ts'
import { type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { discover } from '../../../src/core/kernel/egress/oidc.ts'

/** 64 MiB of zeros in 64 kB. */
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 })

let server: Server
let address: string
let egress: Egress
let asked: IncomingHttpHeaders
let answer: { readonly coding: string | undefined; readonly body: Buffer }

beforeAll(async () => {
  server = createServer((request, response) => {
    asked = request.headers
    const { coding, body } = answer
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
    })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  egress = openEgress({ release: readRelease('127.0.0.1') as Release, own: [] })
})
afterAll(async () => {
  await egress.close()
  server.close()
})

test.each<[string, Buffer]>([
  ['gzip', bomb],
  ['x-gzip', bomb],
  ['GZIP', bomb],
  ['br', brotliCompressSync(Buffer.alloc(16 * 1024 * 1024))],
  ['deflate', bomb],
  ['identity, gzip', bomb],
  ['something', Buffer.from('{}')],
])('%s is refused at its head', async (coding, body) => {
  answer = { coding, body }
  const failure = await egress.fetch(address).then(
    () => undefined,
    (error: Error) => error,
  )
  const causes: string[] = []
  for (let cause: unknown = failure; cause instanceof Error; cause = cause.cause) causes.push(cause.name)
  expect(causes).toContain('AnswerEncoded')
  expect(asked['accept-encoding']).toBe('identity')
})

test.each([undefined, 'identity', 'Identity', ''])('%s is read as it came', async (coding) => {
  answer = { coding, body: bomb }
  const response = await egress.fetch(address, { headers: { 'accept-encoding': 'gzip' } })
  expect(Buffer.from(await response.arrayBuffer()).equals(bomb)).toBe(true)
  expect(asked['accept-encoding']).toBe('identity')
})

describe('whoever fetches through the guard', () => {
  test('an AI model: malformed', async () => {
    answer = { coding: 'gzip', body: gzipSync('{"choices":[]}') }
    await expect(exchangeWith(egress, { base_url: address, apiKey: undefined })('/x', {})).rejects.toMatchObject({
      reason: 'malformed',
    })
  })

  test('an identity provider: no discovery', async () => {
    const metadata = { issuer: address, authorization_endpoint: address, token_endpoint: address, jwks_uri: address }
    const client = { issuer: address, clientId: 'c', clientSecret: undefined, manyIssuers: false, answerMs: 5_000 }
    answer = { coding: 'gzip', body: gzipSync(JSON.stringify(metadata)) }
    await expect(discover(egress, client)).rejects.toMatchObject({ name: 'OidcFailure' })
    answer = { coding: undefined, body: Buffer.from(JSON.stringify(metadata)) }
    await expect(discover(egress, client)).resolves.toBe(undefined)
  })

  test('a backup target: a failure', async () => {
    answer = { coding: 'gzip', body: gzipSync('<ListBucketResult></ListBucketResult>') }
    const target = {
      kind: 'S3' as const,
      config: { endpoint: address, region: 'eu', bucket: 'backups', access_key_id: 'A' },
      secrets: { secret_access_key: 's' },
    }
    await expect(openS3(egress, target)).rejects.toMatchObject({ name: 'StoreFailure' })
  })
})
