/**
 * A pull on a standby misses nothing below what the standby has replayed. Its replay stops at any place of the log and goes on,
 * again and again, and it is killed, while writers commit on the primary and one transaction stays open there all the time.
 *
 *    each page        a prefix without a gap of what the primary has committed, in its order
 *    each cursor      never beyond what is replayed, and the last one of a poll never before it
 *    at the end       each event once, for whoever pulled there alone and for whoever pulled on both servers in turn
 *
 * No daemon starts on a standby (decision 0194): this is the rule and the pool of one, opened there. Threats T-13, F-21;
 * decision 0126. SVC_FAULTS=full runs the long form.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openLedgerCopies } from '../../src/core/areas/recovery/ledger/ledger-copies.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { DatabaseUnavailable } from '../../src/core/kernel/database/unavailable.ts'
import { type Installation, openInstallation } from '../../src/core/kernel/transaction/installation.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import {
  adminOf,
  keepWriting,
  layEventHub,
  namesIn,
  pulledType,
  pullPage,
  storedLabels,
  system,
} from '../kit/events.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { workspace } from '../kit/people.ts'

const full = process.env['SVC_FAULTS'] === 'full'
const rounds = full ? 400 : 20
/** In each such round the standby is killed where it would only have gone on. */
const killed = 10
const writers = 6
/** What writers write in each workspace while the standby stands still, and again while it goes on: whoever polls keeps up with them. */
const portion = 100

let primary: OwnCluster
let standby: OwnCluster
let made: TestInstallation
/** The product on the primary, and on the standby. */
let here: Installation
let there: Installation

beforeAll(async () => {
  // A standby that was killed for a while must find the log that it lacks.
  primary = await ownCluster({ fsync: 'off', wal_keep_size: '2GB' })
  await primary.migrate()
  standby = await primary.standby({ fsync: 'off' })
  const at = {
    owner: primary.address('svc_owner'),
    daemon: primary.address('svc_daemon'),
    sql: primary.superuser,
  }
  made = await testInstallation({ at })
  here = made.installation
  there = openInstallation(here.config, standby.address('svc_daemon'), here.keyring, {
    works: false,
    applicationName: 'svc-test standby',
    copies: openLedgerCopies,
  })
  // What a boot reads from the database, and would refuse to on a standby.
  Object.assign(there.identity, here.identity)
})
afterAll(async () => {
  await there.close()
  await made.close()
  await standby.remove()
  await primary.remove()
})

/** A server that was killed answers nothing for a moment. Whoever polls asks again. */
async function again<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error
      await pause(20)
    }
  }
}

/** The number of the newest event that a server shows, and the number at which a cursor stands. */
const placesOn = (at: Installation, actor: AccountActor, cursor?: string) =>
  at.transaction(actor, { tenantId: actor.tenantId, readOnly: true }, async (ctx) => {
    const [row] = await ctx.tx<{ last: string }[]>`
      select coalesce((select last from outbox_counter where tenant_id = ${actor.tenantId}), 0)::text as last`
    const [, seq = '0'] = cursor ? ctx.cursor.read('pullEvents', { eventType: pulledType }, cursor) : []
    return { newest: BigInt(row?.last ?? 0), cursor: BigInt(seq) }
  })

interface Page {
  /** The number at which its cursor stands. */
  readonly end: bigint
  readonly names: readonly string[]
}

interface Puller {
  readonly tenantId: string
  readonly isCommuter: boolean
  readonly pages: readonly Page[]
  /** Asks for one page. Answers whether there are more. */
  poll(at: Installation): Promise<boolean>
}

const faults: string[] = []

/** `isCommuter`: asks both servers in turn with one cursor. */
function pullerOf(tenantId: string, role: Role, limit: number, isCommuter: boolean): Puller {
  const actor = { ...adminOf(tenantId), role }
  const pages: Page[] = []
  let since: string | undefined
  let reached = 0n
  const poll = async (at: Installation) => {
    const before = await placesOn(at, actor)
    const page = await pullPage(at, tenantId, { limit, ...(since === undefined ? {} : { since }) }, actor)
    const { newest, cursor: end } = await placesOn(at, actor, page.next_since)
    const where = `${role} on the ${at === there ? 'standby' : 'primary'}, from ${reached} to ${end}`
    // The page is of one moment between the two looks.
    if (end > (newest > reached ? newest : reached)) faults.push(`${where}: only ${newest} is there`)
    if (end < reached) faults.push(`${where}: goes back`)
    if (!page.has_more && end < before.newest) faults.push(`${where}: late, ${before.newest} was there`)
    since = page.next_since
    reached = end
    pages.push({ end, names: namesIn(page) })
    return page.has_more
  }
  return { tenantId, isCommuter, pages, poll: (at) => again(() => poll(at)) }
}

async function pollToTheEnd(puller: Puller, at: Installation): Promise<void> {
  while (await puller.poll(at));
}

/** The standby stops behind the record that it replays, which may be in the middle of a transaction. */
async function pauseReplay(): Promise<void> {
  await standby.superuser`select pg_wal_replay_pause()`
  const isPaused = () => standby.superuser`select from (select) one where pg_get_wal_replay_pause_state() = 'paused'`
  while ((await isPaused()).length === 0) await pause(1)
}

