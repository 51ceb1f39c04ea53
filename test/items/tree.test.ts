/** The tree of items: parents, bounds, rings, and what acts on a tree at once. Spec: items 1, Tree; decision 0340. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { type Desk, expectUntouched, isRead, openDesk, pointers, type Shelf } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const sql = () => desk.daemon.db.sql
const leavesAlone = <T>(call: () => Promise<T>) => expectUntouched(desk, call)
const under = (parent: Item, title: string, members: object = {}) =>
  desk.item({ container_id: parent.container_id, parent_id: parent.id, title, ...members })
const counts = async ({ collectionId }: Pick<Shelf, 'collectionId'>) =>
  (await desk.ask(`GET /containers/${collectionId}/buckets`)).json.data.map(
    (one: { item_count: number }) => one.item_count,
  )
/** Items and buckets as they are counted, and as they are. */
async function tallies() {
  const [row] = await sql()`
    select (select items::int from item_tally where tenant_id = ${desk.tenantId}) as kept,
           (select count(*)::int from item where tenant_id = ${desk.tenantId} and deleted_at is null) as items,
           (select coalesce(jsonb_object_agg(b.id, coalesce(t.items, 0)), '{}') from bucket b
            left join bucket_tally t on t.tenant_id = b.tenant_id and t.bucket_id = b.id where b.tenant_id = ${desk.tenantId}) as kept_in,
           (select coalesce(jsonb_object_agg(b.id, (select count(*) from item i where i.tenant_id = b.tenant_id and i.bucket_id = b.id
              and i.deleted_at is null and i.archived_at is null)), '{}') from bucket b where b.tenant_id = ${desk.tenantId}) as in_buckets`
  return row as unknown as { kept: number; items: number; kept_in: object; in_buckets: object }
}
async function expectExact() {
  const { kept, items, kept_in, in_buckets } = await tallies()
  expect(kept).toBe(items)
  expect(kept_in).toEqual(in_buckets)
}
/** a ▸ b ▸ c, and a ▸ d. */
async function family(): Promise<Record<'a' | 'b' | 'c' | 'd', Item> & { shelf: Shelf }> {
  const shelf = await desk.shelf(2, { doneAt: 1 })
  const a = await desk.item({ container_id: shelf.collectionId, title: 'a' })
  const b = await under(a, 'b')
  const c = await under(b, 'c')
  return { shelf, a, b, c, d: await under(a, 'd') }
}
const remove = async ({ id }: { readonly id: string }) =>
  expect((await desk.ask(`DELETE /items/${id}`)).status).toBe(204)
const rootOf = async ({ id }: Item) => (await sql()`select root_id from item where id = ${id}`)[0]?.['root_id']
const events = async (action: string, ids: readonly string[]) =>
  (
    await sql()`
      select body::jsonb -> 'data' ->> 'id' as id from outbox_event
      where tenant_id = ${desk.tenantId} and type like ${`%work.item.${action}.v1`} order by id`
  ).flatMap(({ id }) => (ids.includes(id) ? [id] : []))
const depthBelow = async (top: Item, levels: number): Promise<Item> =>
  levels === 0 ? top : depthBelow(await under(top, `${levels}`), levels - 1)

