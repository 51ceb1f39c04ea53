/** Webhooks: made, changed, rotated, removed. Spec: Webhook subscription; Webhooks and event pull; decisions 5. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { literalForms } from '../kernel/egress/literal-forms.ts'
import { eventType, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

let world: WebhookWorld
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.sql`truncate webhook, webhook_secret, delivery, delivery_attempt, outbox_event, audit_entry`
})

const url = 'http://127.0.0.1:9/in'
const body = { target_url: url, event_types: [eventType] }
const create = (more: object = {}, headers: Record<string, string> = {}) =>
  world.call('POST', '/integrations/webhooks', { ...body, ...more }, { headers })
const trail = async () =>
  (await world.sql<{ action: string }[]>`select action from audit_entry where action like 'webhook.%' order by id`).map(
    ({ action }) => action,
  )
const events = async () =>
  (await world.sql<{ type: string }[]>`select type from outbox_event order by tx, seq`).map(({ type }) =>
    type.replace(/^svc\.integration\.webhook\.|\.v1$/g, ''),
  )

describe('creating', () => {
  test('answers the secret once, and never again', async () => {
    const made = await create()
    expect(made.status).toBe(201)
    expect(made.headers['location']).toBe(`/api/v1/integrations/webhooks/${made.json.id}`)
    expect(made.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(made.json).toMatchObject({ ...body, filter: null, state: 'ACTIVE', consecutive_failures: 0, version: 1 })

    const shown = await world.call('GET', `/integrations/webhooks/${made.json.id}`)
    const { secret: _, ...rest } = made.json
    expect(shown.json).toEqual(rest)
    expect((await world.call('GET', '/integrations/webhooks')).json).toEqual({ data: [rest] })
    expect([await trail(), await events()]).toEqual([['webhook.created'], ['created']])
    expect(JSON.stringify(await world.sql`select body from outbox_event`)).not.toContain('whsec_')
  })

  test('under a key it happens once, and the secret is stored sealed', async () => {
    const key = { 'idempotency-key': randomUUID() }
    const [first, second] = [await create({}, key), await create({}, key)]
    expect(second.json).toEqual(first.json)
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(await world.sql`select 1 from webhook`).toHaveLength(1)
    expect(await world.sql`select 1 from idempotency_record where body like '%whsec_%'`).toEqual([])
  })

  test.each([
    ['a filter', { filter: 'data.id = 1' }, 422, 'webhook.filter_unsupported'],
    ['an unknown type', { event_types: ['svc.work.nothing.happened.v1'] }, 422, 'request.invalid'],
    ['a type without its namespace', { event_types: ['work.label.created'] }, 422, 'request.invalid'],
    ['a type twice', { event_types: [eventType, eventType] }, 422, 'request.invalid'],
    ['no types', { event_types: [] }, 422, 'request.invalid'],
    ['a target that is too long', { target_url: `https://example.com/${'x'.repeat(2000)}` }, 422, 'request.invalid'],
    ['http to a host that nobody released', { target_url: 'http://example.com/' }, 422, 'webhook.target_forbidden'],
    ['user info', { target_url: 'https://ada:pw@example.com/' }, 422, 'webhook.target_forbidden'],
  ])('refuses %s', async (_, more, status, code) => {
    const refused = await create(more)
    expect([refused.status, refused.json.code]).toEqual([status, code])
    expect(await world.sql`select 1 from webhook`).toEqual([])
  })

  test('takes null for no filter', async () => expect((await create({ filter: null })).status).toBe(201))

  test('of many at once exactly as many are made as the ceiling allows, and the count is told', async () => {
    await world.sql`update tenant_quota set ceiling = 3 where tenant_id = ${world.home.tenantId} and quota = 'webhook_targets'`
    const answers = await Promise.all(Array.from({ length: 12 }, () => create()))
    await world.sql`update tenant_quota set ceiling = 0 where tenant_id = ${world.home.tenantId} and quota = 'webhook_targets'`
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.map(({ json }) => [json.code, json.params])).toEqual(
      refused.map(() => ['quota.exceeded', { quota: 'webhook_targets', limit: 3, used: 3 }]),
    )
  })
})

describe('T-14, at the API', () => {
  test('every odd form of an inner address is the same refusal, and nothing is stored', async () => {
    const strict = await world.daemon.twin({ egress: { names: new Set(), blocks: [], endpoints: new Set() } })
    try {
      const webhook = await create()
      const forms = literalForms.map((form) => form.replaceAll('PORT', '80'))
      for (const target_url of [...forms, `http://127.0.0.1:${strict.port}/`]) {
        const sent = [
          ['POST', '/api/v1/integrations/webhooks', { ...body, target_url }],
          ['PATCH', `/api/v1/integrations/webhooks/${webhook.json.id}`, { target_url }],
        ] as const
        for (const [method, path, json] of sent) {
          const refused = await strict.call(method, path, { token: world.admin.token, body: json })
          const { code, params } = refused.json
          if (code === 'request.invalid') continue // too long, or no text at all
          expect([target_url, method, refused.status, code, params]).toEqual([
            target_url,
            method,
            422,
            'webhook.target_forbidden',
            {},
          ])
        }
      }
    } finally {
      await strict.close()
    }
    expect(await world.sql<{ target_url: string; version: number }[]>`select target_url, version from webhook`).toEqual(
      [{ target_url: url, version: 1 }],
    )
  })
})

describe('changing', () => {
  test('an empty patch changes nothing, and a stale If-Match is refused', async () => {
    const { json } = await create()
    const path = `/integrations/webhooks/${json.id}`
    const same = await world.call('PATCH', path, { state: 'ACTIVE', event_types: [eventType] })
    expect([same.status, same.json.version, same.headers['etag']]).toEqual([200, 1, '"1"'])
    const stale = await world.call('PATCH', path, { state: 'PAUSED' }, { headers: { 'if-match': '"7"' } })
    expect(stale.json.code).toBe('precondition.failed')
    expect([await trail(), await events()]).toEqual([['webhook.created'], ['created']])
  })

  test('pauses, resumes, and enables again what was disabled, with who', async () => {
    const { json } = await create()
    const path = `/integrations/webhooks/${json.id}`
    expect((await world.call('PATCH', path, { state: 'PAUSED' })).json).toMatchObject({ state: 'PAUSED', version: 2 })
    expect((await world.call('PATCH', path, { state: 'ACTIVE' })).json).toMatchObject({ state: 'ACTIVE', version: 3 })
    await world.sql`
      update webhook set state = 'DISABLED', disabled_reason = 'unreachable', consecutive_failures = 40, failing_since = now()`
    expect((await world.call('PATCH', path, { state: 'PAUSED' })).json.code).toBe('webhook.not_active')
    const enabled = await world.call('PATCH', path, { state: 'ACTIVE' })
    expect(enabled.json).toMatchObject({
      state: 'ACTIVE',
      disabled_reason: null,
      consecutive_failures: 0,
      failing_since: null,
    })
    expect(await trail()).toEqual(['webhook.created', 'webhook.changed', 'webhook.changed', 'webhook.enabled'])
    expect(await events()).toEqual(['created', 'changed', 'changed', 'enabled'])
    const [entry] = await world.sql`select actor_account_id from audit_entry where action = 'webhook.enabled'`
    expect(entry).toEqual({ actor_account_id: world.admin.accountId })
  })

  test.each([
    ['state', 'DISABLED'],
    ['state', null],
    ['target_url', null],
    ['event_types', null],
    ['secret', 'whsec_x'],
    ['consecutive_failures', 0],
  ])('refuses %s %s', async (member, value) => {
    const { json } = await create()
    const refused = await world.call('PATCH', `/integrations/webhooks/${json.id}`, { [member]: value })
    expect([refused.status, refused.json.code]).toEqual([422, 'request.invalid'])
  })
})

describe('rotating', () => {
  const rotate = (id: string, body: object = {}, headers: Record<string, string> = {}) =>
    world.call('POST', `/integrations/webhooks/${id}:rotate-secret`, body, { headers })

  test('answers a new secret once, and keeps the last for a day', async () => {
    const made = await create()
    const rotated = await rotate(made.json.id)
    expect(rotated.status).toBe(200)
    expect(rotated.json.secret).not.toBe(made.json.secret)
    const graceMs = Date.parse(rotated.json.previous_secret_until) - Date.parse(rotated.json.secret_rotated_at)
    expect(graceMs).toBe(86_400_000)
    expect([await trail(), await events()]).toEqual([
      ['webhook.created', 'webhook.secret_rotated'],
      ['created', 'secret_rotated'],
    ])
  })

  test('at most five are in grace; 0 ends them all and removes what was sealed', async () => {
    const { json } = await create()
    for (let n = 0; n < 5; n += 1) expect((await rotate(json.id, { grace_seconds: 60 })).status).toBe(200)
    expect((await rotate(json.id)).json.code).toBe('webhook.rotation_limit')
    expect(
      await world.sql`select 1 from sealed_value where kind = 'webhook.secret' and owner_id in (select id from webhook_secret)`,
    ).toHaveLength(6)
    const ended = await rotate(json.id, { grace_seconds: 0 })
    expect(ended.json.previous_secret_until).toBeNull()
    expect(await world.sql`select 1 from webhook_secret`).toHaveLength(1)
    expect(
      await world.sql`
      select 1 from sealed_value where kind = 'webhook.secret' and tenant_id = ${world.home.tenantId}
        and owner_id in (select id from webhook_secret)`,
    ).toHaveLength(1)
  })

  test('twenty at once under one key are one rotation', async () => {
    const { json } = await create()
    const key = { 'idempotency-key': randomUUID() }
    const answers = await Promise.all(Array.from({ length: 20 }, () => rotate(json.id, { grace_seconds: 60 }, key)))
    const secrets = new Set(answers.filter(({ status }) => status === 200).map(({ json: one }) => one.secret))
    expect(secrets.size).toBe(1)
    expect(await world.sql`select 1 from webhook_secret`).toHaveLength(2)
  })
})

describe('removing', () => {
  test('takes secrets and deliveries with it', async () => {
    const { json } = await create()
    await world.emit(world.home.tenantId, 3)
    const path = `/integrations/webhooks/${json.id}`
    expect((await world.call('GET', `${path}/deliveries`)).json.data).toHaveLength(3)
    expect((await world.call('DELETE', path)).status).toBe(204)
    for (const gone of [path, `${path}/deliveries`]) expect((await world.call('GET', gone)).json.code).toBe('not_found')
    expect((await world.call('DELETE', path)).json.code).toBe('not_found')
    expect(await world.sql`select 1 from webhook_secret`).toEqual([])
    expect(
      await world.sql`select 1 from pgboss.job where name = 'remove_deliveries' and data ->> 'webhookId' = ${json.id}`,
    ).toHaveLength(1)
  })
})

describe('T-41: whose events', () => {
  test("another workspace's event, webhook and delivery are not found", async () => {
    const other = await world.another('other-one')
    const webhook = (await create()).json
    const [foreign] = await world.emit(other.tenantId)
    const [own] = await world.emit(world.home.tenantId)
    const send = (event_id: unknown, token?: string) =>
      world.call('POST', `/integrations/webhooks/${webhook.id}:send`, { event_id }, token ? { token } : {})
    expect((await send(foreign)).json.code).toBe('not_found')
    expect((await send(own, other.token)).json.code).toBe('not_found')
    expect((await send(own)).status).toBe(202)
    const [delivery] = (await world.call('GET', `/integrations/webhooks/${webhook.id}/deliveries`)).json.data
    const theirs = await world.call(
      'GET',
      `/integrations/webhooks/${webhook.id}/deliveries/${delivery.id}`,
      undefined,
      { token: other.token },
    )
    expect(theirs.json.code).toBe('not_found')
  })

  test('nothing is sent to a paused webhook, and an event of a restore never', async () => {
    const { json } = await create({ event_types: ['svc.work.bucket.created.v1'] })
    const [event, restored] = await world.emit(world.home.tenantId, 2)
    const send = (event_id: unknown) => world.call('POST', `/integrations/webhooks/${json.id}:send`, { event_id })
    expect((await send(event)).json).toMatchObject({ cause: 'SEND', status: 'PENDING', event_id: event })
    await world.sql`update outbox_event set is_restored = true where id = ${restored ?? ''}`
    expect((await send(restored)).json.code).toBe('webhook.event_restored')
    await world.call('PATCH', `/integrations/webhooks/${json.id}`, { state: 'PAUSED' })
    expect((await send(event)).json.code).toBe('webhook.not_active')
  })
})
