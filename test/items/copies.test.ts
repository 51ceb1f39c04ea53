/** Orders and copies of items. Spec: items 1, N14 and N15; decision 0341. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Files, openFiles, png } from '../media/files.ts'
import { pointers } from './desk.ts'

let desk: Files
beforeAll(async () => {
  desk = await openFiles()
})
afterAll(() => desk.close())

const sql = () => desk.daemon.db.sql
const read = async ({ id }: { readonly id: string }): Promise<Item> => (await desk.ask(`GET /items/${id}`)).json
const under = (parent: Item, title: string, members: object = {}) =>
  desk.item({ container_id: parent.container_id, parent_id: parent.id, title, ...members })
const childrenOf = async ({ id }: Item): Promise<string[]> =>
  (
    await desk.ask('POST /items:query', {
      filter: { field: 'parent', op: 'is', value: id },
      sort: [{ by: 'siblings' }],
    })
  ).json.data.map(({ title }: Item) => title)
const reorder = ({ id }: Item, body: object) => desk.ask(`POST /items/${id}:reorder`, body)
const duplicate = async ({ id }: Item, body: object = {}): Promise<Item> => {
  const { status, json, text } = await desk.ask(`POST /items/${id}:duplicate`, body)
  if (status !== 201) throw new Error(text)
  return json
}

describe('the order', () => {
  test('of a bucket changes alone: neither bucket nor parent, and once', async () => {
    const shelf = await desk.shelf(2)
    const [a, b, c] = await Promise.all([])
      .then(async () => [
        await desk.item({ container_id: shelf.collectionId, title: 'a' }),
        await desk.item({ container_id: shelf.collectionId, title: 'b' }),
        await desk.item({ container_id: shelf.collectionId, title: 'c' }),
      ])
      .then((items) => items as [Item, Item, Item])
    const { status, json } = await reorder(c, { before_item_id: a.id })
    expect(status).toBe(200)
    expect(json).toEqual({ ...c, position: json.position, version: 2, updated_at: json.updated_at })
    expect(await desk.titles(shelf.buckets[0]!)).toEqual(['c', 'a', 'b'])
    expect(await desk.moved(c)).toEqual({ position: c.position })
    expect((await reorder(c, { before_item_id: a.id })).json).toEqual(json)
    expect((await reorder(c, {})).json.version).toBe(3)
    expect(await desk.titles(shelf.buckets[0]!)).toEqual(['a', 'b', 'c'])
    await desk.act(b, 'move', { bucket_id: shelf.buckets[1] })
    expect(pointers(await reorder(a, { before_item_id: b.id }))).toEqual([['/before_item_id', 'reference.unknown']])
    expect(pointers(await reorder(a, { before_item_id: a.id }))).toEqual([['/before_item_id', 'reference.itself']])
  })

  test('of siblings is their own; a root has none', async () => {
    const top = await desk.item()
    const [a, b, c] = [await under(top, 'a'), await under(top, 'b'), await under(top, 'c')]
    const moved = (await reorder(c, { within: 'PARENT', before_item_id: b.id })).json
    expect(moved).toMatchObject({ position: c.position, parent_id: top.id, version: 2 })
    expect(await desk.moved(c)).toEqual({ sibling_position: c.sibling_position })
    expect(await childrenOf(top)).toEqual(['a', 'c', 'b'])
    expect((await reorder(c, { within: 'PARENT', before_item_id: b.id })).json).toEqual(moved)
    await reorder(a, { within: 'PARENT' })
    expect(await childrenOf(top)).toEqual(['c', 'b', 'a'])
    expect(pointers(await reorder(top, { within: 'PARENT' }))).toEqual([['/within', 'value.not_taken']])
    const other = await desk.item()
    expect(pointers(await reorder(a, { within: 'PARENT', before_item_id: other.id }))).toEqual([
      ['/before_item_id', 'reference.unknown'],
    ])
  })

  test('is exhausted where no rank of its length is left, and a move of the neighbour makes room', async () => {
    const top = await desk.item()
    const [a, b, c] = [await under(top, 'a'), await under(top, 'b'), await under(top, 'c')]
    const long = `a0${'a0'.repeat(499)}`
    await sql()`update item set sibling_rank = ${long} where id = ${a.id}`
    await sql()`update item set sibling_rank = ${`${long.slice(0, -1)}1`} where id = ${b.id}`
    expect(await reorder(c, { within: 'PARENT', before_item_id: b.id })).toMatchObject({
      status: 409,
      json: { code: 'order.exhausted' },
    })
    await reorder(a, { within: 'PARENT', before_item_id: null })
    expect((await reorder(c, { within: 'PARENT', before_item_id: b.id })).status).toBe(200)
  })
})

describe('a copy', () => {
  test('has all of the original, is open, and the tree with its order', async () => {
    const { collectionId, labels, buckets } = desk
    const due = { due_at: '2026-12-01T10:00:00.000Z' }
    const top = await desk.item({ title: 'top', description: 'text', label_ids: labels, ...due })
    const [b, a] = [await under(top, 'b'), await under(top, 'a', { bucket_id: buckets[1] })]
    await reorder(a, { within: 'PARENT', before_item_id: b.id })
    await under(b, 'c')
    const archived = await under(top, 'archived')
    await desk.act(archived, 'archive')
    await desk.act(b, 'complete')
    const { accountId } = desk.people.MEMBER
    await desk.ask(`POST /items/${top.id}:assign`, { account_id: accountId })
    const media = await desk.file(png)
    await desk.ask(`PUT /items/${top.id}/attachments/${media.id}`, { name: 'picture' }, { as: desk.people.MEMBER })
    const quota = await desk.quota()

    const copy = await duplicate(await read(top))
    const now = await read(top)
    expect(copy).toEqual({
      ...now,
      id: copy.id,
      position: copy.position,
      created_at: copy.created_at,
      created_by: copy.created_by,
      updated_at: copy.updated_at,
      version: 1,
    })
    expect(copy).toEqual(await read(copy))
    expect(await desk.told(copy)).toEqual(copy)
    expect(await childrenOf(copy)).toEqual(['a', 'b'])
    const children: Item[] = (
      await desk.ask('POST /items:query', { filter: { field: 'parent', op: 'is', value: copy.id } })
    ).json.data
    const [copiedA, copiedB] = ['a', 'b'].map((title) => children.find((one) => one.title === title)!) as [Item, Item]
    expect([copiedA.bucket_id, copiedB.bucket_id, copiedB.state]).toEqual([buckets[1], buckets[0], 'OPEN'])
    expect(await childrenOf(copiedB)).toEqual(['c'])
    const attachments = (await desk.ask(`GET /items/${copy.id}/attachments`)).json.data
    expect(attachments).toMatchObject([{ media: { id: media.id }, name: 'picture' }])
    const told = await sql()`
      select body::jsonb -> 'data' as data from outbox_event
      where type like '%attachment_added%' and body::jsonb -> 'data' ->> 'item_id' = ${copy.id}`
    expect(told.map(({ data }) => data)).toEqual([
      {
        ...{ item_id: copy.id, container_id: copy.container_id, media_id: media.id, added_by: copy.created_by },
        added_at: attachments[0].added_at,
      },
    ])
    expect(await desk.quota()).toBe(quota)
    expect(copy.container_id).toBe(collectionId)

    // The file stays as long as one of them has it.
    await desk.ask(`DELETE /items/${top.id}/attachments/${media.id}`)
    const [file] = await sql()`select loose_since from media where id = ${media.id}`
    expect(file).toEqual({ loose_since: null })
  })

  test('has at most 2,000 attachments in all, so that its events have a bound', async () => {
    const top = await desk.item()
    const below = [await under(top, '1'), await under(top, '2')]
    for (let n = 0; n < 18; n += 1) below.push(await under(below[n % 2]!, `${n}`))
    const { accountId } = desk.people.MEMBER
    await sql()`
      insert into media (tenant_id, id, filename, size_bytes, received_bytes, state, loose_since, created_by)
      select ${desk.tenantId}, gen_random_uuid(), 'many', 1, 1, 'READY', null, ${accountId} from generate_series(1, 100)`
    const attach = (items: readonly Item[], count: number) => sql()`
      insert into media_reference (tenant_id, item_id, media_id, added_by)
      select ${desk.tenantId}, i.id, m.id, ${accountId} from item i, (select id from media where filename = 'many' order by id limit ${count}) m
      where i.id in ${sql()(items.map(({ id }) => id))}`
    await attach(below, 100)
    const copy = await duplicate(top)
    const [{ count } = { count: 0 }] = await sql()<{ count: number }[]>`
      select count(*)::int as count from media_reference r join item i on i.id = r.item_id where i.root_id = ${copy.id}`
    expect(count).toBe(2_000)
    await attach([top], 1)
    const refused = await desk.ask(`POST /items/${top.id}:duplicate`, {})
    expect(refused).toMatchObject({ status: 409, json: { code: 'structure.full', params: { limit: 2_000 } } })
    expect((await desk.ask('GET /items?size=200')).json.data.filter(({ title }: Item) => title === '17')).toHaveLength(
      2,
    )
    await sql()`delete from media_reference where media_id in (select id from media where filename = 'many')`
    await sql()`delete from media where filename = 'many'`
  })

  test('has only what is asked for', async () => {
    const top = await desk.item({ label_ids: desk.labels, due_at: '2026-12-01T10:00:00.000Z' })
    await under(top, 'child')
    await desk.ask(`POST /items/${top.id}:assign`, { account_id: desk.people.MEMBER.accountId })
    const copy = await duplicate(await read(top), { include: [], title: 'Other' })
    expect(copy).toMatchObject({ title: 'Other', label_ids: [], due_at: null, member_ids: [], assignee_id: null })
    expect(await childrenOf(copy)).toEqual([])
    expect((await duplicate(await read(top), { include: ['LABELS'] })).label_ids).toEqual([...desk.labels].sort())
  })

  test('of a child is its sibling; in another container a root with what fits there', async () => {
    const shelf = await desk.shelf(2)
    const there = await desk.label(shelf.collectionId, 'ONE')
    await desk.field({ key: 'note', kind: 'TEXT' })
    await desk.field({ key: 'own', kind: 'TEXT', collectionId: desk.collectionId })
    const top = await desk.item()
    const child = await under(top, 'child', { label_ids: desk.labels, custom_fields: { note: 'n', own: 'o' } })
    expect(await duplicate(child)).toMatchObject({ parent_id: top.id, custom_fields: { note: 'n', own: 'o' } })
    expect(await childrenOf(top)).toEqual(['child', 'child'])
    const copy = await duplicate(child, { container_id: shelf.collectionId })
    expect(copy).toMatchObject({
      container_id: shelf.collectionId,
      bucket_id: shelf.buckets[0],
      parent_id: null,
      label_ids: [there],
      custom_fields: { note: 'n' },
    })
    expect(copy).toEqual(await read(copy))
    const refused = await desk.ask(`POST /items/${child.id}:duplicate`, { container_id: randomUUID() })
    expect(pointers(refused)).toEqual([['/container_id', 'reference.unknown']])
    const bucket = await desk.ask(`POST /items/${child.id}:duplicate`, { bucket_id: shelf.buckets[0] })
    expect(pointers(bucket)).toEqual([['/bucket_id', 'reference.unknown']])
  })

  test('counts against the ceiling, and is nothing where it does not fit', async () => {
    const top = await desk.item()
    await under(top, 'child')
    const [{ items } = { items: 0 }] = await sql()<
      { items: number }[]
    >`select items::int from item_tally where tenant_id = ${desk.tenantId}`
    await sql()`insert into tenant_quota values (${desk.tenantId}, 'items', ${items + 1})`
    const refused = await desk.ask(`POST /items/${top.id}:duplicate`, {})
    expect(refused).toMatchObject({ status: 409, json: { code: 'quota.exceeded' } })
    await sql()`delete from tenant_quota where tenant_id = ${desk.tenantId} and quota = 'items'`
    const copy = await duplicate(top)
    expect(await childrenOf(copy)).toEqual(['child'])
  })
})

test('lists know parents and children, and count them beside the items', async () => {
  const top = await desk.item({ title: 'counted' })
  const [a, b] = [await under(top, 'a'), await under(top, 'b')]
  await desk.act(b, 'complete')
  const media = await desk.file(png)
  await desk.ask(`PUT /items/${top.id}/attachments/${media.id}`, {}, { as: desk.people.MEMBER })
  const asked = async (filter: object) =>
    (await desk.ask('POST /items:query', { filter, include: ['CHILDREN', 'ATTACHMENTS', 'COMMENTS'] })).json
  const { data, extras } = await asked({
    all: [
      { field: 'has_children', op: 'is', value: true },
      { field: 'title', op: 'is', value: 'counted' },
    ],
  })
  expect(data).toEqual([await read(top)])
  expect(extras).toEqual({ [top.id]: { children: 2, children_done: 1, attachments: 1, comments: 0 } })
  expect((await asked({ field: 'parent', op: 'is', value: top.id })).data.map(({ id }: Item) => id)).toEqual([
    a.id,
    b.id,
  ])
  const carrying = async (value: boolean) => {
    const of = { field: 'id', op: 'in', value: [top.id, a.id] }
    const { data } = await asked({ all: [of, { field: 'has_attachments', op: 'is', value }] })
    return data.map(({ id }: Item) => id)
  }
  expect([await carrying(true), await carrying(false)]).toEqual([[top.id], [a.id]])
  expect((await asked({ field: 'parent', op: 'is', value: randomUUID() })).unknown).toHaveLength(1)
  const listed = async (query: string) => (await desk.ask(`GET /items?${query}`)).json.data?.map(({ id }: Item) => id)
  expect(await listed(`parent_id=${top.id}`)).toEqual([a.id, b.id])
  expect(await listed(`parent_id=${top.id}&state=DONE`)).toEqual([b.id])
  expect((await desk.ask(`GET /items?parent_id=${randomUUID()}`)).status).toBe(404)
})