describe('a child', () => {
  test('is an item beside others, the last of its siblings, and told with its event', async () => {
    const { a, b, c, d } = await family()
    expect(a).toMatchObject({ parent_id: null, sibling_position: null })
    expect(b).toMatchObject({ parent_id: a.id, bucket_id: a.bucket_id, version: 1 })
    expect(b.sibling_position! < d.sibling_position!).toBe(true)
    await isRead(desk, c)
    expect(await Promise.all([a, b, c, d].map(rootOf))).toEqual([null, a.id, a.id, a.id])
    expect(await desk.titles(a.bucket_id!)).toEqual(['a', 'b', 'c', 'd'])
    expect(await desk.read(a)).toEqual(a)
    await expectExact()
  })

  test('has a parent of its own container that is there, seen and not archived', async () => {
    const { shelf, a } = await family()
    const elsewhere = await desk.item()
    const gone = await desk.item({ container_id: shelf.collectionId })
    await remove(gone)
    const body = { container_id: shelf.collectionId, title: 'x' }
    for (const parent_id of [elsewhere.id, gone.id, randomUUID()]) {
      const refused = await leavesAlone(() => desk.ask('POST /items', { ...body, parent_id }))
      expect([refused.status, pointers(refused)]).toEqual([422, [['/parent_id', 'reference.unknown']]])
    }
    await desk.act(a, 'archive')
    const refused = await desk.ask('POST /items', { ...body, parent_id: a.id })
    expect(refused).toMatchObject({ status: 409, json: { code: 'item.archived' } })
  })

  test('that a container does not show is told by the container alone', async () => {
    const { shelf, a } = await family()
    await sql()`update container set is_private = true where id = ${shelf.collectionId}`
    const as = desk.people.MEMBER
    for (const parent_id of [a.id, randomUUID()]) {
      const body = { container_id: shelf.collectionId, title: 'x', parent_id }
      expect(pointers(await desk.ask('POST /items', body, { as }))).toEqual([['/container_id', 'reference.unknown']])
    }
  })
})

describe('bounds', () => {
  const full = (bound: string, limit: number) => ({
    status: 409,
    json: { code: 'item.tree_full', params: { bound, limit } },
  })

  test('five levels, for a new item and for a branch', async () => {
    const top = await desk.item()
    const fifth = await depthBelow(top, 4)
    expect(
      await leavesAlone(() =>
        desk.ask('POST /items', { container_id: top.container_id, title: 'x', parent_id: fifth.id }),
      ),
    ).toMatchObject(full('LEVELS', 5))
    const other = await desk.item()
    const second = await under(other, 'second')
    const fourth = await desk.read({ id: fifth.parent_id! })
    expect(await desk.ask(`POST /items/${other.id}:move`, { parent_id: fourth.id })).toMatchObject(full('LEVELS', 5))
    expect((await desk.act(second, 'move', { parent_id: fourth.id })).parent_id).toBe(fourth.id)
  })

  test('100 children of one parent', async () => {
    const top = await desk.item()
    await grow(top, 100)
    expect(
      await desk.ask('POST /items', { container_id: top.container_id, title: 'x', parent_id: top.id }),
    ).toMatchObject(full('CHILDREN', 100))
  })

  test('500 items a tree, and one of two at once is the 500th', async () => {
    const top = await desk.item()
    const children = await grow(top, 5)
    for (const [at, id] of children.entries()) await grow({ ...top, id, root: top.id }, at === 4 ? 97 : 99)
    // 1 + 5 + 4 × 99 + 97 = 499.
    const body = { container_id: top.container_id, title: 'x', parent_id: children[4] }
    const both = await Promise.all([desk.ask('POST /items', body), desk.ask('POST /items', body)])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(both.find(({ status }) => status === 409)).toMatchObject(full('ITEMS', 500))
  })

  /** Children, written as the rule would. */
  async function grow(parent: Item & { readonly root?: string }, count: number): Promise<string[]> {
    const rows = await sql()`
      insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by, parent_id, root_id, sibling_rank)
      select ${desk.tenantId}, gen_random_uuid(), ${parent.container_id}, ${parent.bucket_id}, 'TASK', 'grown',
             'b' || lpad(n::text, 5, '0') || replace(gen_random_uuid()::text, '-', ''), ${parent.created_by}, ${parent.id}, ${parent.root ?? parent.id}, 'b' || lpad(n::text, 2, '0')
      from generate_series(1, ${count}::int) n returning id`
    await sql()`update item_tally set items = items + ${count} where tenant_id = ${desk.tenantId}`
    await sql()`update bucket_tally set items = items + ${count} where bucket_id = ${parent.bucket_id}`
    return rows.map(({ id }) => id)
  }
})

