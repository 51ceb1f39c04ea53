/** `POST /items:bulk`: what each mode leaves, and that each action is its own operation. Spec: items 1, N6. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemBulkOperations } from '../../src/core/contract/items/bulk.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { Person } from '../kit/people.ts'
import { type Desk, expectUntouched, openDesk, pointers } from './desk.ts'

let desk: Desk
let member: Person
beforeAll(async () => {
  desk = await openDesk()
  member = desk.people.MEMBER
  await desk.field({ key: 'size', kind: 'NUMBER' })
})
afterAll(() => desk.close())

const bulk = (items: readonly object[], actions: readonly object[], more = {}, as = member) =>
  desk.ask('POST /items:bulk', { items, actions, ...more }, { as })
const some = async (count: number) => {
  const items: Item[] = []
  for (let n = 0; n < count; n += 1) items.push(await desk.item({ title: `Item ${n}` }))
  return items
}
const ids = (items: readonly Item[]) => items.map(({ id }) => ({ id }))
const stateOf = ({ json }: { json: { results: { status: number; code: string | null; version: number | null }[] } }) =>
  json.results.map(({ status, code, version }) => [status, code, version])
const trailOf = async ({ id }: Item): Promise<string[]> =>
  (await desk.ask(`GET /items/${id}/activity`)).json.data.map(({ action }: { action: string }) => action)

describe('each action does what its operation does', () => {
  const account = () => ({ account_id: desk.people.ADMIN.accountId })
  const actions: readonly (readonly [string, () => object, Partial<Item> | (() => Partial<Item>), string])[] = [
    ['update', () => ({ title: 'New' }), { title: 'New' }, 'item.changed'],
    ['move', () => ({ bucket_id: desk.buckets[1] }), () => ({ bucket_id: desk.buckets[1] ?? null }), 'item.moved'],
    ['complete', () => ({}), { state: 'DONE' }, 'item.completed'],
    ['assign', account, () => ({ assignee_id: account().account_id }), 'item.assigned'],
    ['add_member', account, () => ({ member_ids: [account().account_id] }), 'item.member_added'],
    [
      'add_label',
      () => ({ label_id: desk.labels[0] }),
      () => ({ label_ids: desk.labels.slice(0, 1) }),
      'item.label_added',
    ],
    ['set_field', () => ({ key: 'size', value: 3 }), { custom_fields: { size: 3 } }, 'item.field_set'],
    ['set_due', () => ({ due_on: '2030-05-02' }), { due_on: '2030-05-02' }, 'item.changed'],
  ]
  test.each(actions)('%s', async (action, body, members, entry) => {
    const [item] = await some(1)
    const answered = await bulk(ids([item!]), [{ action, ...body() }])
    expect(stateOf(answered)).toEqual([[200, null, 2]])
    const now = await desk.read(item!)
    expect(now).toMatchObject(typeof members === 'function' ? members() : members)
    expect(await desk.told(item!)).toEqual(now)
    expect((await trailOf(item!))[0]).toContain(entry)
  })

  const undoing: readonly (readonly [string, string, () => object])[] = [
    ['complete', 'reopen', () => ({})],
    ['assign', 'unassign', account],
    ['add_member', 'remove_member', account],
    ['add_label', 'remove_label', () => ({ label_id: desk.labels[1] })],
    ['archive', 'unarchive', () => ({})],
  ]
  test.each(undoing)('%s, and then %s', async (does, undoes, body) => {
    const [item] = await some(1)
    const answered = await bulk(ids([item!]), [
      { action: does, ...body() },
      { action: undoes, ...body() },
    ])
    expect(stateOf(answered)).toEqual([[200, null, 3]])
    expect((await desk.read(item!)).version).toBe(3)
  })

  test('set_due, and then clear_due', async () => {
    const [item] = await some(1)
    const answered = await bulk(ids([item!]), [{ action: 'set_due', due_on: '2030-05-02' }, { action: 'clear_due' }])
    expect(stateOf(answered)).toEqual([[200, null, 3]])
    expect(await desk.read(item!)).toMatchObject({ due_on: null, due_at: null })
  })

  test('delete, behind which nothing is', async () => {
    const [item, other] = await some(2)
    expect(stateOf(await bulk(ids([item!]), [{ action: 'delete' }]))).toEqual([[200, null, null]])
    expect((await desk.ask(`GET /items/${item!.id}`)).status).toBe(404)
    const answered = await bulk(ids([other!]), [{ action: 'delete' }, { action: 'complete' }])
    expect(stateOf(answered)).toEqual([[404, 'not_found', null]])
    expect((await desk.read(other!)).version).toBe(1)
  })
})

describe('EACH', () => {
  test('an item that refuses stays as it was, with nothing told of it, and the others are changed', async () => {
    const [a, b, c, d] = await some(4)
    await desk.act(b!, 'archive')
    const unknown = randomUUID()
    const answered = await bulk(
      [{ id: a!.id, version: 1 }, { id: b!.id }, { id: unknown }, { id: c!.id, version: 7 }, { id: d!.id }],
      [{ action: 'complete' }, { action: 'add_label', label_id: desk.labels[0] }],
    )
    expect(stateOf(answered)).toEqual([
      [200, null, 3],
      [409, 'item.archived', null],
      [404, 'not_found', null],
      [412, 'precondition.failed', null],
      [200, null, 3],
    ])
    expect(answered.json.results[3].params).toEqual({ current_etag: '"1"' })
    for (const item of [b!, c!]) expect(await trailOf(item)).not.toContain('item.completed')
    expect((await desk.read(c!)).version).toBe(1)
    expect(await desk.told(c!)).toMatchObject({ version: 1 })
  })

  test('a later action that is refused undoes the earlier ones of its item, its events and its counts', async () => {
    const items = await some(3)
    const before = await desk.marks()
    const answered = await bulk(ids(items), [
      { action: 'move', bucket_id: desk.buckets[1] },
      { action: 'add_label', label_id: randomUUID() },
    ])
    expect(answered.json.results.map(({ errors }: { errors: object[] }) => errors)).toEqual(
      items.map(() => [{ pointer: '/actions/1/label_id', code: 'reference.unknown', params: {} }]),
    )
    expect(await desk.marks()).toBe(before)
  })
})

describe('a ceiling that the database refuses is the refusal of an item', () => {
  const limitTo = async (more: number) => {
    const { sql } = desk.daemon.db
    await sql`
      insert into tenant_quota (tenant_id, quota, ceiling)
      select tenant_id, 'items', items + ${more} from item_tally where tenant_id = ${desk.tenantId}`
    return () => sql`delete from tenant_quota where tenant_id = ${desk.tenantId} and quota = 'items'`
  }
  const trashed = async () => {
    const items = await some(3)
    await bulk(ids(items), [{ action: 'delete' }])
    return items
  }

  test('EACH: those that there is room for are back, and the others stay in the trash', async () => {
    const items = await trashed()
    const lift = await limitTo(1)
    const answered = await bulk(ids(items), [{ action: 'restore' }])
    expect(answered.status).toBe(200)
    expect(stateOf(answered)).toEqual([
      [200, null, 3],
      [409, 'quota.exceeded', null],
      [409, 'quota.exceeded', null],
    ])
    expect(answered.json.results[1].params).toMatchObject({ quota: 'items' })
    await lift()
    expect((await desk.read(items[0]!)).version).toBe(3)
    for (const { id } of items.slice(1)) expect((await desk.ask(`GET /items/${id}`)).status).toBe(404)
  })

  test('ATOMIC: it refuses all, at its item', async () => {
    const items = await trashed()
    const lift = await limitTo(2)
    const answered = await expectUntouched(desk, () => bulk(ids(items), [{ action: 'restore' }], { mode: 'ATOMIC' }))
    await lift()
    expect([answered.status, answered.json.code]).toEqual([409, 'bulk.refused'])
    expect(pointers(answered)).toEqual([['/items/2', 'quota.exceeded']])
  })
})

describe('ATOMIC', () => {
  test('all are changed', async () => {
    const items = await some(5)
    expect(stateOf(await bulk(ids(items), [{ action: 'archive' }], { mode: 'ATOMIC' }))).toEqual(
      items.map(() => [200, null, 2]),
    )
  })

  test('the first refusal refuses all, and says which', async () => {
    const items = await some(4)
    await desk.act(items[2]!, 'archive')
    const answered = await expectUntouched(desk, () => bulk(ids(items), [{ action: 'complete' }], { mode: 'ATOMIC' }))
    expect(answered.status).toBe(409)
    expect(answered.json).toMatchObject({ code: 'bulk.refused' })
    expect(pointers(answered)).toEqual([['/items/2', 'item.archived']])
  })
})

describe('what nobody may', () => {
  test('items that are not seen answer as those that are not there, also with a version', async () => {
    const hidden = await desk.collection(await desk.hub(), { is_private: true })
    const secret = await desk.item({ container_id: hidden.id })
    for (const version of [1, 9]) {
      const answered = await bulk(
        [
          { id: secret.id, version },
          { id: randomUUID(), version },
        ],
        [{ action: 'delete' }],
      )
      const [first, second] = answered.json.results
      expect({ ...first, id: null }).toEqual({ ...second, id: null })
    }
    expect((await desk.read(secret)).version).toBe(1)
  })

  test('each item asks for the role in its own container', async () => {
    const { id } = await desk.collection(await desk.hub(), { is_private: true })
    await desk.grant({ id }, member, 'VIEWER')
    const [mine] = await some(1)
    const seen = await desk.item({ container_id: id })
    expect(stateOf(await bulk(ids([mine!, seen]), [{ action: 'complete' }]))).toEqual([
      [200, null, 2],
      [403, 'auth.role_required', null],
    ])
  })

  test('an item that one action moves asks for the role where it is then', async () => {
    const other = await desk.collection(await desk.hub())
    const decided = await desk.ask(`PUT /containers/${other.id}/policies`, { delete_role: 'ADMIN' })
    expect(decided.status).toBe(200)
    const [stays, goes] = await some(2)
    const moving = [{ action: 'move', container_id: other.id }, { action: 'delete' }]
    expect(stateOf(await bulk(ids([goes!]), moving))).toEqual([[403, 'auth.role_required', null]])
    expect(stateOf(await bulk(ids([goes!]), moving.slice(0, 1)))).toEqual([[200, null, 2]])
    expect(stateOf(await bulk(ids([stays!, goes!]), [{ action: 'delete' }]))).toEqual([
      [200, null, null],
      [403, 'auth.role_required', null],
    ])
  })

  test.each([
    [[], [{ action: 'complete' }], '/items', 'list.minimum'],
    [[{ id: randomUUID() }], [], '/actions', 'list.minimum'],
    [[{ id: randomUUID() }], [{ action: 'explode' }], '/actions/0/action', 'value.one_of'],
    [[{ id: randomUUID() }], [{}], '/actions/0/action', 'member.required'],
    [[{ id: randomUUID() }], [{ action: 'assign' }], '/actions/0/account_id', 'member.required'],
    [[{ id: randomUUID() }], [{ action: 'complete', title: 'x' }], '/actions/0/title', 'member.unknown'],
  ])('%j with %j is refused at its pointer', async (items, actions, pointer, code) => {
    expect(pointers(await bulk(items, actions))).toEqual([[pointer, code]])
  })

  test('more than 500 steps, or an item twice', async () => {
    const many = Array.from({ length: 101 }, () => ({ id: randomUUID() }))
    const five = Array.from({ length: 5 }, () => ({ action: 'complete' }))
    const answered = await bulk(many, five)
    expect(answered.json.errors).toEqual([{ pointer: '/items', code: 'list.maximum', params: { maximum: 100 } }])
    expect(pointers(await bulk([many[0]!, many[0]!], five))).toEqual([['/items', 'list.unique']])
  })
})

test('a repeated key changes nothing twice', async () => {
  const key = randomUUID()
  const items = await some(2)
  const send = () =>
    desk.ask(
      'POST /items:bulk',
      { items: ids(items), actions: [{ action: 'move', bucket_id: desk.buckets[2] }] },
      { as: member, headers: { 'idempotency-key': key } },
    )
  const first = await send()
  expect(first.status).toBe(200)
  expect((await send()).json).toEqual(first.json)
  expect((await desk.read(items[0]!)).version).toBe(2)
})

test('four at once about the same items, in turned orders: each step happens, and none is lost', async () => {
  const items = await some(8)
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      bulk(ids(n % 2 ? items : items.toReversed()), [
        { action: 'update', title: `by ${n}` },
        { action: 'move', bucket_id: desk.buckets[n % 3] },
      ]),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const versions = answers.flatMap(({ json }) => json.results.map(({ version }: { version: number }) => version))
  for (const item of items) expect((await desk.read(item)).version).toBeGreaterThan(4)
  expect(Math.max(...versions)).toBe(
    Math.max(...(await Promise.all(items.map((one) => desk.read(one)))).map(({ version }) => version)),
  )
})

test('four at once that only change the items themselves: what each answers and tells is one version', async () => {
  const items = await some(8)
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      bulk(ids(n % 2 ? items : items.toReversed()), [{ action: 'update', title: `by ${n}` }]),
    ),
  )
  const versions = answers.flatMap(({ json }) => json.results as { id: string; version: number }[])
  for (const item of items) {
    const of = versions.filter(({ id }) => id === item.id).map(({ version }) => version)
    expect(of.toSorted()).toEqual([2, 3, 4, 5])
    expect(await desk.told(item)).toEqual(await desk.read(item))
  }
})

test('more items than are read at once, some of which refuse', async () => {
  const items = await some(120)
  for (const at of [3, 49, 50, 119]) await desk.act(items[at]!, 'archive')
  await desk.ask(`DELETE /items/${items[60]!.id}`)
  const answered = await bulk(ids(items), [
    { action: 'update', title: 'Both' },
    { action: 'set_field', key: 'size', value: 7 },
  ])
  const refused = new Map([3, 49, 50, 119].map((at) => [at, 409])).set(60, 404)
  expect(stateOf(answered).map(([status]) => status)).toEqual(items.map((_, at) => refused.get(at) ?? 200))
  for (const at of [0, 48, 51, 118]) {
    const now = await desk.read(items[at]!)
    expect(now).toMatchObject({ title: 'Both', custom_fields: { size: 7 }, version: 3 })
    expect(await desk.told(items[at]!)).toEqual(now)
  }
  expect(await desk.read(items[49]!)).toMatchObject({ title: 'Item 49', custom_fields: {}, version: 2 })
})

test('counts as a request for every 20 steps', () => {
  const { counts } = itemBulkOperations.bulkItems
  const body = (items: number, actions: number) => ({ items: Array(items).fill({}), actions: Array(actions).fill({}) })
  expect([body(1, 1), body(20, 1), body(21, 1), body(200, 2), body(200, 10)].map(counts)).toEqual([1, 1, 2, 20, 25])
  expect([undefined, null, 'x', 3, {}, { items: 'x', actions: [] }].map(counts)).toEqual([1, 1, 1, 1, 1, 1])
})

test('the workspace pays for all of them', async () => {
  const { sql } = desk.daemon.db
  const limitTo = (ceiling: number) =>
    sql`update tenant_quota set ceiling = ${ceiling} where tenant_id = ${desk.tenantId} and quota = 'api_requests_per_minute'`
  const items = Array.from({ length: 200 }, () => ({ id: randomUUID() }))
  const send = () => bulk(items, [{ action: 'complete' }, { action: 'archive' }])
  await limitTo(30)
  expect([(await send()).status, (await send()).status]).toEqual([200, 429])
  await limitTo(0)
  expect((await send()).status).toBe(200)
})
