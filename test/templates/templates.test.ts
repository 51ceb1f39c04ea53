/** Templates: what they hold, and who sees and changes them. Spec: items 7, O20 to O24; decision 0226. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mostContentBytes, mostItems, mostVariables } from '../../src/core/contract/templates/content.ts'
import { mostTemplates, type Template } from '../../src/core/contract/templates/operations.ts'
import { type Desk, pointers } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'
import { code, made, one, openPress, type Press } from './press.ts'

let desk: Desk
let press: Press
let viewer: Person
let member: Person
let admin: Person
beforeAll(async () => {
  press = await openPress()
  desk = press.desk
  viewer = desk.people.VIEWER
  member = desk.people.MEMBER
  admin = desk.people.ADMIN
})
beforeEach(() => desk.daemon.db.sql`delete from template`)
afterAll(() => desk.close())

const make = (members?: object, as?: Person) => press.make(members, as)
const makeFrom = (kind: string, from: object) => press.makeFrom(kind, from)
const apply = (template: { id: string }, body?: object, as?: Person) => press.apply(template, body, as)
const applyHere = (template: { id: string }) => press.applyHere(template)
const list = async (as: Person, query = '') =>
  (await desk.ask(`GET /templates?${query}`, undefined, { as })).json.data as Template[]
const change = (template: { id: string }, body: object, as?: Person) => press.change(template, body, as)
const remove = (template: { id: string }, as?: Person) => press.remove(template, as)

describe('a template', () => {
  test('is answered as it is read, listed without its content, and told without it', async () => {
    const { status, headers, json } = await make({ description: 'For all', container_id: desk.collectionId }, member)
    expect(status).toBe(201)
    const at = String(headers['location']).replace('/api/v1', '')
    expect((await desk.ask(`GET ${at}` as 'GET /x', undefined, { as: viewer })).json).toEqual(json)
    const { content, ...listed } = json as Template
    expect(content).toEqual({
      buckets: [],
      labels: [],
      fields: [],
      items: [{ title: 'An item', type: 'TASK', labels: [], custom_fields: {} }],
    })
    expect(await list(viewer)).toEqual([listed])
    expect(await list(viewer, `container_id=${desk.collectionId}&kind=ITEM`)).toEqual([listed])
    expect(await list(viewer, 'kind=BOARD')).toEqual([])
    const [event] = await desk.daemon.db.sql`
      select body::jsonb -> 'data' as data from outbox_event where type like '%work.template.created%' order by seq desc limit 1`
    expect(event?.['data']).toEqual(listed)
  })

  test('that a change leaves as it is keeps its version, whatever order its members came in', async () => {
    const template = await made(make({ content: one({ type: 'NOTE', description: 'x' }) }))
    const before = await press.lastSeq()
    const same = await change(template, {
      name: 'Mine',
      content: { items: [{ description: 'x', type: 'NOTE', title: 'An item' }] },
    })
    expect([same.status, same.json]).toEqual([200, template])
    expect(await press.eventsSince(before)).toEqual([])
    const other = await change(template, { description: 'New', content: one({ title: '{{who}}' }) })
    expect(other.json).toMatchObject({ version: 2, description: 'New', variables: [{ key: 'who', default: null }] })
    expect((await remove(template)).status).toBe(204)
    expect(code(await remove(template))).toEqual([404, 'not_found'])
    expect(await press.eventsSince(before)).toEqual(['work.template.changed', 'work.template.deleted'])
  })

  test('says its variables, in the order of the texts; the first default counts', async () => {
    const custom_fields = { note: 'by {{who}}', size: 3, tags: ['{{no}}'] }
    const title = 'Call {{who}} {{Who}} {{ day }} {{day=}} on {{day=Monday}}'
    const { variables } = await made(
      make({ content: one({ title, description: '{{why=a {reason}}} {{who=me}}', custom_fields }) }),
    )
    expect(variables).toEqual([
      { key: 'who', default: 'me' },
      { key: 'day', default: '' },
    ])
  })

  test.each<[object, string, string]>([
    [{ content: undefined }, '/content', 'member.required'],
    [{ content: { items: [] } }, '/content/items', 'list.minimum'],
    [{ content: { items: [{ title: 'a' }, { title: 'b' }] } }, '/content/items/1/parent', 'member.required'],
    [
      {
        content: {
          items: [
            { title: 'a', parent: 1 },
            { title: 'b', parent: 0 },
          ],
        },
      },
      '/content/items/0/parent',
      'value.not_taken',
    ],
    [
      { content: { items: [{ title: 'a' }, { title: 'b', parent: 2 }] } },
      '/content/items/1/parent',
      'reference.unknown',
    ],
    [{ content: { ...one(), buckets: [{ name: 'a' }] } }, '/content/buckets', 'value.not_taken'],
    [{ from: { item_id: randomUUID() } }, '/from', 'member.conflicts'],
    [{ content: undefined, from: {} }, '/from/item_id', 'member.required'],
    [{ content: undefined, from: { item_id: randomUUID() } }, '/from/item_id', 'reference.unknown'],
    [{ content: undefined, from: { container_id: randomUUID() } }, '/from/container_id', 'value.not_taken'],
    [
      { kind: 'BOARD', content: undefined, from: { container_id: randomUUID() } },
      '/from/container_id',
      'reference.unknown',
    ],
    [{ content: one({ start_in_days: 1 }) }, '/content/items/0/due_in_days', 'member.required'],
    [{ content: one({ start_in_days: 2, due_in_days: 1 }) }, '/content/items/0/start_in_days', 'value.maximum'],
    [{ content: one({ start_in_days: -400, due_in_days: 1 }) }, '/content/items/0/start_in_days', 'value.minimum'],
    [{ content: one({ due_in_days: 4000 }) }, '/content/items/0/due_in_days', 'value.maximum'],
    [
      { kind: 'BOARD', content: { items: [], buckets: [{ name: 'Café' }, { name: 'CAFE' }] } },
      '/content/buckets/1/name',
      'list.unique',
    ],
    [
      { kind: 'BOARD', content: { items: [], fields: [{ key: 'a', kind: 'SELECT' }] } },
      '/content/fields/0/options',
      'list.minimum',
    ],
    [
      { kind: 'BOARD', content: { items: [], fields: [{ key: 'a', kind: 'TEXT', applies_to: ['ACTIVITY'] }] } },
      '/content/fields/0/applies_to/0',
      'value.not_taken',
    ],
    [
      { content: one({ description: Array.from({ length: mostVariables + 1 }, (_, n) => `{{v${n}}}`).join('') }) },
      '/content',
      'list.maximum',
    ],
    [
      { kind: 'BOARD', content: { items: Array.from({ length: mostItems + 1 }, () => ({ title: 'a' })) } },
      '/content/items',
      'list.maximum',
    ],
    [
      {
        kind: 'BOARD',
        content: { items: Array.from({ length: 20 }, () => ({ title: 'a', description: 'x'.repeat(15_000) })) },
      },
      '/content',
      'value.maximum',
    ],
    [{ container_id: randomUUID() }, '/container_id', 'reference.unknown'],
  ])('%j is refused at its pointer', async (members, pointer, rule) => {
    const answered = await make(members)
    expect([answered.status, pointers(answered)]).toEqual([422, [[pointer, rule]]])
  })

  test(`may have ${mostContentBytes / 1024} KiB`, async () => {
    const items = Array.from({ length: 13 }, () => ({ title: 'a', description: 'x'.repeat(20_000) }))
    expect((await make({ kind: 'BOARD', content: { items } })).status).toBe(201)
  })

  test(`there are ${mostTemplates} of a workspace, also when they come at once`, async () => {
    await desk.daemon.db.sql`
      insert into template (tenant_id, id, kind, name, variables, content, created_by)
      select ${desk.tenantId}, uuidv7(), 'ITEM', 'one', '[]', '{}', ${admin.accountId} from generate_series(1, ${mostTemplates - 1})`
    const answers = await Promise.all(Array.from({ length: 5 }, () => make()))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    const pages = [await desk.ask('GET /templates?size=200')]
    for (let n = 0; n < 2; n += 1)
      pages.push(await desk.ask(`GET /templates?size=200&cursor=${pages.at(-1)?.json.next_cursor}`))
    expect(pages.flatMap(({ json }) => json.data)).toHaveLength(mostTemplates)
    expect(pages.at(-1)?.json.next_cursor).toBeNull()
  })
})

describe('who may', () => {
  test('MEMBERs keep those of their container, ADMINs those of the workspace; guests see the former alone', async () => {
    const guest = await desk.guest()
    await desk.grant({ id: desk.collectionId }, guest, 'MEMBER')
    expect(code(await make({}, member))).toEqual([403, 'auth.role_required'])
    expect(code(await make({ container_id: desk.collectionId }, viewer))).toEqual([403, 'auth.role_required'])
    const [ofAll, ofBoard] = [await made(make()), await made(make({ container_id: desk.collectionId }, guest))]
    expect((await list(viewer)).map(({ id }) => id)).toEqual([ofAll.id, ofBoard.id])
    expect((await list(guest)).map(({ id }) => id)).toEqual([ofBoard.id])
    expect(code(await change(ofAll, { name: 'x' }, member))).toEqual([403, 'auth.role_required'])
    for (const answer of [
      await desk.ask(`GET /templates/${ofAll.id}`, undefined, { as: guest }),
      await change(ofAll, { name: 'x' }, guest),
      await remove(ofAll, guest),
      await apply(ofAll, { container_id: desk.collectionId }, guest),
    ])
      expect(code(answer)).toEqual([404, 'not_found'])
    expect((await change(ofBoard, { name: 'Ours' }, member)).json.name).toBe('Ours')
    expect((await remove(ofBoard, member)).status).toBe(204)
  })

  test('what is hidden is as what is not there: the template, what it is made from, and where it goes', async () => {
    const { id: container_id } = await desk.collection(await desk.hub(), { is_private: true })
    const secret = await desk.item({ container_id })
    const hidden = await made(make({ container_id }, desk.people.OWNER))
    expect(await list(admin, `container_id=${container_id}`)).toEqual([])
    for (const { id } of [hidden, { id: randomUUIDv7() }])
      for (const answer of [
        await desk.ask(`GET /templates/${id}`, undefined, { as: admin }),
        await change({ id }, { name: 'x' }),
        await remove({ id }),
        await applyHere({ id }),
      ])
        expect(code(answer)).toEqual([404, 'not_found'])
    expect(pointers(await makeFrom('ITEM', { item_id: secret.id }))).toEqual([['/from/item_id', 'reference.unknown']])
    expect(pointers(await makeFrom('BOARD', { container_id }))).toEqual([['/from/container_id', 'reference.unknown']])
    const open = await made(make())
    expect(pointers(await apply(open, { container_id }))).toEqual([['/container_id', 'reference.unknown']])
    const board = await made(make({ kind: 'BOARD', content: { items: [] } }))
    expect(pointers(await apply(board, { parent_id: randomUUID(), name: 'x' }))).toEqual([
      ['/parent_id', 'reference.unknown'],
    ])
  })

  test('a VIEWER applies nothing, and an archived place takes nothing', async () => {
    const template = await made(make())
    // The gate lets somebody pass who is a MEMBER elsewhere.
    const guest = await desk.guest()
    await desk.grant({ id: desk.collectionId }, guest, 'VIEWER')
    await desk.grant(await desk.collection(press.hub), guest, 'MEMBER')
    const ofBoard = await made(make({ container_id: desk.collectionId }))
    for (const answer of [
      await apply(ofBoard, { container_id: desk.collectionId }, guest),
      await make({ container_id: desk.collectionId }, guest),
      await change(ofBoard, { name: 'x' }, guest),
      await remove(ofBoard, guest),
    ])
      expect(code(answer)).toEqual([403, 'auth.role_required'])
    expect(code(await apply(template, { container_id: desk.collectionId }, viewer))).toEqual([
      403,
      'auth.role_required',
    ])
    const { id: container_id } = await desk.collection(press.hub)
    await desk.ask(`POST /containers/${container_id}:archive`)
    expect(code(await apply(template, { container_id }))).toEqual([409, 'container.archived'])
    expect(code(await make({ container_id }))).toEqual([409, 'container.archived'])
  })
})