describe('another parent', () => {
  test('leaves places alone, takes what is below along, and says what it was', async () => {
    const { a, b, c, d } = await family()
    const moved = await desk.act(b, 'move', { parent_id: d.id })
    expect(moved).toEqual({
      ...b,
      parent_id: d.id,
      sibling_position: moved.sibling_position,
      version: 2,
      updated_at: moved.updated_at,
    })
    await isRead(desk, moved)
    expect(await desk.moved(moved)).toEqual({
      parent_id: a.id,
      ...(moved.sibling_position === b.sibling_position ? {} : { sibling_position: b.sibling_position }),
    })
    expect(await desk.read(c)).toEqual(c)
    const root = await desk.act(moved, 'move', { parent_id: null })
    expect(root).toMatchObject({ parent_id: null, sibling_position: null, position: b.position })
    expect([await rootOf(root), await rootOf(c)]).toEqual([null, b.id])
    expect(await leavesAlone(() => desk.act(root, 'move', { parent_id: null }))).toEqual(root)
    await expectExact()
  })

  test('is never the item, nor below it', async () => {
    const { a, b, c } = await family()
    for (const parent of [a, b, c])
      expect(await leavesAlone(() => desk.ask(`POST /items/${a.id}:move`, { parent_id: parent.id }))).toMatchObject({
        status: 409,
        json: { code: 'item.circular' },
      })
    const elsewhere = await desk.item()
    expect(pointers(await desk.ask(`POST /items/${a.id}:move`, { parent_id: elsewhere.id }))).toEqual([
      ['/parent_id', 'reference.unknown'],
    ])
  })

  test('two movers into a ring: one of them is refused, ten times', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [one, other] = [await desk.item(), await desk.item()]
      const both = await Promise.all([
        desk.ask(`POST /items/${one.id}:move`, { parent_id: other.id }),
        desk.ask(`POST /items/${other.id}:move`, { parent_id: one.id }),
      ])
      expect(both.map(({ status, json }) => json.code ?? status).sort()).toEqual([200, 'item.circular'])
    }
  })

  test('beside a deletion of the parent the child is below it in the trash, or refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const parent = await desk.item()
      const [made, gone] = await Promise.all([
        desk.ask('POST /items', { container_id: parent.container_id, title: 'x', parent_id: parent.id }),
        desk.ask(`DELETE /items/${parent.id}`),
      ])
      expect(gone.status).toBe(204)
      if (made.status === 201) expect((await desk.ask(`GET /items/${made.json.id}`)).status).toBe(404)
      else expect(pointers(made)).toEqual([['/parent_id', 'reference.unknown']])
    }
    await expectExact()
  })
})

describe('another container', () => {
  test('takes the tree, to the end of the bucket; a child alone leaves its parent', async () => {
    const { a, b, c, d, shelf } = await family()
    await desk.act(d, 'archive')
    const to = await desk.shelf(2)
    await desk.item({ container_id: to.collectionId, title: 'there' })
    const moved = await desk.act(a, 'move', { container_id: to.collectionId, bucket_id: to.buckets[0] })
    expect(moved).toMatchObject({ container_id: to.collectionId, parent_id: null, version: 2 })
    await isRead(desk, moved)
    expect(await desk.titles(to.buckets[0]!)).toEqual(['there', 'a', 'b', 'c'])
    for (const [one, parent_id] of [
      [b, a.id],
      [c, b.id],
      [d, a.id],
    ] as const) {
      const now = await desk.read(one)
      expect(now).toMatchObject({ container_id: to.collectionId, parent_id, bucket_id: to.buckets[0] })
      await isRead(desk, now)
      expect(await desk.moved(one)).toEqual({})
    }
    expect(
      await events(
        'moved',
        [a, b, c, d].map(({ id }) => id),
      ),
    ).toEqual(
      [a.id, b.id, d.id, c.id].sort(
        (x, y) => [a.id, b.id, c.id, d.id].indexOf(x) - [a.id, b.id, c.id, d.id].indexOf(y),
      ),
    )
    expect([await counts(shelf), await counts(to)]).toEqual([
      [0, 0],
      [4, 0],
    ])
    const alone = await desk.act(b, 'move', { container_id: shelf.collectionId })
    expect(alone).toMatchObject({ container_id: shelf.collectionId, parent_id: null })
    expect(await desk.read(c)).toMatchObject({ container_id: shelf.collectionId, parent_id: b.id })
    expect([await rootOf(b), await rootOf(c)]).toEqual([null, b.id])
    await expectExact()
  })

  test('with a parent there', async () => {
    const { a, b, c } = await family()
    const parent = await desk.item()
    const moved = await desk.act(a, 'move', { container_id: parent.container_id, parent_id: parent.id })
    expect(moved).toMatchObject({ container_id: parent.container_id, parent_id: parent.id })
    expect(await Promise.all([a, b, c].map(rootOf))).toEqual([parent.id, parent.id, parent.id])
  })
})

