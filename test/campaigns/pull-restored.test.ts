/**
 * A database moves to another cluster by dump and restore, as docs/runbooks/moving.md says it, command by command, and back again.
 *
 *    people at work during the dump    cursors of before are 410 gone; a new pull answers all that the dump held, in order
 *    daemons stopped before it         cursors of before go on from their place
 *
 * In both the counters go on without a gap or a repeat, and new events follow. Threats T-13, F-21; decision 0126.
 * Both clusters are the distribution's PostgreSQL, so that its pg_dump knows them. SVC_FAULTS=full runs the long form.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Booted, bootInstallation } from '../../src/core/app/boot.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type Ground, openGround } from '../docs/ground.ts'
import { deploying } from '../docs/stories/deploying.ts'
import { follow, type Step, type Story } from '../docs/story.ts'
import { type SpawnedDaemon, spawnDaemon } from '../kit/daemon.ts'
import { keepWriting, layEventHub, pulledType, storedLabels, system } from '../kit/events.ts'
import { shows } from '../kit/needs.ts'
import { person, workspace } from '../kit/people.ts'
import { type StockServer, startStockServer, stockPrograms } from '../kit/stock-server.ts'

const full = process.env['SVC_FAULTS'] === 'full'
const ways = ['working', 'stopped'] as const
const moves = Array.from({ length: full ? 6 : 2 }, (_, nth) => [nth, ways[nth % 2]!] as const)
/** In each workspace, before the dump and again before the move is over. */
const events = full ? 4_000 : 250
/** In each workspace, from a release before the counter: more than a page. */
const oldEvents = 60
const writers = 6
const workspaces = 3

const needed = ['psql', 'pg_dump', 'pg_dumpall', 'pg_restore', 'vacuumdb']
const canMove = shows(
  'a move to another server',
  'the programs of PostgreSQL (apt-get install postgresql)',
  stockPrograms !== undefined && needed.every((name) => existsSync(join(stockPrograms ?? '', name))),
)
if (!canMove) process.stderr.write(`Skipped: ${needed.join(', ')} are not installed (Debian's package postgresql)\n`)

/** A server, and the variables with which svc reaches the installation that is or will be there. */
interface Host {
  readonly server: StockServer
  readonly env: Readonly<Record<string, string>>
  /** A superuser's client of the database `svc`. */
  readonly sql: postgres.Sql
}

/** Somebody who pulls one workspace's events. */
interface Follower {
  readonly tenantId: string
  readonly token: string
  since: string | undefined
  /** What it got since it began anew. */
  names: string[]
}

let ground: Ground
let hosts: readonly [Host, Host]
let followers: readonly Follower[]
/** The one that serves. */
let daemon: SpawnedDaemon
let booted: Booted

const clientOf = ({ port, superuser: { PGUSER, PGPASSWORD } }: StockServer, database: string) =>
  postgres({
    ...{ host: '127.0.0.1', port, username: PGUSER ?? '', password: PGPASSWORD ?? '', database, max: 2 },
    onnotice: () => undefined,
  })

const serve = ({ env }: Host) =>
  spawnDaemon({ ...env, SVC_PORT: '0', SVC_SOURCE_RATE: '1000', SVC_DRAIN_NOTICE_SECONDS: '0', SVC_LOG_LEVEL: 'warn' })

const boot = ({ env }: Host) => bootInstallation(readConfig(env), { works: false, applicationName: 'svc-test moving' })

/** Ends what serves, and what writes beside it. */
async function stop(): Promise<void> {
  await booted.close()
  daemon.process.kill('SIGTERM')
  await daemon.ended
}

/** Events of before the counter: they have numbers of this cluster's transactions, which another one gives anew. */
const layOldEvents = (sql: postgres.Sql, tenantId: string) => sql`
  insert into outbox_event (tenant_id, id, tx, seq, type, occurred_at, body)
  select ${tenantId}, new_id(), pg_current_xact_id(), 1000 + n, ${pulledType}, now(), json_build_object('data', json_build_object('name', 'old/' || n))
  from generate_series(1, ${oldEvents}::int) n`

