/**
 * Three daemons of an older release behind each of the proxies of deploy/proxies are upgraded under a steady load:
 *
 *    the new schema ──▶ one of the old daemons is killed, and starts again on it ──▶ each is replaced by one of this release,
 *    which is killed once, too ──▶ one host has a clock ten minutes ahead: /readyz and svc doctor name it, the proxy passes it over
 *
 * No call fails, what was acknowledged is there, once, and every event reaches a webhook, signed for its time.
 *
 *     SVC_TEST_OLD_RELEASE=/path/to/a/built/clone vitest run test/campaigns/proxied-upgrade.test.ts
 */
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queueNames } from '../../src/core/app/jobs.ts'
import { withClient } from '../../src/core/kernel/database/client.ts'
import { migrate } from '../../src/core/kernel/database/migrate.ts'
import { revokeFromEverybody } from '../../src/core/kernel/database/rights.ts'
import { testDatabase } from '../kit/database.ts'
import { shows } from '../kit/needs.ts'
import { astray, type ProxiedHouse, proxiedHouse } from '../kit/proxied-house.ts'
import { inWords, startLoad } from '../kit/proxied-load.ts'
import { installedProxy, proxyNames, type RunningProxy, runProxy } from '../kit/proxies.ts'
import { type Receiver, receiver, verifies } from '../kit/receiver.ts'
import { temporaryHome } from '../kit/svc.ts'

const release = process.env['SVC_TEST_OLD_RELEASE']
const clients = { readers: 6, writers: 6 }
/** A change that a killed daemon held is sent again. */
const longestMs = 25_000
/** From the start of a daemon until the proxy sends to it again; its check of health comes every two seconds. */
const foundMs = 3_000
const wrongClock = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('../kit/wrong-clock.ts', import.meta.url))}`,
  WRONG_CLOCK_MS: '600000',
}

shows(
  'an upgrade behind proxies',
  'SVC_TEST_OLD_RELEASE, the folder of an older release that is built',
  release !== undefined,
)

describe.runIf(release !== undefined).each(proxyNames)('behind %s', (name) => {
  const version = installedProxy(name)
  shows(`an upgrade behind ${name}`, name, version !== undefined)

  describe.runIf(version !== undefined)(`${version}`, () => {
    let house: ProxiedHouse
    let proxy: RunningProxy
    let target: Receiver
    beforeAll(async () => {
      const db = await testDatabase('template0')
      await withClient(db.owner, (client) => client.query(revokeFromEverybody))
      house = await proxiedHouse({ db, release })
      proxy = await runProxy(name, house.ports)
      target = await receiver()
    }, 120_000)
    afterAll(async () => {
      await proxy?.stop()
      await house?.close()
      await target?.close()
    })

    test('nothing fails, nothing is lost or doubled, and a wrong clock is named', async () => {
      const { db, restart, token } = house
      const asked = { target_url: target.url, event_types: ['svc.work.item.created.v1'] }
      const { secret } = await house.ask(0, 'POST', '/integrations/webhooks', asked, token)
      const load = startLoad(proxy.address, { ...house, ...clients })
      const told: Record<string, ReturnType<typeof load.told>> = {}
      const step = async (what: string, work: () => Promise<unknown>) => {
        await work()
        await pause(foundMs)
        told[what] = load.told()
      }
      await step('calm', async () => {})
      await step('the new schema', async () => expect(await migrate(db.owner, db.daemon, queueNames)).not.toEqual([]))
      await step('an old daemon killed, and started again', () => restart(1, 'SIGKILL', { release }))
      for (const at of [0, 1, 2]) await step(`upgraded ${at}`, async () => expect(await restart(at, 'SIGTERM')).toBe(0))
      await step('a new daemon killed', () => restart(0, 'SIGKILL'))
      await step('a clock ahead', async () => {
        await restart(2, 'SIGTERM', { env: wrongClock })
        await expectNamed(house)
      })
      await step('and right again', () => restart(2, 'SIGTERM'))
      await load.stop()
      told['last'] = load.told()

      for (const [what, one] of Object.entries(told)) {
        process.stdout.write(`${name} ${version}, ${what}: ${inWords(one)}\n`)
        expect(one.failed, proxy.output()).toEqual([])
        expect(Math.max(one.slowestMs.read, one.slowestMs.change)).toBeLessThan(longestMs)
      }
      expect(await astray(house, load.acknowledged)).toEqual([])
      await expectSent(target, secret, load.acknowledged)
    }, 600_000)
  })
})

/** By /readyz of the daemon whose clock is wrong, and by svc doctor. */
async function expectNamed({ daemons, env }: ProxiedHouse): Promise<void> {
  const { status, ...ready } = await fetch(`${daemons[2]!.address}/readyz`).then(async (answer) => ({
    status: answer.status,
    checks: ((await answer.json()) as { checks: { name: string; ok: boolean }[] }).checks,
  }))
  expect([status, ready.checks.filter(({ ok }) => !ok).map((check) => check.name)]).toEqual([503, ['clock']])
  const home = temporaryHome()
  const { stdout } = await home.svc(['doctor', '--json'], { env })
  home.remove()
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; says: string }[] }
  const pid = daemons[2]!.process.pid
  expect(checks.find(({ check }) => check === 'daemon clocks')).toMatchObject({
    state: 'warn',
    says: expect.stringMatching(new RegExp(` ${pid}: (600|599|601) s ahead`)),
  })
}

/** Every item's event has arrived, and each arrival was signed for its time. */
async function expectSent(target: Receiver, secret: string, titles: readonly string[]): Promise<void> {
  const missing = () => {
    const heard = new Set(target.received.map(({ body }) => JSON.parse(body).data.title))
    return titles.filter((title) => !heard.has(title)).length
  }
  await expect.poll(missing, { timeout: 60_000, interval: 500 }).toBe(0)
  expect(target.received.filter((one) => !verifies(secret, one))).toEqual([])
  process.stdout.write(`${titles.length} items, ${target.received.length} deliveries, all verified\n`)
}
