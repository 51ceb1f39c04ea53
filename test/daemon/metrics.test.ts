/** What /metrics tells a scraper: every request once, in seconds, by operation and class; and how the pool stands. */
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Answered, type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

const poolSize = 3

let daemon: TestDaemon
let owner: Person

beforeAll(async () => {
  daemon = await testDaemon({ config: { poolSize } })
  const home = await setUp(daemon)
  owner = await person(daemon, home.tenantId, { operator: true })
})
afterAll(() => daemon.close())

/** Every sample by its name with labels, as it stands in the text. */
async function samples(): Promise<ReadonlyMap<string, number>> {
  const { status, headers, text } = await daemon.call('GET', '/metrics')
  expect(status).toBe(200)
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4; charset=utf-8$/)
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => /^(.+) (\S+)$/.exec(line)?.slice(1) ?? []).map(([name, value]) => [name ?? '', Number(value)]),
  )
}

/** Whoever reads credentials waits until what this answers is called. */
async function holdCredentials(): Promise<() => Promise<void>> {
  const locker = await daemon.db.sql.reserve()
  await locker`begin`
  await locker`lock table credential in access exclusive mode`
  return async () => {
    await locker`rollback`
    locker.release()
  }
}

const requests = (operation: string, statusClass: string, part = 'count') =>
  `svc_request_duration_seconds_${part}{operation="${operation}",status_class="${statusClass}"}`
const connections = (state: string) => `svc_database_connections{state="${state}"}`

test('every request is counted once, under its operation and the class of its status', async () => {
  const before = await samples()
  const me = '/api/v1/accounts/me'
  for (const token of [owner.token, owner.token, owner.token, 'svcp_garbage', undefined])
    await daemon.call('GET', me, { token })
  await daemon.call('GET', '/nowhere')
  await daemon.call('DELETE', me)
  await daemon.call('POST', '/api/v1/auth/sessions', { body: '{' })
  await daemon.call('GET', '/healthz')
  await daemon.call('GET', '/docs')

  const after = await samples()
  const counted = [...after.keys()]
    .filter((name) => name.startsWith('svc_request_duration_seconds_count'))
    .map((name) => [name, (after.get(name) ?? 0) - (before.get(name) ?? 0)])
    .filter(([, more]) => more !== 0)
  expect(Object.fromEntries(counted)).toEqual({
    [requests('getOwnAccount', '2xx')]: 3,
    [requests('getOwnAccount', '4xx')]: 2,
    [requests('none', '4xx')]: 2,
    [requests('signIn', '4xx')]: 1,
    [requests('healthz', '2xx')]: 1,
    [requests('docs', '3xx')]: 1,
    [requests('metrics', '2xx')]: 1, // the scrape before
  })
})

test('durations are seconds: those of one request fit into the time it took', async () => {
  const name = requests('listTenants', '2xx', 'sum')
  const before = (await samples()).get(name) ?? 0
  const from = performance.now()
  await daemon.call('GET', '/api/v1/admin/tenants', { token: owner.token })
  const tookSeconds = (performance.now() - from) / 1000
  const more = ((await samples()).get(name) ?? 0) - before
  expect(more).toBeGreaterThan(0)
  expect(more).toBeLessThanOrEqual(tookSeconds)
})

test('nothing a caller sends, and nobody who calls, becomes a label', async () => {
  await daemon.call('GET', '/CANARY/CANARY?CANARY=1', { token: owner.token, headers: { 'user-agent': 'CANARY' } })
  await daemon.call('GET', `/api/v1/admin/tenants/${owner.tenantId}/quotas`, { token: owner.token })
  const { text } = await daemon.call('GET', '/metrics')
  for (const secret of ['CANARY', owner.tenantId, owner.accountId, owner.token]) expect(text).not.toContain(secret)
})

test('a request is in flight until it is answered, or its caller has gone', async () => {
  const inFlight = async () => (await samples()).get('svc_requests_in_flight')
  expect(await inFlight()).toBe(1) // the scrape itself
  const before = (await samples()).get(requests('getOwnAccount', '4xx')) ?? 0

  const unlock = await holdCredentials()
  const leaving = connect(daemon.port, '127.0.0.1')
  leaving.write(`GET /api/v1/accounts/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`)
  let staying: Promise<Answered>
  try {
    await expect.poll(inFlight).toBe(2)
    staying = daemon.call('GET', '/api/v1/accounts/me', { token: owner.token })
    await expect.poll(inFlight).toBe(3)
    leaving.destroy()
    await expect.poll(inFlight).toBe(2)
  } finally {
    await unlock()
  }
  expect((await staying).status).toBe(200)
  await expect.poll(inFlight).toBe(1)
  // He is counted as what others call 499.
  expect((await samples()).get(requests('getOwnAccount', '4xx'))).toBe(before + 1)
})

test('the pool is told as it stands: how large, how much of it is lent, and who waits', async () => {
  const { sql } = daemon.db
  await daemon.call('GET', '/api/v1/accounts/me', { token: owner.token })
  // The daemon's own work takes a connection now and then, so the pool is asked until it idles.
  let idle = await samples()
  const inUse = async () => {
    idle = await samples()
    return ['used', 'waiting'].map((state) => idle.get(connections(state)))
  }
  await expect.poll(inUse).toEqual([0, 0])
  expect(idle.get(connections('size'))).toBe(poolSize)
  expect(idle.get(connections('free'))).toBeGreaterThanOrEqual(1)

  const unlock = await holdCredentials()
  const asked = Array.from({ length: poolSize + 2 }, () =>
    daemon.call('GET', '/api/v1/accounts/me', { token: owner.token }),
  )
  const states = async () => {
    const now = await samples()
    return ['size', 'free', 'used', 'waiting'].map((state) => now.get(connections(state)))
  }
  try {
    // The daemon's own transactions may wait beside the two calls.
    const twoOrMore = expect.toSatisfy((waiting: number) => waiting >= 2)
    await expect.poll(states).toEqual([poolSize, 0, poolSize, twoOrMore])
  } finally {
    await unlock()
  }
  await Promise.all(asked)

  const lost = 'svc_database_connections_discarded_total'
  const before = (await samples()).get(lost) ?? 0
  const [backend] = await sql`
    select pg_terminate_backend(pid) as done from pg_stat_activity
    where datname = current_database() and application_name = 'svc api' and state = 'idle' limit 1`
  expect(backend?.['done']).toBe(true)
  await expect
    .poll(async () => {
      await Promise.all(asked.map(() => daemon.call('GET', '/api/v1/accounts/me', { token: owner.token })))
      return (await samples()).get(lost)
    })
    .toBe(before + 1)
})

test('the process itself is told: its memory, its processor time, its event loop', async () => {
  const found = await samples()
  for (const name of ['process_resident_memory_bytes', 'process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds'])
    expect([name, found.get(name)]).toEqual([name, expect.any(Number)])
})
