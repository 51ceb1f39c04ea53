/** What anybody may call is counted by the address it comes from. Decision records 0146, 0147. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnonymousRate, Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Problem } from '../../src/core/contract/problem.ts'
import { readBlock } from '../../src/core/kernel/egress/addresses.ts'
import { openHeldRefusals } from '../../src/daemon/held-refusals.ts'
import { sourceOf } from '../../src/daemon/source.ts'
import { openSourceRate, type SourceRate } from '../../src/daemon/source-rate.ts'
import { openSourceSeats } from '../../src/daemon/source-seats.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Source, source } from '../kit/from-source.ts'
import { setUp } from '../kit/people.ts'

const strangers = (Object.values(operations) as readonly Operation[]).filter(({ needs }) => needs.caller === 'anyone')
const rateOf = ({ needs }: Operation) => (needs as { readonly rate: AnonymousRate }).rate

describe('over the API', () => {
  let daemon: TestDaemon
  const sources: Source[] = []
  let next = 1
  beforeAll(async () => {
    daemon = await testDaemon({ config: { sourceRate: 1 } })
    await setUp(daemon)
  })
  afterAll(async () => {
    for (const one of sources) one.close()
    await daemon.close()
  })

  function elsewhere(): Source {
    next += 1
    const opened = source(daemon.address, `127.0.0.${next}`, 1)
    sources.push(opened)
    return opened
  }

  test('password:forgot from one address ends in 429, known and unknown alike, and serves others', async () => {
    const flood = elsewhere()
    const answers = []
    for (let n = 0; n < 12; n += 1) {
      const email = n % 2 === 0 ? 'owner@home.example' : `nobody-${n}@home.example`
      answers.push(await flood.post('/auth/password:forgot', { workspace: 'home', email }))
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(204), 429, 429])
    const { json, headers } = answers[10]!
    expect(json).toMatchObject({ code: 'request.limited', params: { limit: 10, window_seconds: 600 } })
    expect(Number(headers['retry-after'])).toBeGreaterThan(50)
    expect(headers['ratelimit-policy']).toBe('"forgetPassword";q=10;w=600')
    expect(headers['ratelimit']).toBe(`"forgetPassword";r=0;t=${headers['retry-after']}`)
    const body = { workspace: 'home', email: 'owner@home.example' }
    expect((await elsewhere().post('/auth/password:forgot', body)).status).toBe(204)
  })

  test('there are operations for strangers', () => expect(strangers.length).toBeGreaterThanOrEqual(14))

  test.each(strangers.map((operation) => [operation.id, operation] as const))(
    '%s: one address is held to its rate, whatever it sends, and another is served',
    async (_, operation) => {
      const { calls } = rateOf(operation).perSource
      // Broken on purpose: it is counted before it is read, and costs neither a query nor a hash.
      const ask = (by: Source) =>
        operation.method === 'GET' ? by.get(`${operation.path}?broken=1`) : by.post(operation.path, { broken: 1 })
      const flood = elsewhere()
      let served = 0
      let last = await ask(flood)
      for (; last.status !== 429 && served < 2 * calls; served += 1) last = await ask(flood)
      expect([last.status, last.json.code]).toEqual([429, 'request.limited'])
      expect(served).toBeGreaterThanOrEqual(calls)
      expect((await ask(elsewhere())).status).not.toBe(429)
    },
    30_000,
  )

  test('X-Forwarded-For of somebody who is no proxy of ours changes nothing', async () => {
    const liar = elsewhere()
    const statuses = []
    for (let n = 0; n < 11; n += 1) {
      const headers = { 'x-forwarded-for': `198.51.100.${n}` }
      const body = { workspace: 'home', email: 'nobody@home.example' }
      statuses.push((await liar.post('/auth/password:forgot', body, { headers })).status)
    }
    expect(statuses.at(-1)).toBe(429)
  })
})

describe('the source of a call', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48', '127.0.0.1'].map((text) => readBlock(text)!)
  const heard = (remoteAddress: string | undefined, forwarded?: string) => ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  })

  test.each([
    ['the socket', '198.51.100.7', undefined, '198.51.100.7'],
    ['a stranger that forwards', '198.51.100.7', '192.0.2.1', '198.51.100.7'],
    ['a proxy that forwards', '10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['the last that is no proxy', '10.0.0.1', '1.1.1.1, 192.0.2.1, 10.0.0.9', '192.0.2.1'],
    ['what a stranger wrote before it', '10.0.0.1', '10.9.9.9, 1.1.1.1, 192.0.2.1', '192.0.2.1'],
    ['proxies alone', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['a proxy itself', '127.0.0.1', undefined, '127.0.0.1'],
    ['an empty header', '10.0.0.1', '', '10.0.0.1'],
    ['what is no address', '10.0.0.1', '192.0.2.1, unknown', '10.0.0.1'],
    ['a port', '10.0.0.1', '192.0.2.1:4711', '192.0.2.1'],
    ['brackets and a port', '10.0.0.1', '[2001:db8:1:2:3::4]:4711', '2001:db8:1:2::/64'],
    ['IPv6', '2001:db8:1:2:aaaa:bbbb:cccc:dddd', undefined, '2001:db8:1:2::/64'],
    ['another address of the same subscriber', '2001:db8:1:2::1', undefined, '2001:db8:1:2::/64'],
    ['IPv4 in IPv6', '::ffff:198.51.100.7', undefined, '198.51.100.7'],
    ['a proxy by IPv4 in IPv6', '::ffff:10.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['a proxy by IPv6', '2001:db8:ffff::1', '192.0.2.1', '192.0.2.1'],
    ['a zone', 'fe80::1%eth0', undefined, 'fe80::/64'],
    ['a connection that is gone', undefined, '192.0.2.1', ''],
  ])('%s', (_, remote, forwarded, expected) => {
    expect(sourceOf(heard(remote, forwarded), proxies)).toBe(expected)
  })
})

describe('the rate', () => {
  const operation = { id: 'one' } as Operation
  const rate = { perSource: { calls: 3, seconds: 60 } }
  let now = 1_000_000
  /** Asks `count` times; answers the refusal of each, or undefined. */
  async function ask(sources: SourceRate, count = 1, from = 'a', of: AnonymousRate = rate) {
    const answers: (Problem | undefined)[] = []
    for (let n = 0; n < count; n += 1)
      answers.push(
        await sources.spend(operation, of, from).then(
          () => undefined,
          (error: Problem) => error,
        ),
      )
    return answers
  }
  const codes = (answers: readonly (Problem | undefined)[]) => answers.map((answer) => answer?.code)

  test('serves as many as declared at once, and then at their pace', async () => {
    const sources = openSourceRate(1, openHeldRefusals(), () => now)
    const first = await ask(sources, 4)
    expect(codes(first)).toEqual([undefined, undefined, undefined, 'request.limited'])
    expect(first[3]?.headers['retry-after']).toBe('20')
    now += 20_000
    expect(codes(await ask(sources, 2))).toEqual([undefined, 'request.limited'])
  })

  test('answers the second refusal a second later, and the first one at once', async () => {
    const sources = openSourceRate(1, openHeldRefusals(), () => now)
    await ask(sources, 4)
    const begun = performance.now()
    await Promise.all([ask(sources), ask(sources), ask(sources)])
    expect(performance.now() - begun).toBeGreaterThan(990)
  })

  test('one source that is refused takes nothing from another', async () => {
    const sources = openSourceRate(1, openHeldRefusals(), () => now)
    await ask(sources, 4)
    for (let n = 0; n < 50; n += 1) expect(await ask(sources, 1, `b${n}`)).toEqual([undefined])
  })

  test('is multiplied by the factor, and switched off by 0', async () => {
    const twice = openSourceRate(2, openHeldRefusals(), () => now)
    expect(codes(await ask(twice, 7)).indexOf('request.limited')).toBe(6)
    expect(
      codes(
        await ask(
          openSourceRate(0, openHeldRefusals(), () => now),
          20,
        ),
      ).filter(Boolean),
    ).toEqual([])
  })

  test('remembers 50,000 sources and forgets the one unheard of for longest', async () => {
    const sources = openSourceRate(1, openHeldRefusals(), () => now)
    const open = { perSource: { calls: 1, seconds: 60 } }
    for (let n = 0; n <= 50_000; n += 1) await sources.spend(operation, open, `s${n}`)
    expect(codes(await ask(sources, 1, 's50000', open)), 'the newest is known').toEqual(['request.limited'])
    expect(await ask(sources, 1, 's0', open), 'the oldest is not').toEqual([undefined])
  })
})

describe('the seats', () => {
  test('four calls of one source are under way, 64 wait, and others are not kept', async () => {
    const seats = openSourceSeats(openHeldRefusals())
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    let begun = 0
    const work = async () => {
      begun += 1
      await ended
    }
    const flood = Array.from({ length: 69 }, () => seats.within('a', work))
    await expect(flood[68]).rejects.toMatchObject({ code: 'service.unavailable' })
    expect(begun).toBe(4)
    await seats.within('b', async () => {})
    end()
    await Promise.all(flood.slice(0, 68))
    expect(begun).toBe(68)
  })

  test('work that fails gives its seat back', async () => {
    const seats = openSourceSeats(openHeldRefusals())
    const fails = () => Promise.reject(new Error('no'))
    await Promise.allSettled(Array.from({ length: 40 }, () => seats.within('a', fails)))
    expect(await seats.within('a', async () => 'served')).toBe('served')
  })
})
