/** What a turn waits for, and what it reads. Decision 0117. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { productLimits } from '../../src/core/areas/webhooks/dispatch/lanes.ts'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { dueChannel } from '../../src/core/kernel/outbox/bell.ts'
import { type Receiver, receiver, status } from '../kit/receiver.ts'
import { type Subscribed, underWay, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

let world: WebhookWorld
beforeAll(async () => {
  world = await webhookWorld()
})
afterAll(() => world.close())

test('a slow turn that takes long delays no healthy target', async () => {
  const [failing, prompt] = [await target(), await target()]
  failing.to.respond(status(500))
  await world.emit(world.home.tenantId)
  await Promise.all([failing.to.until(1), prompt.to.until(1)])
  await held(failing.webhook, async () => {
    await world.until('a turn waits', async () => {
      await world.sql`select pg_notify(${dueChannel}, ${`${world.home.tenantId} ${failing.webhook.id}`})`
      return isWaitedFor()
    })
    for (const events of [2, 3]) {
      await world.emit(world.home.tenantId)
      await prompt.to.until(events)
    }
    expect(failing.to.received).toHaveLength(1)
  })
  await failing.to.until(3)
  await Promise.all([failing.to.close(), prompt.to.close()])
})

test('a turn reads deliveries and events by their keys, though nothing is known of any table', async () => {
  const { tenantId, ...of } = await world.another('many')
  const to = await receiver()
  const webhooks = 120
  for (let n = 0; n < webhooks; n += 1) await world.subscribe(to.url, { of: { tenantId, ...of } })
  for (let events = 1; events <= 3; events += 1) {
    await world.emit(tenantId)
    await to.until(events * webhooks)
  }
  // Servers tell of it once they have been idle for 10 s.
  await world.until(
    'every key was read twice',
    async () => ((await readings())['delivery_pkey'] ?? 0) >= 2 * 3 * webhooks,
  )
  const after = await readings()
  expect(after['outbox_event_answered']).toBe(0)
  // Some look may go by the webhook; no statement tries each of them.
  expect(after['delivery_by_webhook']).toBeLessThan(webhooks)
  await to.close()
})

test('where nothing can be recorded, nothing starts', async () => {
  const { tenantId, ...of } = await world.another('refused')
  const to = await receiver()
  await world.subscribe(to.url, { of: { tenantId, ...of } })
  await world.emit(tenantId)
  await to.until(1)
  await recorded(tenantId)
  await world.sql.unsafe(`
    create function refused() returns trigger language plpgsql as 'begin raise exception ''refused''; end';
    create trigger refused before insert on delivery_attempt for each row execute function refused()`)
  for (let events = 1; events <= 50; events += 1) {
    await world.emit(tenantId)
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  // Few were begun before it was known.
  expect(to.received.length).toBeLessThanOrEqual(3)
  await world.sql.unsafe('drop trigger refused on delivery_attempt; drop function refused')
  await recorded(tenantId)
  expect(to.received).toHaveLength(51)
  expect(new Set(to.received.map(({ eventId }) => eventId)).size).toBe(51)
  await to.close()
})

test('the other targets and results have turns too while healthy targets are called all the time', async () => {
  const { tenantId, ...of } = await world.another('steady')
  const [failing, prompt] = [await receiver(), await receiver()]
  failing.respond(status(500))
  for (const { url } of [failing, prompt]) await world.subscribe(url, { of: { tenantId, ...of } })
  const begun = Date.now()
  let events = 0
  while (Date.now() - begun < 3_000) {
    await world.emit(tenantId)
    events += 1
    await prompt.until(events)
  }
  const [row] = await world.sql<{ over: number }[]>`
    select count(*)::int as over from delivery where tenant_id = ${tenantId} and status = 'SUCCEEDED'`
  expect(row?.over).toBeGreaterThan(events / 2)
  // Each failure prolongs the pause before the next.
  expect(failing.received.length).toBeGreaterThan(4)
  await Promise.all([failing.close(), prompt.close()])
})

test('one turn at a time is enough for healthy targets, for the others and for results', async () => {
  const narrow = await webhookWorld({ poolSize: 3 })
  const { tenantId } = narrow.home
  const [failing, prompt] = [await receiver(), await receiver()]
  failing.respond(status(500))
  for (const { url } of [failing, prompt]) await narrow.subscribe(url)
  for (let events = 1; events <= 20; events += 1) {
    await narrow.emit(tenantId)
    await prompt.until(events)
  }
  await narrow.until('all is recorded', async () => {
    const open =
      await narrow.sql`select from delivery where tenant_id = ${tenantId} and (started_at is not null or status = 'PENDING')`
    return open.count === 0
  })
  expect(failing.received.length).toBeGreaterThanOrEqual(20)
  expect(prompt.received).toHaveLength(20)
  await narrow.close()
  await Promise.all([failing.close(), prompt.close()])
})

test('a mistake in the state of one workspace is reported, and its deliveries are made after the next look', async () => {
  const own = await webhookWorld({}, { dispatches: false })
  const { tenantId, ...of } = await own.another('mistaken')
  const [first, other] = [await receiver(), await receiver()]
  await own.subscribe(first.url, { of: { tenantId, ...of } })
  await own.subscribe(other.url)
  let isBroken = false
  const limits = {
    ...productLimits,
    get fresh() {
      if (!isBroken) return productLimits.fresh
      isBroken = false
      throw new Error('a mistake')
    },
  }
  const dispatcher = own.startDispatcher({ limits })
  await dispatcher.look()
  isBroken = true
  await own.emit(tenantId)
  await own.until('it is reported', async () => own.failures.length > 0)
  expect(own.failures.map(String)).toEqual(['Error: a mistake'])
  await own.emit(own.home.tenantId)
  await other.until(1)
  await dispatcher.look()
  await first.until(1)
  await own.close()
  expect(own.failures).toHaveLength(1)
  expect(underWay(dispatcher)).toBe(0)
  await Promise.all([first.close(), other.close()])
})

async function target(): Promise<{ to: Receiver; webhook: Subscribed }> {
  const to = await receiver()
  return { to, webhook: await world.subscribe(to.url) }
}

/** Holds a webhook as a change to it does. */
const held = (webhook: Subscribed, work: () => Promise<void>) =>
  world.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${lockClasses.webhook}, hashtext(${webhook.id}))`
    await work()
  })

async function isWaitedFor(): Promise<boolean> {
  const waiting = await world.sql`
    select from pg_locks where locktype = 'advisory' and not granted and classid = ${lockClasses.webhook}
      and database = (select oid from pg_database where datname = current_database())`
  return waiting.count > 0
}

const recorded = (tenantId: string) =>
  world.until('all is recorded', async () => {
    const open = await world.sql`select from delivery where tenant_id = ${tenantId} and finished_at is null`
    return open.count === 0
  })

/** How many entries of each index were read. */
async function readings(): Promise<Record<string, number>> {
  const rows = await world.sql<{ name: string; entries: number }[]>`
    select indexrelname as name, idx_tup_read::int as entries from pg_stat_user_indexes`
  return Object.fromEntries(rows.map(({ name, entries }) => [name, entries]))
}
