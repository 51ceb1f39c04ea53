/** The archive: read only, out of the lists, and back at the end of the bucket. Spec: items 1; decision 0202. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, expectUntouched, isRead, openDesk, type Shelf } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const leavesAlone = <T>(call: () => Promise<T>) => expectUntouched(desk, call)

async function filled(titles: string): Promise<{ readonly shelf: Shelf; readonly items: Record<string, Item> }> {
  const shelf = await desk.shelf(2, { doneAt: 1 })
  const items: Record<string, Item> = {}
  for (const title of titles) items[title] = await desk.item({ container_id: shelf.collectionId, title })
  return { shelf, items }
}
const counts = async ({ collectionId }: Shelf) =>
  (await desk.ask(`GET /containers/${collectionId}/buckets`)).json.data.map(
    (one: { item_count: number }) => one.item_count,
  )

/** The titles of a list, page by page. */
async function listed(query: string, size = 2): Promise<string> {
  let titles = ''
  let cursor: string | null = null
  do {
    const behind: string = cursor === null ? '' : `&cursor=${cursor}`
    const { status, json } = await desk.ask(`GET /items?${query}&size=${size}${behind}`)
    expect(status).toBe(200)
    titles += json.data.map(({ title }: Item) => title).join('')
    cursor = json.next_cursor
  } while (cursor !== null)
  return titles
}

test('there and back: version, event and the count of the bucket; the second time changes nothing', async () => {
  const { shelf, items } = await filled('abc')
  const archived = await desk.act(items['a']!, 'archive')
  expect(archived).toEqual({
    ...items['a'],
    archived_at: archived.updated_at,
    updated_at: expect.any(String),
    version: 2,
  })
  await isRead(desk, archived)
  expect(await counts(shelf)).toEqual([2, 0])
  expect(await leavesAlone(() => desk.act(archived, 'archive'))).toEqual(archived)
  const back = await desk.act(archived, 'unarchive')
  expect(back).toMatchObject({ archived_at: null, version: 3, bucket_id: shelf.buckets[0] })
  await isRead(desk, back)
  expect(await counts(shelf)).toEqual([3, 0])
  expect(await desk.titles(shelf.buckets[0]!)).toEqual(['b', 'c', 'a'])
  expect(await leavesAlone(() => desk.act(back, 'unarchive'))).toEqual(back)
})

test('its place is free: others stand there, and it is no neighbour', async () => {
  const { shelf, items } = await filled('abc')
  await desk.act(items['b']!, 'archive')
  const moved = await desk.ask(`POST /items/${items['a']!.id}:move`, { before_item_id: items['b']!.id })
  expect(moved.json.errors).toMatchObject([{ pointer: '/before_item_id', code: 'reference.unknown' }])
  // The same gap, so the same rank as the archived one has.
  const between = await desk.item({ container_id: shelf.collectionId, title: 'x', before_item_id: items['c']!.id })
  await desk.act(between, 'archive')
  await desk.item({ container_id: shelf.collectionId, title: 'y', before_item_id: items['c']!.id })
  expect(await desk.titles(shelf.buckets[0]!)).toEqual(['a', 'y', 'c'])
  for (const size of [1, 2, 10])
    expect([...(await listed(`bucket_id=${shelf.buckets[0]}&archived=INCLUDE`, size))].sort().join('')).toBe('abcxy')
  expect([...(await listed(`bucket_id=${shelf.buckets[0]}&archived=ONLY`, 1))].sort().join('')).toBe('bx')
})

describe('lists', () => {
  test('have archived items on request only, in every combination of filters', async () => {
    const { shelf, items } = await filled('abcdef')
    const label = await desk.label(shelf.collectionId, 'some')
    for (const title of 'bc') await desk.ask(`PUT /items/${items[title]!.id}/labels/${label}`)
    for (const title of 'bd') await desk.act(items[title]!, 'archive')
    await desk.act(items['f']!, 'complete')
    await desk.act(await desk.act(items['e']!, 'complete'), 'archive')
    const of = `container_id=${shelf.collectionId}`
    const bucket = `bucket_id=${shelf.buckets[0]}`
    const lists: [string, string, string, string][] = [
      [of, 'acf', 'abcdef', 'bde'],
      [bucket, 'ac', 'abcd', 'bd'],
      [`bucket_id=${shelf.buckets[1]}`, 'f', 'fe', 'e'],
      [`${of}&state=OPEN`, 'ac', 'abcd', 'bd'],
      [`${of}&state=DONE`, 'f', 'ef', 'e'],
      [`${bucket}&state=OPEN`, 'ac', 'abcd', 'bd'],
      [`label_id=${label}`, 'c', 'bc', 'b'],
      [`${of}&bucket_id=none`, '', '', ''],
    ]
    for (const [query, active, all, archived] of lists)
      for (const size of [1, 2, 200])
        expect([
          query,
          await listed(query, size),
          await listed(`${query}&archived=EXCLUDE`, size),
          await listed(`${query}&archived=INCLUDE`, size),
          await listed(`${query}&archived=ONLY`, size),
        ]).toEqual([query, active, active, all, archived])
  })

  test('of the whole workspace, for people and for guests', async () => {
    const { shelf, items } = await filled('ab')
    await desk.act(items['a']!, 'archive')
    const guest = await desk.guest()
    await desk.grant({ id: shelf.collectionId }, guest, 'VIEWER')
    const has = async (archived: string, as = guest) => {
      const { json } = await desk.ask(`GET /items?size=200&archived=${archived}`, undefined, { as })
      const ids = json.data.map(({ id }: Item) => id)
      return [items['a']!.id, items['b']!.id].map((id) => ids.includes(id))
    }
    for (const as of [guest, desk.people.OWNER, desk.people.VIEWER]) {
      expect(await has('EXCLUDE', as)).toEqual([false, true])
      expect(await has('INCLUDE', as)).toEqual([true, true])
      expect(await has('ONLY', as)).toEqual([true, false])
    }
  })

  test('a cursor is of the list that it was made for', async () => {
    const { shelf } = await filled('ab')
    const { json } = await desk.ask(`GET /items?bucket_id=${shelf.buckets[0]}&size=1&archived=INCLUDE`)
    const other = await desk.ask(`GET /items?bucket_id=${shelf.buckets[0]}&size=1&cursor=${json.next_cursor}`)
    expect(other.json.code).toBe('cursor.invalid')
  })
})

