/**
 * Three daemons over one database behind each of the proxies of deploy/proxies, under a steady load: each daemon is
 * restarted in turn, one is killed, one is frozen. No call fails, no client hangs, and what was acknowledged is there, once.
 *
 *     SVC_FAULTS=full vitest run test/campaigns/proxies.test.ts    frozen for 60 s instead of 10 s
 *
 * A proxy that is not installed is skipped, with a line. Debian has nginx, haproxy and caddy; Traefik is found on the PATH.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { shows } from '../kit/needs.ts'
import { freePorts } from '../kit/outside-server.ts'
import { person } from '../kit/people.ts'
import { openClient, startLoad, type Told } from '../kit/proxied-load.ts'
import { installedProxy, proxyNames, type RunningProxy, runProxy } from '../kit/proxies.ts'

const frozenSeconds = process.env['SVC_FAULTS'] === 'full' ? 60 : 10
const clients = { readers: 6, writers: 6 }
/** A frozen daemon holds a change for 20 s at most, and a client sends it again. */
const longestMs = 25_000
/** From the start of a daemon until the proxy sends to it again; its check of health comes every two seconds. */
const foundMs = 3_000

let db: TestDatabase
let folder: string
let ports: number[]
let daemons: SpawnedDaemon[]
let token: string
let operator: string
let containerId: string

const startOf = (port: number) =>
  spawnDaemon({
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_SETUP_TOKEN: 'a-token-for-the-tests',
    SVC_TRUSTED_PROXIES: '127.0.0.1',
    SVC_DRAIN_NOTICE_SECONDS: '4',
    SVC_PORT: String(port),
    SVC_LOG_LEVEL: 'warn',
  })

beforeAll(async () => {
  db = await testDatabase()
  folder = mkdtempSync(join(tmpdir(), 'svc-proxied-'))
  await createKeyring(join(folder, 'keyring.json'))
  ports = await freePorts(3)
  const first = await startOf(ports[0]!)
  daemons = [first, await startOf(ports[1]!), await startOf(ports[2]!)]
  const set = await ask(first.address, 'POST', '/api/v1/auth/installation:set-up', {
    set_up_token: 'a-token-for-the-tests',
    workspace: { slug: 'proxied', display_name: 'Proxied' },
    owner: { email: 'owner@proxied.example', display_name: 'Olga', password: 'correct horse battery' },
  })
  token = set.session.access_token
  await db.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${set.tenant.id}, 'api_requests_per_minute', 0)`
  operator = (await person({ db }, set.tenant.id, { operator: true })).token
  await db.sql`update credential set expires_at = now() + interval '1 day'`
  const [hub] = (await ask(first.address, 'GET', '/api/v1/containers')).data
  const of = { kind: 'COLLECTION', parent_id: hub.id, name: 'Proxied' }
  containerId = (await ask(first.address, 'POST', '/api/v1/containers', of)).id
})
afterAll(async () => {
  for (const { process, ended } of daemons) {
    process.kill('SIGKILL')
    await ended
  }
  await db.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** One call to a daemon itself. */
async function ask(address: string, method: string, path: string, body?: object, as = token) {
  const answer = await fetch(`${address}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
  return (await answer.json()) as any
}

async function restart(at: number, signal: NodeJS.Signals): Promise<number | null> {
  const { process, ended } = daemons[at]!
  process.kill(signal)
  const code = await ended
  daemons[at] = await startOf(ports[at]!)
  expect(daemons[at]!.address, daemons[at]!.stderr()).not.toBe('')
  return code
}

