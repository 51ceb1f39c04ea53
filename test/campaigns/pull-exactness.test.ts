/**
 * Every committed event is pulled exactly once, in one order, by everybody who pulls: while
 * writers roll back and commit late, pollers are killed and go on, and transactions elsewhere are
 * open all the time: in this database and in another one of the cluster. No poll is late: it
 * answers everything that was committed before it was asked. Threats T-13, F-21.
 * SVC_FAULTS=full runs the long form.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../kit/database.ts'
import {
  keepWriting,
  layEventHub,
  pullAll,
  pulledType,
  pullPage,
  storedLabels,
  system,
  writeLabels,
} from '../kit/events.ts'
import { person, workspace } from '../kit/people.ts'
import { polledPages } from '../kit/poller.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

const full = process.env['SVC_FAULTS'] === 'full'
const events = full ? 100_000 : 4_000
const kills = full ? 40 : 8
const polls = full ? 6_000 : 300
const [writers, pollers] = [8, 4]

let ways: TwoWays
const folder = mkdtempSync(join(tmpdir(), 'svc-pull-'))
const running = new Set<ChildProcess>()
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await ways.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Poller {
  readonly file: string
  readonly start: () => void
  readonly kill: () => Promise<void>
  readonly names: () => string[]
  readonly pages: () => number
  /** Pages that held nothing since the last event. */
  readonly idle: () => number
  readonly complaint: () => string
}

function pollerOf(tenantId: string, token: string, number: number): Poller {
  const file = join(folder, `poller-${number}`)
  const url = `${ways.daemon.address}/api/v1/integrations/triggers/${pulledType}`
  const main = fileURLToPath(new URL('../kit/poller.ts', import.meta.url))
  let child: ChildProcess | undefined
  let complaint = ''
  return {
    file,
    start() {
      child = spawn(process.execPath, [main, url, token, file, String(number)], { stdio: ['ignore', 'ignore', 'pipe'] })
      child.stderr?.on('data', (chunk: Buffer) => {
        complaint += `${tenantId}: ${chunk.toString()}`
      })
      running.add(child)
    },
    async kill() {
      if (!child) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      running.delete(child)
    },
    names: () => polledPages(file).flatMap(({ names }) => names),
    pages: () => polledPages(file).length,
    idle() {
      const pages = polledPages(file)
      return pages.length - 1 - pages.findLastIndex(({ names }) => names.length > 0)
    },
    complaint: () => complaint,
  }
}

/** Transactions of another database, each as long as some polls, and one of this database, until it is told to stop. */
async function openElsewhere(isOver: () => boolean): Promise<void> {
  const other = await testDatabase()
  const busy = async () => {
    while (!isOver()) await other.sql`select pg_current_xact_id(), pg_sleep(random() / 50)`
  }
  const open = ways.sql.begin(async (sql) => {
    await sql`select pg_current_xact_id()`
    while (!isOver()) await pause(20)
  })
  await Promise.all([busy(), busy(), busy(), busy(), open])
  await other.drop()
}

/** Kills each poller again and again, each time after it has got some more. */
async function torment(all: readonly Poller[]): Promise<void> {
  for (let killed = 0; killed < kills; killed += 1) {
    const poller = all[killed % all.length]!
    const before = poller.names().length
    while (poller.names().length <= before && poller.complaint() === '') await pause(full ? 100 : 5)
    await poller.kill()
    poller.start()
  }
}

test(`${events} events, ${writers} writers, ${pollers} pollers killed ${kills} times: each exactly once, oldest first`, async () => {
  const ids = [await workspace(ways.daemon, 'pulled-one'), await workspace(ways.daemon, 'pulled-two')] as const
  const idOf = (number: number) => ids[number % 2]!
  for (const id of ids) {
    await ways.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${id}, 'api_requests_per_minute', 0)`
    await ways.installation.transaction(system, { tenantId: id }, (ctx) => layEventHub(ctx, id))
  }
  const polling: { tenantId: string; poller: Poller }[] = []
  for (let number = 0; number < pollers; number += 1) {
    const { token } = await person(ways.daemon, idOf(number), { role: 'ADMIN', scopes: ['workspace:read'] })
    polling.push({ tenantId: idOf(number), poller: pollerOf(idOf(number), token, number) })
  }
  const all = polling.map(({ poller }) => poller)
  for (const poller of all) poller.start()

  let count = 0
  let isOver = false
  const elsewhere = openElsewhere(() => isOver)
  let areKilled = false
  const tormented = torment(all).then(() => {
    areKilled = true
  })
  const isEnough = () => count >= events && areKilled
  const tell = (more: number) => {
    count += more
  }
  const written = await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const tenantId = idOf(writer)
      return { tenantId, names: await keepWriting(ways.installation, tenantId, writer, isEnough, tell) }
    }),
  )
  await tormented
  expect(count).toBeGreaterThanOrEqual(events)

  const expected = (tenantId: string) => written.flatMap((one) => (one.tenantId === tenantId ? one.names : []))
  // From here on everything can be had: to the end, and then some polls more, in which whatever is repeated would come.
  const seen = all.map((poller) => poller.pages())
  const isDone = () => all.every((poller, n) => poller.pages() > seen[n]! + 3 && poller.idle() >= 3)
  while (!isDone() && all.every((poller) => poller.complaint() === '')) await pause(full ? 200 : 20)
  await Promise.all(all.map((poller) => poller.kill()))
  isOver = true
  await elsewhere

  expect(all.map((poller) => poller.complaint()).join('')).toBe('')
  for (const { tenantId, poller } of polling) {
    const rows = await storedLabels(ways.sql, tenantId)
    const names = poller.names()
    expect({ events: names.length, different: new Set(names).size }).toEqual({
      events: rows.length,
      different: rows.length,
    })
    expect(names.join('\n') === rows.map(({ name }) => name).join('\n'), 'in the order of the counter').toBe(true)
    expect(
      [...names].sort().join('\n') === expected(tenantId).sort().join('\n'),
      'what was committed, and only that',
    ).toBe(true)
  }
}, 600_000)

test(`${polls} polls of ${writers} writers: none is late`, async () => {
  let isOver = false
  let polled = 0
  const late: string[] = []
  const elsewhere = openElsewhere(() => isOver)
  const shared = await Promise.all([workspace(ways.daemon, 'late-one'), workspace(ways.daemon, 'late-two')])
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const tenantId = shared[writer % 2]!
      let since = (await pullPage(ways.installation, tenantId, { since: 'now' })).next_since
      for (; polled < polls; polled += 1) {
        const name = `${writer}/${polled}`
        await writeLabels(ways.installation, tenantId, name)
        // A writer that waited for a processor finds more than a page of the others' events.
        const { names, next } = await pullAll(ways.installation, tenantId, since)
        if (!names.includes(name)) late.push(name)
        since = next
      }
    }),
  )
  isOver = true
  await elsewhere
  expect(late).toEqual([])
}, 600_000)
