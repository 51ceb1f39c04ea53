/** The order of items, and moving them: to another place, bucket or container. Spec: `:move`; decisions 3; decision 0105. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, openDesk, type Shelf } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

/** A collection whose first bucket holds items of these titles, in this order. */
async function filled(titles: string): Promise<Shelf & Record<string, Item>> {
  const shelf = await desk.shelf(3, { doneAt: 2 })
  const items: Record<string, Item> = {}
  for (const title of titles) items[title] = await desk.item({ container_id: shelf.collectionId, title })
  return { ...shelf, ...items } as Shelf & Record<string, Item>
}
const order = async (shelf: Shelf, at = 0) => (await desk.titles(shelf.buckets[at]!)).join('')

test('to the left of a neighbour, or to the end', async () => {
  const shelf = await filled('abcd')
  const { a, c, d } = shelf
  await desk.act(d!, 'move', { before_item_id: a!.id })
  expect(await order(shelf)).toBe('dabc')
  await desk.act(a!, 'move', {})
  expect(await order(shelf)).toBe('dbca')
  await desk.act(a!, 'move', { before_item_id: c!.id })
  expect(await order(shelf)).toBe('dbac')
})

test('a move writes the row that moves and no other', async () => {
  const shelf = await filled('abcdefgh')
  const { a, e } = shelf
  const others = () => desk.daemon.db.sql`
    select id, rank, version, updated_at, xmin::text from item where container_id = ${shelf.collectionId} and id <> ${a!.id} order by id`
  const before = await others()
  for (const before_item_id of [e!.id, shelf['c']!.id, null, shelf['b']!.id])
    await desk.act(a!, 'move', { before_item_id })
  expect(await others()).toEqual(before)
})

test('a move to where it stands changes nothing', async () => {
  const shelf = await filled('abc')
  const { a, b, c } = shelf
  for (const [item, body] of [
    [c!, {}],
    [c!, { bucket_id: shelf.buckets[0] }],
    [a!, { before_item_id: b!.id }],
    [a!, { container_id: shelf.collectionId, before_item_id: b!.id }],
  ] as const) {
    const before = await desk.marks()
    expect(await desk.act(item, 'move', body)).toEqual(item)
    expect(await desk.marks()).toBe(before)
  }
})

test('to another bucket, to none and back', async () => {
  const shelf = await filled('ab')
  const { a, b } = shelf
  expect(await desk.act(a!, 'move', { bucket_id: shelf.buckets[1] })).toMatchObject({ bucket_id: shelf.buckets[1] })
  await desk.act(b!, 'move', { bucket_id: shelf.buckets[1], before_item_id: a!.id })
  expect([await order(shelf, 0), await order(shelf, 1)]).toEqual(['', 'ba'])
  expect((await desk.act(b!, 'move', { bucket_id: null })).bucket_id).toBe(null)
  expect((await desk.act(a!, 'move', { bucket_id: null, before_item_id: b!.id })).bucket_id).toBe(null)
  expect(
    (await desk.act(b!, 'move', { before_item_id: a!.id })).bucket_id,
    'an absent bucket is the one it is in',
  ).toBe(null)
  expect(await order(shelf, 1)).toBe('')
})

test('to another container: into its leftmost bucket, or into one that is named', async () => {
  const [from, to] = [await filled('ab'), await filled('x')]
  expect(await desk.act(from['a']!, 'move', { container_id: to.collectionId })).toMatchObject({
    container_id: to.collectionId,
    bucket_id: to.buckets[0],
    state: 'OPEN',
    version: 2,
  })
  await desk.act(from['b']!, 'move', {
    container_id: to.collectionId,
    bucket_id: to.buckets[0],
    before_item_id: to['x']!.id,
  })
  expect([await order(from), await order(to)]).toEqual(['', 'bxa'])
})

