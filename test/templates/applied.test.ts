/** What is made from templates. Spec: items 7, O25; decision 0226. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { mostItems, type TemplateContent } from '../../src/core/contract/templates/content.ts'
import { type Desk, isRead, pointers } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'
import { code, made, one, openPress, type Press } from './press.ts'

let desk: Desk
let press: Press
let hub: Press['hub']
let member: Person
beforeAll(async () => {
  press = await openPress()
  desk = press.desk
  hub = press.hub
  member = desk.people.MEMBER
})
beforeEach(() => desk.daemon.db.sql`delete from template`)
afterAll(() => desk.close())

const make = (members?: object, as?: Person) => press.make(members, as)
const makeFrom = (kind: string, from: object) => press.makeFrom(kind, from)
const apply = (template: { id: string }, body?: object, as?: Person) => press.apply(template, body, as)
const applyHere = (template: { id: string }, body?: object) => press.applyHere(template, body)
const itemsOf = async (containerId: string) =>
  (await desk.ask(`GET /items?size=200&container_id=${containerId}`)).json.data as Item[]

describe('an item is made', () => {
  test('with what its names mean there, whatever their case; the rest is left out and told', async () => {
    await desk.field({ key: 'stage', kind: 'SELECT', options: ['draft', 'done'] })
    await desk.field({ key: 'note', kind: 'TEXT' })
    await desk.field({ key: 'reader', kind: 'USER' })
    await desk.field({ key: 'must', kind: 'TEXT', isRequired: true, appliesTo: ['NOTE'] })
    const content = one({
      title: 'Call {{who}}',
      type: 'NOTE',
      description: '{{who}}: {{why=just so}}',
      bucket: 'B1',
      labels: ['ONE', 'none', 'one'],
      custom_fields: { stage: 'gone', note: 'x', nothing: 1, reader: randomUUID() },
    })
    const note = await applyHere(await made(make({ content })), { values: { who: '{{why}} & <b>' } })
    expect(note.json.left_out).toEqual([
      { pointer: '/items/0/labels/1', code: 'reference.unknown' },
      ...['note', 'stage', 'reader', 'nothing'].map((key) => ({
        pointer: `/items/0/custom_fields/${key}`,
        code: 'reference.unknown',
      })),
      { pointer: '/items/0/custom_fields/must', code: 'member.required' },
    ])
    const task = { ...content.items[0], type: 'TASK' }
    const { status, headers, json } = await applyHere(await made(make({ content: { items: [task] } })), {
      values: { who: '{{why}} & <b>' },
    })
    expect(status).toBe(201)
    expect(headers['location']).toBe(`/api/v1/items/${json.item.id}`)
    expect(json.item).toMatchObject({
      title: 'Call {{why}} & <b>',
      description: '{{why}} & <b>: just so',
      bucket_id: desk.buckets[1],
      label_ids: [desk.labels[0]],
      custom_fields: { note: 'x' },
      created_by: member.accountId,
      due_at: null,
      version: 1,
    })
    expect(json.left_out).toEqual([
      { pointer: '/items/0/labels/1', code: 'reference.unknown' },
      { pointer: '/items/0/custom_fields/stage', code: 'value.one_of' },
      { pointer: '/items/0/custom_fields/reader', code: 'reference.unknown' },
      { pointer: '/items/0/custom_fields/nothing', code: 'reference.unknown' },
    ])
    await isRead(desk, json.item)
    await desk.daemon.db.sql`update custom_field set deleted_at = now()`
  })

  test('in the leftmost bucket, in the one that is named, in the one that is sent, or in none', async () => {
    const at = async (content: object, body = {}) => {
      const { status, json, text } = await applyHere(await made(make({ content })), body)
      expect(status, text).toBe(201)
      await isRead(desk, json.item)
      return json.item.bucket_id
    }
    expect(await at(one())).toBe(desk.buckets[0])
    expect(await at(one({ bucket: null }))).toBeNull()
    expect(await at(one({ bucket: 'b2' }))).toBe(desk.buckets[2])
    expect(await at(one({ bucket: 'b2' }), { bucket_id: desk.buckets[1] })).toBe(desk.buckets[1])
    expect(await at(one({ bucket: 'b2' }), { bucket_id: null })).toBeNull()
    const template = await made(make())
    expect(pointers(await applyHere(template, { bucket_id: randomUUID() }))).toEqual([
      ['/bucket_id', 'reference.unknown'],
    ])
  })

  test('with days from the anchor, and from today without one', async () => {
    const template = await made(make({ content: one({ start_in_days: -2, due_in_days: 3 }) }))
    const { item } = (await applyHere(template, { anchor_on: '2030-02-27' })).json
    expect(item).toMatchObject({ start_on: '2030-02-25', due_on: '2030-03-02', time_zone: 'UTC' })
    expect([item.start_at, item.due_at]).toEqual(['2030-02-25T00:00:00.000Z', '2030-03-02T23:59:59.999Z'])
    await isRead(desk, item)
    const today = new Date().toISOString().slice(0, 10)
    const inThree = new Date(Date.parse(today) + 3 * 86_400_000).toISOString().slice(0, 10)
    expect((await applyHere(template)).json.item.due_on).toBe(inThree)
    expect(pointers(await applyHere(template, { anchor_on: '9999-12-29' }))).toEqual([['/anchor_on', 'value.invalid']])
  })

  test('as the last child of a parent', async () => {
    const template = await made(make({ content: one({ title: 'child' }) }))
    const parent = await desk.item()
    const { status, json } = await applyHere(template, { parent_id: parent.id })
    expect([status, json.item.parent_id]).toEqual([201, parent.id])
    await isRead(desk, json.item)
    await desk.act(parent, 'archive')
    const refused = await applyHere(template, { parent_id: parent.id })
    expect([refused.status, refused.json.code]).toEqual([409, 'item.archived'])
  })

  test.each<[object, string, string]>([
    [{ container_id: undefined }, '/container_id', 'member.required'],
    [{ name: 'x' }, '/name', 'value.not_taken'],
    [{ parent_id: randomUUID() }, '/parent_id', 'reference.unknown'],
    [{ values: {} }, '/values/who', 'member.required'],
    [{ values: { who: 'x', whom: 'y' } }, '/values/whom', 'reference.unknown'],
    [{ values: { who: 'x'.repeat(600) } }, '/values', 'text.too_long'],
    [{ values: { who: '' } }, '/values', 'text.too_short'],
  ])('and %j is refused', async (body, pointer, rule) => {
    const template = await made(make({ content: one({ title: '{{who}}' }) }))
    const before = await desk.marks()
    expect(pointers(await applyHere(template, { values: { who: 'x' }, ...body }))).toEqual([[pointer, rule]])
    expect(await desk.marks()).toBe(before)
  })

  test('as another one was: by name, its earliest date being day 0, without people', async () => {
    const id = await desk.field({ key: 'size', kind: 'NUMBER' })
    const reader = await desk.field({ key: 'reader', kind: 'USER' })
    const item = await desk.item({
      title: 'Paint',
      description: 'blue',
      bucket_id: desk.buckets[1],
      label_ids: [desk.labels[1]],
      custom_fields: { size: 3, reader: member.accountId },
    })
    await desk.act(item, 'assign', { account_id: member.accountId })
    await desk.ask(`PUT /items/${item.id}/due`, {
      start_at: '2030-05-01T22:30:00Z',
      due_at: '2030-05-04T10:00:00Z',
      time_zone: 'Europe/Zurich',
    })
    const template = await made(makeFrom('ITEM', { item_id: item.id }))
    const content: TemplateContent = {
      buckets: [],
      labels: [],
      fields: [],
      items: [
        {
          title: 'Paint',
          type: 'TASK',
          description: 'blue',
          bucket: 'b1',
          labels: ['two'],
          custom_fields: { size: 3 },
          start_in_days: 0,
          due_in_days: 2,
        },
      ],
    }
    expect(template.content).toEqual(content)
    const again = (await applyHere(template, { anchor_on: '2031-01-31' })).json
    expect(again).toMatchObject({
      left_out: [],
      item: {
        title: 'Paint',
        bucket_id: desk.buckets[1],
        label_ids: [desk.labels[1]],
        custom_fields: { size: 3 },
        member_ids: [],
        due_on: '2031-02-02',
      },
    })
    await isRead(desk, again.item)
    const bare = await made(makeFrom('ITEM', { item_id: item.id, include: [] }))
    expect(bare.content.items).toEqual([
      { ...content.items[0], labels: [], custom_fields: {}, start_in_days: null, due_in_days: null },
    ])
    await desk.daemon.db.sql`update custom_field set deleted_at = now() where id in ${desk.daemon.db.sql([id, reader])}`
  })
})

describe('a board is made', () => {
  const content = {
    buckets: [
      { name: 'To do', wip_limit: 3 },
      { name: 'Done', is_done_bucket: true, color_token: 'green' },
    ],
    labels: [{ name: 'Urgent', color_token: 'red' }],
    fields: [{ key: 'stage', kind: 'SELECT', options: ['draft'], applies_to: ['TASK'] }],
    items: [
      { title: 'First for {{who}}', labels: ['urgent'], custom_fields: { stage: 'draft' }, due_in_days: 0 },
      { title: 'Second', bucket: 'done' },
      { title: 'Third' },
      { title: 'Nowhere', bucket: null },
    ],
  }

  test('with all that its content has, each told by its event, in the order of the content', async () => {
    const template = await made(make({ kind: 'BOARD', content }))
    const before = await press.lastSeq()
    const { status, headers, json, text } = await apply(template, {
      parent_id: hub.id,
      name: 'Acme',
      values: { who: 'Acme' },
      anchor_on: '2030-05-02',
    })
    expect(status, text).toBe(201)
    const { container } = json
    expect(headers['location']).toBe(`/api/v1/containers/${container.id}`)
    expect(json.left_out).toEqual([])
    expect(container).toMatchObject({ kind: 'COLLECTION', parent_id: hub.id, name: 'Acme', is_private: false })
    const { buckets, unbucketed } = (await desk.ask(`GET /containers/${container.id}/board`)).json
    const titles = (items: Item[]) => items.map(({ title }) => title)
    expect(
      buckets.map((one: { name: string; item_count: number; items: Item[] }) => [
        one.name,
        one.item_count,
        titles(one.items),
      ]),
    ).toEqual([
      ['To do', 2, ['First for Acme', 'Third']],
      ['Done', 1, ['Second']],
    ])
    expect(titles(unbucketed.items)).toEqual(['Nowhere'])
    const [first] = buckets[0].items
    expect(first).toMatchObject({ custom_fields: { stage: 'draft' }, due_on: '2030-05-02' })
    expect(first.label_ids).toHaveLength(1)
    expect(buckets).toMatchObject([{ wip_limit: 3 }, { is_done_bucket: true, color_token: 'green' }])
    for (const item of await itemsOf(container.id)) expect(await desk.told(item)).toEqual(item)
    expect((await press.eventsSince(before)).filter((type) => type.startsWith('work.'))).toEqual([
      'work.container.created',
      ...['bucket', 'bucket', 'label', 'custom_field', 'item', 'item', 'item', 'item'].map(
        (kind) => `work.${kind}.created`,
      ),
    ])
    const query = { container_id: container.id, filter: { field: 'custom.stage', op: 'is', value: 'draft' } }
    expect(titles((await desk.ask('POST /items:query', query)).json.data)).toEqual(['First for Acme'])
  })

  test('as another one is: applied once more, it makes the same', async () => {
    const template = await made(make({ kind: 'BOARD', content }))
    const one = (await apply(template, { parent_id: hub.id, name: 'One', values: { who: 'x' } })).json.container
    const archived = (await itemsOf(one.id)).find(({ title }) => title === 'Third')
    await desk.act(archived!, 'archive')
    const copy = await made(makeFrom('BOARD', { container_id: one.id }))
    const two = (await apply(copy, { parent_id: hub.id, name: 'Two' })).json
    expect(two.left_out).toEqual([])
    const again = await made(makeFrom('BOARD', { container_id: two.container.id }))
    expect(again.content).toEqual(copy.content)
    expect(copy.content.items.map(({ title, bucket }) => [title, bucket])).toEqual([
      ['Nowhere', null],
      ['First for x', 'To do'],
      ['Second', 'Done'],
    ])
    expect(copy.content.items[1]?.due_in_days).toBe(0)
    const bare = await made(makeFrom('BOARD', { container_id: one.id, include: [] }))
    expect(bare.content).toEqual({ buckets: copy.content.buckets, labels: [], fields: [], items: [] })
  })

  test('whole or not at all: above the ceiling nothing of it is there', async () => {
    const items = Array.from({ length: mostItems }, (_, n) => ({ title: `${n}` }))
    const template = await made(make({ kind: 'BOARD', content: { buckets: [{ name: 'a' }], items } }))
    const { sql } = desk.daemon.db
    const [tally] = await sql`select items::int as items from item_tally where tenant_id = ${desk.tenantId}`
    await sql`insert into tenant_quota values (${desk.tenantId}, 'items', ${tally?.['items'] + mostItems - 1})`
    const before = await desk.traces()
    expect(code(await apply(template, { parent_id: hub.id, name: 'Big' }))).toEqual([409, 'quota.exceeded'])
    expect(await desk.traces()).toBe(before)
    await sql`update tenant_quota set ceiling = ceiling + 1 where tenant_id = ${desk.tenantId} and quota = 'items'`
    const { status, json } = await apply(template, { parent_id: hub.id, name: 'Big' })
    expect(status).toBe(201)
    const board = (await desk.ask(`GET /containers/${json.container.id}/board?size=50`)).json
    expect(board.buckets[0]).toMatchObject({ item_count: mostItems })
    expect(board.buckets[0].items.map(({ title }: Item) => title)).toEqual(items.slice(0, 50).map(({ title }) => title))
    const [after] = await sql`select items::int as items from item_tally where tenant_id = ${desk.tenantId}`
    expect(after?.['items']).toBe(tally?.['items'] + mostItems)
    await sql`delete from tenant_quota where tenant_id = ${desk.tenantId} and quota = 'items'`
    await desk.item({ container_id: json.container.id, title: 'one more' })
    expect(pointers(await makeFrom('BOARD', { container_id: json.container.id }))).toEqual([
      ['/from/container_id', 'list.maximum'],
    ])
  })

  test.each<[object, string, string]>([
    [{ name: undefined }, '/name', 'member.required'],
    [{ parent_id: undefined }, '/parent_id', 'member.required'],
    [{ container_id: randomUUID() }, '/container_id', 'value.not_taken'],
    [{ bucket_id: null }, '/bucket_id', 'value.not_taken'],
  ])('and %j is refused', async (body, pointer, rule) => {
    const template = await made(make({ kind: 'BOARD', content: { items: [] } }))
    expect(pointers(await apply(template, { parent_id: hub.id, name: 'x', ...body }))).toEqual([[pointer, rule]])
  })

  test('once for one Idempotency-Key', async () => {
    const template = await made(make({ kind: 'BOARD', content: { items: [{ title: 'a' }] } }))
    const headers = { 'idempotency-key': randomUUID() }
    const body = { parent_id: hub.id, name: 'Once' }
    const answers = []
    for (let n = 0; n < 2; n += 1)
      answers.push(await desk.ask(`POST /templates/${template.id}:apply`, body, { as: member, headers }))
    expect(answers[1]?.json).toEqual(answers[0]?.json)
    expect(answers[1]?.headers['idempotency-replayed']).toBe('true')
  })
})
