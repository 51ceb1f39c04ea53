/**
 * A flood of oidc:start beside neighbours that begin to sign in, sign in with a password, and read: at a provider that
 * answers, and at one that is silent. Neither the database, nor the provider, nor anybody's sign-in is taken away.
 * SVC_FAULTS=full holds each median against three times what it was alone; the short form, that none is refused.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identityProviderOperations as admin } from '../../src/core/contract/providers/offered.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { beginFlood } from '../kit/flood.ts'
import { type Source, source } from '../kit/from-source.ts'
import { type HostileProvider, hostileClient, hostileProvider } from '../kit/hostile-provider.ts'
import { besideFlood, expectSpared, type Neighbour } from '../kit/neighbour.ts'
import { redirectUri } from '../kit/oidc-provider.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const calls = isFull ? 200 : 6
const document = 'GET /.well-known/openid-configuration'

let ways: TwoWays
let daemon: SpawnedDaemon
const providers: HostileProvider[] = []
const ids: string[] = []
beforeAll(async () => {
  providers.push(await hostileProvider(), await hostileProvider())
  const released = providers.map(({ issuer }) => new URL(issuer).host).join(',')
  ways = await twoWays({ egress: readRelease(released) as Release })
  await ways.sql`insert into tenant_quota values (${ways.home.tenantId}, 'api_requests_per_minute', 0)`
  for (const { issuer } of providers) {
    const { id } = await ways.call('recovery', admin.createIdentityProvider, {
      body: { issuer, client_id: hostileClient },
    })
    await ways.sql`
      insert into provider_switch (tenant_id, provider_scope, provider_id)
      values (${ways.home.tenantId}, '00000000-0000-0000-0000-000000000000', ${id})`
    ids.push(id)
  }
  const { config, db } = ways.daemon
  daemon = await spawnDaemon({
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_DATA_DIR: config.dataDir,
    SVC_KEYRING_FILE: config.keyringFile,
    SVC_LEDGER_FILE: `${config.ledgerFile}.flooded`,
    SVC_EGRESS_ALLOW: released,
    SVC_LOG_LEVEL: 'error',
    SVC_PORT: '0',
  })
})
afterAll(async () => {
  daemon.process.kill('SIGKILL')
  await daemon.ended
  await ways.close()
  await Promise.all(providers.map((provider) => provider.close()))
})

const starting = (id: string | undefined) => ({ workspace: 'home', provider_id: id, redirect_uri: redirectUri })

/** Calls of neighbours so far. */
let asked = 0

describe.each([
  ['a provider that answers', 0],
  ['a provider that is silent', 1],
] as const)('at %s', (form, at) => {
  beforeAll(() => {
    providers[1]?.answers.set('/.well-known/openid-configuration', () => {})
    for (const { requests } of providers) requests.length = 0
  })

  const neighbours: readonly [string, number, (by: Source) => ReturnType<Source['post']>][] = [
    ['begins to sign in', 201, (by) => by.post('/auth/oidc:start', starting(ids[0]))],
    [
      'signs in with a password',
      201,
      (by) => by.post('/auth/sessions', { workspace: 'home', email: ways.home.email, password: ways.home.password }),
    ],
    ['reads', 200, (by) => by.get('/accounts/me', { token: ways.home.session })],
  ]

  test.each(neighbours)(
    'a neighbour %s',
    async (name, wanted, ask) => {
      // Each from an address of its own, as people do; the flood is one address.
      const call = async () => {
        asked += 1
        const by = source(daemon.address, `127.0.${1 + Math.floor(asked / 250)}.${1 + (asked % 250)}`, 1)
        const { status } = await ask(by)
        by.close()
        return status
      }
      const neighbour: Neighbour = { call, wanted, calls }
      const order = { daemon: daemon.address, from: '127.0.0.2', connections: 64, path: '/api/v1/auth/oidc:start' }
      const bodies = [JSON.stringify(starting(ids[at]))]
      const felt = await besideFlood(`${name}, at ${form}`, neighbour, () => beginFlood({ ...order, bodies }))
      if (isFull) expectSpared(felt)
      else expect(felt.beside.refused).toEqual({})
    },
    120_000,
  )

  test('the provider was asked for its metadata a few times, not once a call', () => {
    const times = providers[at]?.requests.filter((request) => request === document).length
    process.stdout.write(`the metadata was asked for ${times} times, at ${form}\n`)
    expect(times).toBeLessThanOrEqual(12)
  })
})
