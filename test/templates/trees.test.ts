/** Trees in templates. Spec: items 7; items 1, Tree; decision 0363. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, isRead } from '../items/desk.ts'
import { made, openPress, type Press } from './press.ts'

let desk: Desk
let press: Press
beforeAll(async () => {
  press = await openPress()
  desk = press.desk
})
beforeEach(() => desk.daemon.db.sql`delete from template`)
afterAll(() => desk.close())

const under = (parent: Item, title: string, members: object = {}) =>
  desk.item({ container_id: parent.container_id, parent_id: parent.id, title, ...members })
/** The titles of what is below an item: each with its own. */
type Tree = readonly (string | readonly [string, Tree])[]
async function below({ id }: Pick<Item, 'id'>): Promise<Tree> {
  const query = { filter: { field: 'parent', op: 'is', value: id }, sort: [{ by: 'siblings' }] }
  const { data } = (await desk.ask('POST /items:query', query)).json as { data: Item[] }
  return Promise.all(
    data.map(async (one) => {
      const own = await below(one)
      return own.length === 0 ? one.title : ([one.title, own] as const)
    }),
  )
}
/** top ▸ (b ▸ c), a; in the order of siblings a is first. */
async function family(containerId: string, buckets: readonly string[]) {
  const top = await desk.item({ container_id: containerId, title: 'top' })
  const b = await under(top, 'b', { bucket_id: buckets[1] })
  const a = await under(top, 'a')
  await under(b, 'c')
  await desk.ask(`POST /items/${a.id}:reorder`, { within: 'PARENT', before_item_id: b.id })
  return { top, a, b }
}

describe('a template of an item', () => {
  test('has what is below it, in the order of siblings, and makes it all', async () => {
    const { top, b } = await family(desk.collectionId, desk.buckets)
    await desk.act(await under(b, 'archived'), 'archive')
    const template = await made(press.makeFrom('ITEM', { item_id: top.id }))
    expect(template.content.items.map(({ title, parent, bucket }) => [title, parent, bucket])).toEqual([
      ['top', undefined, 'b0'],
      ['a', 0, 'b0'],
      ['b', 0, 'b1'],
      ['c', 2, 'b0'],
    ])
    const seq = await press.lastSeq()
    const { status, json } = await press.applyHere(template, { bucket_id: desk.buckets[2] })
    expect([status, json.left_out]).toEqual([201, []])
    expect(json.item).toMatchObject({ title: 'top', parent_id: null, bucket_id: desk.buckets[2] })
    await isRead(desk, json.item)
    expect(await below(json.item)).toEqual(['a', ['b', ['c']]])
    expect(await press.eventsSince(seq)).toEqual(Array(4).fill('work.item.created'))
    expect((await desk.titles(desk.buckets[1]!)).at(-1)).toBe('b')
    const roots = await desk.daemon.db.sql`select count(*)::int as count from item where root_id = ${json.item.id}`
    expect(roots[0]).toEqual({ count: 3 })
  })

  test('goes below a parent as a branch, where the bounds of its tree let it', async () => {
    const { top } = await family(desk.collectionId, desk.buckets)
    const template = await made(press.makeFrom('ITEM', { item_id: top.id }))
    const parent = await desk.item()
    const { json } = await press.applyHere(template, { parent_id: parent.id })
    expect(json.item.parent_id).toBe(parent.id)
    expect(await below(parent)).toEqual([['top', ['a', ['b', ['c']]]]])
    const third = await under(await under(parent, 'second'), 'third')
    expect(await press.applyHere(template, { parent_id: third.id })).toMatchObject({
      status: 409,
      json: { code: 'item.tree_full', params: { bound: 'LEVELS', limit: 5 } },
    })
  })

  test('is flat without CHILDREN', async () => {
    const { top } = await family(desk.collectionId, desk.buckets)
    const template = await made(press.makeFrom('ITEM', { item_id: top.id, include: ['LABELS'] }))
    expect(template.content.items.map(({ title }) => title)).toEqual(['top'])
  })
})

test('a template of a board has its trees, in the order of the board', async () => {
  const shelf = await desk.shelf(2)
  const { top } = await family(shelf.collectionId, shelf.buckets)
  expect(await below(top)).toEqual(['a', ['b', ['c']]])
  const template = await made(press.makeFrom('BOARD', { container_id: shelf.collectionId }))
  const { json } = await press.apply(template, { parent_id: press.hub.id, name: 'Made' })
  const items = (await desk.ask(`GET /items?container_id=${json.container.id}`)).json.data as Item[]
  const root = items.find(({ title }) => title === 'top')!
  expect([items.length, root.parent_id]).toEqual([4, null])
  expect(await below(root)).toEqual(['a', ['b', ['c']]])
  const again = await made(press.makeFrom('BOARD', { container_id: json.container.id }))
  expect(again.content).toEqual(template.content)
  const flat = await made(press.makeFrom('BOARD', { container_id: shelf.collectionId, include: ['ITEMS'] }))
  expect(flat.content.items.every(({ parent }) => parent === undefined)).toBe(true)
})

describe('a content is refused', () => {
  const line = (parents: readonly (number | null)[]) => ({
    kind: 'BOARD',
    content: { items: parents.map((parent, n) => ({ title: `${n}`, parent })) },
  })
  test.each([
    ['as a ring', line([null, 2, 1]), { code: 'item.circular' }],
    ['as its own parent', line([0]), { code: 'item.circular' }],
    ['with six levels', line([null, 0, 1, 2, 3, 4]), { code: 'item.tree_full', params: { bound: 'LEVELS', limit: 5 } }],
    [
      'with 101 children',
      line([null, ...Array<number>(101).fill(0)]),
      { code: 'item.tree_full', params: { bound: 'CHILDREN', limit: 100 } },
    ],
  ])('%s', async (_, body, json) => {
    expect(await press.make(body)).toMatchObject({ status: 409, json })
    const template = await made(press.make({ kind: 'BOARD', content: { items: [] } }))
    expect(await press.change(template, { content: body.content })).toMatchObject({ status: 409, json })
  })
})
