/**
 * Hundreds of clients of one workspace that ask for large pages and take nothing of them: the daemon's memory stays
 * bounded, a neighbour in another workspace is served as before, and the clients are closed. The daemon, the clients
 * and the neighbour are three processes. SVC_FAULTS=full runs the long form.
 */
import { randomUUIDv7 } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { beginFlood } from '../kit/connection-flood.ts'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { besideFlood, expectSpared } from '../kit/neighbour.ts'
import { type Person, person, workspace } from '../kit/people.ts'

const full = process.env['SVC_FAULTS'] === 'full'
const readers = full ? 300 : 20
const pagesEach = 20
const calls = full ? 600 : 60
/** The product's is 15; the short form does not wait for that. */
const slowSeconds = full ? 15 : 2
/** What waits (64 MiB, of one workspace 16), and what making pages leaves for the collector. */
const allowedMebibytes = 300

let db: TestDatabase
let daemon: SpawnedDaemon
let port: number
let flooded: Person
let other: Person
const folder = mkdtempSync(join(tmpdir(), 'svc-readers-'))

beforeAll(async () => {
  db = await testDatabase()
  await createKeyring(join(folder, 'keyring.json'))
  daemon = await spawnDaemon({
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_PORT: '0',
    SVC_SLOW_READER_SECONDS: String(slowSeconds),
    SVC_LOG_LEVEL: 'error',
  })
  port = Number(new URL(daemon.address).port)
  ;[flooded, other] = [await withItems('flooded', 20_000), await withItems('other', 200)]
})
afterAll(async () => {
  daemon.process.kill('SIGKILL')
  await daemon.ended
  await db.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** Somebody in a workspace of their own with 400 items. */
async function withItems(slug: string, descriptionLength: number): Promise<Person> {
  const tenantId = await workspace({ db }, slug)
  const somebody = await person({ db }, tenantId)
  const [hub, collection] = [randomUUIDv7(), randomUUIDv7()]
  await db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  await db.sql`
    insert into container (tenant_id, id, kind, parent_id, name, rank)
    values (${tenantId}, ${hub}, 'HUB', null, 'h', 'a'), (${tenantId}, ${collection}, 'COLLECTION', ${hub}, 'c', 'a')`
  await db.sql`
    insert into item (tenant_id, id, container_id, type, title, description, rank, created_by)
    select ${tenantId}, new_id(), ${collection}, 'TASK', 'item', repeat('x', ${descriptionLength}), 'a' || lpad(n::text, 4, '0'), ${somebody.accountId}
    from generate_series(1, 400) n`
  return somebody
}

const page = '/api/v1/items?size=200'

/** One page of the neighbour's, read whole on a connection of its own. */
const call = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${other.token}` }
    request({ host: '127.0.0.1', port, localAddress: '127.0.0.2', path: page, agent: false, headers }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })

const residentMebibytes = () =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8'))?.[1]) / 1024

/** What a metric of the API's listener says. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return Number(new RegExp(`^${name}{listener="api"} (\\S+)$`, 'm').exec(text)?.[1])
}

test(`${readers} clients that never read leave memory bounded and a neighbour alone`, async () => {
  let [most, mostWaiting] = [0, 0]
  let before = 0
  let watch: NodeJS.Timeout | undefined
  const begin = `GET ${page} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${flooded.token}\r\n\r\n`.repeat(pagesEach)
  const felt = await besideFlood('slow readers', { call, wanted: 200, calls, restMs: full ? 20 : 10 }, async () => {
    before = residentMebibytes()
    watch = setInterval(async () => {
      most = Math.max(most, residentMebibytes())
      mostWaiting = Math.max(mostWaiting, await metric('svc_answers_waiting_bytes').catch(() => 0))
    }, 200)
    const flood = await beginFlood({ port, connections: readers, begin, reads: false })
    return {
      async end() {
        const closed = await metric('svc_readers_closed_total')
        const refused = await metric('svc_reads_refused_total')
        return `${await flood.end()}; ${closed} readers closed, ${refused} reads refused`
      },
    }
  })
  clearInterval(watch)
  process.stdout.write(
    `slow readers: the daemon grew from ${before.toFixed(0)} to ${most.toFixed(0)} MiB, ${(mostWaiting / 2 ** 20).toFixed(1)} MiB waited at most\n`,
  )
  expect(most - before).toBeLessThan(allowedMebibytes)
  if (full) expectSpared(felt, 5)
  else expect(felt.beside.refused).toEqual({})
})

test('a client that takes nothing is closed in time, and nothing of it stays', async () => {
  const begin = `GET ${page} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${flooded.token}\r\n\r\n`.repeat(12)
  const flood = await beginFlood({ port, connections: 1, begin, reads: false })
  await expect.poll(() => metric('svc_answers_waiting_bytes'), { timeout: 10_000 }).toBeGreaterThan(1_000_000)
  const begun = performance.now()
  const closedBefore = await metric('svc_readers_closed_total')
  while ((await metric('svc_readers_closed_total')) === closedBefore && performance.now() - begun < 25_000)
    await pause(100)
  const seconds = (performance.now() - begun) / 1000
  process.stdout.write(
    `slow readers: one that takes nothing is closed after ${seconds.toFixed(1)} s; ${await flood.end()}\n`,
  )
  expect(seconds).toBeLessThan(slowSeconds + 5)
  await expect.poll(() => metric('svc_answers_waiting_bytes'), { timeout: 5_000 }).toBeLessThan(100_000)
}, 60_000)