test("labels and values of the old container's vocabulary stop showing, and come back with the item", async () => {
  const [from, to] = [await filled('a'), await filled('')]
  const label = await desk.label(from.collectionId, 'of the old one')
  await desk.field({ key: 'moved_own', kind: 'NUMBER', collectionId: from.collectionId })
  await desk.field({ key: 'moved_common', kind: 'NUMBER' })
  const item = await desk.item({
    container_id: from.collectionId,
    label_ids: [label],
    custom_fields: { moved_own: 1, moved_common: 2 },
  })
  expect(await desk.act(item, 'move', { container_id: to.collectionId })).toMatchObject({
    label_ids: [],
    custom_fields: { moved_common: 2 },
  })
  expect(await desk.act(item, 'move', { container_id: from.collectionId })).toMatchObject({
    label_ids: [label],
    custom_fields: { moved_own: 1, moved_common: 2 },
  })
})

test('a neighbour of another bucket or container, deleted, unknown, or itself is refused with its pointer', async () => {
  const [shelf, elsewhere] = [await filled('abcd'), await filled('x')]
  const { a, b, c, d } = shelf
  await desk.act(b!, 'move', { bucket_id: shelf.buckets[1] })
  await desk.ask(`DELETE /items/${c!.id}`)
  for (const [before_item_id, code] of [
    [b!.id, 'reference.unknown'],
    [c!.id, 'reference.unknown'],
    [elsewhere['x']!.id, 'reference.unknown'],
    [randomUUID(), 'reference.unknown'],
    [a!.id, 'reference.itself'],
  ]) {
    const before = await desk.marks()
    const { status, json } = await desk.ask(`POST /items/${a!.id}:move`, { before_item_id })
    expect([status, json.errors]).toEqual([422, [{ pointer: '/before_item_id', code, params: {} }]])
    expect(await desk.marks()).toBe(before)
  }
  expect(await order(shelf)).toBe('ad')
  expect((await desk.read(d!)).version).toBe(1)
})

test('a target that cannot take it is refused with its pointer, and the item stays', async () => {
  const [shelf, archived, hub] = [await filled('a'), await desk.shelf(1), await desk.hub()]
  await desk.ask(`POST /containers/${archived.collectionId}:archive`)
  const hidden = await desk.collection(await desk.hub({ is_private: true }))
  const readable = await desk.collection(hub, { is_private: true })
  await desk.grant(readable, desk.people.MEMBER, 'VIEWER')
  for (const [body, status, code, pointer] of [
    [{ container_id: archived.collectionId }, 409, 'container.archived', '/container_id'],
    [{ container_id: hub.id }, 422, 'request.invalid', '/container_id'],
    [{ container_id: hidden.id }, 422, 'request.invalid', '/container_id'],
    [{ container_id: randomUUID() }, 422, 'request.invalid', '/container_id'],
    [{ container_id: readable.id }, 403, 'auth.role_required', undefined],
    [{ bucket_id: archived.buckets[0] }, 422, 'request.invalid', '/bucket_id'],
    [{ container_id: archived.collectionId, bucket_id: shelf.buckets[0] }, 409, 'container.archived', '/container_id'],
  ] as const) {
    const before = await desk.marks()
    const answer = await desk.ask(`POST /items/${shelf['a']!.id}:move`, body, { as: desk.people.MEMBER })
    expect([body, answer.status, answer.json.code, answer.json.errors?.[0].pointer]).toEqual([
      body,
      status,
      code,
      pointer,
    ])
    expect(await desk.marks()).toBe(before)
  }
})

test('a list that only grows at one place keeps short positions', async () => {
  const shelf = await filled('z')
  let longest = 0
  for (let n = 0; n < 150; n += 1) {
    const { position } = await desk.item({
      container_id: shelf.collectionId,
      before_item_id: shelf['z']!.id,
      title: 'x',
    })
    longest = Math.max(longest, position.length)
  }
  expect(longest).toBeLessThan(12)
})
