/** `POST /items:query`: pages, orders, groups, counts, and what nobody may learn by it. Spec: Work on boards, 2, N3. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { keyItems } from '../../src/core/areas/items/filter/keying.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { TestDaemon } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'
import { type Desk, openDesk, pointers } from './desk.ts'

let desk: Desk
let narrow: TestDaemon
let field: string
const items: Item[] = []
beforeAll(async () => {
  desk = await openDesk()
  narrow = await desk.daemon.twin({ queryScanRows: 100 })
  const options = ['low', 'high']
  field = await desk.field({ key: 'level', kind: 'SELECT', options })
  await desk.field({ key: 'size', kind: 'NUMBER' })
  for (let n = 0; n < 12; n += 1)
    items.push(
      await desk.item({
        title: `Item ${['c', 'É', 'a', 'D'][n % 4]}${n}`,
        bucket_id: n % 3 === 0 ? null : desk.buckets[n % 2],
        label_ids: desk.labels.slice(0, n % 3),
        due_at: n % 4 === 0 ? null : `2026-11-${10 + (n % 3)}T10:00:00.000Z`,
        custom_fields: { ...(n % 2 ? { level: options[n % 3 ? 1 : 0] } : {}), ...(n % 5 ? { size: -n } : {}) },
      }),
    )
})
afterAll(async () => {
  await narrow.close()
  await desk.close()
})

const query = (body: object, as?: Person) => desk.ask('POST /items:query', body, as ? { as } : {})
async function every(body: object, size = 5, as?: Person): Promise<Item[]> {
  const found: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { status, json, text } = await query({ ...body, size, ...(cursor ? { cursor } : {}) }, as)
    if (status !== 200) throw new Error(text)
    found.push(...json.data)
    cursor = json.next_cursor
  }
  return found
}
/** The items of a group: those of the answer, and those that its cursor goes on to. */
async function wholeOf(body: object, group: { data: Item[]; next_cursor: string | null }): Promise<Item[]> {
  const found = [...group.data]
  for (let cursor = group.next_cursor; cursor !== null; ) {
    const { json } = await query({ ...body, cursor })
    found.push(...json.data)
    cursor = json.next_cursor
  }
  return found
}
const titles = (found: readonly Item[]) => found.map(({ title }) => title)

test('answers items as the list does', async () => {
  expect(await every({})).toEqual((await desk.ask('GET /items?size=200')).json.data)
})

test.each([
  [{ by: 'created' }],
  [{ by: 'created', order: 'DESC' }],
  [{ by: 'title' }],
  [{ by: 'title', order: 'DESC' }],
  [{ by: 'due' }],
  [{ by: 'due', order: 'DESC' }],
  [{ by: 'updated', order: 'DESC' }],
  [{ by: 'completed' }],
  [{ by: 'custom.size' }],
  [{ by: 'custom.level', order: 'DESC' }],
  [{ by: 'due' }, { by: 'custom.size', order: 'DESC' }],
])('sorted by %j: pages of any size are the whole list, each item once', async (...sort) => {
  const whole = await every({ sort }, 200)
  expect(new Set(whole.map(({ id }) => id)).size).toBe(12)
  for (const size of [1, 3, 5]) expect(await every({ sort }, size)).toEqual(whole)
})

test('orders: accents and case do not count, nothing is last in either direction', async () => {
  const last = async (order: string) =>
    (await every({ sort: [{ by: 'due', order }] })).slice(-3).map(({ due_at }) => due_at)
  expect([await last('ASC'), await last('DESC')]).toEqual([
    [null, null, null],
    [null, null, null],
  ])
  const first = (await every({ sort: [{ by: 'title' }] }))[0]
  expect(first?.title).toBe('Item a10')
  const sizes = (await every({ sort: [{ by: 'custom.size' }] })).map(({ custom_fields }) => custom_fields['size'])
  expect(sizes).toEqual([-11, -9, -8, -7, -6, -4, -3, -2, -1, undefined, undefined, undefined])
})

test('a board is in its own order, bucket by bucket, and then what is in none', async () => {
  const { json } = await desk.ask(`GET /containers/${desk.collectionId}/board`)
  const board = [...json.buckets.flatMap(({ items: of }: { items: Item[] }) => of), ...json.unbucketed.items]
  for (const size of [1, 4, 200])
    expect(titles(await every({ container_id: desk.collectionId }, size))).toEqual(titles(board))
})

