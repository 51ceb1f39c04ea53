/** `api_requests_per_minute`: exact, shared by every replica, and of no concern to /admin. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

let daemon: TestDaemon
let twin: TestDaemon
let operator: Person

beforeAll(async () => {
  daemon = await testDaemon()
  twin = await daemon.twin()
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true })
})
afterAll(async () => {
  await twin.close()
  await daemon.close()
})

let made = 0
async function limited(limit: number | null): Promise<Person> {
  made += 1
  const tenantId = await workspace(daemon, `limited-${made}`)
  if (limit !== null)
    await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', ${limit})`
  return person(daemon, tenantId)
}

const me = (by: TestDaemon, { token }: Person) => by.call('GET', '/api/v1/accounts/me', { token })
const passed = (answers: readonly { status: number }[]) => answers.filter(({ status }) => status === 200).length

/** As if the workspace's last request were that long ago; the clock itself is the database's. */
const rest = ({ tenantId }: Person, seconds: number) =>
  daemon.db
    .sql`update request_rate set paid_until = paid_until - make_interval(secs => ${seconds}) where tenant_id = ${tenantId}`

test('exactly as many as the limit pass at once, and the next is told when to come back', async () => {
  const caller = await limited(5)
  const answers = []
  for (let n = 0; n < 6; n += 1) answers.push(await me(daemon, caller))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429])
  const { headers, json } = answers[5]!
  expect(json).toMatchObject({
    code: 'quota.exceeded',
    status: 429,
    params: { quota: 'api_requests_per_minute', limit: 5, used: 5 },
  })
  expect(headers['ratelimit-policy']).toBe('"api_requests_per_minute";q=5;w=60')
  expect(headers['ratelimit']).toBe(`"api_requests_per_minute";r=0;t=${headers['retry-after']}`)
  // One request costs 60 s / 5.
  expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1)
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(12)
})

test('two daemons at once never let more pass than the limit', async () => {
  for (const limit of [1, 7, 40]) {
    const caller = await limited(limit)
    const started = performance.now()
    const answers = await Promise.all(Array.from({ length: limit * 3 }, (_, n) => me(n % 2 ? daemon : twin, caller)))
    const earned = Math.floor((((performance.now() - started) / 1000) * limit) / 60)
    expect(passed(answers)).toBeGreaterThanOrEqual(limit)
    expect(passed(answers)).toBeLessThanOrEqual(limit + earned)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(limit * 3 - passed(answers))
  }
})

test('a large limit is leased in batches and still never exceeded', async () => {
  const limit = 3000
  const caller = await limited(limit)
  // From the first payment on, passing time earns.
  const started = performance.now()
  await me(daemon, caller)
  // All but the last few of the minute are spent already.
  await rest(caller, -59)
  const answers = await Promise.all(Array.from({ length: 400 }, (_, n) => me(n % 2 ? daemon : twin, caller)))
  const seconds = (performance.now() - started) / 1000
  expect(passed(answers)).toBeGreaterThan(0)
  // What was left, what the passing time has earned meanwhile, and one that the daemon lets in before it is paid for.
  expect(passed(answers)).toBeLessThanOrEqual(limit / 60 + (limit / 60) * seconds + 1)
})

test('a busy workspace writes far fewer rows than it calls', async () => {
  const caller = await limited(30_000)
  const writes = async () =>
    Number(
      (
        await daemon.db.sql<
          { n: string }[]
        >`select coalesce(sum(n_tup_ins + n_tup_upd), 0) as n from pg_stat_user_tables where relname = 'request_rate'`
      )[0]?.n,
    )
  await daemon.db.sql`select pg_stat_force_next_flush()`
  const before = await writes()
  for (let round = 0; round < 10; round += 1) await Promise.all(Array.from({ length: 40 }, () => me(daemon, caller)))
  // Counters of other sessions arrive when those are idle.
  await expect.poll(writes, { timeout: 15_000 }).toBeGreaterThan(before)
  expect((await writes()) - before).toBeLessThan(200)
})

test('the time that passes earns requests, one by one', async () => {
  const caller = await limited(6)
  await Promise.all(Array.from({ length: 6 }, () => me(daemon, caller)))
  expect((await me(twin, caller)).status).toBe(429)
  // A daemon remembers a refusal of its own; this one has refused nothing yet.
  await rest(caller, 20)
  const third = await daemon.twin()
  try {
    const answers = []
    for (let n = 0; n < 3; n += 1) answers.push((await me(third, caller)).status)
    expect(answers).toEqual([200, 200, 429])
  } finally {
    await third.close()
  }
})

