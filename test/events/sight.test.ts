/** A pull answers the events of private containers to whoever sees these at that moment. Decisions 7, Sight of events; decision 0155. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Container } from '../../src/core/contract/containers/operations.ts'
import { typeOf } from '../../src/core/contract/event.ts'
import { catalog } from '../../src/core/contract/event-catalog.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Board, openBoard } from '../containers/board.ts'
import { numberEvents } from '../kit/events.ts'
import type { Person } from '../kit/people.ts'

const types = Object.keys(catalog).map((name) => typeOf('svc', name))
const createdType = 'svc.work.item.created.v1'

let board: Board
let colleague: Person
beforeAll(async () => {
  board = await openBoard()
  colleague = await adminOnly()
})
afterAll(() => board.close())

/** A further ADMIN of the workspace. */
async function adminOnly(): Promise<Person> {
  const who = await board.guest()
  await board.grant(null, who, 'ADMIN')
  return who
}

interface Event {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

interface Pulled {
  readonly data: readonly Event[]
  readonly next_since: string
  readonly has_more: boolean
}

async function page(as: Person, type: string, since?: string, limit = 200): Promise<Pulled> {
  const query = `limit=${limit}${since === undefined ? '' : `&since=${since}`}`
  const { status, json, text } = await board.ask(`GET /integrations/triggers/${type}?${query}`, undefined, { as })
  if (status !== 200) throw new Error(`${status} ${text}`)
  return json
}

async function pulled(as: Person, type = createdType, limit = 200): Promise<Event[]> {
  const found: Event[] = []
  for (let at: Pulled = await page(as, type, undefined, limit); ; at = await page(as, type, at.next_since, limit)) {
    found.push(...at.data)
    if (!at.has_more) return found
  }
}

/** One type after the other: all at once are more than the door lets wait on a busy machine. */
async function everything(as: Person): Promise<string> {
  const all: Event[] = []
  for (const type of types) all.push(...(await pulled(as, type)))
  return JSON.stringify(all)
}
const titles = async (as: Person) => (await pulled(as)).map(({ data }) => data['title'])

async function item(container: Container, title: string, as?: Person): Promise<Item> {
  const { status, json, text } = await board.ask('POST /items', { container_id: container.id, title }, as ? { as } : {})
  if (status !== 201) throw new Error(`${status} ${text}`)
  return json
}

const hide = (container: Container, is_private: boolean) =>
  board.ask(`PUT /containers/${container.id}/privacy`, { is_private })

describe('a pull', () => {
  test('answers nothing of a private container to an ADMIN who does not see it, of whatever type', async () => {
    const hub = await board.hub({ name: 'Marker hub', is_private: true })
    const secret = await board.collection(hub, { name: 'Marker collection' })
    const inOpen = await board.collection(await board.hub(), { name: 'Marker alone', is_private: true })
    for (const place of [secret, inOpen]) {
      const { id } = await item(place, 'Marker title')
      const bucket = await board.ask(`POST /containers/${place.id}/buckets`, { name: 'Marker bucket' })
      const label = await board.ask(`POST /containers/${place.id}/labels`, { name: 'Marker label', color_token: 'red' })
      const field = { collection_id: place.id, key: 'marker', kind: 'TEXT', applies_to: ['TASK'] }
      expect([bucket.status, label.status]).toEqual([201, 201])
      expect((await board.ask('POST /custom-fields', field)).status).toBe(201)
      await board.ask(`PATCH /items/${id}`, { description: 'Marker text' })
      await board.ask(`POST /items/${id}/labels`, { label_id: label.json.id })
      await board.ask(`POST /items/${id}:move`, { bucket_id: bucket.json.id })
      await board.ask(`POST /items/${id}:complete`)
      await board.ask(`POST /items/${id}:reopen`)
      await board.ask(`DELETE /containers/${place.id}/buckets/${bucket.json.id}`, {})
      await board.ask('POST /memberships', {
        account_id: board.people.MEMBER.accountId,
        container_id: place.id,
        role: 'MEMBER',
      })
      await board.ask(`DELETE /items/${id}`)
      await board.ask(`DELETE /containers/${place.id}`)
      await board.ask(`POST /containers/${place.id}:restore`)
      expect((await board.ask(`GET /containers/${place.id}`, undefined, { as: colleague })).status).toBe(404)
    }
    const told = await everything(colleague)
    expect(told.match(/marker[^"]*/gi)).toBeNull()
    for (const { id } of [hub, secret, inOpen]) expect(told).not.toContain(id)
    expect(
      new Set((await everything(board.people.OWNER)).match(/marker[^"]*/gi)?.map((text) => text.toLowerCase())),
    ).toEqual(
      new Set([
        'marker hub',
        'marker collection',
        'marker alone',
        'marker title',
        'marker text',
        'marker bucket',
        'marker label',
        'marker',
      ]),
    )
  })

  test('answers what happened before to whoever is let in, and nothing any more once that ends', async () => {
    const secret = await board.collection(await board.hub({ is_private: true }))
    await item(secret, 'before')
    expect(await titles(colleague)).not.toContain('before')

    await board.grant(secret, colleague, 'VIEWER')
    await item(secret, 'since')
    expect((await titles(colleague)).slice(-2)).toEqual(['before', 'since'])

    const { sql } = board.daemon.db
    await sql`delete from membership where account_id = ${colleague.accountId} and container_id = ${secret.id}`
    expect(await titles(colleague)).not.toContain('before')
  })

  test('forgets a container that is hidden at once, and answers one that is opened', async () => {
    const hub = await board.hub()
    const place = await board.collection(hub)
    await item(place, 'mine to see')
    const sees = async () => (await titles(colleague)).includes('mine to see')
    expect(await sees()).toBe(true)
    for (const one of [place, hub]) {
      await hide(one, true)
      expect(await sees()).toBe(false)
      await hide(one, false)
      expect(await sees()).toBe(true)
    }
  })

  test('counts a membership of the hub in its open collections, and not in a private one', async () => {
    const hub = await board.hub({ is_private: true })
    await item(await board.collection(hub), 'in the open one')
    await item(await board.collection(hub, { is_private: true }), 'in the private one')
    const member = await adminOnly()
    await board.grant(hub, member, 'VIEWER')
    const found = await titles(member)
    expect([found.includes('in the open one'), found.includes('in the private one')]).toEqual([true, false])
  })

  test('answers of an item that left a private container what happened in the open one', async () => {
    const secret = await board.collection(await board.hub({ is_private: true }))
    const open = await board.collection(await board.hub())
    const { id } = await item(secret, 'written in private')
    await board.ask(`PATCH /items/${id}`, { title: 'fit to be seen' })
    expect((await board.ask(`POST /items/${id}:move`, { container_id: open.id })).status).toBe(200)
    const moved = (await pulled(colleague, 'svc.work.item.moved.v1')).at(-1)
    expect(moved?.data).toMatchObject({ id, title: 'fit to be seen', container_id: open.id })
    const told = await everything(colleague)
    expect(told).not.toContain('written in private')
    expect(told).not.toContain(secret.id)
  })

  test('answers the workspace’s own events as before', async () => {
    const before = (await pulled(colleague, 'svc.identity.membership.granted.v1')).length
    const guest = await board.guest()
    await board.ask('POST /memberships', { account_id: guest.accountId, role: 'MEMBER' })
    expect(await pulled(colleague, 'svc.identity.membership.granted.v1')).toHaveLength(before + 1)
  })

  test('reads of an event that was written before events named their container where it belongs', async () => {
    const secret = await board.collection(await board.hub({ is_private: true }))
    await item(secret, 'of old')
    const unnamed = '00000000-0000-0000-0000-000000000000'
    await board.daemon.db.sql`update outbox_event set container_id = ${unnamed} where tenant_id = ${board.tenantId}`
    expect(await titles(colleague)).not.toContain('of old')
    expect((await titles(board.people.OWNER)).at(-1)).toBe('of old')
    const told = await everything(colleague)
    expect(told).not.toContain(secret.id)
    expect((await titles(colleague)).length).toBeGreaterThan(0)
  })

  test('hides what is of a container that is no more from all but OWNERs', async () => {
    const type = 'svc.work.label.created.v1'
    const containerId = randomUUIDv7()
    const label = { id: randomUUIDv7(), container_id: containerId, name: 'of nobody', color_token: 'red' }
    const { sql } = board.daemon.db
    await sql`
      with before as (${numberEvents(sql, board.tenantId, 1)})
      insert into outbox_event (tenant_id, id, seq, type, container_id, body)
      select ${board.tenantId}, ${randomUUIDv7()}, last + 1, ${type}, ${containerId}, ${JSON.stringify({ data: label })} from before`
    expect(JSON.stringify(await pulled(colleague, type))).not.toContain('of nobody')
    expect(JSON.stringify(await pulled(board.people.OWNER, type))).toContain('of nobody')
  })
})

describe('the bound', () => {
  test('a page looks at a thousand events at most, and goes on behind those that it did not answer', async () => {
    const type = 'svc.work.label.changed.v1'
    const hub = await board.hub()
    const [secret, open] = [await board.collection(hub, { is_private: true }), await board.collection(hub)]
    const write = (container: Container, name: string, count: number) => board.daemon.db.sql`
      with before as (${numberEvents(board.daemon.db.sql, board.tenantId, count)})
      insert into outbox_event (tenant_id, id, seq, type, container_id, body)
      select ${board.tenantId}, uuidv7(), last + n, ${type}, ${container.id}, json_build_object('data', json_build_object('name', ${name} || n))
      from before, generate_series(1, ${count}::int) n`
    await write(secret, 'hidden', 2_500)
    await write(open, 'shown', 2)
    await write(secret, 'hidden again', 999)
    await write(open, 'last', 1)

    const pages: [names: unknown[], more: boolean][] = []
    for (let since: string | undefined; pages.length < 10 && pages.at(-1)?.[1] !== false; ) {
      const { data, next_since, has_more } = await page(colleague, type, since, 2)
      pages.push([data.map((event) => event.data['name']), has_more])
      since = next_since
    }
    expect(pages).toEqual([
      [[], true],
      [[], true],
      [['shown1', 'shown2'], true],
      [['last1'], false],
    ])
    // A page that is full ends with its last event, so that nothing behind it is looked at twice for good.
    expect((await pulled(colleague, type, 1)).map(({ data }) => data['name'])).toEqual(['shown1', 'shown2', 'last1'])
    expect(await pulled(board.people.OWNER, type)).toHaveLength(3_502)
  })
})
