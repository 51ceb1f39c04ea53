/**
 * Tokens, keys and answers that are forged in the ways that libraries have been fooled by: none signs anybody in, none
 * is a fault of ours, and what they point at is never called. RFC 8725 (JWT best practices), RFC 9207 (mix-up).
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, type GenerateKeyPairResult, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { identityProviderOperations as admin } from '../../../src/core/contract/providers/offered.ts'
import { type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import type { TestDaemon } from '../../kit/daemon.ts'
import {
  coded,
  type ForgersTools,
  type HostileProvider,
  hostileClient,
  hostileProvider,
} from '../../kit/hostile-provider.ts'
import { closed } from '../../kit/oidc-provider.ts'
import { workspace } from '../../kit/people.ts'
import { finish, start } from '../../kit/signing-in.ts'
import { type TwoWays, twoWays } from '../../kit/two-ways.ts'

let hostile: HostileProvider
let ways: TwoWays
/** Stands where headers and metadata point; whoever gets here was believed. */
let canary: Server
let canaryUrl: string
let hits = 0
let providerId: string
let tenantId: string

beforeAll(async () => {
  hostile = await hostileProvider()
  canary = createServer((_, response) => {
    hits += 1
    response.end('{}')
  })
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`
  ways = await twoWays({ egress: readRelease(new URL(hostile.issuer).host) as Release, providerAnswerMs: 2000 })
  tenantId = await workspace(ways.daemon, 'forged')
  const body = {
    issuer: hostile.issuer,
    client_id: hostileClient,
    client_secret: 'shared',
    provisioning: 'ANY' as const,
  }
  providerId = (await ways.call('recovery', admin.createIdentityProvider, { body })).id
  await ways.sql`
    insert into provider_switch (tenant_id, provider_scope, provider_id)
    values (${tenantId}, '00000000-0000-0000-0000-000000000000', ${providerId})`
})
afterAll(async () => {
  await ways.close()
  await hostile.close()
  await closed(canary)
})
beforeEach(() => {
  hostile.reset()
  hits = 0
})

async function callback(more: object = {}, daemon: TestDaemon = ways.daemon) {
  const { json } = await start(daemon, { workspace: 'forged', provider_id: providerId })
  const asked = new URL(json.authorization_url).searchParams
  hostile.nonce = asked.get('nonce') ?? ''
  return finish(daemon, { flow_token: json.flow_token, code: 'a-code', state: asked.get('state'), ...more })
}

const refused = { status: 401, json: { code: 'auth.sign_in_failed' } }
const right = { alg: 'RS256', kid: 'own' }
type Forge = (tools: ForgersTools) => Promise<string>

const sessions = () => ways.sql`select id from session where tenant_id = ${tenantId}`

const expectRefused = async (answer: Promise<object>) => {
  const before = await sessions()
  expect(await answer).toMatchObject(refused)
  expect(await sessions()).toHaveLength(before.length)
  expect(hits, 'what it pointed at was called').toBe(0)
}

describe('tokens', () => {
  test('the right one signs in: what follows is refused for what it says', async () => {
    hostile.forge = ({ sign, own }) => sign(right, own.privateKey)
    expect((await callback()).status).toBe(201)
  })

  const none =
    (alg: string, signature = ''): Forge =>
    async ({ claims }) =>
      `${coded({ alg, kid: 'own' })}.${coded(claims)}.${signature}`
  const spki = ({ own }: ForgersTools) => exportSPKI(own.publicKey)
  const header =
    (more: (tools: ForgersTools) => object | Promise<object>): Forge =>
    async (tools) =>
      tools.sign({ ...right, ...(await more(tools)) }, tools.other.privateKey)
  const claiming =
    (more: object): Forge =>
    ({ sign, own, claims }) =>
      sign(right, own.privateKey, { ...claims, ...more })

  test.each<[string, Forge]>([
    ['alg none', none('none')],
    ['alg None', none('None')],
    ['alg nOnE and a signature', none('nOnE', 'c2lnbmVk')],
    ['no alg', async ({ sign, own }) => sign({ kid: 'own' }, own.privateKey)],
    [
      'alg none over a right signature',
      async ({ sign, own }) => {
        const [, claims, signature] = (await sign(right, own.privateKey)).split('.')
        return `${coded({ alg: 'none', kid: 'own' })}.${claims}.${signature}`
      },
    ],
    [
      'an HMAC by the public key as PEM',
      async (tools) => tools.sign({ alg: 'HS256', kid: 'own' }, Buffer.from(await spki(tools))),
    ],
    [
      'an HMAC by the public key as PEM without its last line break',
      async (tools) => tools.sign({ alg: 'HS256', kid: 'own' }, Buffer.from((await spki(tools)).trim())),
    ],
    [
      'an HMAC by the public key as DER',
      async ({ sign, own }) =>
        sign({ alg: 'HS256', kid: 'own' }, Buffer.from(await crypto.subtle.exportKey('spki', own.publicKey))),
    ],
    [
      'an HMAC by the modulus',
      async ({ sign, published }) => sign({ alg: 'HS256', kid: 'own' }, Buffer.from(published.n ?? '', 'base64url')),
    ],
    ["an HMAC by the client's secret", async ({ sign }) => sign({ alg: 'HS256' }, Buffer.from('shared'))],
    ['an HMAC by nothing', async ({ sign }) => sign({ alg: 'HS256', kid: 'own' }, Buffer.alloc(0))],
    ['a key of its own in the header', header(async ({ other }) => ({ jwk: await exportJWK(other.publicKey) }))],
    ['a place of keys in the header', header(() => ({ jku: `${canaryUrl}/jwks` }))],
    ['a place of certificates in the header', header(() => ({ x5u: `${canaryUrl}/certificate` }))],
    ['certificates in the header', header(() => ({ x5c: ['MIIB'] }))],
    ['a critical member that nobody knows', ({ sign, own }) => sign({ ...right, crit: ['x'], x: 1 }, own.privateKey)],
    ['a critical b64', ({ sign, own }) => sign({ ...right, crit: ['b64'], b64: false }, own.privateKey)],
    ['a kid that nobody has', ({ sign, own }) => sign({ ...right, kid: 'unknown' }, own.privateKey)],
    ['a kid that is a path', header(() => ({ kid: '../../../../dev/null' }))],
    ['a kid that is a statement', header(() => ({ kid: "own' union select '" }))],
    ['a kid of 100,000 characters', header(() => ({ kid: 'k'.repeat(100_000) }))],
    ['a kid that is a list', header(() => ({ kid: ['own'] }))],
    ['a kid of the prototype', header(() => ({ kid: '__proto__' }))],
    ['an empty signature', async ({ sign, own }) => (await sign(right, own.privateKey)).replace(/[^.]+$/, '')],
    ['five parts', async ({ sign, own }) => `${await sign(right, own.privateKey)}.a.b`],
    ['an issuer with a slash behind it', (tools) => claiming({ iss: `${hostile.issuer}/` })(tools)],
    ['an issuer in capitals', (tools) => claiming({ iss: hostile.issuer.toUpperCase() })(tools)],
    ['several audiences and nobody it was given to', claiming({ aud: [hostileClient, 'other'] })],
    ['an audience that only begins so', claiming({ aud: `${hostileClient}2` })],
    ['audiences that are none', claiming({ aud: [] })],
    ['another party it was given to', claiming({ azp: 'other' })],
    ['an end that is a text', claiming({ exp: '9999999999' })],
    ['a nonce that is a list', (tools) => claiming({ nonce: [hostile.nonce] })(tools)],
    ['an empty subject', claiming({ sub: '' })],
    ['a subject that is a number', claiming({ sub: 1 })],
    ['a subject of 256 characters', claiming({ sub: 's'.repeat(256) })],
    ['a subject with a NUL', claiming({ sub: 'mal\u0000lory' })],
    ['a subject that is half a character', claiming({ sub: '\ud800' })],
    ['claims that are a list', async ({ sign, own }) => sign(right, own.privateKey, [] as never)],
  ])('%s', async (_, forge) => {
    hostile.forge = forge
    await expectRefused(callback())
  })

  test.each([
    ['a NUL in the name', { name: 'Ann\u0000' }],
    ['half a character in the name', { name: '\ud800' }],
    ['a name of 10,000 characters', { name: 'n'.repeat(10_000) }],
    ['a name that is a list', { name: ['Ann'] }],
    ['a NUL in the address', { email: 'ann\u0000@acme.example' }],
    ['an address of 10,000 characters', { email: `${'a'.repeat(10_000)}@acme.example` }],
    ['an address that is an object', { email: {} }],
  ])('%s is no fault of ours', async (name, more) => {
    hostile.forge = claiming({ sub: name, ...more })
    const { status } = await callback()
    expect(status).toBeGreaterThanOrEqual(201)
    expect(status).toBeLessThan(500)
  })
})

describe('keys', () => {
  const publishedBy = async ({ publicKey }: Pick<GenerateKeyPairResult, 'publicKey'>, more: object) => ({
    ...(await exportJWK(publicKey)),
    ...more,
  })

  test('two under one kid are no key', async () => {
    hostile.forge = async ({ sign, own, other, published }) => {
      hostile.keys = [await publishedBy(other, { kid: 'own', alg: 'RS256', use: 'sig' }), published]
      return sign(right, own.privateKey)
    }
    await expectRefused(callback())
  })

  test.each([
    ['a key for encryption', { use: 'enc' }],
    ['a key for another algorithm', { alg: 'PS256' }],
    ['a key that may not verify', { key_ops: ['encrypt'] }],
    ['an exponent of one', { e: 'AQ' }],
    ['a kind of key that is none', { kty: 'oct', k: 'c2hhcmVk' }],
  ])('%s', async (_, more) => {
    hostile.forge = async ({ sign, own, published }) => {
      hostile.keys = [{ ...published, ...more }]
      return sign(right, own.privateKey)
    }
    await expectRefused(callback())
  })

  test('a key that is too short', async () => {
    hostile.forge = async ({ sign }) => {
      const pair = await crypto.subtle.generateKey(
        { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
        true,
        ['sign', 'verify'],
      )
      hostile.keys = [await publishedBy(pair, { kid: 'own', alg: 'RS256', use: 'sig' })]
      return sign(right, pair.privateKey)
    }
    await expectRefused(callback())
  })

  test('ES256 where RS256 is declared', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true })
    hostile.metadata = { id_token_signing_alg_values_supported: ['RS256'] }
    const daemon = await ways.daemon.twin()
    hostile.forge = async ({ sign }) => {
      hostile.keys = [await publishedBy(pair, { kid: 'own', alg: 'ES256', use: 'sig' })]
      return sign({ alg: 'ES256', kid: 'own' }, pair.privateKey)
    }
    try {
      await expectRefused(callback({}, daemon))
    } finally {
      await daemon.close()
    }
  })

  test.each([
    [
      '10,000 keys',
      (count: number) => Array.from({ length: count }, (_, n) => ({ kty: 'RSA', kid: `k${n}`, n: 'AQAB', e: 'AQAB' })),
    ],
    [
      '10,000 keys of the same kid',
      (count: number) => Array.from({ length: count }, () => ({ kty: 'RSA', kid: 'own', n: 'A', e: 'A' })),
    ],
  ])('%s', async (_, keys) => {
    hostile.keys = keys(10_000)
    await expectRefused(callback())
  })

  test('10 MB of keys', async () => {
    hostile.keys = [{ kty: 'RSA', kid: 'k'.repeat(10 * 1024 * 1024) }]
    await expectRefused(callback())
  })

  test('an unknown kid has the keys asked for once, each time', async () => {
    hostile.forge = ({ sign, own }) => sign({ ...right, kid: 'unknown' }, own.privateKey)
    for (let n = 0; n < 5; n += 1) await expectRefused(callback())
    expect(hostile.requests.filter((request) => request === 'GET /jwks').length).toBeLessThanOrEqual(5)
  })
})

describe('answers', () => {
  test('of another issuer (mix-up)', async () => {
    await expectRefused(callback({ iss: 'https://honest.example' }))
    expect(hostile.requests, 'the code goes to nobody').not.toContain('POST /token')
  })

  test('of nobody, from a provider that says who it is', async () => {
    hostile.metadata = { authorization_response_iss_parameter_supported: true }
    const daemon = await ways.daemon.twin()
    try {
      await expectRefused(callback({}, daemon))
      expect((await callback({ iss: hostile.issuer }, daemon)).status).toBe(201)
    } finally {
      await daemon.close()
    }
  })

  test.each([
    ['without an ID token', { access_token: 'a', token_type: 'Bearer' }],
    ['with an ID token that is an object', { access_token: 'a', token_type: 'Bearer', id_token: {} }],
    ['without an access token', { token_type: 'Bearer', id_token: 'a.b.c' }],
    ['that is a list', []],
    ['that is null', null],
  ])('for a code, %s', async (_, body) => {
    hostile.answers.set('/token', (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    )
    await expectRefused(callback())
  })

  test('about a person, that is about another one', async () => {
    hostile.metadata = { userinfo_endpoint: `${hostile.issuer}/me` }
    hostile.claims = { email: undefined }
    hostile.answers.set('/me', (response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"sub":"victim","email":"victim@acme.example"}'),
    )
    const daemon = await ways.daemon.twin()
    try {
      await expectRefused(callback({}, daemon))
    } finally {
      await daemon.close()
    }
  })

  test.each(['token_endpoint', 'jwks_uri', 'userinfo_endpoint'])(
    '%s that has moved into the private network since it was configured',
    async (name) => {
      hostile.metadata = { [name]: `${canaryUrl}/inside` }
      hostile.claims = { email: undefined }
      const daemon = await ways.daemon.twin()
      try {
        await expectRefused(callback({}, daemon))
      } finally {
        await daemon.close()
      }
    },
  )
})
