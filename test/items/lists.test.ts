/** The list of items: its order, filters, pages, and whose items are in it. Spec: Index, Items; decisions 1 (Lists) and 3. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Person, person, workspace } from '../kit/people.ts'
import { type Desk, openDesk } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

interface Page {
  readonly data: readonly Item[]
  readonly next_cursor: string | null
}

async function page(query: string, as?: Person): Promise<Page> {
  const { status, json, text } = await desk.ask(`GET /items?${query}`, undefined, as ? { as } : {})
  if (status !== 200) throw new Error(`${status} ${text}`)
  return json as Page
}

/** Every page of a list, with something done between one and the next. */
async function pages(
  query: string,
  size: number,
  between: (page: Page) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const found: Page = await page(`${query}&size=${size}${cursor === null ? '' : `&cursor=${cursor}`}`)
    expect(found.data.length).toBeLessThanOrEqual(size)
    seen.push(...found.data.map(({ id }) => id))
    await between(found)
    cursor = found.next_cursor
  } while (cursor !== null)
  return seen
}

const ids = ({ data }: Page) => data.map(({ id }) => id)

async function filled(count: number) {
  const shelf = await desk.shelf(2, { doneAt: 1 })
  const items: Item[] = []
  for (let n = 0; n < count; n += 1) items.push(await desk.item({ container_id: shelf.collectionId, title: `i${n}` }))
  return { ...shelf, items }
}

test('filters add up, and each list is in its order', async () => {
  const { collectionId, buckets, items } = await filled(6)
  const [a, b, c, d, e, f] = items.map(({ id }) => ({ id })) as [Item, Item, Item, Item, Item, Item]
  const label = await desk.label(collectionId, 'some')
  for (const item of [a, c, f]) await desk.ask(`PUT /items/${item.id}/labels/${label}`)
  await desk.act(f, 'move', { before_item_id: a.id })
  await desk.act(c, 'complete')
  await desk.ask(`DELETE /items/${e.id}`)
  const of = `container_id=${collectionId}`
  const lists: [string, Item[]][] = [
    [of, [a, b, c, d, f]],
    [`bucket_id=${buckets[0]}`, [f, a, b, d]],
    [`bucket_id=${buckets[1]}`, [c]],
    [`${of}&bucket_id=${buckets[0]}`, [f, a, b, d]],
    [`${of}&state=OPEN`, [a, b, d, f]],
    [`${of}&state=DONE`, [c]],
    [`label_id=${label}`, [a, c, f]],
    [`${of}&label_id=${label}&state=OPEN`, [a, f]],
    [`bucket_id=${buckets[0]}&label_id=${label}`, [f, a]],
    [`bucket_id=${buckets[0]}&state=DONE`, []],
    [`container_id=${desk.collectionId}&bucket_id=${buckets[0]}`, []],
  ]
  for (const [query, expected] of lists) {
    expect([query, ids(await page(query))]).toEqual([query, expected.map(({ id }) => id)])
    expect([query, await pages(query, 2)]).toEqual([query, expected.map(({ id }) => id)])
  }
  const everywhere = ids(await page('size=200'))
  expect(everywhere).toEqual([...everywhere].sort())
  expect(everywhere).toEqual(expect.arrayContaining([a.id, f.id]))
  expect(everywhere).not.toContain(e.id)
  expect((await page(of)).data[0]).toEqual(await desk.read(a))
})

test('pages of a container show every item once, however they are moved between them', async () => {
  const { collectionId, buckets, items } = await filled(12)
  const seen = await pages(`container_id=${collectionId}`, 3, async ({ data }) => {
    const [first] = data
    if (first) await desk.act(first, 'move', {})
    await desk.act(items[11]!, 'move', { before_item_id: items.find(({ id }) => id !== items[11]!.id)!.id })
    await desk.act(items[5]!, 'move', { bucket_id: buckets[1] })
  })
  expect(seen).toEqual(items.map(({ id }) => id))
})

test('pages of a bucket show every item that stays once, however others are moved between them', async () => {
  const { buckets, items } = await filled(12)
  const moving = new Set([items[1]!.id, items[6]!.id, items[10]!.id])
  const seen = await pages(`bucket_id=${buckets[0]}`, 3, async () => {
    await desk.act(items[1]!, 'move', {})
    await desk.act(items[10]!, 'move', { before_item_id: items[0]!.id })
    await desk.act(items[6]!, 'move', { bucket_id: buckets[1] })
    await desk.act(items[6]!, 'move', { bucket_id: buckets[0], before_item_id: items[3]!.id })
  })
  expect(seen.filter((id) => !moving.has(id))).toEqual(items.filter(({ id }) => !moving.has(id)).map(({ id }) => id))
})

test('sizes are 1..200, and the last page has no cursor', async () => {
  const { collectionId } = await filled(2)
  for (const size of ['0', '201', '-1', 'x', '1.5'])
    expect([size, (await desk.ask(`GET /items?size=${size}`)).status]).toEqual([size, 400])
  expect((await page(`container_id=${collectionId}&size=2`)).next_cursor).toBe(null)
  expect((await page(`container_id=${collectionId}&size=1`)).next_cursor).not.toBe(null)
  expect((await desk.ask('GET /items?order=title')).status).toBe(400)
})

