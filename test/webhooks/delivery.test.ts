/** Deliveries as their receivers see them, and as the workspace reads them afterwards. Spec: Events; decisions 5, Delivery. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dueChannel, perNotification } from '../../src/core/kernel/outbox/bell.ts'
import { type Receiver, receiver, status, verifies } from '../kit/receiver.ts'
import { type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

let world: WebhookWorld
let target: Receiver
let webhook: Subscribed
beforeAll(async () => {
  world = await webhookWorld({ mode: 'multi' })
})
afterAll(() => world.close())
beforeEach(async () => {
  world.ahead = 0
  target = await receiver()
  webhook = await world.subscribe(target.url)
})
afterEach(async () => {
  await world.call('DELETE', `/integrations/webhooks/${webhook.id}`)
  await target.close()
})

const finished = () =>
  world.until('every delivery is over', async () =>
    (await world.deliveries(webhook)).every(({ finished_at }) => finished_at !== null),
  )

describe('a delivery', () => {
  test('carries the event byte for byte, signed as Standard Webhooks says, and nothing else', async () => {
    const [eventId] = await world.emit(webhook.tenantId)
    await target.until(1)
    const [got] = target.received

    const [event] = await world.sql<{ body: string }[]>`select body from outbox_event where id = ${eventId ?? ''}`
    expect(got?.body).toBe(event?.body)
    expect(got?.eventId).toBe(eventId)
    expect(got?.headers['x-service-event-id']).toBe(eventId)
    expect(got?.headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
    expect(got && verifies(webhook.secret, got)).toBe(true)
    expect(got && verifies(`whsec_${Buffer.alloc(32).toString('base64')}`, got)).toBe(false)
    expect(got?.headerNames.toSorted()).toEqual(
      [
        ...['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent'],
        ...['webhook-id', 'webhook-signature', 'webhook-timestamp', 'x-service-event-id'],
      ].toSorted(),
    )
  })

  test('is read afterwards with its attempt, the answer and the way it took', async () => {
    target.respond(status(202, {}, 'thank \u001b[31myou\u0000'))
    await world.emit(webhook.tenantId)
    await target.until(1)
    await finished()

    const [delivery] = await world.deliveries(webhook)
    expect(delivery).toMatchObject({ status: 'SUCCEEDED', attempt: 1, cause: 'EVENT', next_attempt_at: null })
    expect(delivery?.attempts).toHaveLength(1)
    expect(delivery?.attempts[0]).toMatchObject({
      n: 1,
      status: 202,
      error: null,
      body: 'thank \\u001b[31myou\\u0000',
      trace: { host: `127.0.0.1:${target.port}`, rule: 'released', dns_answers: [], address: null, tls_version: null },
    })
    expect(delivery?.attempts[0]?.trace?.signed_sha256).toMatch(/^[0-9a-f]{64}$/)
  })

  test.each([
    ['text', 'x'.repeat(5_000), 'x'.repeat(4_096)],
    ['a pair that the cut would part', `\r${'x'.repeat(4_089)}\u{1f600}`, `\\u000d${'x'.repeat(4_089)}\ufffd`],
    ['control characters alone', '\u0000'.repeat(5_000), '\\u0000'.repeat(683).slice(0, 4_096)],
  ])('keeps no more of an answer than 4,096 characters: %s', async (_, sent, kept) => {
    target.respond(status(200, {}, sent))
    await world.emit(webhook.tenantId)
    await target.until(1)
    await finished()
    const [delivery] = await world.deliveries(webhook)
    expect(delivery?.attempts[0]?.body).toBe(kept)
  })

  test('many go over few connections, each once', async () => {
    const ids = await world.emit(webhook.tenantId, 60)
    await target.until(60)
    await finished()

    expect(target.received.map(({ eventId }) => eventId).toSorted()).toEqual(ids.toSorted())
    expect(target.received.every((one) => verifies(webhook.secret, one))).toBe(true)
    const reused = (await world.deliveries(webhook, '?size=200')).flatMap(({ attempts }) => attempts)
    expect(reused.filter(({ trace }) => trace?.reused).length).toBeGreaterThan(40)
  })
})

describe('an event to more webhooks than one notification names', () => {
  const many = perNotification + 5
  test('is told in two, and reaches each of them', async () => {
    const of = await world.another('many')
    const ids: string[] = []
    for (let n = 0; n < many; n += 1) ids.push((await world.subscribe(target.url, { of })).id)
    const told: string[][] = []
    const listening = await world.sql.listen(dueChannel, (payload) => {
      const [tenantId, ...webhookIds] = payload.split(' ')
      if (tenantId === of.tenantId) told.push(webhookIds)
    })
    await world.emit(of.tenantId)
    await target.until(many)
    await listening.unlisten()
    expect(told.map(({ length }) => length)).toEqual([perNotification, 5])
    expect(told.flat().sort()).toEqual(ids.sort())
    expect(target.received).toHaveLength(many)
  })
})

describe('a failure beside a target that is served at once', () => {
  test('is recorded soon after, each of them', async () => {
    const failing = await receiver()
    failing.respond(status(500))
    const { id } = await world.subscribe(failing.url)
    for (let n = 1; n <= 60; n += 1) {
      await world.emit(webhook.tenantId)
      await target.until(n)
    }
    // Sooner than a lease ends, which would have it made again.
    await world.until(
      'every attempt that came is recorded',
      async () => {
        const [row] = await world.sql<{ count: number }[]>`
          select count(*)::int as count from delivery_attempt a join delivery d on d.id = a.delivery_id
          where d.webhook_id = ${id} and a.status = 500`
        return failing.received.length >= 10 && row?.count === failing.received.length
      },
      25_000,
    )
    await world.call('DELETE', `/integrations/webhooks/${id}`)
    await failing.close()
  })
})

describe('the ladder', () => {
  test('eight failures end in the dead letter, each wait as the ladder says', async () => {
    target.respond(status(500, {}, 'no'))
    await world.emit(webhook.tenantId)
    const waits = [5, 300, 1800, 7200, 18_000, 36_000, 36_000]
    for (const [at, seconds] of waits.entries()) {
      await world.until(
        `attempt ${at + 1} is over`,
        async () =>
          (await world.deliveries(webhook))[0]?.attempts.length === at + 1 &&
          (await world.deliveries(webhook))[0]?.next_attempt_at !== null,
      )
      const [delivery] = await world.deliveries(webhook)
      expect(delivery).toMatchObject({ status: 'FAILED', attempt: at + 1 })
      const [row] = await world.sql<{ wait: number }[]>`
        select extract(epoch from d.due_at - a.ended_at)::float8 as wait from delivery d
        join delivery_attempt a on a.delivery_id = d.id and a.n = ${at + 1} where d.webhook_id = ${webhook.id}`
      expect(row?.wait).toBeGreaterThanOrEqual(seconds * 0.9)
      expect(row?.wait).toBeLessThanOrEqual(seconds * 1.1)
      // One second before it is due nothing comes.
      world.ahead += (row?.wait ?? 0) - 2
      await world.dispatcher().look()
      expect(target.received).toHaveLength(at + 1)
      world.ahead += 3
      await world.dispatcher().look()
      await target.until(at + 2)
    }
    await finished()

    const [delivery] = await world.deliveries(webhook)
    expect(delivery).toMatchObject({ status: 'DEAD_LETTER', attempt: 8, next_attempt_at: null })
    expect(delivery?.attempts.map(({ n, error }) => [n, error])).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => [n, 'response.status']),
    )
    expect(new Set(target.received.map(({ eventId }) => eventId)).size).toBe(1)
    expect(target.received.every((one) => verifies(webhook.secret, one))).toBe(true)
  })

  test('a replay makes one attempt under the same event id and carries the counter on', async () => {
    target.respond(status(410))
    const [eventId] = await world.emit(webhook.tenantId)
    await finished()
    const [dead] = await world.deliveries(webhook)
    expect(dead).toMatchObject({ status: 'DEAD_LETTER', attempt: 1 })
    const path = `/integrations/webhooks/${webhook.id}/deliveries/${dead?.id}:replay`
    expect((await world.call('POST', path)).json.code).toBe('webhook.not_active')
    await world.call('PATCH', `/integrations/webhooks/${webhook.id}`, { state: 'ACTIVE' })

    target.respond(status(503, { 'retry-after': '1' }))
    const replayed = await world.call('POST', path)
    expect(replayed.status).toBe(202)
    expect(replayed.json).toMatchObject({ status: 'PENDING', cause: 'REPLAY', event_id: eventId })
    await target.until(2)
    await finished()
    expect((await world.deliveries(webhook))[0]).toMatchObject({ status: 'DEAD_LETTER', attempt: 2 })
    expect((await world.call('GET', `/integrations/webhooks/${webhook.id}`)).json.consecutive_failures).toBe(0)

    target.respond(status(200))
    await world.call('POST', path)
    await target.until(3)
    await finished()
    expect((await world.deliveries(webhook))[0]).toMatchObject({ status: 'SUCCEEDED', attempt: 3 })
    expect(new Set(target.received.map((one) => one.eventId))).toEqual(new Set([eventId]))
    expect((await world.call('POST', path)).json.code).toBe('webhook.delivery_not_dead')
  })

  test('Retry-After lengthens a wait, and a day is the most', async () => {
    target.respond(status(429, { 'retry-after': '99999999' }))
    await world.emit(webhook.tenantId)
    await world.until('it failed', async () => (await world.deliveries(webhook))[0]?.status === 'FAILED')
    const [row] = await world.sql<{ wait: number }[]>`
      select extract(epoch from due_at - now())::float8 as wait from delivery where webhook_id = ${webhook.id}`
    expect(row?.wait).toBeGreaterThan(86_000)
    expect(row?.wait).toBeLessThanOrEqual(86_400)
  })
})
