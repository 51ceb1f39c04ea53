/**
 * Hundreds of targets that drip, flood, hang and lie, beside healthy ones, at a daemon of its
 * own: the healthy are served as before, its memory stays near what the same work takes without
 * them, and no attempt outlasts its 15 s.
 * Threats F-16. SVC_FAULTS=full runs the long form, which holds the healthy ones' p99 against
 * twice what it was alone, with events back to back and at ten a second, which leaves the bad
 * ones time between; the short one holds what needs no clock. What is alone and what is beside
 * are measured in turns, so that a machine that is slow for a minute is so for both.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { type Receiver, receiver, verifies } from '../kit/receiver.ts'
import { type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const bad = isFull ? 600 : 28
const healthy = isFull ? 50 : 4
/** How often what is alone and what is beside are measured, one after the other. */
const turns = isFull ? 3 : 1
/**
 * Rounds that count in each turn, and rounds at most. The 99th percentile of forty rounds would be their worst one, and
 * of two hundred what happened in two of them.
 */
const counted = isFull ? 70 : 5
const roundsAtMost = isFull ? 300 : 5
/** How long after one event the next is written at the soonest, in ms. */
const paces = isFull ? [0, 100] : [0]
const memoryMiB = 64

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

let world: WebhookWorld
let hostile: ChildProcess
let badUrls: readonly string[]
let daemon: SpawnedDaemon
const targets: { to: Receiver; webhook: Subscribed }[] = []
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  const main = fileURLToPath(new URL('../kit/hostile-process.ts', import.meta.url))
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

/** What the host of this virtual machine took away from its processors so far, in hundredths of a second. */
const stolen = () => Number(/^cpu +(?:\d+ +){7}(\d+)/.exec(readFileSync('/proc/stat', 'utf8'))?.[1])

let sent = 0
/** Of two runs the later one would be measured with the larger heap, and its collection counted as the daemon's. */
function checkAndForget(): void {
  for (const { to, webhook } of targets) {
    const received = to.received.splice(0)
    expect(new Set(received.map(({ eventId }) => eventId)).size).toBe(sent)
    expect(received.filter((got) => !verifies(webhook.secret, got))).toEqual([])
  }
  sent = 0
  collect()
}

/**
 * Commits events one after another and waits until every healthy target has each; answers how long each of them took, in
 * ms. A round in which the host took a processor away says nothing of the daemon, and does not count.
 */
async function latencies(pace: number): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round < roundsAtMost && found.length < counted * healthy; round += 1) {
    const begun = performance.now()
    const stolenBefore = stolen()
    await world.emit(world.home.tenantId)
    const committedAt = Date.now()
    sent += 1
    await Promise.all(targets.map(({ to }) => to.until(sent)))
    if (stolen() === stolenBefore) found.push(...targets.map(({ to }) => (to.received.at(-1)?.at ?? 0) - committedAt))
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + pace - performance.now())))
  }
  checkAndForget()
  return found.sort((a, b) => a - b)
}
/** Adds what it finds to that of earlier turns; by pace. */
async function measure(into: readonly number[][]): Promise<void> {
  for (const [n, pace] of paces.entries()) into[n]?.push(...(await latencies(pace)))
  for (const found of into) found.sort((a, b) => a - b)
}
const at = (share: number, sorted: readonly number[] = []) => sorted[Math.floor(sorted.length * share)] ?? 0
const p99 = (sorted?: readonly number[]) => at(0.99, sorted)
const told = (...runs: readonly (readonly number[][])[]) =>
  paces
    .map((pace, n) => {
      const [alone, beside] = runs.map(
        (run) => `${at(0.5, run[n])}, ${p99(run[n])} ms of ${(run[n]?.length ?? 0) / healthy} rounds`,
      )
      return `${pace} ms apart: median, p99 ${alone} alone, ${beside} beside`
    })
    .join('; ')

test(`${bad} bad targets beside ${healthy} healthy ones`, async () => {
  await latencies(0) // the first of everything
  // A daemon at rest has given back what a start leaves behind, and takes it again for any work: what counts is what the bad
  // ones add to the same work without them.
  await measure(paces.map(() => []))
  const before = residentMiB()
  for (let n = 0; n < bad; n += 1) await world.subscribe(badUrls[n % badUrls.length] as string)
  await latencies(0) // nothing is known of the bad ones yet
  const alone: number[][] = paces.map(() => [])
  const beside: number[][] = paces.map(() => [])
  let growth = 0
  for (let turn = 0; turn < turns; turn += 1) {
    if (turn > 0) await wakeBad()
    await measure(beside)
    growth = Math.max(growth, residentMiB() - before)
    if (!isFull) break
    await silenceBad()
    await measure(alone)
  }

  if (isFull) process.stdout.write(`${told(alone, beside)}; ${growth.toFixed(0)} MiB more\n`)
  expect(growth).toBeLessThan(memoryMiB)
  await world.until('the bad ones were called as well', async () => (await attemptsAtBad()) > bad / 2, 60_000)
  if (isFull) {
    await world.until('some attempts were cut off', async () => (await longest()) > 14_000, 60_000)
    for (const [at, pace] of paces.entries()) {
      const least = Math.min(...[alone, beside].map((run) => run[at]?.length ?? 0)) / healthy
      expect(least, 'rounds in which the host took nothing away').toBeGreaterThan(100)
      const bound = Math.max(2 * p99(alone[at]), 50)
      expect(p99(beside[at]), `${pace} ms apart`).toBeLessThan(bound)
    }
  }
  expect(await longest()).toBeLessThan(16_000)
}, 600_000)

/** Nothing is delivered to the bad ones any more, and nothing of them is under way. */
async function silenceBad(): Promise<void> {
  const good = targets.map(({ webhook }) => webhook.id)
  await world.sql`update webhook set state = 'PAUSED' where id not in ${world.sql(good)}`
  await world.until(
    'no attempt is under way',
    async () => {
      const [row] =
        await world.sql`select 1 from delivery where finished_at is null and leased_until is not null limit 1`
      return row === undefined
    },
    60_000,
  )
}

/** They are delivered to again, and each of them was called: what is measured is not the moment at which all begin at once. */
async function wakeBad(): Promise<void> {
  const good = targets.map(({ webhook }) => webhook.id)
  await world.sql`update webhook set state = 'ACTIVE' where id not in ${world.sql(good)}`
  await latencies(100)
}

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
