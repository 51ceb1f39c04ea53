/**
 * How many connections daemons hold on the server, counted there. docs/deploying.md says these numbers.
 *
 * Through PgBouncer (SVC_TEST_PGBOUNCER, test/kit/pgbouncer.ts) twenty daemons share its connections; otherwise that test is
 * skipped.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { shows } from '../kit/needs.ts'
import { person, setUp } from '../kit/people.ts'
import { poolerProgram } from '../kit/pgbouncer.ts'
import { released } from '../kit/webhooks.ts'

const size = 10
/** Of one daemon, beside its pool. */
const own = { 'svc queue': 3, 'svc life': 1, 'svc notifications': 1, 'svc bell': 1 }
/** Where the pool goes through PgBouncer. */
const frugal = { ...own, 'svc queue': 1 }
const twenty = 20
/** default_pool_size of deploy/pgbouncer.ini. */
const pooled = 14
/** 100 of PostgreSQL's default, 3 of which are a superuser's: this leaves 3 for exports and `svc` at the database. */
const bound = 94

let daemon: TestDaemon
let token: string
let hubId: string
beforeEach(async () => {
  daemon = await testDaemon({ role: 'all', config: { poolSize: size, egress: released() } })
  const { tenantId } = await setUp(daemon)
  token = (await person(daemon, tenantId)).token
  await daemon.db.sql`
    insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'api_requests_per_minute', 0)`
  hubId = (await daemon.call('GET', '/api/v1/containers', { token })).json.data[0].id
  // Nothing listens there. What counts is that each change rings.
  const webhook = { target_url: 'https://127.0.0.1:9/', event_types: ['svc.work.container.created.v1'] }
  expect(await daemon.call('POST', '/api/v1/integrations/webhooks', { token, body: webhook })).toMatchObject({
    status: 201,
  })
})
afterEach(() => daemon.close())

/** Sessions of the daemons' login by their names, without the place in the name of a sign of life. */
async function sessions(): Promise<Record<string, number>> {
  const rows = await daemon.db.sql<{ name: string; n: number }[]>`
    select regexp_replace(application_name, '^(svc life) .*', '\\1') as name, count(*)::int as n from pg_stat_activity
    where datname = current_database() and usename = ${daemon.db.daemon.user} and application_name <> 'svc maintenance'
    group by 1`
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}

/** Reads and changes at once, more than there are connections; answers the most that there were of each name, and in all. */
async function mostWhileBusy(daemons: readonly TestDaemon[]) {
  const most: Record<string, number> = {}
  let mostInAll = 0
  let isOver = false
  const watch = (async () => {
    while (!isOver) {
      const now = await sessions()
      for (const [name, n] of Object.entries(now)) most[name] = Math.max(most[name] ?? 0, n)
      mostInAll = Math.max(mostInAll, sum(now))
    }
  })()
  const each = Math.ceil((3 * size) / Math.sqrt(daemons.length))
  for (let round = 0; round < 3; round += 1) {
    const calls = daemons.flatMap((one) => [
      ...Array.from({ length: each }, () => one.call('GET', '/api/v1/containers', { token })),
      one.call('POST', '/api/v1/containers', { token, body: { kind: 'COLLECTION', parent_id: hubId, name: 'Busy' } }),
    ])
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(daemons.length)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(daemons.length)
  }
  isOver = true
  await watch
  return { most, mostInAll }
}

const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, n) => all + n, 0)

describe.runIf(poolerProgram === undefined)('directly', () => {
  test(`a daemon holds its pool and ${sum(own)} more`, async () => {
    const { most, mostInAll } = await mostWhileBusy([daemon])
    expect(most).toEqual({ 'svc all': size, ...own })
    expect(mostInAll).toBeLessThanOrEqual(size + sum(own))
  })
})

const isPooled = shows('twenty daemons', 'PgBouncer (SVC_TEST_PGBOUNCER)', poolerProgram !== undefined)

describe.runIf(isPooled)('through PgBouncer', () => {
  test(`${twenty} daemons hold at most ${bound}`, async () => {
    const others: TestDaemon[] = []
    for (let n = 1; n < twenty; n += 1) others.push(await daemon.twin())
    const { most, mostInAll } = await mostWhileBusy([daemon, ...others])
    for (const other of others) await other.close()
    process.stdout.write(`${twenty} daemons: at most ${mostInAll} connections, ${JSON.stringify(most)}\n`)
    for (const [name, n] of Object.entries(frugal)) expect([name, most[name]! <= twenty * n]).toEqual([name, true])
    expect(most['svc all']).toBeGreaterThan(0)
    expect(most['svc all']).toBeLessThanOrEqual(pooled)
    expect(mostInAll).toBeLessThanOrEqual(bound)
  }, 180_000)
})