test('counts, and lists what is unknown', async () => {
  const filter = {
    any: [
      { field: 'custom.size', op: 'lt', value: -8 },
      { field: 'label', op: 'has_any', value: [randomUUIDv7()] },
    ],
  }
  const { json } = await query({ filter, count: true })
  expect(json).toMatchObject({
    total: 2,
    total_capped: false,
    unknown: [{ pointer: '/filter/any/1/value/0', code: 'reference.unknown' }],
  })
  expect(json.data).toHaveLength(2)
})

test.each(['bucket', 'state', 'label', 'custom.level'])(
  'grouped by %s: each group goes on to its whole',
  async (by) => {
    const body = { group_by: { by }, size: 2 }
    const { json } = await query(body)
    expect(json.groups.length).toBeGreaterThan(0)
    for (const group of json.groups) {
      const found = await wholeOf(body, group)
      expect([group.key, new Set(found.map(({ id }) => id)).size, found.length]).toEqual([
        group.key,
        group.count,
        group.count,
      ])
    }
  },
)

test('groups of a due month begin with its first day', async () => {
  const { json } = await query({ group_by: { by: 'due', unit: 'MONTH' } })
  expect(json.groups.map(({ key, count }: { key: string; count: number }) => [key, count])).toEqual([
    ['2026-11-01', 9],
    [null, 3],
  ])
})

test.each([
  [{ filter: { field: 'colour', op: 'is', value: 1 } }, '/filter/field', 'filter.field'],
  [{ filter: { all: [{ field: 'custom.size', op: 'contains', value: 'x' }] } }, '/filter/all/0/op', 'filter.op'],
  [{ sort: [{ by: 'board' }] }, '/container_id', 'member.required'],
  [{ group_by: { by: 'due' } }, '/group_by/unit', 'member.required'],
  [{ group_by: { by: 'custom.size' } }, '/group_by/by', 'value.not_taken'],
  [{ time_zone: 'Mars/Base' }, '/time_zone', 'time_zone.unknown'],
])('%j is refused at its pointer', async (body, pointer, code) => {
  const answered = await query(body)
  expect([answered.status, pointers(answered)]).toEqual([422, [[pointer, code]]])
})

describe('what the caller does not see', () => {
  let secret: Item
  let hidden: string
  beforeAll(async () => {
    const { id } = await desk.collection(await desk.hub(), { is_private: true })
    hidden = id
    secret = await desk.item({ container_id: id, title: 'secret', custom_fields: { level: 'high' } })
  })

  test('is in no page, no count and no group', async () => {
    const { json } = await query({ count: true, group_by: { by: 'custom.level' } }, desk.people.MEMBER)
    expect(json.total).toBe(12)
    expect(JSON.stringify(json)).not.toContain(secret.id)
    expect(json.groups.reduce((all: number, { count }: { count: number }) => all + count, 0)).toBe(12)
  })

  test('is as unknown as a random id, under `is_not` too', async () => {
    for (const op of ['is', 'is_not']) {
      const asked = (value: string) => query({ filter: { field: 'container', op, value } }, desk.people.MEMBER)
      const [foreign, random] = [await asked(hidden), await asked(randomUUIDv7())]
      expect(foreign.json.data).toEqual([])
      expect(foreign.json).toEqual(random.json)
    }
    expect((await query({ container_id: hidden }, desk.people.MEMBER)).status).toBe(404)
  })
})

test('a cursor belongs to its filter', async () => {
  const { json } = await query({ size: 1 })
  expect(
    (await query({ size: 1, cursor: json.next_cursor, filter: { field: 'state', op: 'is', value: 'OPEN' } })).status,
  ).toBe(400)
})

test('reads: a credential that may only read asks, and no key is taken', async () => {
  expect((await query({}, desk.people.VIEWER)).status).toBe(200)
})

test('a field that is defined anew under its key is another one', async () => {
  const { json } = await query({ filter: { field: `custom:${field}`, op: 'is', value: 'high' } })
  expect(json.data.length).toBeGreaterThan(0)
})

