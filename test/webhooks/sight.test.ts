/** A webhook is told of private containers what the account that it acts for sees. Decisions 7, Sight of events; decision 0156. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Container } from '../../src/core/contract/containers/operations.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import type { Delivery } from '../../src/core/contract/webhooks/operations.ts'
import { type Person, person } from '../kit/people.ts'
import { receiver, status as statusOf } from '../kit/receiver.ts'
import { type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const types = ['svc.work.item.created.v1', 'svc.work.item.changed.v1', 'svc.work.item.moved.v1']
const url = 'http://127.0.0.1:9/in'

let world: WebhookWorld
let owner: Person
let admin: Person
let secret: Container
let open: Container
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  owner = await somebody('OWNER')
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.sql`truncate webhook, webhook_secret, delivery, delivery_attempt, outbox_event, audit_entry`
  admin = await somebody('ADMIN')
  secret = await collection(await container({ kind: 'HUB', name: 'Directors', is_private: true }))
  open = await collection(await container({ kind: 'HUB', name: 'Everybody' }))
})

const somebody = (role: Role) =>
  person(world.daemon, world.home.tenantId, { role, expires: "now() + interval '1 day'" })
const ask = (as: Person, request: `${string} /${string}`, body?: object) => {
  const [method = '', path = ''] = request.split(' ')
  return world.call(method, path, body, { token: as.token })
}
async function done<T>(as: Person, request: `${string} /${string}`, body?: object): Promise<T> {
  const { status, json, text } = await ask(as, request, body)
  if (status >= 300) throw new Error(`${request} was answered with ${status}: ${text}`)
  return json as T
}
const container = (body: object) => done<Container>(owner, 'POST /containers', body)
const collection = (hub: Container, more: object = {}) =>
  container({ kind: 'COLLECTION', parent_id: hub.id, name: 'Inside', ...more })
const item = (place: Container, title = 'told') => done<Item>(owner, 'POST /items', { container_id: place.id, title })
const hide = (place: Container, is_private: boolean) =>
  done(owner, `PUT /containers/${place.id}/privacy`, { is_private })
const grant = (who: Person, place: Container | null, role: Role) => world.sql`
  insert into membership (tenant_id, id, account_id, container_id, role)
  values (${who.tenantId}, ${randomUUIDv7()}, ${who.accountId}, ${place?.id ?? null}, ${role})`

interface Hook {
  readonly id: string
  readonly acts_for: string | null
  readonly state: string
  readonly disabled_reason: string | null
}
const subscribe = (as: Person, target_url = url) =>
  done<Hook>(as, 'POST /integrations/webhooks', { target_url, event_types: types })
const shown = ({ id }: Hook, as = owner) => done<Hook>(as, `GET /integrations/webhooks/${id}`)
const change = (as: Person, { id }: Hook, body: object) => done<Hook>(as, `PATCH /integrations/webhooks/${id}`, body)
const deliveries = async ({ id }: Hook, as = owner) =>
  (await done<{ data: Delivery[] }>(as, `GET /integrations/webhooks/${id}/deliveries`)).data
/** How many deliveries it has, oldest to newest by what became of them. */
const statuses = async (hook: Hook) => (await deliveries(hook)).map(({ status }) => status).reverse()
const newestEvent = async (titled: string) => {
  const [row] = await world.sql<{ id: string }[]>`
    select id from outbox_event where body like ${`%"${titled}"%`} order by tx desc, seq desc limit 1`
  return row!.id
}

describe('the fan-out', () => {
  test('writes no delivery of a private container to a webhook whose account does not see it', async () => {
    const [theirs, ours] = [await subscribe(admin), await subscribe(owner)]
    expect([theirs.acts_for, ours.acts_for]).toEqual([admin.accountId, owner.accountId])
    await item(secret)
    expect([await statuses(theirs), await statuses(ours)]).toEqual([[], ['PENDING']])
    await item(open)
    expect([await statuses(theirs), await statuses(ours)]).toEqual([['PENDING'], ['PENDING', 'PENDING']])
  })

  test('counts memberships of the container and of its hub, and privacy of both, at that moment', async () => {
    const hook = await subscribe(admin)
    const told = async (place: Container) => {
      const before = (await deliveries(hook)).length
      await item(place)
      return (await deliveries(hook)).length - before
    }
    const own = await collection({ id: secret.parent_id } as Container, { is_private: true })
    expect([await told(secret), await told(own)]).toEqual([0, 0])
    await grant(admin, { id: secret.parent_id } as Container, 'VIEWER')
    expect([await told(secret), await told(own)]).toEqual([1, 0])
    await grant(admin, own, 'VIEWER')
    expect([await told(secret), await told(own)]).toEqual([1, 1])
    await world.sql`delete from membership where account_id = ${admin.accountId} and container_id is not null`
    expect([await told(secret), await told(own)]).toEqual([0, 0])

    expect(await told(open)).toBe(1)
    await hide(open, true)
    expect(await told(open)).toBe(0)
    await hide(open, false)
    expect(await told(open)).toBe(1)
    const hub = { id: open.parent_id } as Container
    await hide(hub, true)
    expect(await told(open)).toBe(0)
    await hide(hub, false)
  })

  test('sees for an account that is disabled, and for nobody, what is open', async () => {
    const [ours, nobodys] = [await subscribe(owner), await subscribe(owner)]
    const other = await somebody('OWNER')
    const theirs = await subscribe(other)
    await world.sql`update account set state = 'DISABLED' where id = ${other.accountId}`
    await world.sql`update webhook set acts_for = null where id = ${nobodys.id}`
    for (const place of [secret, open]) await item(place)
    expect(await Promise.all([ours, nobodys, theirs].map(async (hook) => (await statuses(hook)).length))).toEqual([
      2, 1, 1,
    ])
  })

  test('of an item that moves asks for the container that it moves to', async () => {
    const hook = await subscribe(admin)
    const [out, into] = [await item(secret), await item(open)]
    await done(owner, `POST /items/${out.id}:move`, { container_id: open.id })
    await done(owner, `POST /items/${into.id}:move`, { container_id: secret.id })
    const events = await world.sql<{ id: string; item: string }[]>`
      select id, body::jsonb #>> '{data,id}' as item from outbox_event where type = 'svc.work.item.moved.v1'`
    const told = (await deliveries(hook)).filter(({ event_type }) => event_type.endsWith('moved.v1'))
    expect(told.map(({ event_id }) => events.find(({ id }) => id === event_id)?.item)).toEqual([out.id])
  })
})