describe('the trash', () => {
  test('has one row of a tree, counts it, and gives all of it back to the ends of their buckets', async () => {
    const { a, b, c, d, shelf } = await family()
    await desk.act(c, 'complete')
    await remove(d)
    await remove(a)
    const rows = (await desk.ask(`GET /trash?container_id=${shelf.collectionId}`)).json.data
    expect(rows).toMatchObject([
      { id: a.id, item_count: 3 },
      { id: d.id, item_count: 1 },
    ])
    expect(
      await events(
        'deleted',
        [a, b, c].map(({ id }) => id),
      ),
    ).toEqual([a.id, b.id, c.id])
    expect(await counts(shelf)).toEqual([0, 0])
    await expectExact()
    const back = await desk.act(a, 'restore')
    await isRead(desk, back)
    await isRead(desk, await desk.read(c))
    expect(await desk.titles(a.bucket_id!)).toEqual(['a', 'b'])
    expect(await desk.read(c)).toMatchObject({ state: 'DONE', bucket_id: shelf.buckets[1], parent_id: b.id })
    expect((await desk.ask(`GET /items/${d.id}`)).status).toBe(404)
    expect(await desk.act(d, 'restore')).toMatchObject({ parent_id: a.id })
    await expectExact()
  })

  test('gives a child without its parent back as a root, with what was below it', async () => {
    const { a, b, c, shelf } = await family()
    await remove(a)
    const back = await desk.act(b, 'restore')
    expect(back).toMatchObject({ parent_id: null, sibling_position: null })
    await isRead(desk, back)
    expect([await rootOf(b), await rootOf(c)]).toEqual([null, b.id])
    expect((await desk.ask(`GET /trash?container_id=${shelf.collectionId}`)).json.data).toMatchObject([
      { id: a.id, item_count: 2 },
    ])
    const again = await desk.act(a, 'restore')
    expect(again).toMatchObject({ parent_id: null })
    expect(await desk.read(b)).toMatchObject({ parent_id: null })
    await expectExact()
  })

  test('a parent without room makes it a root', async () => {
    const fourth = await depthBelow(await desk.item(), 3)
    const fifth = await under(fourth, 'fifth')
    await remove(fifth)
    const other = await under(await desk.item(), 'x')
    await desk.act(await desk.read({ id: fourth.id }), 'move', { parent_id: other.id })
    expect(await desk.act(fifth, 'restore')).toMatchObject({ parent_id: fourth.id })
    await remove(fifth)
    const third = await under(other, 'y')
    const lower = await under(third, 'z')
    await desk.act(await desk.read({ id: fourth.id }), 'move', { parent_id: lower.id })
    expect(await desk.act(fifth, 'restore')).toMatchObject({ parent_id: null })
  })

  test('a purge takes the tree, and :empty counts rows', async () => {
    const { a, b, c, d, shelf } = await family()
    await remove(d)
    await remove(a)
    expect((await desk.ask(`POST /items/${b.id}:purge`)).status).toBe(204)
    expect(await events('purged', [b.id, c.id])).toEqual([b.id, c.id])
    expect((await desk.ask(`GET /trash?container_id=${shelf.collectionId}`)).json.data).toMatchObject([
      { id: a.id, item_count: 1 },
      { id: d.id },
    ])
    const body = { container_id: shelf.collectionId, confirm_count: 2 }
    expect((await desk.ask('POST /trash:empty', body)).status).toBe(202)
  })
})

