/** A board in one answer: the same as the calls that it replaces, of one moment. Decision 0178. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Board, Item } from '../../src/core/contract/items/operations.ts'
import { person } from '../kit/people.ts'
import { type Desk, openDesk } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

async function board(containerId: string, query = ''): Promise<Board> {
  const { status, json, text } = await desk.ask(`GET /containers/${containerId}/board${query}`)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return json as Board
}
const titlesOf = ({ items }: { readonly items: readonly Item[] }) => items.map(({ title }) => title)

/** Titles `a0…` in the first bucket, `b0…` in the second, `none0…` in no bucket. */
async function filled() {
  const { collectionId, buckets } = await desk.shelf(3, { doneAt: 2 })
  const add = async (count: number, name: string, bucket_id: string | null) => {
    for (let n = 0; n < count; n += 1) await desk.item({ container_id: collectionId, bucket_id, title: `${name}${n}` })
  }
  await add(5, 'a', buckets[0]!)
  await add(2, 'b', buckets[1]!)
  await add(3, 'none', null)
  return { collectionId, buckets }
}

test('is what the single calls answer', async () => {
  const { collectionId, buckets } = await filled()
  await desk.field({ key: `k${Date.now()}`, kind: 'TEXT' })
  const answer = await board(collectionId)
  expect(answer.container).toEqual((await desk.ask(`GET /containers/${collectionId}`)).json)
  expect(answer.buckets.map(({ items: _, next_cursor: __, ...bucket }) => bucket)).toEqual(
    (await desk.ask(`GET /containers/${collectionId}/buckets`)).json.data,
  )
  for (const [at, bucketId] of buckets.entries())
    expect(answer.buckets[at]?.items).toEqual((await desk.ask(`GET /items?bucket_id=${bucketId}`)).json.data)
  expect(answer.buckets.map(({ next_cursor }) => next_cursor)).toEqual([null, null, null])
  expect(titlesOf(answer.unbucketed)).toEqual(['none0', 'none1', 'none2'])
  expect(answer.unbucketed.next_cursor).toBeNull()
})

test('its cursors go on in `GET /items`, in a bucket and in none', async () => {
  const { collectionId, buckets } = await filled()
  const { buckets: answered, unbucketed } = await board(collectionId, '?size=2')
  expect(answered.map(titlesOf)).toEqual([['a0', 'a1'], ['b0', 'b1'], []])
  expect(answered.map(({ next_cursor }) => next_cursor === null)).toEqual([false, true, true])
  const rest = await desk.ask(`GET /items?bucket_id=${buckets[0]}&cursor=${answered[0]?.next_cursor}`)
  expect(titlesOf({ items: rest.json.data })).toEqual(['a2', 'a3', 'a4'])
  expect(titlesOf(unbucketed)).toEqual(['none0', 'none1'])
  const loose = await desk.ask(
    `GET /items?container_id=${collectionId}&bucket_id=none&cursor=${unbucketed.next_cursor}`,
  )
  expect(titlesOf({ items: loose.json.data })).toEqual(['none2'])
})

test('takes a state, and its cursors keep it', async () => {
  const { collectionId, buckets } = await filled()
  const { buckets: before } = await board(collectionId)
  for (const { id } of before[0]!.items.slice(0, 3)) await desk.act({ id }, 'complete')
  const open = await board(collectionId, '?state=OPEN&size=1')
  expect(open.buckets.map(titlesOf)).toEqual([['a3'], ['b0'], []])
  const done = await board(collectionId, '?state=DONE&size=2')
  expect(done.buckets.map(titlesOf)).toEqual([[], [], ['a0', 'a1']])
  const rest = await desk.ask(`GET /items?bucket_id=${buckets[2]}&state=DONE&cursor=${done.buckets[2]?.next_cursor}`)
  expect(titlesOf({ items: rest.json.data })).toEqual(['a2'])
})

test('ends at about a MiB; every bucket without room has a cursor to the rest', async () => {
  const { collectionId, buckets } = await desk.shelf(4)
  const description = 'é'.repeat(20_000)
  for (const bucket_id of [...buckets, null])
    for (let n = 0; n < 10; n += 1)
      await desk.item({ container_id: collectionId, bucket_id, title: `${n}`, description })
  const { text } = await desk.ask(`GET /containers/${collectionId}/board?size=10`)
  expect(text.length).toBeLessThan(1_200_000)
  const answer = JSON.parse(text) as Board
  const shown = [...answer.buckets, answer.unbucketed]
  expect(shown.reduce((sum, { items }) => sum + items.length, 0)).toBeGreaterThan(20)
  for (const [at, { items, next_cursor }] of shown.entries()) {
    const bucket = at < buckets.length ? `bucket_id=${buckets[at]}` : `container_id=${collectionId}&bucket_id=none`
    const rest = next_cursor === null ? [] : (await desk.ask(`GET /items?${bucket}&cursor=${next_cursor}`)).json.data
    expect([...items, ...(rest as Item[])].map(({ title }) => Number(title))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  }
}, 60_000)

test('a container without buckets, and a hub, have items in no bucket alone', async () => {
  const { collectionId } = await desk.shelf(0)
  await desk.item({ container_id: collectionId, bucket_id: null, title: 'alone' })
  const answer = await board(collectionId)
  expect([answer.buckets, titlesOf(answer.unbucketed)]).toEqual([[], ['alone']])
  const hub = await desk.hub()
  expect(await board(hub.id)).toMatchObject({ container: { id: hub.id }, buckets: [], unbucketed: { items: [] } })
})

test('is not found where the container is not seen, deleted or unknown', async () => {
  const hub = await desk.hub()
  const hidden = await desk.collection(hub, { is_private: true })
  const member = await person(desk.daemon, desk.tenantId, { role: 'ADMIN' })
  expect((await desk.ask(`GET /containers/${hidden.id}/board`, undefined, { as: member })).status).toBe(404)
  expect((await desk.ask(`GET /containers/${hidden.id}/board`)).status).toBe(200)
  await desk.ask(`DELETE /containers/${hidden.id}`)
  expect((await desk.ask(`GET /containers/${hidden.id}/board`)).status).toBe(404)
})

test.each(['?size=0', '?size=51', '?cursor=x', '?state=X'])('refuses %s', async (query) => {
  expect((await desk.ask(`GET /containers/${desk.collectionId}/board${query}`)).status).toBe(400)
})

test('`bucket_id=none` of the list needs a container', async () => {
  const { status, json } = await desk.ask('GET /items?bucket_id=none')
  expect([status, json.errors]).toEqual([400, [{ parameter: 'container_id', code: 'member.required', params: {} }]])
})

test('buckets and items are of one moment, whatever moves meanwhile', async () => {
  const { collectionId, buckets } = await desk.shelf(2)
  const item = await desk.item({ container_id: collectionId, bucket_id: buckets[0] })
  let isMoving = true
  const mover = (async () => {
    for (let n = 1; isMoving; n += 1) await desk.act(item, 'move', { bucket_id: buckets[n % 2] })
  })()
  for (let round = 0; round < 60; round += 1) {
    const answer = await board(collectionId)
    for (const { item_count, items } of answer.buckets) expect(items).toHaveLength(item_count)
    expect(answer.buckets.flatMap(({ items }) => items)).toHaveLength(1)
  }
  isMoving = false
  await mover
})