describe('a page looks at a bounded number of items', () => {
  beforeAll(async () => {
    const { sql } = desk.daemon.db
    const { collectionId } = await desk.shelf(1)
    await sql`
      insert into item (tenant_id, id, container_id, type, title, rank, created_by)
      select ${desk.tenantId}, uuidv7(), ${collectionId}, 'TASK', 'Filler ' || n, 'f' || lpad(n::text, 5, '0'), ${desk.people.OWNER.accountId}
      from generate_series(1, 250) n`
  })

  async function keyAll(): Promise<void> {
    const booted = await bootInstallation(desk.daemon.config, { works: false, applicationName: 'svc test' })
    await keyItems.run(booted.installation, null)
    await booted.close()
  }
  /** Of all pages of three, and how many were empty before the last one. */
  async function narrowly(body: object): Promise<{ found: string[]; empty: number }> {
    const found: string[] = []
    let empty = 0
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { status, json, text } = await narrow.call('POST', '/api/v1/items:query', {
        token: desk.people.OWNER.token,
        body: { ...body, size: 3, ...(cursor ? { cursor } : {}) },
      })
      if (status !== 200) throw new Error(text)
      found.push(...titles(json.data))
      if (json.data.length === 0 && json.next_cursor !== null) empty += 1
      cursor = json.next_cursor
    }
    return { found, empty }
  }

  test('an order of more than it may look at is refused', async () => {
    const { status, json } = await narrow.call('POST', '/api/v1/items:query', {
      token: desk.people.OWNER.token,
      body: { sort: [{ by: 'title' }] },
    })
    expect([status, json.code, json.params]).toEqual([422, 'query.too_broad', { limit: 100 }])
  })

  test('items of before the keys are found as others are, and the job keys them', async () => {
    const filler = { filter: { field: 'title', op: 'starts_with', value: 'FILLER 1' } }
    const other = { filter: { not: filler.filter } }
    const with24 = { field: 'title', op: 'contains', value: '24' }
    const both = { filter: { all: [filler.filter, with24] } }
    const either = { filter: { any: [filler.filter, with24] } }
    const all = async () => [
      ...[await every(filler, 200), await every(other, 200)],
      ...[await every(both, 200), await every(either, 200)],
    ]
    const before = await all()
    expect(before.map(({ length }) => length)).toEqual([111, 12 + 1 + 250 - 111, 1, 111 + 12])
    await keyAll()
    const { sql } = desk.daemon.db
    expect(await sql`select 1 from item where without_keys`).toHaveLength(0)
    expect(await all()).toEqual(before)
  })

  test('it may be empty and still lead on, and the pages together miss nothing', async () => {
    const { found, empty } = await narrowly({ filter: { field: 'title', op: 'contains', value: 'filler 24' } })
    expect(found).toHaveLength(11)
    expect(new Set(found).size).toBe(11)
    expect(empty).toBeGreaterThan(0)
  })

  test('so does a page of a board, which goes on in the bucket where it ended, past an empty one', async () => {
    const { sql } = desk.daemon.db
    const { collectionId, buckets } = await desk.shelf(3)
    await sql`
      insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by)
      select ${desk.tenantId}, uuidv7(), ${collectionId},
        case when n <= 100 then ${buckets[0]!}::uuid when n <= 160 then ${buckets[2]!}::uuid end,
        'TASK', 'Board ' || n, 'f' || lpad(n::text, 5, '0'), ${desk.people.OWNER.accountId}
      from generate_series(1, 250) n`
    await keyAll()
    const { found, empty } = await narrowly({
      container_id: collectionId,
      filter: { field: 'title', op: 'contains', value: 'board 24' },
    })
    expect(found).toEqual([24, ...Array.from({ length: 10 }, (_, n) => 240 + n)].map((n) => `Board ${n}`))
    // 71 items a page, whatever buckets they are in: the rest of the first bucket and 42 more, then 18 and 53.
    expect(empty).toBe(2)
  })
})

test('a group for which the answer has no room goes on from its beginning', async () => {
  const { collectionId, buckets } = await desk.shelf(3)
  const description = 'é'.repeat(20_000)
  for (const bucket_id of buckets)
    for (let n = 0; n < 20; n += 1)
      await desk.item({ container_id: collectionId, bucket_id, title: `${n}`, description })
  const body = { container_id: collectionId, group_by: { by: 'bucket' }, size: 50 }
  const { json } = await query(body)
  expect(json.groups.map(({ data }: { data: Item[] }) => data.length > 0)).toEqual([true, true, false])
  for (const group of json.groups) {
    expect(titles(await wholeOf(body, group))).toEqual(Array.from({ length: 20 }, (_, n) => String(n)))
  }
}, 60_000)