describe('the archive', () => {
  test('takes the tree and gives it back; what was archived before stays', async () => {
    const { a, b, c, d, shelf } = await family()
    await desk.act(d, 'archive')
    const archived = await desk.act(a, 'archive')
    await isRead(desk, archived)
    expect((await desk.read(c)).archived_at).toBe(archived.archived_at)
    expect(
      await events(
        'archived',
        [a, b, c].map(({ id }) => id),
      ),
    ).toEqual([a.id, b.id, c.id])
    expect(await counts(shelf)).toEqual([0, 0])
    const back = await desk.act(a, 'unarchive')
    await isRead(desk, back)
    expect(await desk.titles(a.bucket_id!)).toEqual(['a', 'b', 'c'])
    expect((await desk.read(d)).archived_at).not.toBeNull()
    await expectExact()
  })

  test('gives a child of an archived parent back as a root', async () => {
    const { a, b, c } = await family()
    await desk.act(a, 'archive')
    const back = await desk.act(b, 'unarchive')
    expect(back).toMatchObject({ parent_id: null, archived_at: null })
    await isRead(desk, back)
    expect(await desk.read(c)).toMatchObject({ parent_id: b.id, archived_at: null })
    expect([await rootOf(b), await rootOf(c)]).toEqual([null, b.id])
    expect(await desk.act(a, 'unarchive')).toMatchObject({ archived_at: null })
    await expectExact()
  })
})

test('an item that came elsewhere while its lock was waited for joins trees that are held', async () => {
  const shelf = await desk.shelf(1)
  const item = await desk.item()
  const [parent, top] = [
    await desk.item({ container_id: shelf.collectionId }),
    await desk.item({ container_id: shelf.collectionId }),
  ]
  const fourth = await depthBelow(top, 3)
  const [holder, mover] = [await sql().reserve(), await sql().reserve()]
  await holder`begin`
  await holder`select pg_advisory_xact_lock(${lockClasses.trees}, hashtext(${desk.tenantId + shelf.collectionId}))`
  await mover`begin`
  await mover`
    update item set container_id = ${shelf.collectionId}, bucket_id = ${shelf.buckets[0]!}, rank = 'zz', version = version + 1
    where id = ${item.id}`
  const moving = desk.ask(`POST /items/${item.id}:move`, { parent_id: parent.id })
  await desk.untilWaiting(1)
  await mover`commit`
  await desk.untilWaiting(1)
  await holder`
    update item set parent_id = ${fourth.id}, root_id = ${top.id}, sibling_rank = 'a0', version = version + 1 where id = ${parent.id}`
  await holder`commit`
  expect(await moving).toMatchObject({ status: 409, json: { code: 'item.tree_full', params: { bound: 'LEVELS' } } })
  for (const connection of [holder, mover]) connection.release()
})

test('a change says what it was before', async () => {
  const item = await desk.item({ label_ids: [desk.labels[0]] })
  await desk.patch(item, { title: 'Other' })
  expect(await desk.moved(item)).toEqual({ title: item.title })
  await desk.ask(`PUT /items/${item.id}/labels/${desk.labels[1]}`)
  expect(await desk.moved(item)).toEqual({ label_ids: [desk.labels[0]] })
  await desk.act(item, 'complete')
  expect(await desk.moved(item)).toEqual({
    state: 'OPEN',
    completed_at: null,
    bucket_id: item.bucket_id,
    position: item.position,
  })
  await remove(item)
  expect(await desk.moved(item)).toEqual({})
})
