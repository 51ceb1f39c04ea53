/**
 * Daemons are killed while they deliver: nothing is lost, nothing is sent that was not
 * written, nothing crosses workspaces, every signature is right, and what comes twice was
 * under way at a kill. And they are restarted one by one: then nothing comes twice either.
 * Threats F-01, F-05. SVC_FAULTS=full runs the long forms.
 *
 * Black box: real daemon processes, receivers that know their secrets and nothing else;
 * the database is asked afterwards. A lease is as long as in the product; the short form
 * ends those of the killed daemons by hand, so that it need not wait half a minute.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'
import { type Receiver, receiver, verifies } from '../kit/receiver.ts'
import { type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const kills = isFull ? 200 : 6
const events = isFull ? 10_000 : 300
const receivers = isFull ? 20 : 6
const workspaces = isFull ? 4 : 2
const restarts = isFull ? 50 : 4

let world: WebhookWorld
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
})
afterAll(() => world.close())

interface Target {
  readonly receiver: Receiver
  readonly webhook: Subscribed
}

/** The daemon over the world's database, as a worker: it delivers, and serves nothing but its health. */
const start = () =>
  spawnDaemon({
    SVC_DATABASE_URL: urlOf(world.daemon.db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(world.daemon.db.owner),
    SVC_DATA_DIR: world.daemon.config.dataDir,
    SVC_KEYRING_FILE: world.daemon.config.keyringFile,
    SVC_PORT: '0',
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_WEBHOOK_RETRY_SECONDS: '0,1,1,1,1,1,1,1',
    SVC_LEDGER_FILE: `${world.daemon.config.ledgerFile}.workers`,
  })

test(`${kills} kills, ${events} events, ${receivers} receivers, ${workspaces} workspaces`, async () => {
  const people = [world.admin]
  for (let n = 1; n < workspaces; n += 1) people.push(await world.another(`killed-${n}`))
  const targets = await Promise.all(
    Array.from({ length: receivers }, async (_, n): Promise<Target> => {
      const to = await receiver()
      // Some answer late, so that kills find attempts under way; some fail now and then.
      let count = 0
      to.respond((_one, response) => {
        count += 1
        const fails = n % 5 === 4 && count % 7 === 0
        setTimeout(() => response.writeHead(fails ? 500 : 204).end(), n % 3 === 0 ? 40 : 0)
      })
      return { receiver: to, webhook: await world.subscribe(to.url, { of: people[n % workspaces] as Person }) }
    }),
  )

  const written = new Map<string, string[]>(people.map(({ tenantId }) => [tenantId, []]))
  let going = true
  const writing = writeAll(people, written, () => going)
  const underWay = await killRepeatedly(kills, () =>
    targets.reduce((sum, { receiver: one }) => sum + one.received.length, 0),
  )
  // Nobody lives who could hold one.
  if (!isFull) await world.sql`update delivery set leased_until = now() where leased_until is not null`
  const last = await start()
  going = false
  await writing
  const lastKillAt = Date.now()
  await world.until('all is delivered', allDelivered, 90_000)
  const settledMs = Date.now() - lastKillAt
  last.process.kill('SIGTERM')
  expect(await last.ended).toBe(0)

  const duplicates = await expectAll(targets, written)
  // An attempt under way at a kill may have arrived, and is made again.
  expect(duplicates).toBeLessThanOrEqual(underWay)
  expect(settledMs).toBeLessThan(60_000)
  await Promise.all(targets.map(({ receiver: one }) => one.close()))
}, 900_000)

test(`${restarts} restarts of two daemons in turn drop nothing, send nothing twice, and end in time`, async () => {
  const of = await world.another('restarted')
  const to = await receiver()
  to.respond((_one, response) => void setTimeout(() => response.writeHead(204).end(), 15))
  const webhook = await world.subscribe(to.url, { of })
  const daemons = [await start(), await start()]
  const written: string[] = []
  let going = true
  const writing = (async () => {
    while (going) {
      written.push(...(await world.emit(of.tenantId, 3)))
      await pause(10)
    }
  })()
  for (let n = 0; n < restarts; n += 1) {
    await to.until(to.received.length + 5)
    daemons[n % 2]?.process.kill('SIGTERM')
    expect(await daemons[n % 2]?.ended).toBe(0) // 1, had the drain taken its 10 s
    daemons[n % 2] = await start()
  }
  going = false
  await writing
  await to.until(written.length)
  for (const daemon of daemons) daemon.process.kill('SIGTERM')
  expect(await Promise.all(daemons.map(({ ended }) => ended))).toEqual([0, 0])

  expect(to.received.map(({ eventId }) => eventId).toSorted()).toEqual(written.toSorted())
  expect(to.received.filter((got) => !verifies(webhook.secret, got))).toEqual([])
  await to.close()
}, 1_800_000)

/** Writes all events, a few at a time, for as long as the kills go on. */
async function writeAll(people: readonly Person[], written: Map<string, string[]>, going: () => boolean) {
  const each = 5
  for (let n = 0; n < events; n += each) {
    const { tenantId } = people[(n / each) % people.length] as Person
    written.get(tenantId)?.push(...(await world.emit(tenantId, each)))
    // Spread over the kills; once they are over, the rest at once.
    if (going()) await pause(isFull ? 100 : 15)
  }
}

/** Answers how many attempts were under way at the kills, as the rows said right after each. */
async function killRepeatedly(times: number, received: () => number): Promise<number> {
  const counted = new Set<string>()
  for (let kill = 0; kill < times; kill += 1) {
    const daemon: SpawnedDaemon = await start()
    const before = received()
    const deadline = Date.now() + 3_000
    while (received() < before + 5 + (kill % 11) && Date.now() < deadline) await pause(3)
    daemon.process.kill('SIGKILL')
    await daemon.ended
    const rows = await world.sql<{ key: string }[]>`
      select id || ' ' || attempt as key from delivery where started_at is not null`
    for (const { key } of rows) counted.add(key)
  }
  return counted.size
}

async function allDelivered(): Promise<boolean> {
  const [row] = await world.sql<
    { open: number }[]
  >`select count(*)::int as open from delivery where finished_at is null`
  return row?.open === 0
}

/** Holds what arrived against what was written; answers how much came more than once after a success. */
async function expectAll(targets: readonly Target[], written: ReadonlyMap<string, readonly string[]>): Promise<number> {
  let duplicates = 0
  for (const { receiver: one, webhook } of targets) {
    const mine = written.get(webhook.tenantId) ?? []
    const arrived = Map.groupBy(one.received, ({ eventId }) => eventId)
    expect([...arrived.keys()].toSorted()).toEqual([...mine].toSorted()) // none lost, none spurious, none of another workspace
    expect(one.received.filter((got) => !verifies(webhook.secret, got))).toEqual([])
    const attempts = await world.sql<{ failed: number }[]>`
      select count(*)::int as failed from delivery_attempt a join delivery d on d.tenant_id = a.tenant_id and d.id = a.delivery_id
      where d.webhook_id = ${webhook.id} and a.error = 'response.status'`
    duplicates += one.received.length - arrived.size - (attempts[0]?.failed ?? 0)
  }
  expect(await world.sql`select 1 from delivery where status <> 'SUCCEEDED'`).toEqual([])
  return duplicates
}
