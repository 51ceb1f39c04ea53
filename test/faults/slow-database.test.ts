/**
 * F-09: a table is locked and 500 clients wait for it. F-10: the way to the database is slow,
 * stalls, is cut, is thin. Nobody is answered anything but what is right or a 503 with
 * Retry-After, in bounded time; whoever needs no database is served; and afterwards all is as before.
 * SVC_FAULTS=full runs the long form.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person, setUp } from '../kit/people.ts'
import { type SlowProxy, slowProxy, type Weather } from '../kit/slow-proxy.ts'

const full = process.env['SVC_FAULTS'] === 'full'
const clients = 500
const lockedSeconds = full ? 20 : 2
const callers = 24
const callsEach = full ? 100 : 2
/** What the campaigns promise. The short form runs beside other files, and expects what the daemon always promises. */
const longest = { answerMs: full ? 5_000 : 8_000, recoveryMs: 2_000 }

let daemon: TestDaemon
let away: TestDaemon
let proxy: SlowProxy
let token: string
beforeAll(async () => {
  daemon = await testDaemon({ role: 'api' })
  const { tenantId } = await setUp(daemon)
  token = (await person(daemon, tenantId, { expires: "now() + interval '1 day'" })).token
  await daemon.db
    .sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'api_requests_per_minute', 0)`
  proxy = await slowProxy(daemon.db.daemon)
  away = await daemon.twin({ database: { owner: daemon.db.owner, daemon: proxy.address } })
})
afterAll(async () => {
  await away.close()
  await proxy.close()
  await daemon.close()
})

interface Answered {
  readonly status: number
  readonly code: string | undefined
  readonly retryAfter: string | null
}

/** By fetch, which opens a connection for each: nobody here queues for a socket. */
async function ask(at: TestDaemon, path: string, bearer?: string, body?: object): Promise<Answered> {
  const headers = {
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${at.address}${path}`, { ...sent, headers })
  const text = await answer.text()
  const { code } = (text.startsWith('{') ? JSON.parse(text) : {}) as { code?: string }
  return { status: answer.status, code, retryAfter: answer.headers.get('retry-after') }
}

const read = (at: TestDaemon) => ask(at, '/api/v1/containers', token)
const write = (at: TestDaemon) => ask(at, '/api/v1/auth/tokens', token, { name: 'slow', scopes: ['workspace:read'] })

/** Whether an answer is one of those that may be given now. */
function expectRightOrLater({ status, code, retryAfter }: Answered): void {
  if (status === 200 || status === 201) return
  expect([status, code]).toEqual([503, 'service.unavailable'])
  expect(Number(retryAfter)).toBeGreaterThan(0)
}

/** How long until ten calls in a row are served, in ms. */
async function recovery(at: TestDaemon): Promise<number> {
  const began = performance.now()
  for (let inARow = 0; inARow < 10; ) inARow = (await read(at)).status === 200 ? inARow + 1 : 0
  return performance.now() - began
}

test(`a table locked for ${lockedSeconds} s and ${clients} clients: all answered in time, what needs no database is served`, async () => {
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = daemon.db.sql.begin(async (sql) => {
    await sql`lock table credential in access exclusive mode`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  const until = performance.now() + lockedSeconds * 1000
  const refused: Answered[] = []
  let slowest = 0
  const client = async () => {
    do {
      const began = performance.now()
      const answer = await read(daemon)
      slowest = Math.max(slowest, performance.now() - began)
      refused.push(answer)
      await pause(50)
    } while (performance.now() < until)
  }
  const waiting = Promise.all(Array.from({ length: clients }, client))
  const others: string[] = []
  while (performance.now() < until || others.length < 12) {
    for (const [path, bearer] of [['/healthz'], ['/api/v1/containers'], ['/api/v1/nowhere', 'not a token']] as const)
      others.push(`${path} ${(await ask(daemon, path, bearer)).status}`)
    await pause(20)
  }
  await waiting
  held.resolve()
  await holding

  expect(others.length).toBeGreaterThan(10)
  expect([...new Set(others)].sort()).toEqual(['/api/v1/containers 401', '/api/v1/nowhere 404', '/healthz 200'])
  expect(refused.length).toBeGreaterThanOrEqual(clients)
  expect(refused.filter(({ status }) => status !== 503)).toEqual([])
  for (const answer of refused) expectRightOrLater(answer)
  expect(slowest).toBeLessThan(longest.answerMs)
  expect(await recovery(daemon)).toBeLessThan(longest.recoveryMs)
}, 120_000)

const weathers: readonly (readonly [string, Weather])[] = [
  ['50 ms each way', { delayMs: 25 }],
  ['200 ms each way', { delayMs: 100 }],
  ['1 % of the packets cut the connection', { resets: 0.01 }],
  ['64 kB a second', { bytesPerSecond: 64_000 }],
  ['nothing passes', { isStalled: true }],
]

test.each(weathers)(
  `a way to the database where ${'%s'}: right, or later, and as before afterwards`,
  async (_, weather) => {
    const answers: Answered[] = []
    proxy.be(weather)
    const caller = async (n: number) => {
      const calls = weather.isStalled ? 1 : callsEach
      for (let call = 0; call < calls; call += 1) {
        answers.push(await ((n + call) % 3 === 0 ? write(away) : read(away)))
      }
    }
    const calling = Promise.all(Array.from({ length: weather.isStalled ? clients : callers }, (__, n) => caller(n)))
    if (weather.isStalled) {
      // Beyond those who may wait everybody is told at once, and those who wait within their time.
      while (answers.length < clients - 210) await pause(5)
      const metrics = await (await fetch(`${away.address}/metrics`)).text()
      const waiting = /^svc_database_connections\{state="waiting"\} (\d+)$/m.exec(metrics)
      expect(Number(waiting?.[1])).toBeGreaterThan(0)
      // The workspace's 200, and in lanes of their own a few that the daemon itself makes.
      expect(Number(waiting?.[1])).toBeLessThanOrEqual(210)
      if (full) await pause(5_000)
      else await Promise.race([calling, pause(1_500)])
    } else await calling
    proxy.be({})
    await calling
    for (const answer of answers) expectRightOrLater(answer)
    const took = await recovery(away)

    expect(answers.length).toBeGreaterThanOrEqual(callers)
    if (weather.isStalled)
      expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThanOrEqual(clients - 210)
    else expect(answers.filter(({ status }) => status < 300).length).toBeGreaterThan(0)
    expect(took).toBeLessThan(longest.recoveryMs)
  },
  // 2,400 calls take three minutes where each statement takes 200 ms.
  full ? 400_000 : 120_000,
)