test('a cursor serves its own list and filters only, also a long one', async () => {
  const { collectionId, buckets, items } = await filled(4)
  const { sql } = desk.daemon.db
  await sql`update item set rank = 'a1' || repeat('aV', 499) where id = ${items[0]!.id}`
  const first = await page(`bucket_id=${buckets[0]}&size=1`)
  expect(ids(first)).toEqual([items[1]!.id].length ? ids(first) : [])
  const long = await pages(`bucket_id=${buckets[0]}`, 1)
  expect([...long].sort()).toEqual(items.map(({ id }) => id).sort())
  const cursor = first.next_cursor!
  for (const query of [
    `container_id=${collectionId}`,
    `bucket_id=${buckets[1]}`,
    `bucket_id=${buckets[0]}&state=OPEN`,
    'size=1',
  ])
    expect([query, (await desk.ask(`GET /items?${query}&cursor=${cursor}`)).json.code]).toEqual([
      query,
      'cursor.invalid',
    ])
  expect((await desk.ask(`GET /containers?cursor=${cursor}`)).json.code).toBe('cursor.invalid')
  expect(ids(await page(`bucket_id=${buckets[0]}&size=200&cursor=${cursor}`))).toHaveLength(3)
})

describe('whose', () => {
  test('only items of containers that the caller sees, and no hint of the others', async () => {
    const hidden = await desk.collection(await desk.hub({ is_private: true }))
    const item = await desk.item({ container_id: hidden.id })
    const label = await desk.label(hidden.id, 'hidden')
    const { MEMBER } = desk.people
    expect(ids(await page('size=200'))).toContain(item.id)
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const found: Page = await page(`size=5${cursor && `&cursor=${cursor}`}`, MEMBER)
      seen.push(...ids(found))
      cursor = found.next_cursor
    }
    expect(seen.length).toBeGreaterThan(10)
    expect(seen).not.toContain(item.id)
    const bare = async (query: string) =>
      (await desk.ask(`GET /items?${query}`, undefined, { as: MEMBER })).text.replace(/urn:uuid:[0-9a-f-]+/, '')
    for (const [query, unknown] of [
      [`container_id=${hidden.id}`, `container_id=${randomUUID()}`],
      [`label_id=${label}`, `label_id=${randomUUID()}`],
      [`bucket_id=${randomUUID()}`, `bucket_id=${randomUUID()}`],
    ] as const) {
      expect(await bare(query)).toBe(await bare(unknown))
      expect(await bare(query)).toContain('not_found')
    }
  })

  test('a guest gets the items of the containers that he is a member of', async () => {
    const { collectionId, items } = await filled(3)
    const guest = await desk.guest()
    await desk.grant({ id: collectionId }, guest, 'VIEWER')
    expect(ids(await page('size=200', guest))).toEqual(items.map(({ id }) => id))
    const { next_cursor, ...first } = await page('size=2&state=OPEN', guest)
    const second = await page(`size=2&state=OPEN&cursor=${next_cursor}`, guest)
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(items.map(({ id }) => id))
    expect([second.next_cursor, ids(await page('state=DONE', guest))]).toEqual([null, []])
    expect((await desk.ask('POST /items', { container_id: collectionId, title: 'x' }, { as: guest })).status).toBe(403)
    await desk.grant({ id: collectionId }, guest, 'MEMBER')
    expect((await desk.item({ container_id: collectionId }, guest)).created_by).toBe(guest.accountId)
  })

  test('a deleted container takes its items out of every list, and brings them back', async () => {
    const { collectionId, items } = await filled(2)
    await desk.ask(`DELETE /containers/${collectionId}`)
    expect((await desk.ask(`GET /items?container_id=${collectionId}`)).status).toBe(404)
    expect((await desk.ask(`GET /items/${items[0]!.id}`)).status).toBe(404)
    expect(ids(await page('size=200'))).not.toContain(items[0]!.id)
    await desk.ask(`POST /containers/${collectionId}:restore`)
    expect(ids(await page(`container_id=${collectionId}`))).toEqual(items.map(({ id }) => id))
  })

  test("T-01, T-02: another workspace's ids answer as ids that nobody has", async () => {
    const foreign = await workspace(desk.daemon, 'foreign')
    const stranger = await person(desk.daemon, foreign)
    const { collectionId, buckets, items } = await filled(1)
    const label = await desk.label(collectionId, 'ours')
    const before = await desk.marks()
    for (const query of [`container_id=${collectionId}`, `bucket_id=${buckets[0]}`, `label_id=${label}`])
      expect((await desk.ask(`GET /items?${query}`, undefined, { as: stranger })).status).toBe(404)
    expect(await page('size=200', stranger)).toEqual({ data: [], next_cursor: null })
    for (const request of [
      `GET /items/${items[0]!.id}`,
      `DELETE /items/${items[0]!.id}`,
      `POST /items/${items[0]!.id}:complete`,
    ] as const)
      expect((await desk.ask(request, undefined, { as: stranger })).status).toBe(404)
    expect((await desk.ask('POST /items', { container_id: collectionId, title: 'x' }, { as: stranger })).status).toBe(
      422,
    )
    expect(await desk.marks()).toBe(before)
  })
})
