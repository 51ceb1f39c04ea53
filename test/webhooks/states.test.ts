/**
 * When nothing is sent: paused, disabled, removed, suspended, purged, gated, restored; and
 * what a daemon that died leaves behind. T-41; States: Webhook subscription; decisions 5.
 */
import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { closeGate } from '../../src/core/areas/recovery/gate.ts'
import { productLimits } from '../../src/core/areas/webhooks/dispatch/lanes.ts'
import { sweepDeliveries } from '../../src/core/areas/webhooks/jobs.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type Receiver, receiver, status, verifies } from '../kit/receiver.ts'
import { eventType, type Subscribed, underWay, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

let world: WebhookWorld
let target: Receiver
let webhook: Subscribed
beforeAll(async () => {
  world = await webhookWorld({ mode: 'multi', webhookDisableAfter: { failures: 5, seconds: 3600 } })
})
afterAll(() => world.close())
beforeEach(async () => {
  world.ahead = 0
  target = await receiver()
  webhook = await world.subscribe(target.url)
})
afterEach(async () => {
  await world.call('DELETE', path())
  await target.close()
})

const path = () => `/integrations/webhooks/${webhook.id}`
const patch = (body: object) => world.call('PATCH', path(), body)
const state = async () => (await world.call('GET', path())).json
const first = async () => (await world.deliveries(webhook))[0]
const over = () =>
  world.until('all is over', async () =>
    (await world.deliveries(webhook, '?size=200')).every(({ finished_at }) => finished_at !== null),
  )
/** Attempts begun so far, as the rows say. */
const begun = async () => {
  const [row] = await world.sql<{ n: number }[]>`
    select coalesce(sum(attempt), 0)::int as n from delivery where webhook_id = ${webhook.id}`
  return row?.n ?? 0
}
/** Nothing is under way, and a look has found nothing to begin. An attempt has left its place before its end is recorded. */
const quiet = async () => {
  const settled = () =>
    world.until('nothing is under way', async () => {
      const [row] = await world.sql`
        select 1 from delivery where started_at is not null and webhook_id = ${webhook.id}`
      return row === undefined && underWay(world.dispatcher()) === 0
    })
  await settled()
  await world.dispatcher().look()
  await settled()
}
/** Lets the target show that it answers, so that several attempts are made at a time; then holds every answer back until it is let go. */
async function holding(of: Subscribed = webhook): Promise<() => void> {
  const before = target.received.length
  await world.emit(of.tenantId)
  await target.until(before + 1)
  await world.until('it is recorded', async () => {
    const [open] = await world.sql`select 1 from delivery where webhook_id = ${of.id} and finished_at is null`
    return open === undefined
  })
  target.received.length = before
  const held: ServerResponse[] = []
  let isOpen = false
  target.respond((_, response) => {
    if (isOpen) response.writeHead(204).end()
    else held.push(response)
  })
  return () => {
    isOpen = true
    for (const response of held) response.writeHead(204).end()
  }
}

describe('paused', () => {
  test('what happens meanwhile is not delivered, and what was pending waits', async () => {
    target.respond(status(500))
    await world.emit(webhook.tenantId)
    await world.until('it failed', async () => (await first())?.status === 'FAILED')
    await patch({ state: 'PAUSED' })
    target.respond(status(204))
    await world.emit(webhook.tenantId, 3)
    world.ahead += 10
    await world.dispatcher().look()
    await quiet()
    expect(target.received).toHaveLength(1)
    expect(await world.deliveries(webhook)).toMatchObject([{ status: 'FAILED', attempt: 1 }])

    await patch({ state: 'ACTIVE' })
    await target.until(2)
    await over()
    expect(await first()).toMatchObject({ status: 'SUCCEEDED', attempt: 2 })
  })

  test('what was pending waits longer than events are kept; what is over goes then', async () => {
    await world.emit(webhook.tenantId)
    await over()
    target.respond(status(500))
    await world.emit(webhook.tenantId)
    await world.until('it failed', async () => (await first())?.status === 'FAILED')
    await patch({ state: 'PAUSED' })
    // As it would be had it been made then: ids tell the moment they were made at.
    const age = (days: number) =>
      world.sql.begin(async (sql) => {
        const then = sql`now() - make_interval(days => ${days})`
        const aged = (id: string) => sql`(lpad(to_hex((extract(epoch from ${then}) * 1000)::bigint), 12, '0')
        || substr(replace(${sql(id)}::text, '-', ''), 13))::uuid`
        await sql`
        update delivery_attempt set delivery_id = ${aged('delivery_id')}
        where delivery_id in (select id from delivery where webhook_id = ${webhook.id})`
        await sql`
        update delivery set id = ${aged('id')}, created_at = ${then}, finished_at = case when finished_at is not null then ${then} end
        where webhook_id = ${webhook.id}`
      })
    const statuses = async () => (await world.deliveries(webhook)).map((one) => one.status).sort()

    await age(29)
    await sweepDeliveries.run(world.installation, {})
    expect(await statuses()).toEqual(['FAILED', 'SUCCEEDED'])
    // The month in which the window begins is whole until it is past the window, too.
    await age(62)
    await sweepDeliveries.run(world.installation, {})
    expect(await statuses()).toEqual(['FAILED'])

    target.respond(status(204))
    world.ahead += 10
    await patch({ state: 'ACTIVE' })
    await over()
    expect(await first()).toMatchObject({ status: 'SUCCEEDED', attempt: 2 })

    // It was made before the window and ended within it: it stays as long as one that was made then.
    await sweepDeliveries.run(world.installation, {})
    expect(await statuses()).toEqual(['SUCCEEDED'])
  })

  test('no attempt begins once it is answered, whatever is under way', async () => {
    for (let round = 0; round < 15; round += 1) {
      const emitting = Promise.all(Array.from({ length: 6 }, () => world.emit(webhook.tenantId, 3)))
      await target.until(target.received.length + (round % 4))
      expect((await patch({ state: 'PAUSED' })).status).toBe(200)
      const atAnswer = await begun()
      await emitting
      await quiet()
      expect(await begun()).toBe(atAnswer)
      await patch({ state: 'ACTIVE' })
      await over()
    }
    expect(target.received.every((one) => verifies(webhook.secret, one))).toBe(true)
  })
})

describe('disabled', () => {
  test('by a 410, at once, with the event and the entry of the system', async () => {
    target.respond(status(410))
    await world.emit(webhook.tenantId)
    await over()
    expect(await state()).toMatchObject({ state: 'DISABLED', disabled_reason: 'target_gone', consecutive_failures: 1 })
    expect(await first()).toMatchObject({ status: 'DEAD_LETTER', attempt: 1 })
    const [entry] = await world.sql`
      select actor_kind, params from audit_entry where action = 'webhook.disabled' and subject_id = ${webhook.id}`
    expect(entry).toEqual({ actor_kind: 'SYSTEM', params: { reason: 'target_gone' } })
    const [event] = await world.sql<{ body: string }[]>`
      select body from outbox_event where type = 'svc.integration.webhook.disabled.v1' order by tx desc limit 1`
    expect(JSON.parse(event?.body ?? '{}').data).toMatchObject({ id: webhook.id, state: 'DISABLED' })
    await world.emit(webhook.tenantId)
    await quiet()
    expect(target.received).toHaveLength(1)
  })

  test('by failing often enough for long enough, and not before', async () => {
    target.respond(status(500))
    for (let failures = 1; failures <= 6; failures += 1) {
      await world.emit(webhook.tenantId)
      await world.until(`failure ${failures}`, async () => (await state()).consecutive_failures === failures)
    }
    expect(await state()).toMatchObject({ state: 'ACTIVE' })
    world.ahead += 3601
    await world.dispatcher().look()
    await world.until('it is disabled', async () => (await state()).state === 'DISABLED')
    expect(await state()).toMatchObject({ disabled_reason: 'unreachable' })

    expect((await patch({ state: 'ACTIVE' })).json).toMatchObject({ consecutive_failures: 0, failing_since: null })
    target.respond(status(204))
    world.ahead += 3600 * 24
    await world.dispatcher().look()
    await over()
    expect(await state()).toMatchObject({ state: 'ACTIVE', consecutive_failures: 0 })
  })

  test('a success in between begins the count afresh', async () => {
    for (const code of [500, 500, 204, 500]) {
      target.respond(status(code))
      const before = target.received.length
      await world.emit(webhook.tenantId)
      await target.until(before + 1)
      await quiet()
    }
    expect(await state()).toMatchObject({ consecutive_failures: 1 })
  })
})

describe('removed', () => {
  test('no attempt begins once it is answered; what is under way changes nothing more', async () => {
    const release = await holding()
    await world.emit(webhook.tenantId, 30)
    await target.until(8)
    expect((await world.call('DELETE', path())).status).toBe(204)
    const atAnswer = await begun()
    await world.emit(webhook.tenantId, 5)
    release()
    await quiet()
    expect(await begun()).toBe(atAnswer)
    expect(target.received.length).toBeLessThanOrEqual(atAnswer)
  })
})

describe('a workspace that is not served', () => {
  const atOnce = productLimits.quick.target
  const perform = (
    operation: typeof tenantOperations.suspendTenant | typeof tenantOperations.resumeTenant,
    tenantId: string,
  ) => performForAnswer(world.installation, operation, recoveryActor(), { tenantId })

  test('suspended: nothing begins, the attempt under way is recorded, and all goes on when it is resumed', async () => {
    const other = await world.another('to-be-suspended')
    const own = await world.subscribe(target.url, { of: other })
    const release = await holding(own)
    await world.emit(own.tenantId, atOnce + 2)
    await target.until(atOnce)
    await perform(tenantOperations.suspendTenant, own.tenantId)
    release()
    const attempts = () => world.sql<{ status: string; n: number }[]>`
      select status, count(*)::int as n from delivery where webhook_id = ${own.id} group by 1 order by 1`
    await world.until('what was under way is recorded', async () => (await attempts())[1]?.n === atOnce + 1)
    await quiet()
    expect(await attempts()).toEqual([
      { status: 'PENDING', n: 2 },
      { status: 'SUCCEEDED', n: atOnce + 1 },
    ])
    expect(target.received).toHaveLength(atOnce)

    await perform(tenantOperations.resumeTenant, own.tenantId)
    await world.dispatcher().look()
    await target.until(atOnce + 2)
  })

  test('purged: nothing is sent, and an answer that comes late leaves no row behind', async () => {
    const other = await world.another('to-be-purged')
    const own = await world.subscribe(target.url, { of: other })
    const release = await holding(own)
    await world.emit(own.tenantId, atOnce + 2)
    await target.until(atOnce)
    await world.sql`
      update tenant set state = 'PENDING_DELETION', purge_after = now(), purge_started_at = now(), deletion_requested_at = now()
      where id = ${own.tenantId}`
    await world.sql`delete from delivery_attempt where tenant_id = ${own.tenantId}`
    release()
    await world.until('nothing is under way', async () => underWay(world.dispatcher()) === 0)
    await world.dispatcher().look()
    expect(await world.sql`select 1 from delivery_attempt where tenant_id = ${own.tenantId}`).toEqual([])
    expect(target.received).toHaveLength(atOnce)
  })

  test('behind the gate nothing is sent; afterwards it is', async () => {
    await world.installation.transaction(recoveryActor(), {}, (ctx) => closeGate(ctx, 'BEGUN'))
    try {
      await world.emit(webhook.tenantId)
      await world.dispatcher().look()
      await quiet()
      expect(target.received).toHaveLength(0)
    } finally {
      await world.sql`update installation set gated_at = null, gate_reason = null, recovery_point = null`
    }
    await target.until(1)
    await over()
  })
})

describe('what must not be sent', () => {
  test('an event that a restore wrote again, even where a delivery of it stands', async () => {
    await patch({ state: 'PAUSED' })
    await patch({ event_types: ['svc.work.bucket.created.v1'] })
    const [event] = await world.emit(webhook.tenantId)
    await world.sql`update outbox_event set is_restored = true where id = ${event ?? ''}`
    await world.sql`
      insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause)
      values (${webhook.tenantId}, gen_random_uuid(), ${webhook.id}, ${event ?? ''}, ${eventType}, 'EVENT')`
    await patch({ state: 'ACTIVE' })
    await over()
    expect(await first()).toMatchObject({ status: 'DEAD_LETTER', attempts: [{ error: 'event.gone' }] })
    expect(target.received).toHaveLength(0)
  })

  test('anything under a secret that cannot be opened: it stays pending, and no attempt is spent', async () => {
    await world.sql`update sealed_value set key_id = 'lost-' || key_id where kind = 'webhook.secret' and tenant_id = ${webhook.tenantId}`
    await world.emit(webhook.tenantId)
    await world.dispatcher().look()
    await quiet()
    expect(await first()).toMatchObject({ status: 'PENDING', attempt: 0 })
    await world.sql`update sealed_value set key_id = substr(key_id, 6) where kind = 'webhook.secret' and tenant_id = ${webhook.tenantId}`
    await world.dispatcher().look()
    await target.until(1)
    await over()
  })
})

describe('daemons', () => {
  test('that die leave an attempt that is noted as interrupted, and made again once its lease is over', async () => {
    const release = await holding()
    await world.emit(webhook.tenantId)
    await target.until(1)
    const second = world.startDispatcher()
    try {
      await second.look()
      expect(await first()).toMatchObject({ status: 'PENDING', attempt: 1, attempts: [{ n: 1, status: null }] })
      world.ahead += 31
      await second.look()
      await target.until(2)
      // The first one's answer comes after all: it is not believed any more.
      release()
      await over()
      await quiet()
      expect(await first()).toMatchObject({
        status: 'SUCCEEDED',
        attempt: 2,
        attempts: [
          { n: 1, error: 'interrupted', status: null },
          { n: 2, error: null, status: 204 },
        ],
      })
      expect(new Set(target.received.map(({ eventId }) => eventId)).size).toBe(1)
      expect(await state()).toMatchObject({ consecutive_failures: 0 })
    } finally {
      await second.close()
    }
  })

  test('beside one another send each event once', async () => {
    const others = [world.startDispatcher(), world.startDispatcher()]
    try {
      const ids = (await Promise.all(Array.from({ length: 40 }, () => world.emit(webhook.tenantId, 5)))).flat()
      await target.until(ids.length)
      await over()
      expect(target.received.map(({ eventId }) => eventId).toSorted()).toEqual(ids.toSorted())
    } finally {
      await Promise.all(others.map((one) => one.close()))
    }
  })

  test('whose listening connection is cut find what was said meanwhile', async () => {
    await world.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'svc notifications' and datname = current_database()`
    const ids = await world.emit(webhook.tenantId, 3)
    await target.until(3)
    await over()
    expect(target.received.map(({ eventId }) => eventId).toSorted()).toEqual(ids.toSorted())
  })

  test('that drain wait for what is under way, and give up what is not over in time', async () => {
    target.respond((_, response) => void setTimeout(() => response.writeHead(204).end(), 300))
    const one = world.startDispatcher()
    const before = world.failures.length
    await world.emit(webhook.tenantId, 8)
    await target.until(2)
    await one.close()
    expect(underWay(one)).toBe(0)
    await over()
    expect(target.received).toHaveLength(8)
    expect(world.failures).toHaveLength(before)
  })
})
