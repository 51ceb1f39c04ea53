/** The end of a workspace from a terminal: plan, deletion, cancellation, openings, holds, certificates. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type Furnished, furnished, moveDeadline, pursued } from '../kit/leaving-workspace.ts'
import { person } from '../kit/people.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
let token: string
let home: Home
beforeAll(async () => {
  home = temporaryHome()
  ways = await twoWays()
  // An operator with a password, so that a command can prove him.
  const { tenantId, accountId } = ways.home
  const minted = mintToken('personal')
  token = minted.token
  await ways.sql`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, 'PERSONAL', ${minted.hash}, ${minted.last4}, 'ops', 'admin:tenants workspace:read', now() + interval '1 day')`
  await ways.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'api_requests_per_minute', 0)`
})
afterAll(async () => {
  home.remove()
  await ways.close()
})

/** What a command needs to reach the installation in this way. */
const reach = (way: Way) => ({
  flags: way === 'api' ? [] : ['--recovery', '--while-serving'],
  env: (): NodeJS.ProcessEnv => {
    const { address, config } = ways.daemon
    if (way === 'api') return { SVC_API_URL: address, SVC_TOKEN: token }
    return { ...databaseEnv(config), SVC_DATA_DIR: config.dataDir }
  },
})

describe.each(everyWay)('by %s', (way: Way) => {
  const { env, flags } = reach(way)
  const proof = () => (way === 'api' ? ['--password-stdin'] : [])
  const run = (...args: string[]): Promise<Ran> =>
    home.svc([...args, ...flags], { env: env(), input: `${ways.home.password}\n` })
  const stateOf = async ({ id }: Furnished) =>
    (await ways.sql<{ state: string }[]>`select state from tenant where id = ${id}`)[0]?.state

  test('a plan says what would go and changes nothing; its hash lets it be applied', async () => {
    const acme = await furnished(ways)
    const plan = await run('tenants', 'delete', acme.slug, '--plan')
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringMatching(/labels +│? *.*4/)])
    const [, hash] = /--apply ([0-9a-f]{16})/.exec(plan.stderr) ?? []
    const json = await run('tenants', 'delete', acme.slug, '--plan', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ hash, counts: { labels: 4 } })
    expect(await stateOf(acme)).toBe('ACTIVE')

    const applied = await run(
      'tenants',
      'delete',
      acme.slug,
      '--apply',
      hash!,
      '--confirm',
      acme.displayName,
      ...proof(),
    )
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining('pending deletion')])
    expect(await stateOf(acme)).toBe('PENDING_DELETION')
  })

  test('a plan whose facts moved is not applied', async () => {
    const acme = await furnished(ways)
    const { hash } = JSON.parse((await run('tenants', 'delete', acme.slug, '--plan', '--json')).stdout)
    await ways.sql`delete from bucket where tenant_id = ${acme.id}`
    const applied = await run(
      'tenants',
      'delete',
      acme.slug,
      '--apply',
      hash,
      '--confirm',
      acme.displayName,
      ...proof(),
    )
    expect([applied.code, applied.stderr]).toEqual([5, expect.stringContaining('is outdated')])
    expect(await stateOf(acme)).toBe('ACTIVE')
  })

  test('without a terminal the name or the slug has to be confirmed, exactly', async () => {
    const acme = await furnished(ways)
    for (const confirm of [[], ['--confirm', `${acme.slug}x`], ['--confirm', '']]) {
      const refused = await run('tenants', 'delete', acme.slug, ...confirm, ...proof())
      const ending = confirm.length === 0 ? 2 : 1
      expect([refused.code, refused.stderr]).toEqual([ending, expect.stringContaining('Nothing was done')])
    }
    expect(await stateOf(acme)).toBe('ACTIVE')
    const asked = await run('tenants', 'delete', acme.slug, ...proof())
    expect(asked.stderr).toContain(`To confirm, add: --confirm ${acme.slug}`)
    expect((await run('tenants', 'delete', acme.slug, '--confirm', acme.slug, ...proof())).code).toBe(0)
    expect(await stateOf(acme)).toBe('PENDING_DELETION')
  })

  test('a deletion is taken back', async () => {
    const acme = await furnished(ways)
    expect((await run('tenants', 'delete', acme.slug, '--confirm', acme.displayName, ...proof())).code).toBe(0)
    const back = await run('tenants', 'cancel-deletion', acme.slug)
    expect([back.code, back.stderr]).toEqual([0, expect.stringContaining('ACTIVE again')])
    expect((await run('tenants', 'cancel-deletion', acme.slug)).stderr).toContain('was not pending deletion')
  })

  test('a password opening is opened, shown and closed', async () => {
    const acme = await furnished(ways)
    await ways.sql`delete from password_opening where tenant_id = ${acme.id}`
    const opened = await run(
      'tenants',
      'open-password',
      acme.slug,
      '--requester',
      'Ada',
      '--reason',
      'their provider is down',
      '--hours',
      '2',
      '--json',
      ...proof(),
    )
    expect(JSON.parse(opened.stdout).password_opening).toMatchObject({
      requester: 'Ada',
      reason: 'their provider is down',
    })
    expect((await run('tenants', 'show', acme.slug)).stdout).toMatch(/passwords until .*\n.*Ada/)
    expect((await run('tenants', 'close-password', acme.slug)).stderr).toContain('has ended')
    expect((await run('tenants', 'close-password', acme.slug)).stderr).toContain('had no password opening')
    expect(
      (
        await run(
          'tenants',
          'open-password',
          acme.slug,
          '--requester',
          'Ada',
          '--reason',
          'r',
          '--hours',
          '169',
          ...proof(),
        )
      ).code,
    ).toBe(2)
  })

  test('holds are placed, listed, shown and released; a release warns of what it lets go', async () => {
    const acme = await furnished(ways)
    const placed = await run(
      'holds',
      'place',
      acme.slug,
      '--container',
      acme.collectionId,
      '--reason',
      'case 4711',
      '--json',
    )
    const { id } = JSON.parse(placed.stdout)
    expect((await run('holds', 'list', acme.slug, '--in-force')).stdout).toContain('case 4711')
    expect((await run('holds', 'show', id)).stdout).toContain(acme.collectionId)
    expect(
      (
        await run(
          'holds',
          'place',
          acme.slug,
          '--container',
          acme.collectionId,
          '--account',
          acme.ownerId,
          '--reason',
          'r',
        )
      ).code,
    ).toBe(2)
    await run('tenants', 'delete', acme.slug, '--confirm', acme.displayName, ...proof())
    const released = await run('holds', 'release', id, ...proof())
    expect([released.code, released.stderr]).toEqual([0, expect.stringContaining(`cancel-deletion ${acme.slug}`)])
    expect(JSON.parse((await run('holds', 'list', acme.slug, '--in-force', '--json')).stdout)).toEqual({ data: [] })
  })

  test('holds are put back from a file, once', async () => {
    const acme = await furnished(ways)
    const hold = {
      id: randomUUID(),
      scope: { kind: 'ACCOUNT', id: randomUUID() },
      reason: 'r',
      placed_by: randomUUID(),
      placed_at: '2026-01-01T00:00:00Z',
    }
    const file = JSON.stringify({ recovery_point: '2026-02-01T00:00:00Z', holds: [hold] })
    const replace = (text: string) =>
      home.svc(['tenants', 'replace-legal-holds', acme.slug, '--file', '-', ...flags], { env: env(), input: text })
    const first = await replace(file)
    expect([first.code, first.stdout, first.stderr]).toEqual([
      0,
      expect.stringContaining('MISSING'),
      expect.stringContaining('1 placed, 0 present already'),
    ])
    expect((await replace(file)).stderr).toContain('0 placed, 1 present already')
    expect((await replace('{"holds": [')).code).toBe(2)
    expect((await replace('{"holds": []}')).stderr).toContain('recovery_point')
  })

  test('a certificate is shown and verified by the slug that is gone; exit 8 once something is left', async () => {
    const acme = await furnished(ways)
    await run('tenants', 'delete', acme.slug, '--confirm', acme.displayName, ...proof())
    await moveDeadline(ways.sql, acme.id, -1)
    await pursued(ways.installation, acme.id)
    ways.clock.pass(3600)
    expect(await pursued(ways.installation, acme.id)).toBe('purged')

    const shown = await run('tenants', 'purge-certificate', 'show', acme.slug)
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/Ed25519[\s\S]*label/)])
    const verified = await run('tenants', 'purge-certificate', 'verify', acme.slug)
    expect([verified.code, verified.stderr]).toEqual([0, expect.stringContaining('no data is left')])
    await ways.sql`insert into request_rate (tenant_id, paid_until) values (${acme.id}, now())`
    const found = await run('tenants', 'purge-certificate', 'verify', acme.id)
    expect([found.code, found.stdout]).toEqual([
      8,
      expect.stringContaining('Data is left: {"place":"request_rate","left":1}.'),
    ])
    expect((await run('tenants', 'purge-certificate', 'show', 'nobody')).code).toBe(3)
  })
})

