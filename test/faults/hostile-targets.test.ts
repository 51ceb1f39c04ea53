/**
 * Hundreds of targets that drip, flood, hang and lie, beside healthy ones, at a daemon of its
 * own: the healthy are served as before, its memory stays, and no attempt outlasts its 15 s.
 * Threats F-16. SVC_FAULTS=full runs the long form, which holds the healthy ones' p99 against
 * twice what it was alone; the short one holds what needs no clock.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../support/daemon.ts'
import { type Receiver, receiver, verifies } from '../support/receiver.ts'
import { type Subscribed, type WebhookWorld, webhookWorld } from '../support/webhooks.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const bad = isFull ? 600 : 28
const healthy = isFull ? 50 : 4
/** The 99th percentile of forty rounds would be their worst one. */
const rounds = isFull ? 200 : 5
const memoryMiB = 64

let world: WebhookWorld
let hostile: ChildProcess
let badUrls: readonly string[]
let daemon: SpawnedDaemon
const targets: { to: Receiver; webhook: Subscribed }[] = []
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  const main = fileURLToPath(new URL('../support/hostile-process.ts', import.meta.url))
  hostile = spawn(process.execPath, [main], { stdio: ['pipe', 'pipe', 'inherit'] })
  badUrls = await new Promise((resolve) => hostile.stdout?.once('data', (line) => resolve(JSON.parse(String(line)))))
  for (let n = 0; n < healthy; n += 1) {
    const to = await receiver()
    targets.push({ to, webhook: await world.subscribe(to.url) })
  }
  daemon = await spawnDaemon({
    SVC_DATABASE_URL: urlOf(world.daemon.db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(world.daemon.db.owner),
    SVC_DATA_DIR: world.daemon.config.dataDir,
    SVC_KEYRING_FILE: world.daemon.config.keyringFile,
    SVC_LEDGER_FILE: `${world.daemon.config.ledgerFile}.worker`,
    SVC_PORT: '0',
    SVC_EGRESS_ALLOW: '127.0.0.1',
  })
})
afterAll(async () => {
  daemon.process.kill('SIGKILL')
  await daemon.ended
  await world.close()
  hostile.stdin?.end()
  await Promise.all(targets.map(({ to }) => to.close()))
})

const residentMiB = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8'))?.[1]) / 1024

let sent = 0
/** Commits events one after another and waits until every healthy target has each; answers how long each of them took, in ms. */
async function latencies(): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await world.emit(world.home.tenantId)
    const committedAt = Date.now()
    sent += 1
    await Promise.all(targets.map(({ to }) => to.until(sent)))
    found.push(...targets.map(({ to }) => (to.received.at(-1)?.at ?? 0) - committedAt))
  }
  return found.sort((a, b) => a - b)
}
const p99 = (sorted: readonly number[]) => sorted[Math.floor(sorted.length * 0.99)] ?? 0

test(`${bad} bad targets beside ${healthy} healthy ones`, async () => {
  await latencies() // the first of everything
  const alone = await latencies()
  for (let n = 0; n < bad; n += 1) await world.subscribe(badUrls[n % badUrls.length] as string)
  const before = residentMiB()
  await latencies() // nothing is known of the bad ones yet
  const beside = await latencies()

  expect(residentMiB() - before).toBeLessThan(memoryMiB)
  for (const { to, webhook } of targets) {
    expect(new Set(to.received.map(({ eventId }) => eventId)).size).toBe(sent)
    expect(to.received.filter((got) => !verifies(webhook.secret, got))).toEqual([])
  }
  expect(await attemptsAtBad()).toBeGreaterThan(bad / 2)
  if (isFull) {
    await world.until('some attempts were cut off', async () => (await longest()) > 14_000, 60_000)
    expect(p99(beside), `alone ${p99(alone)} ms`).toBeLessThan(Math.max(2 * p99(alone), 50))
  }
  expect(await longest()).toBeLessThan(16_000)
}, 600_000)

/** Attempts at the bad targets that are over. */
async function attemptsAtBad(): Promise<number> {
  const [row] = await world.sql<{ count: number }[]>`
    select count(*)::int as count from delivery_attempt a join delivery d on d.id = a.delivery_id
    where d.webhook_id not in ${world.sql(targets.map(({ webhook }) => webhook.id))}`
  return row?.count ?? 0
}

/** The longest attempt, in ms. */
async function longest(): Promise<number> {
  const [row] = await world.sql<{ ms: number }[]>`select coalesce(max(duration_ms), 0) as ms from delivery_attempt`
  return row?.ms ?? 0
}