describe('whom a webhook acts for', () => {
  test('is who made it, and then who changed where it goes or what it is told, or set it going', async () => {
    const hook = await subscribe(owner)
    const actsFor = async (body: object, as = admin) => (await change(as, hook, body)).acts_for
    const back = () => actsFor({ target_url: `${url}/${randomUUIDv7()}` }, owner)
    expect(await actsFor({ state: 'ACTIVE' })).toBe(owner.accountId)
    expect(await actsFor({ state: 'PAUSED' })).toBe(owner.accountId)
    expect(await actsFor({ state: 'ACTIVE' })).toBe(admin.accountId)
    expect(await back()).toBe(owner.accountId)
    expect(await actsFor({ target_url: `${url}/elsewhere` })).toBe(admin.accountId)
    expect(await back()).toBe(owner.accountId)
    expect(await actsFor({ event_types: types.slice(1) })).toBe(admin.accountId)
    const entries = await world.sql`
      select params from audit_entry where action = 'webhook.changed' and params ? 'acts_for' order by at`
    expect(entries.map(({ params }) => params.acts_for)).toEqual([
      admin.accountId,
      owner.accountId,
      admin.accountId,
      owner.accountId,
      admin.accountId,
    ])
  })

  test('an ADMIN who names another target gets nothing that waits of a container that the ADMIN does not see', async () => {
    const elsewhere = await receiver()
    const hook = await subscribe(owner)
    const began = await item(secret, 'began')
    await item(secret, 'waits')
    await item(open, 'open')
    // One attempt is under way while the webhook changes hands.
    await world.sql`
      update delivery set attempt = 1, started_at = now(), leased_until = now() - interval '1 second'
      where event_id = ${await newestEvent('began')}`
    await change(admin, hook, { target_url: elsewhere.url })
    expect(await statuses(hook)).toEqual(['DEAD_LETTER', 'DEAD_LETTER', 'PENDING'])

    world.startDispatcher()
    await elsewhere.until(1)
    await world.until('all is delivered', async () => !(await statuses(hook)).includes('PENDING'))
    await world.dispatcher().close()
    expect(elsewhere.received.map(({ body }) => JSON.parse(body).data.title)).toEqual(['open'])
    await elsewhere.close()

    const waiting = (await deliveries(hook)).find(({ status }) => status === 'DEAD_LETTER')!
    const path = `/integrations/webhooks/${hook.id}/deliveries/${waiting.id}` as const
    expect((await ask(admin, `POST ${path}:replay`)).status).toBe(404)
    expect((await ask(owner, `POST ${path}:replay`)).json).toMatchObject({ status: 409, code: 'webhook.event_unseen' })
    await change(owner, hook, { target_url: url })
    expect((await ask(owner, `POST ${path}:replay`)).status).toBe(202)
    expect((await ask(owner, `GET /items/${began.id}`)).status).toBe(200)
  })

  test('is disabled with the account’s last role, and taken over by an ADMIN who sets it going', async () => {
    const leaving = await somebody('ADMIN')
    const [hook, paused, others] = [await subscribe(leaving), await subscribe(leaving), await subscribe(owner)]
    await change(leaving, paused, { state: 'PAUSED' })
    await grant(leaving, secret, 'VIEWER')
    const [{ id: membership } = { id: '' }] = await world.sql<{ id: string }[]>`
      select id from membership where account_id = ${leaving.accountId} and container_id is null`
    await done(owner, `DELETE /memberships/${membership}`)

    for (const one of [hook, paused])
      expect(await shown(one)).toMatchObject({
        state: 'DISABLED',
        disabled_reason: 'owner_left',
        acts_for: leaving.accountId,
      })
    expect(await shown(others)).toMatchObject({ state: 'ACTIVE', disabled_reason: null })
    const entries = await world.sql`select subject_id, params from audit_entry where action = 'webhook.disabled'`
    expect(entries.map(({ subject_id, params }) => [subject_id, params])).toEqual(
      expect.arrayContaining([hook, paused].map(({ id }) => [id, { reason: 'owner_left' }])),
    )
    expect(await world.sql`select 1 from outbox_event where type = 'svc.integration.webhook.disabled.v1'`).toHaveLength(
      2,
    )

    expect(await change(admin, hook, { state: 'ACTIVE' })).toMatchObject({
      state: 'ACTIVE',
      disabled_reason: null,
      acts_for: admin.accountId,
    })
    for (const place of [secret, open]) await item(place)
    expect(await statuses(hook)).toEqual(['PENDING'])
  })

  test('stays while any role is left', async () => {
    const leaving = await somebody('ADMIN')
    const hook = await subscribe(leaving)
    await grant(leaving, open, 'VIEWER')
    const [{ id } = { id: '' }] = await world.sql<{ id: string }[]>`
      select id from membership where account_id = ${leaving.accountId} and container_id = ${open.id}`
    await done(owner, `DELETE /memberships/${id}`)
    expect(await shown(hook)).toMatchObject({ state: 'ACTIVE' })
  })

  test('of one that is made while its account leaves, either it is not made or it is disabled', async () => {
    for (let round = 0; round < 12; round += 1) {
      const leaving = await somebody('ADMIN')
      const [{ id } = { id: '' }] = await world.sql<{ id: string }[]>`
        select id from membership where account_id = ${leaving.accountId}`
      const [made] = await Promise.all([
        ask(leaving, 'POST /integrations/webhooks', { target_url: url, event_types: types }),
        done(owner, `DELETE /memberships/${id}`),
      ])
      if (made.status === 201) expect(await shown(made.json)).toMatchObject({ disabled_reason: 'owner_left' })
      else expect([401, 403]).toContain(made.status)
    }
    expect(await world.sql`select 1 from webhook where state = 'ACTIVE'`).toEqual([])
  })
})

