/** What cannot begin in time is refused at the door, and nobody else is. Decision record 0185. */
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { meanAdmitted, openPace } from '../../src/daemon/full-door.ts'
import { silentLog } from '../../src/daemon/log.ts'
import { type Answered, type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

describe('with one connection, and changes of a tenth of a second', () => {
  let daemon: TestDaemon
  let flooder: Person
  let neighbour: Person
  const failures: string[] = []
  const lines: { status: number; code?: string }[] = []
  beforeAll(async () => {
    const log = {
      ...silentLog,
      failure: (event: string) => void failures.push(event),
      request: (line: { status: number; code?: string }) => void lines.push(line),
    }
    daemon = await testDaemon({ config: { poolSize: 1 }, log })
    const { tenantId } = await setUp(daemon)
    flooder = await person(daemon, tenantId)
    neighbour = await person(daemon, await workspace(daemon, 'neighbour'))
    await daemon.db.sql.unsafe(`
      create function slowly() returns trigger language plpgsql as 'begin perform pg_sleep(0.1); return new; end';
      create trigger slowly before insert on container for each row execute function slowly()`)
    // From now on, both tokens are known.
    for (const { token } of [flooder, neighbour]) await daemon.call('GET', '/api/v1/accounts/me', { token })
  })
  afterAll(() => daemon.close())

  let made = 0
  const create = (token: string) => {
    made += 1
    return daemon.call('POST', '/api/v1/containers', { token, body: { kind: 'HUB', name: `Hub ${made}` } })
  }
  const authorization = ({ token }: Person) => `Authorization: Bearer ${token}`
  /** All that is answered to these bytes, until the connection ends. */
  const sent = async (bytes: string) => {
    const socket = connect(daemon.port, '127.0.0.1').setEncoding('latin1')
    socket.write(bytes)
    return (await socket.toArray()).join('')
  }
  async function timed(call: Promise<Answered>): Promise<Answered & { readonly ms: number }> {
    const begun = performance.now()
    return { ...(await call), ms: performance.now() - begun }
  }

  test('a flood is refused what does not begin in time; others and what was admitted are served', async () => {
    // The door learns the pace from this one. So the next is refused sooner, and a slow machine still serves all of it in time.
    const first = await Promise.all(Array.from({ length: 12 }, () => create(flooder.token)))
    const admitted = Array.from({ length: 14 }, () => create(flooder.token))
    await pause(650) // the queue has stood for more than a burst
    const beyond = await Promise.all(Array.from({ length: 20 }, () => timed(create(flooder.token))))
    const faulty = await sent(
      `GET /api/v1/accounts/me HTTP/1.1\r\nHost: a\r\nHost: b\r\n${authorization(flooder)}\r\n\r\n`,
    )
    const atHome = await sent(
      `HEAD http://x/api/v1/accounts/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization(flooder)}\r\n\r\n`,
    )
    const own = await daemon.call('GET', '/api/v1/accounts/me', { token: neighbour.token })
    const unknown = await daemon.call('GET', '/api/v1/accounts/me', { token: mintToken('personal').token })
    const health = await daemon.call('GET', '/healthz')
    const metrics = await daemon.call('GET', '/metrics')

    expect(own.status).toBe(200)
    expect(unknown.status).toBe(401)
    expect(health.status).toBe(200)
    // A head at fault ends its connection, whoever sent it; a target with a host is a call like any other.
    expect(faulty).toMatch(/^HTTP\/1\.1 400 .*\r\nconnection: close\r\n/is)
    expect(atHome).toMatch(/^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n.*\r\n\r\n$/is)
    expect(metrics.text).toContain(`svc_calls_refused_total{listener="api"} 21`)
    for (const { status, headers, json, ms } of beyond) {
      expect(status).toBe(503)
      expect(headers['retry-after']).toBe('1')
      expect(headers['content-type']).toBe('application/problem+json')
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      expect(json).toEqual({
        type: 'urn:problem:svc:service.unavailable',
        status: 503,
        code: 'service.unavailable',
        params: {},
        instance: `urn:uuid:${headers['x-request-id']}`,
      })
      expect(ms).toBeLessThan(500)
    }
    const served = [...first, ...(await Promise.all(admitted))]
    expect(served.map(({ status }) => status)).toEqual(served.map(() => 201))
    // It is a refusal and not a failure of ours, so it has its line and no other.
    expect(failures).toEqual([])
    expect(lines.filter(({ status, code }) => status === 503 && code === 'service.unavailable')).toHaveLength(21)
  })

  test('when nothing waits any more, the flooder is served again', async () => {
    await expect.poll(async () => (await create(flooder.token)).status, { timeout: 5_000 }).toBe(201)
  })
})

describe('the pace of refusals', () => {
  /** Refuses so many at one moment; the times at which each is told, in ms. */
  async function told(count: number, perMs: number): Promise<number[]> {
    const pace = openPace(() => perMs)
    const begun = performance.now()
    const each = Array.from({ length: count }, () => new Promise<void>((tell) => pace.keep(tell)))
    return Promise.all(each.map((one) => one.then(() => performance.now() - begun)))
  }

  test('a single refusal is told in the same turn', () => {
    let isTold = false
    openPace(() => 0).keep(() => {
      isTold = true
    })
    expect(isTold).toBe(true)
  })

  test('those that come together are told one after another', async () => {
    const times = await told(400, 2)
    expect(times.at(-1)).toBeGreaterThan(195)
    expect(times.filter((ms) => ms < 100).length).toBeLessThan(210)
  })

  test('it stays where the database stands still for a moment, and not for ever', () => {
    const meanAfter = (looks: number) =>
      Array.from({ length: looks }).reduce((mean: number) => meanAdmitted(mean, 0), 1)
    expect(meanAfter(25)).toBeGreaterThan(0.9) // half a second
    expect(meanAfter(1_500)).toBeLessThan(0.1) // half a minute
    expect(Array.from({ length: 25 }).reduce((mean: number) => meanAdmitted(mean, 1), 0)).toBeGreaterThan(0.9)
  })

  test('two thousand a second are told, however little is admitted', async () => {
    const times = await told(1_000, 0)
    expect(times.at(-1)).toBeGreaterThan(480)
    expect(times.filter((ms) => ms < 900).length).toBeGreaterThan(500)
  })

  test('nobody waits for more than the second of Retry-After', async () => {
    const times = await told(4_000, 0)
    expect(Math.max(...times)).toBeLessThan(1_500)
  })
})