describe.each(proxyNames)('behind %s', (name) => {
  const version = installedProxy(name)
  shows(`daemons behind ${name}`, name, version !== undefined)
  let proxy: RunningProxy

  describe.runIf(version !== undefined)(`${version}`, () => {
    beforeEach(async () => {
      proxy = await runProxy(name, ports)
    })
    afterEach(async () => {
      await proxy.stop()
    })

    test(`each daemon restarted, one killed, one frozen for ${frozenSeconds} s: nothing fails, nothing is lost or doubled`, async () => {
      const load = startLoad(proxy.address, { token, containerId, ...clients })
      await pause(3_000)
      const calm = load.told()

      for (const at of [0, 1, 2]) {
        expect(await restart(at, 'SIGTERM')).toBe(0)
        await pause(foundMs)
      }
      const restarted = load.told()

      await restart(0, 'SIGKILL')
      await pause(foundMs)
      const killed = load.told()

      daemons[1]!.process.kill('SIGSTOP')
      await pause(frozenSeconds * 1_000)
      daemons[1]!.process.kill('SIGCONT')
      await pause(foundMs)
      const frozen = load.told()
      await load.stop()
      const last = load.told()

      for (const [what, told] of Object.entries({ calm, restarted, killed, frozen, last }))
        process.stdout.write(`${name} ${version}, ${what}: ${inWords(told)}\n`)
      for (const told of [calm, restarted, killed, frozen, last]) {
        expect(told.failed, proxy.output()).toEqual([])
        expect(Math.max(told.slowestMs.read, told.slowestMs.change)).toBeLessThan(longestMs)
      }
      expect(calm.repeated).toEqual({})
      for (const { reads, changes } of [calm, restarted, killed, frozen])
        expect(Math.min(reads, changes)).toBeGreaterThan(5)

      const rows = await db.sql<{ title: string; n: number }[]>`
        select title, count(*)::int as n from item where title like 'proxied %' group by title`
      const times = new Map(rows.map(({ title, n }) => [title, n]))
      expect(load.acknowledged.filter((title) => times.get(title) !== 1)).toEqual([])
      expect([...times].filter(([, n]) => n !== 1)).toEqual([])
      expect(daemons.map((daemon) => daemon.stderr()).join('')).not.toContain('SVC_TRUSTED_PROXIES')
    }, 240_000)

    test('large bodies and answers pass unchanged, and too large a body is refused', async () => {
      await db.sql`
        insert into tenant (id, slug, display_name, state, default_locale, default_time_zone)
        select uuidv7(), 'w' || n || ${name.toLowerCase()}, repeat('w', 100), 'ACTIVE', 'en', 'UTC' from generate_series(1, 10000) n`
      const client = openClient(proxy.address)
      const path = '/api/v1/admin/tenants'
      const whole = await client.call('GET', path, { token: operator })
      expect([whole.status, whole.text.length > 3_000_000]).toEqual([200, true])
      expect(JSON.parse(whole.text)).toEqual(await ask(daemons[0]!.address, 'GET', path, undefined, operator))

      const metrics = await client.call('GET', '/metrics')
      expect([Math.floor(metrics.status / 100), metrics.text.includes('svc_')]).toEqual([4, false])

      const note = 'n'.repeat(200_000)
      const refused = await client.call('POST', '/api/v1/items', { token, body: { container_id: containerId, note } })
      expect([refused.status, JSON.parse(refused.text).code]).toEqual([422, 'request.invalid'])
      const tooLarge = await client.call('POST', '/api/v1/items', { token, body: { note: note.repeat(10) } })
      // A daemon does not read it to its end: the client may find its connection closed before it has the answer.
      expect([413, 0]).toContain(tooLarge.status)
      client.close()
    })

    test('callers are told apart by the address that the proxy saw, not by the one that they claim', async () => {
      const client = openClient(proxy.address)
      const forgot = (from: string, claimed: number) =>
        client.call('POST', '/api/v1/auth/password:forgot', {
          from,
          body: { workspace: 'nowhere', email: 'nobody@nowhere.example' },
          headers: { 'x-forwarded-for': `192.0.2.${claimed}` },
        })
      const at = proxyNames.indexOf(name)
      const many = await Promise.all(Array.from({ length: 60 }, (_, n) => forgot(`127.0.${at}.9`, n)))
      expect(new Set(many.map(({ status }) => status))).toEqual(new Set([204, 429]))
      expect((await forgot(`127.0.${at}.10`, 1)).status).toBe(204)
      client.close()
    })
  })
})

function inWords({ reads, changes, repeated, failed, slowestMs }: Told): string {
  const again = Object.entries(repeated).map(([what, n]) => `${n} × ${what}`)
  return (
    `${reads} reads (slowest ${slowestMs.read} ms), ${changes} changes (slowest ${slowestMs.change} ms), ` +
    `${failed.length} failed, sent again: ${again.join(', ') || 'none'}`
  )
}