test('a raised ceiling holds from the next request, also where one was just refused', async () => {
  const caller = await limited(1)
  expect([(await me(daemon, caller)).status, (await me(daemon, caller)).status]).toEqual([200, 429])
  const raised = await daemon.call('PATCH', `/api/v1/admin/tenants/${caller.tenantId}/quotas`, {
    token: operator.token,
    body: { api_requests_per_minute: 1000 },
  })
  expect(raised.status).toBe(200)
  await rest(caller, 60)
  expect((await me(daemon, caller)).status).toBe(200)
})

describe('who is not limited', () => {
  test('a workspace with the ceiling 0', async () => {
    const caller = await limited(0)
    // Ten at a time: a hundred at once are too many for a slow machine, which is another refusal (full-door.ts).
    for (let round = 0; round < 10; round += 1)
      expect(passed(await Promise.all(Array.from({ length: 10 }, () => me(daemon, caller))))).toBe(10)
    expect(await daemon.db.sql`select 1 from request_rate where tenant_id = ${caller.tenantId}`).toHaveLength(0)
  })

  test('calls on /admin, which belong to the installation', async () => {
    const tenantId = await workspace(daemon, 'operators')
    await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 1)`
    const caller = await person(daemon, tenantId, { operator: true })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => daemon.call('GET', '/api/v1/admin/overview', { token: caller.token })),
    )
    expect(passed(answers)).toBe(20)
    expect([(await me(daemon, caller)).status, (await me(daemon, caller)).status]).toEqual([200, 429])
  })

  test('anybody in single mode, unless the workspace has a ceiling of its own', async () => {
    const single = await testDaemon({ config: { mode: 'single' } })
    try {
      const { tenantId } = await setUp(single)
      const caller = await person(single, tenantId)
      await me(single, caller)
      expect(await single.db.sql`select 1 from request_rate`).toHaveLength(0)
      await single.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 1)`
      expect([(await me(single, caller)).status, (await me(single, caller)).status]).toEqual([200, 429])
    } finally {
      await single.close()
    }
  })
})

test('a workspace is not slowed by another, nor by what the gate refused', async () => {
  const [busy, quiet] = [await limited(3), await limited(3)]
  await Promise.all(Array.from({ length: 10 }, () => me(daemon, busy)))
  expect((await me(daemon, quiet)).status).toBe(200)

  const weak = await person(daemon, quiet.tenantId, { scopes: ['workspace:write'] })
  for (let n = 0; n < 10; n += 1)
    expect((await daemon.call('GET', '/api/v1/containers', { token: weak.token })).status).toBe(403)
  expect([
    (await me(daemon, quiet)).status,
    (await me(daemon, quiet)).status,
    (await me(daemon, quiet)).status,
  ]).toEqual([200, 200, 429])
})

test('a workspace without a ceiling of its own has the product default of 600', async () => {
  const caller = await limited(null)
  await daemon.db.sql`insert into request_rate values (${caller.tenantId}, now() + interval '120 seconds')`
  const { status, json } = await me(daemon, caller)
  expect([status, json.params]).toEqual([429, { quota: 'api_requests_per_minute', limit: 600, used: 600 }])
})

describe('a workspace that had plenty left', () => {
  /** So many seconds are paid for. */
  const ahead = async ({ tenantId }: Person) => {
    const [row] = await daemon.db.sql<{ seconds: number }[]>`
      select extract(epoch from paid_until - now())::float8 as seconds from request_rate where tenant_id = ${tenantId}`
    return row!.seconds
  }

  test('is served before it has paid, and pays soon', async () => {
    const caller = await limited(6)
    expect((await me(daemon, caller)).status).toBe(200)
    await daemon.db.sql.begin(async (tx) => {
      await tx`select from request_rate where tenant_id = ${caller.tenantId} for update`
      expect((await me(daemon, caller)).status).toBe(200)
    })
    await expect.poll(() => ahead(caller)).toBeGreaterThan(15)
  })

  test('pays before its second request, and for each', async () => {
    const caller = await limited(6)
    expect((await me(daemon, caller)).status).toBe(200)
    const answers = await Promise.all(Array.from({ length: 10 }, () => me(daemon, caller)))
    expect(passed(answers)).toBe(5)
    await expect.poll(() => ahead(caller)).toBeGreaterThan(55)
  })

  test('is let in once on each daemon if others have spent its minute, and pays for that, too', async () => {
    const caller = await limited(60)
    for (const by of [daemon, twin]) expect((await me(by, caller)).status).toBe(200)
    await rest(caller, -65)
    const before = await ahead(caller)
    for (const by of [daemon, twin])
      expect([(await me(by, caller)).status, (await me(by, caller)).status]).toEqual([200, 429])
    expect(await ahead(caller)).toBeGreaterThan(before + 1)
    await pause(1_050) // as long as a refusal is remembered
    for (const by of [daemon, twin]) expect((await me(by, caller)).status).toBe(429)
  })
})
