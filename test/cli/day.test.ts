/** Commands for a day: status, audit, sessions, configuration, version, journal. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readMetrics, sumOf } from '../../src/cli/follow/metrics.ts'
import type { Status } from '../../src/cli/follow/status.ts'
import { attentionIn, statusScreen } from '../../src/cli/render/status.ts'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let token: string
beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
  token = (await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })).token
  home = temporaryHome({ SVC_API_URL: daemon.address, SVC_TOKEN: token })
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const svc = (...args: string[]): Promise<Ran> => home.svc(args)
const provision = (slug: string) =>
  svc('tenants', 'provision', '--slug', slug, '--display-name', slug, '--owner-email', `o@${slug}.example`, '--yes')

describe('status', () => {
  test('over the API says what the operations, the readiness and the metrics say', async () => {
    const json = JSON.parse((await svc('status', '--json')).stdout)
    expect(json).toMatchObject({ failing: [], gate_closed_since: null, deliveries: { waiting: 0, dead: 0 } })
    expect(json.workspaces.active).toBeGreaterThan(0)
    expect(json.requests.answered).toBeGreaterThan(0)
    const { code, stdout } = await svc('status')
    expect(code).toBe(0)
    for (const line of [
      /^daemon +ready$/m,
      /^workspaces +\d+ active/m,
      /^requests +.*answered/m,
      /Nothing needs attention/,
    ])
      expect(stdout).toMatch(line)
  })

  test('at the database says what the database tells, and nothing of a daemon', async () => {
    const ran = await home.svc(['status', '--recovery', '--json'], {
      env: { ...databaseEnv(daemon.config), SVC_API_URL: '', SVC_TOKEN: '' },
    })
    expect(ran.code).toBe(0)
    expect(JSON.parse(ran.stdout)).toMatchObject({
      failing: null,
      requests: null,
      sweeps: { late_seconds: 0 },
      ledger: { fault: null, copies_behind: 0 },
    })
  })

  test('ends with 8 and the next command where something needs attention', async () => {
    await daemon.db.sql`update installation set gated_at = now(), gate_reason = 'BEGUN', recovery_point = now()`
    const { code, stdout } = await svc('status')
    await daemon.db.sql`update installation set gated_at = null, gate_reason = null, recovery_point = null`
    expect(code).toBe(8)
    expect(stdout).toMatch(/! daemon: not ready: gate: closed.*svc doctor/)
  })

  test('--watch prints one after the other, until it is stopped', async () => {
    const watching = home.start(['status', '--watch', '--every', '1', '--json'])
    let text = ''
    watching.stdout?.on('data', (piece: Buffer) => (text += piece.toString()))
    await expect.poll(() => text.trim().split('\n').length, { timeout: 20_000 }).toBeGreaterThan(1)
    watching.kill('SIGINT')
    const [first] = text.split('\n')
    expect(JSON.parse(first!)).toMatchObject({ failing: [] })
  })

  test('reads the metrics of another listener, where it is named; what they do not tell is not told', async () => {
    const text =
      'svc_queue_jobs{queue="a",state="ready"} 2\nsvc_queue_jobs{queue="b",state="ready"} 1\nsvc_queue_jobs{queue="a",state="deferred"} 9\nsvc_queue_late_seconds{queue="b"} 4\nsvc_ledger_copies_behind 0\n'
    const server = createServer((_, answer) => answer.end(text))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const { stdout } = await svc('status', '--metrics-url', `http://127.0.0.1:${port}/metrics`)
    server.close()
    expect(stdout).toMatch(/^jobs +3 due, 0 running; the oldest is 4 s late$/m)
    expect(stdout).toMatch(/^ledger +no copy is behind$/m)
    expect(stdout).toMatch(/^sweeps +not told here$/m)
  })

  const calm: Status = {
    at: '2026-11-20T12:00:10.000Z',
    where: 'there',
    failing: [],
    gate_closed_since: null,
    workspaces: { active: 1, suspended: 0, leaving: 0, accounts: 2 },
    requests: { answered: 150, failed: 0, in_flight: 1 },
    deliveries: { waiting: 0, retrying: 0, dead: 0, oldest_due_at: null },
    jobs: { due: 0, running: 0, late_seconds: 0 },
    sweeps: { rows: 0, late_seconds: 0 },
    ledger: { fault: null, copies_behind: 0 },
    clock_ahead_seconds: 0,
  }
  test('a rate is of the time between two looks; a daemon that began again has none', () => {
    const before = { ...calm, at: '2026-11-20T12:00:00.000Z', requests: { answered: 50, failed: 0, in_flight: 0 } }
    expect(statusScreen(calm, before)).toContain('10.0 a second')
    expect(statusScreen(before, calm)).not.toContain('a second')
  })
  test.each([
    ['deliveries', { deliveries: { ...calm.deliveries, dead: 2 } }],
    ['jobs', { jobs: { due: 1, running: 0, late_seconds: 301 } }],
    ['sweeps', { sweeps: { rows: 1, late_seconds: 20_000 } }],
    ['ledger', { ledger: { fault: null, copies_behind: 1 } }],
    ['ledger', { ledger: { fault: 'line 3 is damaged', copies_behind: 0 } }],
    ['clock', { clock_ahead_seconds: -3 }],
    ['gate', { gate_closed_since: '2026-11-20T12:00:00.000Z' }],
    ['daemon', { failing: [{ name: 'keyring', error: 'x' }] }],
  ] as const)('%s needs attention: %j', (subject, change) => {
    expect(attentionIn(calm)).toEqual([])
    expect(attentionIn({ ...calm, ...change }).map((one) => one.subject)).toEqual([subject])
  })
  test('deliveries that wait for their next attempt are not called late, and no clock is -0.0 s ahead', () => {
    const waits = (oldest_due_at: string) =>
      statusScreen({
        ...calm,
        clock_ahead_seconds: -0.01,
        deliveries: { ...calm.deliveries, retrying: 1, oldest_due_at },
      })
    expect(waits('2026-11-20T12:10:00.000Z')).toContain('the first is due at 2026-11-20 12:10:00')
    expect(waits('2026-11-20T11:10:00.000Z')).toContain('the first has been due since 2026-11-20 11:10:00')
    expect(waits('2026-11-20T11:10:00.000Z')).toContain('  0.0 s ahead')
  })
  test('labels of metrics are read, and lines that are none are left out', () => {
    const metrics = readMetrics('# HELP a b\na{x="1,\\"}",y="2"} 3\na{x="2"} 4 1700000000\nb NaN\nc\n')
    expect([sumOf(metrics, 'a'), sumOf(metrics, 'a', { y: '2' }), sumOf(metrics, 'b')]).toEqual([7, 3, undefined])
  })
})

describe('journal', () => {
  test('has a head, names its operators, and is filtered by action, workspace, actor and time', async () => {
    expect([(await provision('acme')).code, (await provision('globex')).code]).toEqual([0, 0])
    expect((await svc('tenants', 'suspend', 'acme')).code).toBe(0)
    const { stdout } = await svc('journal', '--workspace', 'acme')
    const [head, ...lines] = stdout.trim().split('\n')
    expect(head).toMatch(/^WHEN +ACTION +ON +BY/)
    expect(lines.map((line) => /tenant\.\w+/.exec(line)?.[0])).toEqual(['tenant.suspended', 'tenant.provisioned'])
    expect(lines[0]).toContain(`  ${owner.email}`)
    const actions = async (...args: string[]) =>
      (await svc('journal', ...args, '--jq', '.data[] | [.action, .tenant.slug] | join(" ")')).stdout.trim().split('\n')
    expect(await actions('--action', 'tenant.prov*')).toEqual(expect.arrayContaining(['tenant.provisioned globex']))
    expect(await actions('--action', 'tenant.suspended')).toEqual(['tenant.suspended acme'])
    expect(await actions('--workspace', 'acme', '--actor', owner.email, '--size', '1')).toEqual([
      'tenant.suspended acme',
    ])
    expect(await actions('--workspace', 'acme', '--actor', 'SYSTEM')).toEqual([''])
    expect(await actions('--workspace', 'acme', '--until', '1d')).toEqual([''])
    expect(await actions('--action', 'tenant.suspended', '--action', 'tenant.prov*', '--workspace', 'acme')).toEqual([
      'tenant.suspended acme',
      'tenant.provisioned acme',
    ])
    const { id } = JSON.parse((await svc('tenants', 'show', 'acme', '--json')).stdout)
    expect(await actions('--workspace', id, '--action', 'tenant.*', '--size', '1')).toEqual(['tenant.suspended acme'])
    for (const [args, says] of [
      [['--actor', 'nobody@ops.example'], /No operator signs in as nobody@ops.example/],
      [['--action', 'tenant'], /--action tenant is no action/],
      [['--workspace', 'No such'], /neither a slug nor an id/],
    ] as const)
      expect(await svc('journal', ...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(says) })
    expect((await svc('journal', '--since', '0s')).stdout).toBe('No entry matches.\n')
    expect(await svc('journal', '--since', 'yesterday')).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('audit', () => {
  test('is the trail of the workspace of the caller, filtered', async () => {
    const all = JSON.parse((await svc('audit', '--json')).stdout)
    expect(all.data.length).toBeGreaterThan(0)
    const [{ action }] = all.data
    const found = JSON.parse((await svc('audit', '--action', action, '--max', '1', '--json')).stdout)
    expect(found.data.map((entry: { action: string }) => entry.action)).toEqual([action])
    expect((await svc('audit', '--until', '900d')).stdout).toBe('No entry matches.\n')
    expect((await svc('audit', '--max', '1')).stderr).toContain('--max shows more')
    expect(await svc('audit', '--recovery')).toMatchObject({ code: expect.not.stringMatching(/^0$/), stdout: '' })
  })
})

describe('sessions', () => {
  test('are listed, and one or all others are ended', async () => {
    const signIn = async () =>
      (
        await daemon.call('POST', '/api/v1/auth/sessions', {
          body: { workspace: 'home', email: owner.email, password: owner.password },
        })
      ).json as { access_token: string; session_id: string }
    const [mine, other, third] = [await signIn(), await signIn(), await signIn()]
    const env = { SVC_TOKEN: mine.access_token }
    const listed = await home.svc(['sessions', 'list', '--json'], { env })
    const ids = JSON.parse(listed.stdout).data.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(expect.arrayContaining([mine.session_id, other.session_id, third.session_id]))
    expect((await home.svc(['sessions', 'list'], { env })).stdout).toContain('this one')
    expect(await home.svc(['sessions', 'end'], { env })).toMatchObject({ code: 2 })
    expect((await home.svc(['sessions', 'end', other.session_id], { env })).stderr).toContain('has to sign in again')
    const ended = JSON.parse((await home.svc(['sessions', 'end', '--others', '--json'], { env })).stdout)
    expect(ended).toMatchObject({ tokens: 0, apps: 0 })
    expect(ended.sessions).toBeGreaterThan(0)
    expect(await daemon.db.sql`select revoked_at from session where id = ${third.session_id}`).not.toEqual([
      { revoked_at: null },
    ])
    const left = JSON.parse((await home.svc(['sessions', 'list', '--json'], { env })).stdout).data
    expect(left.map(({ id }: { id: string }) => id)).toEqual([mine.session_id])
  })
})

describe('tenants update', () => {
  test('changes what is named, and says where nothing changed', async () => {
    expect((await provision('initech')).code).toBe(0)
    const changed = await svc(
      'tenants',
      'update',
      'initech',
      '--display-name',
      'Initech & Co',
      '--time-zone',
      'Asia/Tokyo',
    )
    expect(changed).toMatchObject({ code: 0, stderr: '' })
    expect(changed.stdout).toMatch(/name +Initech & Co\n/)
    expect((await svc('tenants', 'show', 'initech', '--jq', '.default_time_zone')).stdout).toBe('Asia/Tokyo\n')
    expect((await svc('tenants', 'update', 'initech', '--time-zone', 'Asia/Tokyo')).stderr).toContain('Nothing changed')
    expect(await svc('tenants', 'update', 'initech')).toMatchObject({ code: 2, stdout: '' })
    expect((await svc('tenants', 'update', 'initech', '--locale', 'xx-nowhere')).code).toBe(2)
  })
})

describe('configuration', () => {
  test('is shown with where each value comes from, without a secret', async () => {
    writeFileSync(join(home.folder, '.env'), 'SVC_PORT=9999\nSVC_HOST=10.0.0.1\n')
    const env = {
      SVC_HOST: '0.0.0.0',
      SVC_SETUP_TOKEN: 'canary-of-the-set-up',
      SVC_MEDIA_S3_SECRET_ACCESS_KEY: 'canary-of-the-bucket',
      SVC_SMTP_URL: 'smtp://ada:canary-password@relay.example',
      SVC_TOKN: 'canary-mistyped',
    }
    const shown = await home.svc(['config', 'show', '--all', '--json'], { env })
    expect(shown.stdout).not.toContain('canary')
    const byName = new Map<string, object>(
      JSON.parse(shown.stdout).data.map((setting: { name: string }) => [setting.name, setting]),
    )
    expect(byName.get('SVC_HOST')).toMatchObject({ value: '0.0.0.0', from: 'environment' })
    expect(byName.get('SVC_PORT')).toMatchObject({ value: '9999', from: '.env' })
    expect(byName.get('SVC_LOG_LEVEL')).toMatchObject({ value: 'info', from: 'default' })
    expect(byName.get('SVC_BASE_DOMAIN')).toMatchObject({ value: null, from: 'not set' })
    expect(byName.get('SVC_SMTP_URL')).toMatchObject({
      value: 'smtp://ada:********@relay.example',
      from: 'environment',
    })
    expect((await home.svc(['config', 'show'], { env })).stdout).not.toContain('SVC_LOG_LEVEL')

    const wrong = await home.svc(['config', 'validate'], { env })
    expect(wrong).toMatchObject({ code: 8, stdout: 'SVC_TOKN is not read. Did you mean SVC_TOKEN?\n' })
    const stops = await home.svc(['config', 'validate'], { env: { SVC_PORT: 'eighty' } })
    expect([stops.code, stops.stderr]).toEqual([2, expect.stringContaining('SVC_PORT')])
    expect(await home.svc(['config', 'validate'])).toMatchObject({ code: 0, stdout: 'The configuration is valid.\n' })
  })
})

test('version asks no server, and open prints the address', async () => {
  const version = await home.svc(['version', '--json'], { env: { SVC_API_URL: 'http://127.0.0.1:1' } })
  expect(JSON.parse(version.stdout)).toMatchObject({ version: expect.stringMatching(/^\d/), node: process.version })
  expect((await svc('open')).stdout).toBe(`${daemon.address}/docs\n`)
  expect((await svc('open', 'ready', '--print')).stdout).toBe(`${daemon.address}/readyz\n`)
  const nowhere = await home.svc(['open'], { env: { SVC_API_URL: '' } })
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('svc login')])
})