async function follower(sql: postgres.Sql, slug: string): Promise<Follower> {
  const tenantId = await workspace({ db: { sql } }, slug)
  await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'api_requests_per_minute', 0)`
  await booted.installation.transaction(system, { tenantId }, (ctx) => layEventHub(ctx, tenantId))
  await layOldEvents(sql, tenantId)
  const { token } = await person({ db: { sql } }, tenantId, { role: 'ADMIN', scopes: ['workspace:read'] })
  return { tenantId, token, since: undefined, names: [] }
}

beforeAll(async () => {
  if (!canMove) return
  ground = await openGround()
  const other = await startStockServer()
  const at = `127.0.0.1:${other.port}/svc?sslmode=verify-full&sslrootcert=${other.authority}`
  const env = {
    ...ground.env,
    SVC_DATABASE_OWNER_URL: `postgres://svc_owner:ownerpw@${at}`,
    SVC_DATABASE_URL: `postgres://svc_daemon:daemonpw@${at}`,
  }
  hosts = [
    { server: ground.server, env: ground.env, sql: clientOf(ground.server, 'svc') },
    { server: other, env, sql: clientOf(other, 'svc') },
  ]
  const terminal = await ground.terminal({ env: {} })
  // The logins, the keyring, the tables, and what a superuser revokes from everybody.
  await follow({ ...deploying, steps: deploying.steps.slice(0, 3) }, ground, terminal)
  await terminal.close()
  booted = await boot(hosts[0])
  daemon = await serve(hosts[0])
  const slugs = Array.from({ length: workspaces }, (_, n) => `moved-${n}`)
  followers = await Promise.all(slugs.map((slug) => follower(hosts[0].sql, slug)))
  // Without any, the check of a recovery has a finding.
  await person({ db: hosts[0] }, followers[0]!.tenantId, { operator: true })
}, 240_000)
afterAll(async () => {
  if (!canMove) return
  await stop().catch(() => undefined) // a test that failed may have stopped it
  await Promise.all(hosts.map(({ sql }) => sql.end()))
  await hosts[1].server.remove()
  await ground.remove()
}, 60_000)

/** One page, added to what was pulled. */
async function pull(it: Follower): Promise<{ status: number; code: string | undefined; isMore: boolean }> {
  const query = new URLSearchParams({ limit: '50', ...(it.since === undefined ? {} : { since: it.since }) })
  const answer = await fetch(`${daemon.address}/api/v1/integrations/triggers/${pulledType}?${query}`, {
    headers: { authorization: `Bearer ${it.token}` },
  })
  const page = (await answer.json()) as {
    code?: string
    data?: { data: { name: string } }[]
    next_since?: string
    has_more?: boolean
  }
  if (answer.status === 200) {
    it.since = page.next_since
    it.names.push(...(page.data ?? []).map(({ data }) => data.name))
  }
  return { status: answer.status, code: page.code, isMore: page.has_more === true }
}

async function pullToTheEnd(it: Follower): Promise<void> {
  for (let isMore = true; isMore; ) {
    const answer = await pull(it)
    expect(answer).toMatchObject({ status: 200 })
    isMore = answer.isMore
  }
}

interface Work {
  /** Waits until every workspace has so many events more than now. */
  more(count: number): Promise<void>
  end(): Promise<void>
}

/** Writers in each workspace, until it is ended. `nth`: tells what they write from what others wrote. */
function work(nth: number): Work {
  const { installation } = booted
  const counts = followers.map(() => 0)
  let isOver = false
  const writing = Promise.all(
    Array.from({ length: writers }, (_, writer) => {
      const at = writer % workspaces
      const tell = (count: number) => {
        counts[at]! += count
      }
      return keepWriting(installation, followers[at]!.tenantId, nth * 1_000 + writer, () => isOver, tell)
    }),
  )
  writing.catch(() => {
    isOver = true
  })
  return {
    async more(count) {
      const before = [...counts]
      while (!isOver && counts.some((written, at) => written < before[at]! + count)) await pause(5)
    },
    async end() {
      isOver = true
      await writing
    },
  }
}

/** Makes the server what it was before any installation came there. */
async function clear({ server }: Host): Promise<void> {
  const sql = clientOf(server, 'postgres')
  await sql`drop database if exists svc with (force)`
  const roles = await sql<{ rolname: string }[]>`select rolname from pg_roles where rolname like 'svc\\_%'`
  // All at once, because they are granted to each other.
  if (roles.length > 0) await sql.unsafe(`drop role ${roles.map(({ rolname }) => rolname).join(', ')}`)
  await sql.end()
}

