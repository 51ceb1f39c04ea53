/**
 * Three daemons over one database behind each of the proxies of deploy/proxies, under a steady load: each daemon is
 * restarted in turn, one is killed, one is frozen. No call fails, no client hangs, and what was acknowledged is there, once.
 *
 *     SVC_FAULTS=full vitest run test/campaigns/proxies.test.ts    frozen for 60 s instead of 10 s
 *
 * A proxy that is not installed is skipped, with a line. Debian has nginx, haproxy and caddy; Traefik is found on the PATH.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { shows } from '../kit/needs.ts'
import { astray, type ProxiedHouse, proxiedHouse } from '../kit/proxied-house.ts'
import { inWords, openClient, startLoad } from '../kit/proxied-load.ts'
import { installedProxy, proxyNames, type RunningProxy, runProxy } from '../kit/proxies.ts'

const frozenSeconds = process.env['SVC_FAULTS'] === 'full' ? 60 : 10
const clients = { readers: 6, writers: 6 }
/** A frozen daemon holds a change for 20 s at most, and a client sends it again. */
const longestMs = 25_000
/** From the start of a daemon until the proxy sends to it again; its check of health comes every two seconds. */
const foundMs = 3_000

let house: ProxiedHouse
beforeAll(async () => {
  house = await proxiedHouse()
})
afterAll(() => house.close())

describe.each(proxyNames)('behind %s', (name) => {
  const version = installedProxy(name)
  shows(`daemons behind ${name}`, name, version !== undefined)
  let proxy: RunningProxy

  describe.runIf(version !== undefined)(`${version}`, () => {
    beforeEach(async () => {
      proxy = await runProxy(name, house.ports)
    })
    afterEach(async () => {
      await proxy.stop()
    })

    test(`each daemon restarted, one killed, one frozen for ${frozenSeconds} s: nothing fails, nothing is lost or doubled`, async () => {
      const { daemons, restart } = house
      const load = startLoad(proxy.address, { ...house, ...clients })
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

      expect(await astray(house, load.acknowledged)).toEqual([])
      expect(daemons.map((daemon) => daemon.stderr()).join('')).not.toContain('SVC_TRUSTED_PROXIES')
    }, 240_000)

    test('large bodies and answers pass unchanged, and too large a body is refused', async () => {
      const { token, operator, containerId } = house
      await house.db.sql`
        insert into tenant (id, slug, display_name, state, default_locale, default_time_zone)
        select uuidv7(), 'w' || n || ${name.toLowerCase()}, repeat('w', 100), 'ACTIVE', 'en', 'UTC' from generate_series(1, 10000) n`
      const client = openClient(proxy.address)
      const path = '/admin/tenants'
      const whole = await client.call('GET', `/api/v1${path}`, { token: operator })
      expect([whole.status, whole.text.length > 3_000_000]).toEqual([200, true])
      expect(JSON.parse(whole.text)).toEqual(await house.ask(0, 'GET', path, undefined, operator))

      const metrics = await client.call('GET', '/metrics')
      expect([Math.floor(metrics.status / 100), metrics.text.includes('svc_')]).toEqual([4, false])

      const note = 'n'.repeat(200_000)
      const refused = await client.call('POST', '/api/v1/items', { token, body: { container_id: containerId, note } })
      expect([refused.status, JSON.parse(refused.text).code]).toEqual([422, 'request.invalid'])
      const tooLarge = await client.call('POST', '/api/v1/items', { token, body: { note: note.repeat(10) } })
      // A proxy may close the connection before the client has read the answer; it never answers that the daemon failed.
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
