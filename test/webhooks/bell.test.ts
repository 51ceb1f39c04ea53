/** The bell: whose ring is heard where, and when. That a lost one only delays: states.test.ts and killed-deliveries. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Bell, dueChannel, openBell, perNotification } from '../../src/core/kernel/outbox/bell.ts'
import { type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

let world: WebhookWorld
let here: Bell
let there: Bell
const heard: { here: string[][]; there: string[][] } = { here: [], there: [] }
const closing: (() => Promise<void>)[] = []
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  here = openBell(world.installation.address)
  there = openBell(world.installation.address)
  for (const [name, bell] of [['here', here] as const, ['there', there] as const]) {
    const listens = Promise.withResolvers<void>()
    const listening = bell.hear({
      heard: (tenantId, webhookIds) => void heard[name].push([tenantId, ...webhookIds]),
      listens: listens.resolve,
    })
    closing.push(() => listening.close())
    await listens.promise
  }
})
beforeEach(() => {
  heard.here = []
  heard.there = []
})
afterAll(async () => {
  for (const close of [...closing, () => here.close(), () => there.close()]) await close()
  await world.close()
})

const id = (n: number) => `0199c0de-0000-7000-8000-${String(n).padStart(12, '0')}`

test('a ring is heard at once in its own process, and once; then in others', async () => {
  here.ring('tenant', ['one', 'two'])
  expect(heard.here).toEqual([['tenant', 'one', 'two']])
  await expect.poll(() => heard.there).toEqual([['tenant', 'one', 'two']])
  await pause(100)
  expect(heard.here).toHaveLength(1)
  expect(heard.there).toHaveLength(1)
})

test('a thousand rings are few notifications, which name each webhook once', async () => {
  for (let n = 0; n < 1_000; n += 1) here.ring('tenant', [id(n % 450)])
  await expect.poll(() => new Set(heard.there.flatMap(([, ...ids]) => ids)).size).toBe(450)
  expect(heard.here).toHaveLength(1_000)
  expect(heard.there.length).toBeLessThan(10)
  expect(Math.max(...heard.there.map(({ length }) => length - 1))).toBe(perNotification)
})

test('under many commits notifications are 25 ms apart', async () => {
  const began = performance.now()
  let rung = 0
  for (; performance.now() - began < 300; rung += 1) {
    here.ring('tenant', [id(rung)])
    await pause(1)
  }
  await expect.poll(() => new Set(heard.there.flatMap(([, ...ids]) => ids)).size).toBe(rung)
  expect(heard.there.length).toBeLessThanOrEqual((performance.now() - began) / 25 + 1)
})

test('what is closed right after a ring has told others', async () => {
  const brief = openBell(world.installation.address)
  brief.ring('tenant', ['last'])
  await brief.close()
  await expect.poll(() => heard.there).toEqual([['tenant', 'last']])
})

test('a bell whose connection was lost is heard again', async () => {
  here.ring('tenant', ['first'])
  await expect.poll(() => heard.there.length).toBe(1)
  await world.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc bell' and datname = current_database()`
  await expect
    .poll(
      async () => {
        here.ring('tenant', ['second'])
        await pause(20)
        return heard.there.some(([, webhookId]) => webhookId === 'second')
      },
      { timeout: 5_000 },
    )
    .toBe(true)
})

test('a transaction rings for what it has committed, and for nothing that it undid', async () => {
  const { installation, home } = world
  const { id: webhookId } = await world.subscribe('http://127.0.0.1:9/')
  heard.there = []
  const told: string[] = []
  const listening = await world.sql.listen(dueChannel, (payload) => void told.push(payload))
  await expect(
    installation.transaction({ kind: 'SYSTEM', job: 'test' }, { tenantId: home.tenantId }, async (ctx) => {
      ctx.ring(webhookId)
      await ctx.now()
      throw new Error('undone')
    }),
  ).rejects.toThrow('undone')
  await world.emit(home.tenantId)
  await expect.poll(() => told).toEqual([`${home.tenantId} ${webhookId}`])
  await listening.unlisten()
})
