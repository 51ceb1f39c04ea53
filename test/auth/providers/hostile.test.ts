/**
 * A provider that lies gets nowhere: not into the table when it is configured, not to a
 * session when it answers. Spec: Admin: identity providers, rule 2; T-17; bad input of an issuer.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { identityProviderOperations as admin } from '../../../src/core/contract/providers/offered.ts'
import { providerOperations } from '../../../src/core/contract/providers/operations.ts'
import { nothingReleased, type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { literalForms } from '../../kernel/egress/literal-forms.ts'
import { type HostileProvider, hostileClient, hostileProvider } from '../../kit/hostile-provider.ts'
import { closed } from '../../kit/oidc-provider.ts'
import { person, workspace } from '../../kit/people.ts'
import { finish, start } from '../../kit/signing-in.ts'
import { type TwoWays, twoWays } from '../../kit/two-ways.ts'

let hostile: HostileProvider
let ways: TwoWays
/** Stands where redirects and metadata point; whoever gets here was let through. */
let canary: Server
let canaryUrl: string
let hits = 0

beforeAll(async () => {
  hostile = await hostileProvider()
  canary = createServer((_, response) => {
    hits += 1
    response.end()
  })
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`
  ways = await twoWays({ egress: readRelease(new URL(hostile.issuer).host) as Release, providerAnswerMs: 1000 })
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

const configuration = (issuer = hostile.issuer) => ({ issuer, client_id: hostileClient, client_secret: 'shared' })
const create = (issuer?: string) => ways.call('recovery', admin.createIdentityProvider, { body: configuration(issuer) })
const stored = async () =>
  (await ways.sql<{ count: number }[]>`select count(*)::int as count from identity_provider`)[0]!.count
const sealed = async () =>
  (await ways.sql<{ count: number }[]>`select count(*)::int as count from sealed_value`)[0]!.count

const megabytes = (count: number) => Buffer.alloc(count * 1024 * 1024, ' ')
type Answering = Parameters<HostileProvider['answers']['set']>[1]
const redirect: Answering = (response) => response.writeHead(302, { location: `${canaryUrl}/second` }).end()
const oversized: Answering = (response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.concat([megabytes(10), Buffer.from('{}')]))
const silent: Answering = () => {}
const dripping: Answering = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const drip = setInterval(() => (response.destroyed ? clearInterval(drip) : response.write(' ')), 100)
}

describe('when it is configured', () => {
  const document = '/.well-known/openid-configuration'
  const refused = async (work: () => Promise<unknown>, expected: object) => {
    const before = [await stored(), await sealed()]
    await expect(work()).rejects.toMatchObject(expected)
    expect([await stored(), await sealed()], 'nothing is stored').toEqual(before)
    expect(hits).toBe(0)
  }
  const failed = (reason: string) => ({ code: 'identity_provider.discovery_failed', status: 422, params: { reason } })

  test('an honest one is stored', async () => {
    const before = await stored()
    await create()
    expect(await stored()).toBe(before + 1)
  })

  test.each([
    ['another issuer', { issuer: 'https://accounts.elsewhere.example' }, 'issuer'],
    ['no issuer', { issuer: undefined }, 'metadata'],
    ['no token endpoint', { token_endpoint: undefined }, 'metadata'],
    ['no keys', { jwks_uri: undefined }, 'metadata'],
    ['no page to sign in at', { authorization_endpoint: undefined }, 'metadata'],
  ])('metadata of %s', async (_, metadata, reason) => {
    hostile.metadata = metadata
    await refused(() => create(), failed(reason))
  })

  test.each([
    ['token_endpoint', 'http://169.254.169.254/latest/meta-data'],
    ['token_endpoint', 'https://10.0.0.1/token'],
    ['jwks_uri', 'https://[::1]/jwks'],
    ['userinfo_endpoint', 'https://localhost/me'],
    ['authorization_endpoint', 'http://somewhere.example/plain'],
    ['authorization_endpoint', 'javascript:alert(1)'],
  ])('%s at %s', async (name, address) => {
    hostile.metadata = { [name]: address }
    await refused(() => create(), { code: 'egress.forbidden', status: 422 })
  })

  test.each([
    ['that redirects', redirect, 'unreachable'],
    ['of 10 MB', oversized, 'too_large'],
    ['that never answers', silent, 'timeout'],
    ['that drips', dripping, 'timeout'],
    ['that is HTML', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), 'metadata'],
    [
      'that is no JSON',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'metadata',
    ],
    [
      'that is a list',
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('[]'),
      'metadata',
    ],
    ['that is not there', (response) => response.writeHead(404).end(), 'metadata'],
    ['that fails', (response) => response.writeHead(500).end(), 'metadata'],
    ['that hangs up', (response) => response.destroy(), 'unreachable'],
  ] as [string, Answering, string][])(
    'a document %s',
    async (_, answering, reason) => {
      hostile.answers.set(document, answering)
      await refused(() => create(), failed(reason))
    },
    30_000,
  )

  test('an issuer that nobody listens at, or that no name server knows', async () => {
    await refused(() => create('https://no-such-host.example.com'), failed('unreachable'))
  })

  test.each(['not an address', 'ftp://acme.example', 'https://acme.example/?tenant=x', 'https://acme.example/#x'])(
    'an issuer written %s',
    async (issuer) => {
      await refused(() => create(issuer), { code: 'request.invalid', errors: [{ pointer: '/issuer' }] })
    },
  )

  test('what was configured stays as it was when a change fails', async () => {
    const { id } = await create()
    hostile.answers.set(document, redirect)
    await expect(
      ways.call('recovery', admin.changeIdentityProvider, {
        providerId: id,
        body: { ...configuration(), position: 9 },
      }),
    ).rejects.toMatchObject({ code: 'identity_provider.discovery_failed' })
    const { data } = await ways.call('recovery', admin.listIdentityProviders, {})
    expect(data.find((one) => one.id === id)).toMatchObject({ position: 0, version: 1 })
  })
})

describe('T-17: an issuer into the private network', () => {
  let closedIn: TwoWays
  beforeAll(async () => {
    closedIn = await twoWays({ egress: nothingReleased })
  })
  afterAll(() => closedIn.close())

  test('reaches nobody in any spelling, by the installation and by a workspace, and stores nothing', async () => {
    const port = new URL(canaryUrl).port
    const tenantId = await workspace(closedIn.daemon, 'prober')
    const { token } = await person(closedIn.daemon, tenantId)
    const codes = new Set<string>()
    expect(literalForms.length).toBeGreaterThan(120)
    for (const form of literalForms) {
      const issuer = form.replaceAll('PORT', port)
      const answer = await closedIn
        .call('recovery', admin.createIdentityProvider, { body: configuration(issuer) })
        .then(
          () => 'stored',
          ({ code }: { code: string }) => code,
        )
      codes.add(answer)
      if (!['egress.forbidden', 'request.invalid'].includes(answer)) expect([form, answer]).toEqual([form, 'refused'])
      const { method, path } = providerOperations.createProvider
      const own = await closedIn.daemon.call(method, `/api/v1${path}`, { token, body: configuration(issuer) })
      expect([form, own.json.code]).toEqual([form, answer])
    }
    expect(codes).toContain('egress.forbidden')
    expect(hits).toBe(0)
    expect(await closedIn.sql`select 1 from identity_provider`).toHaveLength(0)
    expect(await closedIn.sql`select 1 from sealed_value where kind = 'identity_provider.client_secret'`).toHaveLength(
      0,
    )
  }, 120_000)
})

describe('when it answers', () => {
  let slug: string
  let providerId: string
  let tenantId: string
  let counter = 0

  beforeEach(async () => {
    counter += 1
    slug = `hostile-${counter}`
    tenantId = await workspace(ways.daemon, slug)
    const created = await ways.call('recovery', admin.createIdentityProvider, {
      body: { ...configuration(), provisioning: 'ANY' },
    })
    providerId = created.id
    await ways.sql`
      insert into provider_switch (tenant_id, provider_scope, provider_id)
      values (${tenantId}, '00000000-0000-0000-0000-000000000000', ${providerId})`
  })

  async function callback(prepare: () => void = () => {}) {
    const { json } = await start(ways.daemon, { workspace: slug, provider_id: providerId })
    const asked = new URL(json.authorization_url).searchParams
    hostile.nonce = asked.get('nonce') ?? ''
    prepare()
    return finish(ways.daemon, { flow_token: json.flow_token, code: 'a-code', state: asked.get('state') })
  }

  const entered = async () =>
    (
      await ways.sql<{ count: number }[]>`
      select (select count(*) from account where tenant_id = ${tenantId})::int + (select count(*) from session where tenant_id = ${tenantId})::int
           + (select count(*) from connected_identity where tenant_id = ${tenantId})::int as count`
    )[0]!.count

  test('is asked for no groups where its metadata lists no such scope', async () => {
    const { json } = await start(ways.daemon, { workspace: slug, provider_id: providerId })
    expect(new URL(json.authorization_url).searchParams.get('scope')).toBe('openid email profile')
  })

  test('an honest answer signs in', async () => {
    expect((await callback()).status).toBe(201)
    expect(await entered()).toBe(3)
  })

  const hour = 3600
  const now = () => Math.floor(Date.now() / 1000)
  test.each([
    ['another issuer', () => (hostile.claims = { iss: 'https://accounts.elsewhere.example' })],
    ['another nonce', () => (hostile.claims = { nonce: 'somebody else’s' })],
    ['no nonce', () => (hostile.claims = { nonce: undefined })],
    ['another audience', () => (hostile.claims = { aud: 'another-client' })],
    ['several audiences and another party', () => (hostile.claims = { aud: [hostileClient, 'b'], azp: 'b' })],
    ['an end that is past', () => (hostile.claims = { iat: now() - 2 * hour, exp: now() - hour })],
    ['a beginning that is ahead', () => (hostile.claims = { nbf: now() + hour })],
    ['no end', () => (hostile.claims = { exp: undefined })],
    ['nobody in it', () => (hostile.claims = { sub: undefined })],
    ['alg none', () => (hostile.signature = 'none')],
    ['a signature by the public key', () => (hostile.signature = 'HS256')],
    ["somebody else's signature", () => (hostile.signature = 'other key')],
    ['other claims than were signed', () => (hostile.signature = 'broken')],
    ['a redirect for a token', () => hostile.answers.set('/token', redirect)],
    ['10 MB for a token', () => hostile.answers.set('/token', oversized)],
    ['silence for a token', () => hostile.answers.set('/token', silent)],
    ['silence for keys', () => hostile.answers.set('/jwks', silent)],
    ['a redirect for keys', () => hostile.answers.set('/jwks', redirect)],
    [
      'an error for a token',
      () =>
        hostile.answers.set('/token', (response) =>
          response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}'),
        ),
    ],
  ] as [string, () => unknown][])(
    'a token with %s signs nobody in',
    async (_, prepare) => {
      const answer = await callback(prepare)
      expect([answer.status, answer.json?.code]).toEqual([401, 'auth.sign_in_failed'])
      expect(await entered()).toBe(0)
      expect(hits).toBe(0)
      const flows = await ways.sql<
        { used_at: unknown }[]
      >`select used_at from sign_in_flow where tenant_id = ${tenantId}`
      expect(
        flows.map(({ used_at }) => used_at !== null),
        'the flow is spent',
      ).toEqual([true])
    },
    30_000,
  )

  test('a provider that is away when somebody begins is said to be away', async () => {
    await ways.call('recovery', admin.changeIdentityProvider, { providerId, body: configuration() })
    hostile.answers.set('/.well-known/openid-configuration', (response) => response.destroy())
    // Its document is remembered by the daemon for minutes; a workspace that begins through it goes on.
    expect((await start(ways.daemon, { workspace: slug, provider_id: providerId })).status).toBe(201)
    const other = await twoWays({ egress: readRelease(new URL(hostile.issuer).host) as Release })
    try {
      hostile.answers.clear()
      const created = await other.call('recovery', admin.createIdentityProvider, { body: configuration() })
      const elsewhere = await workspace(other.daemon, 'elsewhere')
      await other.sql`
        insert into provider_switch (tenant_id, provider_scope, provider_id)
        values (${elsewhere}, '00000000-0000-0000-0000-000000000000', ${created.id})`
      hostile.answers.set('/.well-known/openid-configuration', (response) => response.destroy())
      const answer = await start(other.daemon, { workspace: 'elsewhere', provider_id: created.id })
      expect([answer.status, answer.json.code]).toEqual([503, 'identity_provider.unavailable'])
    } finally {
      await other.close()
    }
  })
})