const written = async () => {
  const [row] = await primary.superuser<{ at: string }[]>`select pg_current_wal_flush_lsn()::text as at`
  return row?.at ?? ''
}

const hasReplayed = async (place: string) =>
  (await standby.superuser`select from (select) one where pg_last_wal_replay_lsn() >= ${place}::pg_lsn`).length > 0

/** One stop of the replay, and the way to where the primary is. */
async function stopOnce(pullers: readonly Puller[], { allow, untilMore }: Writing, isKill: boolean): Promise<void> {
  await pauseReplay()
  await untilMore()
  await Promise.all(pullers.map((puller) => pollToTheEnd(puller, there)))
  // Nothing is replayed meanwhile, so another poll finds nothing; on the primary there is more, and then nothing here again.
  for (const puller of pullers) {
    if (puller.isCommuter) await pollToTheEnd(puller, here)
    await puller.poll(there)
    if (puller.pages.at(-1)?.names.length !== 0) faults.push('a standby that stands still answers more')
  }
  allow()
  const place = await written()
  if (isKill) await standby.killAndRestart()
  else await standby.superuser`select pg_wal_replay_resume()`
  while (!(await again(() => hasReplayed(place).catch(asUnavailable))))
    await Promise.all(pullers.map((puller) => puller.poll(there)))
}

/** The superuser's client says in the driver's words that the server is gone. */
function asUnavailable(error: unknown): never {
  throw new DatabaseUnavailable('the standby was killed', { cause: error })
}

interface Writing {
  readonly ids: readonly string[]
  /** Lets them write another portion. */
  allow(): void
  /** The same, and waits until every workspace has some of it. */
  untilMore(): Promise<void>
  /** Ends it; answers what was committed in each workspace. */
  end(): Promise<ReadonlyMap<string, readonly string[]>>
}

/** Writers in two workspaces, and a transaction that has a number and stays open as long as they write. */
async function startWriting(): Promise<Writing> {
  const db = { sql: primary.superuser }
  const ids = [await workspace({ db }, 'one'), await workspace({ db }, 'two')]
  for (const id of ids) await here.transaction(system, { tenantId: id }, (ctx) => layEventHub(ctx, id))
  const counts = ids.map(() => 0)
  let allowed = [...counts]
  let isOver = false
  const open = primary.superuser.begin(async (sql) => {
    await sql`select pg_current_xact_id()`
    while (!isOver) await pause(20)
  })
  const write = async (writer: number) => {
    const at = writer % ids.length
    const tell = async (more: number) => {
      counts[at]! += more
      while (!isOver && counts[at]! >= allowed[at]!) await pause(2)
    }
    return { id: ids[at]!, names: await keepWriting(here, ids[at]!, writer, () => isOver, tell) }
  }
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  // Nobody waits for what a writer that failed would have written.
  writing.catch(() => {
    isOver = true
  })
  const allow = () => {
    allowed = counts.map((count) => count + portion)
  }
  return {
    ids,
    allow,
    async untilMore() {
      const before = [...counts]
      allow()
      while (!isOver && counts.some((count, at) => count === before[at])) await pause(1)
    },
    async end() {
      isOver = true
      const [all] = await Promise.all([writing, open])
      return new Map(ids.map((id) => [id, all.flatMap((one) => (one.id === id ? one.names : []))]))
    },
  }
}

test(`${rounds} stops of a standby, ${writers} writers on the primary: no gap, no cursor ahead, each event once`, async () => {
  const writing = await startWriting()
  await writing.untilMore()
  // An OWNER's page reads the events alone, an ADMIN's the containers as well.
  const pullers = writing.ids.flatMap((id) => [
    pullerOf(id, 'ADMIN', 20, false),
    pullerOf(id, 'OWNER', 200, false),
    pullerOf(id, 'ADMIN', 50, true),
  ])
  let committed: ReadonlyMap<string, readonly string[]>
  try {
    for (let round = 1; round <= rounds && faults.length === 0; round += 1)
      await stopOnce(pullers, writing, round % killed === 0)
  } finally {
    committed = await writing.end()
  }
  const place = await written()
  while (!(await hasReplayed(place))) await pause(10)
  await Promise.all(pullers.map((puller) => pollToTheEnd(puller, there)))

  expect(faults).toEqual([])
  for (const puller of pullers) await expectEachOnce(puller, committed.get(puller.tenantId) ?? [])
}, 1_200_000)

/** What was pulled is what was committed, and each page ends where it says. */
async function expectEachOnce({ tenantId, pages }: Puller, committed: readonly string[]): Promise<void> {
  const rows = await storedLabels(primary.superuser, tenantId)
  const names = rows.map(({ name }) => name)
  const isCommitted = [...names].sort().join('\n') === [...committed].sort().join('\n')
  expect(isCommitted, 'what was committed, and only that').toBe(true)
  expect(rows.filter(({ number }, at) => number !== BigInt(at + 1))).toEqual([])

  let seen = 0
  const wrong = pages.filter((page) => {
    const expected = names.slice(seen, Number(page.end))
    seen = Number(page.end)
    return page.names.join('\n') !== expected.join('\n')
  })
  expect(wrong).toEqual([])
  expect({ pages: pages.length > rounds, seen }).toEqual({ pages: true, seen: rows.length })
}
