/**
 * Pages of a query beside writers: an item whose keys stay is on exactly one page, in every order. A few rounds here, a hundred
 * with SVC_FAULTS=full. Spec: Work on boards, 2, N3; 9, filters and cursors.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, openDesk } from './desk.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 100 : 3
const writers = 4
const size = 7

let desk: Desk
/** Nobody touches them. */
const steady: Item[] = []
/** Whatever writers may do is done to them. */
const restless: Item[] = []
beforeAll(async () => {
  desk = await openDesk()
  await desk.field({ key: 'size', kind: 'NUMBER' })
  for (let n = 0; n < 80; n += 1) (n % 2 ? steady : restless).push(await desk.item(members(n)))
})
afterAll(() => desk.close())

const members = (n: number) => ({
  title: `Item ${n % 9}`,
  bucket_id: n % 7 === 0 ? null : desk.buckets[n % 3],
  due_at: n % 5 === 0 ? null : `2030-01-${10 + (n % 4)}T10:00:00.000Z`,
  custom_fields: n % 4 === 0 ? {} : { size: n % 6 },
})

const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!

/** So many may be made: pages in the order of creation would have no end beside those who make more. */
const mostMade = 60
let made = 0

/** One change of something that is not steady. A refusal is as good: another writer was faster. */
async function change(n: number): Promise<void> {
  const item = any(restless)
  const acts: readonly (() => Promise<unknown>)[] = [
    async () => {
      if (made >= mostMade) return
      made += 1
      restless.push(await desk.item(members(n)))
    },
    () => desk.patch(item, { title: `Item ${n % 9}`, due_at: `2030-01-${10 + (n % 9)}T10:00:00.000Z` }),
    () => desk.ask(`POST /items/${item.id}:move`, { bucket_id: any(desk.buckets) }),
    () => desk.ask(`PUT /items/${item.id}/custom-fields/size`, { value: n % 6 }),
    () => desk.ask(`DELETE /items/${item.id}`),
    () => desk.ask(`POST /items/${item.id}:restore`),
  ]
  await any(acts)()
}

/** The ids of all pages, one after another. */
async function pagesOf(body: object): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { status, json, text } = await desk.ask('POST /items:query', { ...body, size, ...(cursor ? { cursor } : {}) })
    if (status !== 200) throw new Error(text)
    found.push(...json.data.map(({ id }: Item) => id))
    cursor = json.next_cursor
  }
  return found
}

const ordersNow = (): readonly (readonly [string, object])[] => [
  ['created', {}],
  ['created, descending', { sort: [{ by: 'created', order: 'DESC' }] }],
  ['board', { container_id: desk.collectionId, sort: [{ by: 'board' }] }],
  ['due, descending', { sort: [{ by: 'due', order: 'DESC' }] }],
  ['title and due', { sort: [{ by: 'title' }, { by: 'due' }] }],
  ['a field', { sort: [{ by: 'custom.size' }] }],
  ['due, behind a filter', { filter: { field: 'title', op: 'starts_with', value: 'item' }, sort: [{ by: 'due' }] }],
]

test('an item whose keys stay is on exactly one page, whatever happens to the others', {
  timeout: 600_000,
}, async () => {
  const orders = ordersNow()
  let isOver = false
  let changes = 0
  const writing = Array.from({ length: writers }, async () => {
    while (!isOver) {
      await change(changes)
      changes += 1
    }
  })
  try {
    for (let round = 0; round < rounds; round += 1)
      for (const [order, body] of orders) {
        const found = await pagesOf(body)
        const times = steady.map(({ id }) => found.filter((one) => one === id).length)
        expect([order, times]).toEqual([order, steady.map(() => 1)])
      }
  } finally {
    isOver = true
    await Promise.all(writing)
  }
  expect(changes).toBeGreaterThan(rounds * orders.length)
})