const exportOf = (variables: Readonly<Record<string, string>>) =>
  `export ${Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'`)
    .join(' ')}`

interface Move {
  readonly to: Host
  /** What happens between the dump and the end of what serves; absent where nothing serves any more. */
  readonly afterDump?: () => Promise<void>
}

/** The page, from its first block to the last. */
function movingTo({ to, afterDump }: Move): Story {
  let then = ''
  const recovering: readonly Step[] = [
    {
      block: 'svc recovery begin',
      play: {
        replace: () => [['2026-11-20T11:30:00Z', then]],
        shows: ['hold'],
        after: async () => {
          daemon = await serve(to)
          for (const it of followers)
            expect(await pull(it)).toMatchObject({ status: 503, code: 'installation.recovering' })
        },
      },
    },
    {
      block: 'svc recovery admit',
      play: {
        after: async () => {
          for (const it of followers) expect(await pull(it)).toMatchObject({ status: 410, code: 'gone' })
        },
      },
    },
  ]
  return {
    page: 'docs/runbooks/moving.md',
    steps: [
      {
        block: 'date -u',
        play: {
          after: async (_, __, said) => {
            then = /^\d{4}-\S+Z$/m.exec(said)?.[0] ?? ''
            await afterDump?.()
          },
        },
      },
      {
        block: 'psql -v ON_ERROR_STOP=1',
        play: { before: (_, terminal) => terminal.type(exportOf(to.server.superuser)) },
      },
      {
        block: 'svc db status',
        play: { before: (_, terminal) => terminal.type(exportOf(to.env)), shows: [' 0 pending'] },
      },
      ...(afterDump ? recovering : []),
    ],
  }
}

/** The numbers that the counter of a workspace gave are 1, 2, 3, … up to its counter. Answers the counter. */
async function lastOf({ sql }: Host, { tenantId }: Follower): Promise<number> {
  const [row] = await sql<{ last: number; count: number; different: number; lowest: number; highest: number }[]>`
    select (select last::int from outbox_counter where tenant_id = ${tenantId}) as last, count(*)::int as count,
           count(distinct seq)::int as different, min(seq)::int as lowest, max(seq)::int as highest
    from outbox_event where tenant_id = ${tenantId} and tx = '9223372036854775807'`
  const last = row?.last ?? 0
  expect(row).toEqual({ last, count: last, different: last, lowest: 1, highest: last })
  return last
}

const labelsOf = async ({ sql }: Host, { tenantId }: Follower) =>
  (await storedLabels(sql, tenantId)).map(({ name }) => name)

/** The restored events are the first ones of what was there. */
async function expectRestored(from: Host, to: Host, it: Follower, how: (typeof ways)[number], dumpedAt: number) {
  const [last, restored] = [await lastOf(from, it), await lastOf(to, it)]
  expect(restored).toBeGreaterThanOrEqual(dumpedAt)
  if (how === 'stopped') expect(restored).toBe(last)
  else expect(restored).toBeLessThan(last)
  const [were, are] = [await labelsOf(from, it), await labelsOf(to, it)]
  expect(are.join('\n') === were.slice(0, are.length).join('\n'), 'a prefix of what was there').toBe(true)
}

describe.runIf(canMove)('docs/runbooks/moving.md', () => {
  test.each(moves)(
    'move %i, %s: nothing that the dump held is skipped',
    async (nth, how) => {
      const [from, to] = nth % 2 === 0 ? hosts : [hosts[1], hosts[0]]
      await clear(to)
      const writing = work(2 * nth)
      await writing.more(events)
      // Not to the end: a cursor of before has something behind it.
      for (const it of followers) expect(await pull(it)).toMatchObject({ status: 200, isMore: true })
      const end = async () => {
        await writing.end()
        await stop()
      }
      const loseSome = async () => {
        await writing.more(events)
        await performForAnswer(booted.installation, operations.placeHold, recoveryActor(), {
          body: { tenant_id: followers[0]!.tenantId, scope: { kind: 'TENANT' }, reason: `case ${nth}` },
        })
        await end()
      }
      if (how === 'stopped') await end()
      const dumpedAt = await Promise.all(followers.map(({ tenantId }) => newest(from, tenantId)))

      const terminal = await ground.terminal({ env: { ...from.env, ...from.server.superuser } })
      await follow(movingTo(how === 'stopped' ? { to } : { to, afterDump: loseSome }), ground, terminal)
      await terminal.close()
      for (const [n, it] of followers.entries()) await expectRestored(from, to, it, how, dumpedAt[n]!)

      if (how === 'stopped') daemon = await serve(to)
      else for (const it of followers) Object.assign(it, { since: undefined, names: [] })
      booted = await boot(to)
      await expectFollowed(to)
      const going = work(2 * nth + 1)
      await going.more(events)
      await going.end()
      await expectFollowed(to)
    },
    900_000,
  )
})

/** The counter while others write. */
async function newest({ sql }: Host, tenantId: string): Promise<number> {
  const [row] = await sql<{ last: number }[]>`select last::int from outbox_counter where tenant_id = ${tenantId}`
  return row?.last ?? 0
}

/** Everybody who pulls gets to the end, and has each event of the workspace once, in order. */
async function expectFollowed(host: Host): Promise<void> {
  for (const it of followers) {
    await pullToTheEnd(it)
    const are = await labelsOf(host, it)
    expect({ pulled: it.names.length, is: (await lastOf(host, it)) > 0 }).toEqual({ pulled: are.length, is: true })
    expect(it.names.join('\n') === are.join('\n'), 'each once, in order').toBe(true)
  }
}