describe('what is sent by hand', () => {
  test('an event that the caller does not see is not found, as one that nobody wrote', async () => {
    const hook = await subscribe(admin)
    await item(secret, 'hidden')
    const send = async (as: Person, event_id: string) =>
      ask(as, `POST /integrations/webhooks/${hook.id}:send`, { event_id })
    const [hidden, unknown] = [await send(admin, await newestEvent('hidden')), await send(admin, randomUUIDv7())]
    const bare = ({ text }: { text: string }) => text.replaceAll(/urn:uuid:[0-9a-f-]+/g, '')
    expect([hidden.status, bare(hidden)]).toEqual([404, bare(unknown)])
    expect(await deliveries(hook)).toEqual([])
  })

  test('an event that the caller sees and the webhook’s account does not is refused', async () => {
    const [theirs, ours] = [await subscribe(admin), await subscribe(owner)]
    await item(secret, 'hidden')
    const event_id = await newestEvent('hidden')
    const refused = await ask(owner, `POST /integrations/webhooks/${theirs.id}:send`, { event_id })
    expect([refused.status, refused.json.code]).toEqual([409, 'webhook.event_unseen'])
    expect((await ask(owner, `POST /integrations/webhooks/${ours.id}:send`, { event_id })).status).toBe(202)
    expect((await ask(admin, `POST /integrations/webhooks/${ours.id}:send`, { event_id })).status).toBe(404)
    await item(open, 'open')
    const sent = await ask(admin, `POST /integrations/webhooks/${theirs.id}:send`, {
      event_id: await newestEvent('open'),
    })
    expect(sent.status).toBe(202)
  })

  test('what a target answered to an event is shown to whoever sees the event', async () => {
    const echo = await receiver()
    echo.respond(statusOf(200, {}, 'thanks for: Dismissal'))
    const hook = await subscribe(owner, echo.url)
    world.startDispatcher()
    await item(secret, 'Dismissal')
    await echo.until(1)
    await world.until('it is over', async () => (await statuses(hook)).every((status) => status === 'SUCCEEDED'))
    await world.dispatcher().close()
    await echo.close()
    const bodies = async (as: Person) => {
      const [one] = await deliveries(hook, as)
      const single = await done<Delivery>(as, `GET /integrations/webhooks/${hook.id}/deliveries/${one!.id}`)
      return [one, single].map((delivery) => delivery?.attempts.map(({ status, body }) => [status, body]))
    }
    expect(await bodies(owner)).toEqual([[[200, 'thanks for: Dismissal']], [[200, 'thanks for: Dismissal']]])
    expect(await bodies(admin)).toEqual([[[200, null]], [[200, null]]])
    await grant(admin, secret, 'VIEWER')
    expect(await bodies(admin)).toEqual([[[200, 'thanks for: Dismissal']], [[200, 'thanks for: Dismissal']]])
  })
})
