/** Identity providers from a terminal, by both ways. test/docs has the story of docs/sign-in.md. */
import { randomUUIDv7 } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identityProviderOperations } from '../../src/core/contract/providers/offered.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type HostileProvider, hostileProvider } from '../kit/hostile-provider.ts'
import { person, workspace } from '../kit/people.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
let issuer: HostileProvider
let token: string
let home: Home
let passwordFile: string
beforeAll(async () => {
  home = temporaryHome()
  issuer = await hostileProvider()
  ways = await twoWays({ egress: readRelease('127.0.0.0/8') as Release })
  // An operator with a password, so that a command can prove him.
  const { tenantId, accountId } = ways.home
  const minted = mintToken('personal')
  token = minted.token
  await ways.sql`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, 'PERSONAL', ${minted.hash}, ${minted.last4}, 'ops', 'admin:tenants workspace:read', now() + interval '1 day')`
  await ways.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'api_requests_per_minute', 0)`
  passwordFile = home.secretFile('me.password', ways.home.password)
  home.secretFile('svc.secret', 'shared secret')
})
afterAll(async () => {
  home.remove()
  await ways.close()
  await issuer.close()
})

const reach = (way: Way) => ({
  flags: way === 'api' ? [] : ['--recovery', '--while-serving'],
  env: (): NodeJS.ProcessEnv => {
    const { address, config } = ways.daemon
    if (way === 'api') return { SVC_API_URL: address, SVC_TOKEN: token }
    return { ...databaseEnv(config), SVC_DATA_DIR: config.dataDir, SVC_EGRESS_ALLOW: '127.0.0.0/8' }
  },
})

let counter = 0
async function switchOn(providerId: string): Promise<string> {
  counter += 1
  const slug = `terminal-${counter}`
  const tenantId = await workspace(ways.daemon, slug)
  const accountId = randomUUIDv7()
  const email = `bob@${slug}.example`
  await ways.sql`
    insert into account (tenant_id, id, kind, state, email, email_fold) values (${tenantId}, ${accountId}, 'PERSON', 'ACTIVE', ${email}, ${email})`
  await ways.sql`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUIDv7()}, ${accountId}, 'OWNER')`
  await ways.sql`
    insert into provider_switch (tenant_id, provider_scope, provider_id)
    values (${tenantId}, '00000000-0000-0000-0000-000000000000', ${providerId})`
  return slug
}

describe.each(everyWay)('by %s', (way: Way) => {
  const { env, flags } = reach(way)
  const proof = way === 'api' ? () => ['--password-file', passwordFile] : () => []
  const run = (...args: string[]): Promise<Ran> => home.svc(['identity-providers', ...args, ...flags], { env: env() })
  const name = `Acme SSO ${way}`
  const add = (...more: string[]) =>
    run(
      'add',
      issuer.issuer,
      '--client-id',
      'svc',
      '--name',
      name,
      '--client-secret-file',
      'svc.secret',
      ...more,
      ...proof(),
    )
  const idOf = async () =>
    (await ways.sql<{ id: string }[]>`select id from identity_provider where display_name = ${name}`)[0]!.id

  test('add, list, show, change: the secret is never shown', async () => {
    const added = await add('--domain', 'acme.example', '--domain', 'acme.test', '--newcomer-role', 'MEMBER')
    expect([added.code, added.stderr]).toEqual([0, expect.stringContaining('Each workspace can now switch it on')])
    expect(added.stdout).toMatch(/secret +sealed/)
    expect(added.stdout + added.stderr).not.toContain('shared secret')
    expect((await run('list')).stdout).toContain(name)
    expect(JSON.parse((await run('show', name, '--json')).stdout)).toMatchObject({
      allowed_email_domains: ['acme.example', 'acme.test'],
      newcomer_role: 'MEMBER',
      has_secret: true,
      state: 'OFFERED',
    })
    const changed = await run('change', name, '--no-domains', '--position', '3', ...proof())
    expect([changed.code, changed.stderr]).toEqual([0, ''])
    expect(JSON.parse((await run('show', name, '--json')).stdout)).toMatchObject({
      allowed_email_domains: [],
      newcomer_role: 'MEMBER',
      position: 3,
      has_secret: true,
    })
    expect((await run('presets')).stdout).toContain('https://accounts.google.com')
  })

  test('what is wrong is told in a line, and nothing is stored', async () => {
    const before = await ways.sql`select 1 from identity_provider`
    const forbidden = await run('add', 'https://169.254.169.254', '--client-id', 'svc', ...proof())
    expect([forbidden.code, forbidden.stderr]).toEqual([2, expect.stringContaining('may not call this host')])
    const mark = await run(
      'add',
      'https://accounts.google.com',
      '--client-id',
      'svc',
      '--provisioning',
      'ANY',
      ...proof(),
    )
    expect([mark.code, mark.stderr]).toEqual([2, expect.stringContaining('/provisioning')])
    expect(await ways.sql`select 1 from identity_provider`).toHaveLength(before.length)
  })

  test('a plan says whom the end would leave outside, and is applied while it holds', async () => {
    const id = await idOf()
    const slug = await switchOn(id)
    const plan = await run('withdraw', name, '--plan')
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining(`bob@${slug}.example`)])
    const json = JSON.parse((await run('withdraw', name, '--plan', '--json')).stdout)
    expect(json).toMatchObject({ workspaces_on: 1, stranded_count: 1, workspaces: [{ slug, stranded_count: 1 }] })
    expect(await ways.sql`select withdraw_at from identity_provider where id = ${id}`).toEqual([{ withdraw_at: null }])

    await switchOn(id)
    const stale = await run('withdraw', name, '--now', '--apply', json.hash, '--confirm', '1', ...proof())
    expect([stale.code, stale.stderr]).toEqual([5, expect.stringContaining('is outdated')])
    const wrong = await run('withdraw', name, '--now', '--confirm', '1', ...proof())
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('Nothing was done')])
    expect(await ways.sql`select withdraw_at from identity_provider where id = ${id}`).toEqual([{ withdraw_at: null }])
  })

  test('is withdrawn on a day and now, taken back, and removed', async () => {
    const id = await idOf()
    const announced = await run('withdraw', name, ...proof())
    expect([announced.code, announced.stderr]).toEqual([0, expect.stringContaining(`The offer of ${name} ends `)])
    const early = await run('remove', name, '--confirm', name, ...proof())
    expect([early.code, early.stderr]).toEqual([5, expect.stringContaining('workspaces rely on that')])
    expect((await run('cancel-withdrawal', name, ...proof())).stderr).toContain(`${name} is offered.`)
    const ended = await run('withdraw', name, '--now', '--confirm', '2', ...proof())
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('has ended')])
    const removed = await run('remove', id, '--confirm', name, ...proof())
    expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining(`Removed ${name}.`)])
    expect((await run('show', name)).code).toBe(3)
  })
})

test('an OWNER switches one on and off for the workspace, and sees whom no provider would let in', async () => {
  const tenantId = await workspace(ways.daemon, 'switching')
  const owner = await person(ways.daemon, tenantId)
  const admin = await person(ways.daemon, tenantId, { role: 'ADMIN' })
  const { id } = await ways.call('recovery', identityProviderOperations.createIdentityProvider, {
    body: { issuer: issuer.issuer, client_id: 'svc', display_name: 'Switched' },
  })
  const run = (token: string, ...args: string[]) =>
    home.svc(['identity-providers', ...args], { env: { SVC_API_URL: ways.daemon.address, SVC_TOKEN: token } })
  const on = await run(owner.token, 'switch', 'Switched', 'on')
  expect([on.code, on.stderr]).toEqual([0, 'Switched is on for your workspace.\n'])
  expect((await run(admin.token, 'switch', id, 'off')).code).toBe(4)
  expect((await run(admin.token, 'accounts-without')).stdout).toContain('@people.example')
  expect(JSON.parse((await run(owner.token, 'switch', id, 'off', '--json')).stdout)).toMatchObject({ offered: false })
  expect((await run(owner.token, 'switch', 'Nobody', 'on')).code).toBe(3)
  const atTheDatabase = await home.svc(['identity-providers', 'switch', id, 'on', ...reach('recovery').flags], {
    env: reach('recovery').env(),
  })
  expect(atTheDatabase.code).not.toBe(0)
  await ways.call('recovery', identityProviderOperations.removeIdentityProvider, { providerId: id })
})

test('docs/sign-in.md names every reason why a provider is not taken', () => {
  const page = readFileSync(new URL('../../docs/sign-in.md', import.meta.url), 'utf8')
  const reasons = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, reason]) => reason)
  expect(reasons).toEqual(['unreachable', 'timeout', 'too_large', 'metadata', 'issuer'])
})