test('over the API a deletion without the password is not allowed, and says how to give it', async () => {
  const acme = await furnished(ways)
  const refused = await home.svc(['tenants', 'delete', acme.slug, '--confirm', acme.displayName], {
    env: reach('api').env(),
  })
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('--password-stdin')])
})

test("the deletion of one's own workspace says that it locks out, and that only --recovery takes it back", async () => {
  // Somebody else is an operator as well: the last one cannot go.
  await person(ways.daemon, (await furnished(ways)).id, { operator: true })
  const { env, flags } = reach('api')
  const args = ['tenants', 'delete', 'home', '--password-stdin', ...flags]
  const run = (...more: string[]) => home.svc([...args, ...more], { env: env(), input: `${ways.home.password}\n` })
  const [{ display_name: name } = { display_name: '' }] = await ways.sql<
    { display_name: string }[]
  >`select display_name from tenant where slug = 'home'`
  const asked = await run()
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('This locks you and the people of home out')])

  const deleted = await run('--confirm', name)
  expect([deleted.code, deleted.stderr]).toEqual([
    0,
    expect.stringContaining(
      'To cancel the deletion: svc tenants cancel-deletion home --recovery, or another operator\n',
    ),
  ])
  expect((await home.svc(['tenants', 'cancel-deletion', 'home'], { env: env() })).code).toBe(4)
  const atDatabase = reach('recovery')
  const back = await home.svc(['tenants', 'cancel-deletion', 'home', ...atDatabase.flags], { env: atDatabase.env() })
  expect(back.code).toBe(0)
})
