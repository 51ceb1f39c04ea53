/** What the policies of a container say of what is done, and of comments. Spec: items 1, N25; decision 0343. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { archiveDone } from '../../src/core/areas/items/done.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { type TestClock, testClock } from '../kit/two-ways.ts'
import { type Desk, expectUntouched, isRead, openDesk, type Shelf } from './desk.ts'

let desk: Desk
let installation: Installation
let clock: TestClock
let close: () => Promise<void>
beforeAll(async () => {
  desk = await openDesk()
  clock = testClock()
  const config = { ...desk.daemon.config, purgeSettleSeconds: 0 }
  const booted = await bootInstallation(config, { works: false, applicationName: 'svc test', clock })
  ;({ installation } = booted)
  close = () => booted.close()
})
afterAll(async () => {
  await close()
  await desk.close()
})

const sql = () => desk.daemon.db.sql
const policies = async ({ collectionId }: Shelf, body: object) =>
  expect((await desk.ask(`PUT /containers/${collectionId}/policies`, body)).status).toBe(200)
/** a ▸ b ▸ c in the first of two buckets, the second of which is a done bucket. */
async function family() {
  const shelf = await desk.shelf(2, { doneAt: 1 })
  const make = (title: string, parent?: Item) =>
    desk.item({ container_id: shelf.collectionId, title, ...(parent ? { parent_id: parent.id } : {}) })
  const a = await make('a')
  const b = await make('b', a)
  return { shelf, a, b, c: await make('c', b) }
}
const counts = async ({ collectionId }: Shelf) =>
  (await desk.ask(`GET /containers/${collectionId}/buckets`)).json.data.map(
    (one: { item_count: number }) => one.item_count,
  )

test('an item waits for all below it, where the container says so', async () => {
  const { shelf, a, b, c } = await family()
  await policies(shelf, { complete_needs_children: true })
  const refused = await expectUntouched(desk, () => desk.ask(`POST /items/${a.id}:complete`))
  expect(refused).toMatchObject({ status: 409, json: { code: 'item.children_open', params: { count: 2 } } })
  await desk.act(c, 'complete')
  await desk.act(b, 'archive')
  expect((await desk.act(a, 'complete')).state).toBe('DONE')
})

test('an item completes all below it, where the container says so, and an event tells of each', async () => {
  const { shelf, a, b, c } = await family()
  await policies(shelf, { complete_children: true, complete_needs_children: true })
  const done = await desk.act(a, 'complete')
  await isRead(desk, done)
  for (const one of [b, c]) {
    const now = await desk.read(one)
    expect(now).toMatchObject({
      state: 'DONE',
      bucket_id: shelf.buckets[1],
      completed_at: done.completed_at,
      version: 2,
    })
    await isRead(desk, now)
    expect(await desk.moved(one)).toMatchObject({ state: 'OPEN', bucket_id: shelf.buckets[0] })
  }
  expect(await desk.titles(shelf.buckets[1]!)).toEqual(['a', 'b', 'c'])
  expect(await counts(shelf)).toEqual([0, 3])
})

test('by itself a container does neither', async () => {
  const { a, c } = await family()
  expect((await desk.act(a, 'complete')).state).toBe('DONE')
  expect((await desk.read(c)).state).toBe('OPEN')
})

test('comments take the role that the container asks for', async () => {
  const shelf = await desk.shelf(1)
  const item = await desk.item({ container_id: shelf.collectionId })
  const comment = async (as = desk.people.COMMENTER) =>
    (await desk.ask(`POST /items/${item.id}/comments`, { body: 'said' }, { as })).status
  expect(await comment()).toBe(201)
  await policies(shelf, { comment_role: 'ADMIN' })
  expect([await comment(), await comment(desk.people.MEMBER), await comment(desk.people.ADMIN)]).toEqual([
    403, 403, 201,
  ])
})

const archived = async ({ id }: Item) => (await desk.read({ id })).archived_at !== null
/** As if it had been completed so many days ago, and let alone since. */
const age = ({ id }: Item, days: number) => sql()`
  update item set completed_at = now() - make_interval(days => ${days}, secs => 60),
                  updated_at = now() - make_interval(days => ${days}, secs => 60) where id = ${id}`
const sweep = () => archiveDone.run(installation, {})

test('what has been done for long is archived by two clocks, from below, once what is below is done as long', async () => {
  const { shelf, a, b, c } = await family()
  const other = await family()
  const young = await desk.item({ container_id: shelf.collectionId, title: 'young' })
  for (const one of [c, b, a, young, other.c]) await desk.act(one, 'complete')
  for (const one of [a, b, c, other.c]) await age(one, 7)
  await age(young, 6)
  await sweep()
  await sweep()
  expect(await archived(c)).toBe(false)
  await policies(shelf, { archive_done_after_days: 7 })
  await sql()`update item set state = 'OPEN', completed_at = null where id = ${c.id}`
  await sweep()
  expect([await archived(a), await archived(c), await archived(young)]).toEqual([false, false, false])
  await sql()`update item set state = 'DONE', completed_at = now() where id = ${c.id}`
  await age(c, 8)
  clock.jump(31 * 24 * 3600)
  await expect(sweep()).rejects.toThrow('differ by more than a minute')
  expect([await archived(a), await archived(young)]).toEqual([false, false])
  clock.jump(-31 * 24 * 3600)
  await sweep()
  await sweep()
  expect([
    await archived(a),
    await archived(b),
    await archived(c),
    await archived(young),
    await archived(other.c),
  ]).toEqual([true, true, true, false, false])
  const [entry] = await sql()`
    select actor_kind, params from audit_entry where subject_id = ${a.id} and action = 'item.archived'`
  expect(entry).toEqual({ actor_kind: 'SYSTEM', params: { by: 'time' } })
  expect(await counts(shelf)).toEqual([0, 1])
})

test('what came back from the archive or the trash, or was changed, is let alone for as long', async () => {
  const shelf = await desk.shelf(1)
  await policies(shelf, { archive_done_after_days: 7 })
  const made = async () => {
    const item = await desk.item({ container_id: shelf.collectionId })
    await desk.act(item, 'complete')
    await age(item, 8)
    return item
  }
  const [unarchived, restored, changed] = [await made(), await made(), await made()]
  await sweep()
  await sweep()
  expect(await archived(unarchived)).toBe(true)
  for (const one of [unarchived, changed]) await desk.act(one, 'unarchive')
  expect((await desk.ask(`DELETE /items/${restored.id}`)).status).toBe(204)
  await desk.act(restored, 'restore')
  await desk.act(restored, 'unarchive')
  await age(changed, 8)
  await desk.patch(changed, { title: 'changed' })
  await sweep()
  await sweep()
  expect([await archived(unarchived), await archived(restored), await archived(changed)]).toEqual([false, false, false])
  for (const one of [unarchived, restored, changed]) await age(one, 7)
  await sweep()
  await sweep()
  expect([await archived(unarchived), await archived(restored), await archived(changed)]).toEqual([true, true, true])
})

test('nothing is archived in a container that is archived', async () => {
  const { shelf, c } = await family()
  await policies(shelf, { archive_done_after_days: 1 })
  await desk.act(c, 'complete')
  await age(c, 2)
  expect((await desk.ask(`POST /containers/${shelf.collectionId}:archive`)).status).toBe(200)
  await sweep()
  await sweep()
  expect(await archived(c)).toBe(false)
})
