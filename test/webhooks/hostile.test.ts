/**
 * What a target can do to the daemon: nothing that lasts, nothing that fills it, and nothing
 * that others feel. T-15, T-16, T-18, T-36; F-16 in its short form.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Egress, openEgress } from '../../src/core/kernel/egress/client.ts'
import { nothingReleased, type Resolve } from '../../src/core/kernel/egress/guard.ts'
import { literalForms } from '../kernel/egress/literal-forms.ts'
import { type HostileTarget, hostileKinds, hostileTarget } from '../kit/hostile-target.ts'
import { type Receiver, receiver, status } from '../kit/receiver.ts'
import { released, type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 500 : 120
const bounds = { connectMs: 5_000, deadlineMs: 1_500 }

let world: WebhookWorld
let hostile: HostileTarget
let impatient: Egress
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  hostile = await hostileTarget()
  impatient = openEgress({ release: released(), own: [], bounds })
})
afterAll(async () => {
  await impatient.close()
  await world.close()
  await hostile.close()
})

const post = (egress: Pick<Egress, 'post'>, url: string) =>
  egress.post({ url, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') })

describe('a hostile target (T-18)', () => {
  const expected: Readonly<Record<string, readonly [number | null, string | null]>> = {
    'header-drip': [null, 'timeout'],
    'body-drip': [200, null],
    'informational-drip': [null, 'timeout'],
    'endless-body': [200, null],
    'gzip-bomb': [200, null],
    'many-headers': [200, null],
    'long-header': [null, 'response.malformed'],
    'reset-after-headers': [200, null],
    garbage: [null, 'tls.failed'],
    silent: [null, 'timeout'],
    'no-version': [null, 'response.malformed'],
    'short-body': [200, null],
    'long-body': [200, null],
    escapes: [418, 'response.status'],
  }

  test.concurrent.each(hostileKinds)('%s is cut off, and what it said is judged', async (kind) => {
    const { status: answered, failure, body, durationMs } = await post(impatient, hostile.url(kind))
    expect([kind, answered, failure]).toEqual([kind, ...(expected[kind] ?? [])])
    expect(body?.length ?? 0).toBeLessThanOrEqual(4096)
    expect(durationMs).toBeLessThan(15_000)
    if (kind === 'gzip-bomb') expect(body?.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b])) // as it came
  })

  test('keeps no connection of theirs, and reads little of what they send', async () => {
    await world.until('they are closed', async () => hostile.open() === 0)
    expect(hostile.mostSent()).toBeLessThan(4 << 20) // what its own buffers hold; it would send 16 MiB a second
  })
})

test('what a signal ends is interrupted at once: all that is under way, and what begins later', async () => {
  const interrupt = new AbortController()
  const begin = () =>
    impatient.post({ url: hostile.url('silent'), headers: {}, body: Buffer.from('{}'), signal: interrupt.signal })
  const underWay = [begin(), begin()]
  setTimeout(() => interrupt.abort(), 100)
  const ended = await Promise.all([...underWay, ...underWay.map((one) => one.then(begin))])
  expect(ended.map(({ failure }) => failure)).toEqual(Array(4).fill('interrupted'))
  expect(Math.max(...ended.map(({ durationMs }) => durationMs))).toBeLessThan(bounds.deadlineMs)
})

describe('a target that drips a byte at a time (T-18)', () => {
  test('holds the few kilobytes that are kept of its answer, not a slab of memory for each byte', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const dripping = createServer((_, response) => {
      const timer = setInterval(() => response.write('x'), 2)
      response.on('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve))
    const held = () => {
      collect()
      return process.memoryUsage().arrayBuffers
    }
    const before = held()
    // Long enough for a machine that is slow to give memory back.
    const patient = openEgress({ release: released(), own: [], bounds: { ...bounds, deadlineMs: 6_000 } })
    const posting = post(patient, `http://127.0.0.1:${(dripping.address() as AddressInfo).port}/`)
    // Whatever else the daemon does meanwhile: it uses up the slab that small buffers share.
    const others = setInterval(() => void Array.from({ length: 32 }, () => Buffer.from('y'.repeat(4_000))), 2)
    await new Promise((resolve) => setTimeout(resolve, 900))
    clearInterval(others)
    let isOver = false
    void posting.then(() => {
      isOver = true
    })
    // What is let go is given back a moment later.
    await world.until('it holds little', async () => held() - before < 4 << 20, 4_000)
    expect(isOver).toBe(false)
    expect((await posting).body?.length).toBeGreaterThan(100)
    await patient.close()
    await new Promise((resolve) => dripping.close(resolve))
  })
})

describe('odd forms of inner addresses, at the attempt (T-14, F-15)', () => {
  test('are refused without a connection, however they came to be stored', async () => {
    const canary = await hostileTarget()
    const strict = openEgress({ release: nothingReleased, own: [], bounds })
    for (const form of literalForms) {
      const { failure, trace } = await post(strict, form.replaceAll('PORT', new URL(canary.url('silent')).port))
      expect([form, failure]).toEqual([form, 'egress.refused'])
      expect(trace.address).toBeNull()
    }
    expect(canary.hits()).toBe(0)
    await strict.close()
    await canary.close()
  })

  test('the daemon itself and its database are refused where private networks are released', async () => {
    const { port } = world.daemon
    const open = openEgress({ release: released('127.0.0.0/8'), own: [{ host: '127.0.0.1', port }], bounds })
    expect(await post(open, `http://127.0.0.1:${port}/api/v1/admin/tenants`)).toMatchObject({
      failure: 'egress.refused',
    })
    await open.close()
  })
})

describe('redirects (T-16)', () => {
  test.each([301, 302, 303, 307, 308])('%s is a failed attempt, and the next hop is never visited', async (code) => {
    const [first, second] = [await receiver(), await receiver()]
    first.respond(status(code, { location: second.url }))
    expect(await post(impatient, first.url)).toMatchObject({ status: code, failure: 'response.redirect' })
    expect(second.received).toEqual([])
    await Promise.all([first.close(), second.close()])
  })

  test('a proxy of the environment is not asked', async () => {
    const [proxy, target] = [await receiver(), await receiver()]
    process.env['HTTP_PROXY'] = process.env['http_proxy'] = `http://127.0.0.1:${proxy.port}`
    try {
      expect(await post(impatient, target.url)).toMatchObject({ status: 204 })
    } finally {
      delete process.env['HTTP_PROXY']
      delete process.env['http_proxy']
    }
    expect([proxy.received.length, target.received.length]).toEqual([0, 1])
    await Promise.all([proxy.close(), target.close()])
  })

  test('a kept connection that the target closed as it was used again is nobody’s failure', async () => {
    let served = 0
    const server: Server = createServer((request, response) => {
      served += 1
      if (served === 2) request.socket.destroy()
      else response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    expect(await post(impatient, url)).toMatchObject({ status: 200, trace: { reused: false } })
    expect(await post(impatient, url)).toMatchObject({ status: 200, failure: null, trace: { reused: false } })
    expect(served).toBe(3)
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('names that answer otherwise (T-15)', () => {
  const inner = [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.0.0.7',
    '169.254.169.254',
    '64:ff9b::7f00:1',
    'fd00:ec2::254',
  ]
  const outer = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']

  test(`${rounds} rounds of answers with something inner among them reach nobody`, async () => {
    const canary = await hostileTarget()
    const port = new URL(canary.url('silent')).port
    let round = 0
    const resolve: Resolve = async () => {
      const one = inner[round % inner.length] as string
      return [[one], [outer[0] as string, one], [one, outer[1] as string], [...outer, one]][round % 4] as string[]
    }
    const egress = openEgress({ release: nothingReleased, own: [], resolve, bounds })
    for (round = 0; round < rounds; round += 1)
      expect(await post(egress, `https://rebinding-${round % 3}.example.net:${port}/`)).toMatchObject({
        status: null,
        failure: 'egress.refused',
      })
    expect(canary.hits()).toBe(0)
    await egress.close()
    await canary.close()
  })

  test('a name is resolved once for a connection, so its second answer is never connected to', async () => {
    const canary = await hostileTarget()
    let asked = 0
    const resolve: Resolve = async () => {
      asked += 1
      return asked === 1 ? [outer[0] as string] : ['127.0.0.1']
    }
    const egress = openEgress({ release: nothingReleased, own: [], resolve, bounds })
    const { trace } = await post(egress, `https://rebinding.example.net:${new URL(canary.url('silent')).port}/`)
    expect([asked, canary.hits(), trace.address]).toEqual([1, 0, outer[0]])
    await egress.close()
    await canary.close()
  })

  test('such an attempt fails as egress.refused, counts, and shows the workspace no address', async () => {
    const webhook = await world.subscribe('http://127.0.0.1:9/in')
    await world.sql`update webhook set target_url = 'https://inner.example.net/in' where id = ${webhook.id}`
    const webhookClient = openEgress({
      release: nothingReleased,
      own: [],
      resolve: async () => ['10.0.0.7', outer[0] as string],
    })
    const dispatcher = world.startDispatcher({ webhookClient })
    await world.emit(webhook.tenantId)
    await world.until('it failed', async () => (await world.deliveries(webhook))[0]?.status === 'FAILED')
    const [delivery] = await world.deliveries(webhook)
    expect(delivery?.attempts[0]).toMatchObject({
      error: 'egress.refused',
      trace: {
        host: 'inner.example.net:443',
        rule: 'refused',
        dns_answers: [],
        address: null,
        phases_ms: { dns: null },
      },
    })
    expect(JSON.stringify(delivery)).not.toContain('10.0.0.7')
    const [stored] = await world.sql<{ trace: { dns_answers: string[] } }[]>`
      select trace from delivery_attempt where delivery_id = ${delivery?.id ?? ''}`
    expect(stored?.trace.dns_answers).toEqual(['10.0.0.7', outer[0]])
    expect((await world.call('GET', `/integrations/webhooks/${webhook.id}`)).json.consecutive_failures).toBe(1)
    await dispatcher.close()
    await webhookClient.close()
    await world.call('DELETE', `/integrations/webhooks/${webhook.id}`)
  })
})

describe('beside targets that hang (F-16, short)', () => {
  test('the healthy are served while not one of the others is over', async () => {
    const healthy: { to: Receiver; webhook: Subscribed }[] = []
    for (let n = 0; n < 4; n += 1) {
      const to = await receiver()
      healthy.push({ to, webhook: await world.subscribe(to.url) })
    }
    const hanging: Subscribed[] = []
    const silent = await hostileTarget()
    for (let n = 0; n < 60; n += 1) hanging.push(await world.subscribe(silent.url('silent')))
    const dispatcher = world.startDispatcher()
    for (let round = 1; round <= 5; round += 1) {
      await world.emit(world.home.tenantId, 4)
      await Promise.all(healthy.map(({ to }) => to.until(round * 4)))
    }
    const [row] = await world.sql<{ ended: number }[]>`
      select count(*)::int as ended from delivery_attempt a join delivery d on d.id = a.delivery_id
      where d.webhook_id in ${world.sql(hanging.map(({ id }) => id))}`
    expect(row?.ended).toBe(0)
    await world.until('the others hang, all of them', async () => dispatcher.inFlight.slow === hanging.length)
    expect(world.failures).toEqual([])

    await silent.close()
    await dispatcher.close()
    await Promise.all(healthy.map(({ to }) => to.close()))
  })
})