test('a board shows them on request, and its cursors go on in the list', async () => {
  const { shelf, items } = await filled('abcd')
  for (const title of 'bd') await desk.act(items[title]!, 'archive')
  const loose = await desk.item({ container_id: shelf.collectionId, bucket_id: null, title: 'z' })
  await desk.act(loose, 'archive')
  const board = async (archived: string, size = 20) => {
    const { json } = await desk.ask(`GET /containers/${shelf.collectionId}/board?archived=${archived}&size=${size}`)
    const shown = (part: { items: Item[] }) => part.items.map(({ title }) => title).join('')
    return { first: shown(json.buckets[0]), none: shown(json.unbucketed), cursor: json.buckets[0].next_cursor }
  }
  expect(await board('EXCLUDE')).toEqual({ first: 'ac', none: '', cursor: null })
  expect(await board('INCLUDE')).toEqual({ first: 'abcd', none: 'z', cursor: null })
  expect(await board('ONLY')).toEqual({ first: 'bd', none: 'z', cursor: null })
  for (const [archived, rest] of [
    ['EXCLUDE', 'c'],
    ['INCLUDE', 'bcd'],
    ['ONLY', 'd'],
  ] as const) {
    const { cursor } = await board(archived, 1)
    const { json } = await desk.ask(`GET /items?bucket_id=${shelf.buckets[0]}&archived=${archived}&cursor=${cursor}`)
    expect(json.data.map(({ title }: Item) => title).join('')).toBe(rest)
  }
})

test('every change but :unarchive and DELETE is refused', async () => {
  const item = await desk.act(await desk.item({ label_ids: [desk.labels[0]] }), 'archive')
  await desk.field({ key: 'note', kind: 'TEXT' })
  const path = `items/${item.id}`
  const { accountId } = desk.people.MEMBER
  const changes: [`${string} /${string}`, object?][] = [
    [`POST /${path}:move`, {}],
    [`POST /${path}:complete`],
    [`POST /${path}:reopen`],
    [`POST /${path}:assign`, { account_id: accountId }],
    [`POST /${path}:unassign`, {}],
    [`PUT /${path}/members/${accountId}`],
    [`DELETE /${path}/members/${accountId}`],
    [`PUT /${path}/labels/${desk.labels[1]}`],
    [`DELETE /${path}/labels/${desk.labels[0]}`],
    [`PUT /${path}/custom-fields/note`, { value: 'x' }],
    [`PUT /${path}/due`, { due_on: '2027-03-01' }],
    [`DELETE /${path}/due`],
  ]
  for (const [line, body] of changes) {
    const { status, json } = await leavesAlone(() => desk.ask(line, body))
    expect([line, status, json.code]).toEqual([line, 409, 'item.archived'])
  }
  expect((await leavesAlone(() => desk.patch(item, { title: 'x' }))).json.code).toBe('item.archived')
})

test('deleting an archived item counts once: against the ceiling, not in its bucket', async () => {
  const { shelf, items } = await filled('ab')
  const tally = async () => Number(JSON.parse(await desk.marks()).tally)
  const before = await tally()
  await desk.act(items['a']!, 'archive')
  expect(await tally()).toBe(before)
  expect((await desk.ask(`DELETE /items/${items['a']!.id}`)).status).toBe(204)
  expect([await tally(), await counts(shelf)]).toEqual([before - 1, [1, 0]])
  expect(await listed(`container_id=${shelf.collectionId}&archived=INCLUDE`)).toBe('b')
})

test('a bucket that is deleted leaves its archived items where its other items went, and says nothing of them', async () => {
  const { shelf, items } = await filled('ab')
  const [from, to] = shelf.buckets as [string, string]
  await desk.act(items['a']!, 'archive')
  const { json } = await desk.ask(`DELETE /containers/${shelf.collectionId}/buckets/${from}`)
  expect(json).toMatchObject({ moved_item_count: 1, moved_to_bucket_id: to })
  expect(await desk.read(items['a']!)).toMatchObject({ bucket_id: to, version: 3 })
  expect(await counts(shelf)).toEqual([1])
  await desk.act(items['a']!, 'unarchive')
  expect(await desk.titles(to)).toEqual(['b', 'a'])
  expect(await counts(shelf)).toEqual([2])
})

test('readers and archived containers are refused, a stale tag too', async () => {
  const { shelf, items } = await filled('a')
  const codes = async (more: object) =>
    Promise.all(
      ['archive', 'unarchive'].map(async (act) => {
        const { json } = await desk.ask(`POST /items/${items['a']!.id}:${act}`, undefined, more)
        return json.code
      }),
    )
  expect(await codes({ as: desk.people.COMMENTER })).toEqual(['auth.role_required', 'auth.role_required'])
  expect(await codes({ headers: { 'if-match': '"9"' } })).toEqual(['precondition.failed', 'precondition.failed'])
  await desk.ask(`POST /containers/${shelf.collectionId}:archive`)
  expect(await codes({})).toEqual(['container.archived', 'container.archived'])
})
