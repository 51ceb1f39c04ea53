/** Views: who sees and changes one, what it keeps, and queries by one. Spec: items 7, O26 to O29; decision 0207. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { mostPrivate, mostShared, type ViewShown } from '../../src/core/contract/items/views.ts'
import type { Answered } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'
import { type Desk, openDesk, pointers } from './desk.ts'

let desk: Desk
let viewer: Person
let member: Person
beforeAll(async () => {
  desk = await openDesk()
  viewer = desk.people.VIEWER
  member = desk.people.MEMBER
})
beforeEach(() => desk.daemon.db.sql`delete from item_view`)
afterAll(() => desk.close())

const make = (members: object, as = member) => desk.ask('POST /views', { name: 'Mine', ...members }, { as })
async function made(members: object, as = member): Promise<ViewShown> {
  const { status, json, text } = await make(members, as)
  expect(status, text).toBe(201)
  return json as ViewShown
}
const list = async (as: Person, query = '') =>
  (await desk.ask(`GET /views?${query}`, undefined, { as })).json.data as ViewShown[]
const change = ({ id }: ViewShown, body: object, as = member) => desk.ask(`PATCH /views/${id}`, body, { as })
const remove = ({ id }: ViewShown, as = member) => desk.ask(`DELETE /views/${id}`, undefined, { as })
const query = (body: object, as = member) => desk.ask('POST /items:query', body, { as })
const code = ({ status, json }: Answered) => [status, (json as { code?: string } | undefined)?.code]
const told = async () =>
  (
    await desk.daemon.db
      .sql`select type, body::jsonb -> 'data' as data from outbox_event where type like '%work.view.%' order by seq`
  ).map(({ type, data }) => [type.slice(type.indexOf('work'), -'.v1'.length), data.visibility])
const open = { field: 'state', op: 'is', value: 'OPEN' }

describe('a view', () => {
  test('is answered as it is listed, and found where its Location says', async () => {
    const answered = await make({
      container_id: desk.collectionId,
      layout: 'TABLE',
      filter: open,
      sort: [{ by: 'due', order: 'DESC' }],
      group_by: { by: 'due', unit: 'WEEK' },
      columns: ['title', 'due'],
      visibility: 'SHARED',
    })
    expect(answered.status).toBe(201)
    expect(answered.headers['etag']).toBe('"1"')
    const found = await desk.ask(`GET ${String(answered.headers['location']).replace('/api/v1', '')}` as 'GET /views')
    expect(found.json.data).toEqual([answered.json])
    expect(answered.json).toMatchObject({ filter: open, unknown: [], created_by: member.accountId, version: 1 })
  })

  test('that is private is its maker’s alone, and told to nobody', async () => {
    const before = await told()
    const mine = await made({})
    const strangers = [desk.people.OWNER, viewer]
    for (const who of strangers) {
      expect(await list(who)).toEqual([])
      expect([code(await change(mine, { name: 'x' }, who)), code(await remove(mine, who))]).toEqual([
        [404, 'not_found'],
        [404, 'not_found'],
      ])
      expect(pointers(await query({ view_id: mine.id }, who))).toEqual([['/view_id', 'reference.unknown']])
    }
    expect((await remove(mine)).status).toBe(204)
    expect(await told()).toEqual(before)
  })

  test('that becomes shared is told as created, and that becomes private as deleted', async () => {
    const before = (await told()).length
    const view = await made({})
    for (const visibility of ['SHARED', 'PRIVATE', 'SHARED'])
      expect((await change(view, { visibility })).json).toMatchObject({ visibility })
    expect((await change(view, { name: 'Ours' })).status).toBe(200)
    expect((await remove(view)).status).toBe(204)
    expect((await told()).slice(before)).toEqual([
      ['work.view.created', 'SHARED'],
      ['work.view.deleted', 'PRIVATE'],
      ['work.view.created', 'SHARED'],
      ['work.view.changed', 'SHARED'],
      ['work.view.deleted', 'SHARED'],
    ])
  })

  test('that a change leaves as it is keeps its version, whatever order its members came in', async () => {
    const filter = { any: [{ value: 'OPEN', op: 'is', field: 'state' }, open] }
    const view = await made({ filter, sort: [{ order: 'ASC', by: 'title' }], visibility: 'SHARED' })
    const before = await told()
    const again = await change(view, { filter, sort: [{ by: 'title' }], name: 'Mine' })
    expect([again.status, again.json.version]).toEqual([200, 1])
    expect(await told()).toEqual(before)
  })
})

describe('who may', () => {
  test('a VIEWER keeps private views and shares none', async () => {
    const view = await made({ container_id: desk.collectionId }, viewer)
    for (const refused of [
      await make({ visibility: 'SHARED' }, viewer),
      await make({ visibility: 'SHARED', container_id: desk.collectionId }, viewer),
      await change(view, { visibility: 'SHARED' }, viewer),
    ])
      expect(code(refused)).toEqual([403, 'auth.role_required'])
  })

  test('a shared one is its maker’s and the ADMINs’ to change', async () => {
    for (const container_id of [null, desk.collectionId]) {
      const view = await made({ container_id, visibility: 'SHARED' })
      const other = await desk.guest()
      await desk.grant(null, other, 'MEMBER')
      expect(code(await change(view, { name: 'x' }, other))).toEqual([403, 'auth.role_required'])
      expect(code(await remove(view, viewer))).toEqual([403, 'auth.role_required'])
      expect((await change(view, { name: 'Tidied' }, desk.people.ADMIN)).json.name).toBe('Tidied')
      expect((await remove(view)).status).toBe(204)
    }
  })

  test('a guest sees those of its containers, and none of the workspace', async () => {
    const guest = await desk.guest()
    await desk.grant({ id: desk.collectionId }, guest, 'MEMBER')
    const ofBoard = await made({ container_id: desk.collectionId, visibility: 'SHARED' })
    const ofAll = await made({ visibility: 'SHARED' })
    expect(await list(guest)).toEqual([ofBoard])
    expect(code(await change(ofAll, { name: 'x' }, guest))).toEqual([404, 'not_found'])
    expect(code(await make({ visibility: 'SHARED' }, guest))).toEqual([403, 'auth.role_required'])
    expect(pointers(await query({ view_id: ofAll.id }, guest))).toEqual([['/view_id', 'reference.unknown']])
  })

  test('one of a container that is not seen is as one that is not there', async () => {
    const hub = await desk.hub()
    const { id: container_id } = await desk.collection(hub, { is_private: true })
    const hidden = await made({ container_id, visibility: 'SHARED' }, desk.people.OWNER)
    expect(await list(member)).toEqual([])
    const answers = [
      await make({ container_id }),
      await make({ container_id: randomUUID() }),
      await make({ container_id: hub.id }),
    ]
    for (const answer of answers) expect(pointers(answer)).toEqual([['/container_id', 'reference.unknown']])
    expect(code(await change(hidden, { name: 'x' }))).toEqual([404, 'not_found'])
    expect(pointers(await query({ view_id: hidden.id }))).toEqual(pointers(await query({ view_id: randomUUIDv7() })))
  })

  test('in an archived container a shared one stands still, and a private one is its maker’s', async () => {
    const { id: container_id } = await desk.collection(await desk.hub())
    const [shared, own] = [await made({ container_id, visibility: 'SHARED' }), await made({ container_id })]
    expect((await desk.ask(`POST /containers/${container_id}:archive`)).status).toBe(200)
    expect(code(await change(shared, { name: 'x' }))).toEqual([409, 'container.archived'])
    expect((await change(own, { name: 'x' })).status).toBe(200)
    expect(code(await change(own, { visibility: 'SHARED' }))).toEqual([409, 'container.archived'])
  })
})

describe('the filter of a view', () => {
  test('keeps a custom field by its id: one that is defined anew under the key is another', async () => {
    const id = await desk.field({ key: 'stage', kind: 'TEXT' })
    const filter = { field: 'custom.stage', op: 'is', value: 'draft' }
    const view = await made({ filter, sort: [{ by: 'custom.stage' }] })
    const kept = { ...filter, field: `custom:${id}` }
    expect(view).toMatchObject({ filter: kept, unknown: [] })
    const item = await desk.item({ custom_fields: { stage: 'draft' } })
    expect((await query({ view_id: view.id })).json.data.map((one: Item) => one.id)).toEqual([item.id])

    await desk.daemon.db.sql`update custom_field set deleted_at = now() where id = ${id}`
    await desk.field({ key: 'stage', kind: 'MULTI_SELECT', options: ['draft'] })
    expect((await list(member))[0]?.unknown).toEqual([{ pointer: '/filter/field', code: 'reference.unknown' }])
    const { status, json } = await query({ view_id: view.id })
    expect([status, json.data]).toEqual([200, []])
    expect(new Set(json.unknown.map(({ pointer }: { pointer: string }) => pointer))).toEqual(new Set(['/view_id']))
    // What is dead by now is taken back as it was.
    expect((await change(view, { filter: kept, name: 'Renamed' })).json).toMatchObject({
      name: 'Renamed',
      filter: kept,
    })
    await desk.daemon.db.sql`delete from item_field_value`
    await desk.daemon.db.sql`update custom_field set deleted_at = now() where key = 'stage'`
  })

  test.each([
    [{ filter: { field: 'custom.none', op: 'is', value: 'x' } }, '/filter/field', 'reference.unknown'],
    [{ sort: [{ by: 'custom.none' }] }, '/sort/0/by', 'reference.unknown'],
    [{ group_by: { by: 'custom.none' } }, '/group_by/by', 'reference.unknown'],
    [{ filter: { field: 'title', op: 'has_any', value: ['x'] } }, '/filter/op', 'filter.op'],
    [{ sort: [{ by: 'board' }] }, '/container_id', 'member.required'],
    [{ columns: ['title', 'title'] }, '/columns', 'list.unique'],
    [{ layout: 'PIE' }, '/layout', 'value.one_of'],
  ])('%j is refused at its pointer', async (members, pointer, rule) => {
    const answered = await make(members)
    expect([answered.status, pointers(answered)]).toEqual([422, [[pointer, rule]]])
  })

  test('may ask for what is not seen: it is kept, holds for nothing, and is listed', async () => {
    const value = randomUUID()
    const filter = { all: [open, { not: { field: 'bucket', op: 'is', value } }] }
    const view = await made({ filter })
    expect(view.unknown).toEqual([{ pointer: '/filter/all/1/not/value', code: 'reference.unknown' }])
    expect((await query({ view_id: view.id })).json).toMatchObject({ data: [], unknown: [{ pointer: '/view_id' }] })
  })
})

describe('a query by a view', () => {
  test('holds both filters, and takes order, groups and collection where none are sent', async () => {
    const { collectionId } = await desk.shelf(0)
    const [a, b] = [
      await desk.item({ container_id: collectionId, title: 'A sail' }),
      await desk.item({ container_id: collectionId, title: 'B sail' }),
    ]
    const done = await desk.act(await desk.item({ container_id: collectionId, title: 'C sail' }), 'complete')
    const sort = [{ by: 'title', order: 'DESC' }]
    const view = await made({ container_id: collectionId, filter: open, sort, visibility: 'SHARED' })
    const ids = async (body: object) =>
      (await query({ view_id: view.id, ...body }, viewer)).json.data.map(({ id }: Item) => id)
    expect(await ids({})).toEqual([b.id, a.id])
    expect(await ids({ filter: { field: 'title', op: 'starts_with', value: 'a' } })).toEqual([a.id])
    expect(await ids({ sort: [{ by: 'title' }] })).toEqual([a.id, b.id])
    expect(await ids({ filter: { field: 'id', op: 'is', value: done.id } })).toEqual([])
    expect(pointers(await query({ view_id: view.id, container_id: desk.collectionId }))).toEqual([
      ['/container_id', 'value.not_taken'],
    ])
    const first = (await query({ view_id: view.id, size: 1 }, viewer)).json
    expect(await ids({ size: 1, cursor: first.next_cursor })).toEqual([a.id])
  })

  test('a cursor ends with the view that it walked', async () => {
    const view = await made({ filter: open })
    await desk.item()
    await desk.item()
    const { json } = await query({ view_id: view.id, size: 1 })
    expect((await change(view, { filter: null })).status).toBe(200)
    expect(code(await query({ view_id: view.id, size: 1, cursor: json.next_cursor }))).toEqual([400, 'cursor.invalid'])
  })
})

test.each([
  ['private', mostPrivate, 'PRIVATE'],
  ['shared', mostShared, 'SHARED'],
])('there are so many %s ones, also when they come at once', async (_, most, visibility) => {
  const { sql } = desk.daemon.db
  for (let n = 0; n < most - 1; n += 1)
    await sql`
      insert into item_view (tenant_id, id, name, layout, columns, visibility, created_by)
      values (${desk.tenantId}, ${randomUUIDv7()}, 'one', 'LIST', '[]', ${visibility}, ${member.accountId})`
  const answers = await Promise.all(Array.from({ length: 5 }, () => make({ visibility })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
    code: 'structure.full',
    params: { limit: most },
  })
  expect((await list(member, 'size=200')).length).toBe(most)
  expect((await make({ visibility }, desk.people.ADMIN)).status).toBe(visibility === 'SHARED' ? 409 : 201)
})

test('pages walk the shared and the own ones, oldest first', async () => {
  const views = []
  for (let n = 0; n < 7; n += 1) views.push(await made({ name: `${n}`, visibility: n % 2 ? 'SHARED' : 'PRIVATE' }))
  await made({}, viewer)
  const found: ViewShown[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await desk.ask(`GET /views?size=2${cursor && `&cursor=${cursor}`}`, undefined, { as: member })
    found.push(...json.data)
    cursor = json.next_cursor
  }
  expect(found).toEqual(views)
  expect((await list(viewer)).filter(({ created_by }) => created_by === member.accountId)).toHaveLength(3)
})
