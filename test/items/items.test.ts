/** One item: created, read, changed, completed, reopened, deleted; its activity, and who may. Spec: Index, Items; decisions 3. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemTypes } from '../../src/core/contract/item-types.ts'
import { naughtyStrings } from '../kit/naughty-strings.ts'
import { type Desk, expectUntouched, openDesk, pointers } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const leavesAlone = <T>(call: () => Promise<T>) => expectUntouched(desk, call)

describe('creating', () => {
  test('an item starts open, as a TASK, at the end of the leftmost bucket, and says who made it', async () => {
    const { status, headers, json } = await desk.ask('POST /items', { container_id: desk.collectionId, title: 'Write' })
    expect(status).toBe(201)
    expect(headers).toMatchObject({ location: `/api/v1/items/${json.id}`, etag: '"1"' })
    expect(json).toEqual({
      id: expect.any(String),
      container_id: desk.collectionId,
      bucket_id: desk.buckets[0],
      type: 'TASK',
      title: 'Write',
      description: null,
      state: 'OPEN',
      position: expect.any(String),
      parent_id: null,
      sibling_position: null,
      label_ids: [],
      member_ids: [],
      assignee_id: null,
      custom_fields: {},
      start_at: null,
      due_at: null,
      start_on: null,
      due_on: null,
      time_zone: null,
      cover: null,
      completed_at: null,
      archived_at: null,
      created_at: json.updated_at,
      created_by: desk.people.OWNER.accountId,
      updated_at: expect.any(String),
      version: 1,
    })
    expect(await desk.read(json)).toEqual(json)
    const next = await desk.item({ title: 'Behind' })
    expect((await desk.titles(desk.buckets[0]!)).at(-1)).toBe('Behind')
    expect(next.position > json.position).toBe(true)
  })

  test('it may name its type, bucket, neighbour, labels, description and due moment', async () => {
    const [, bucket] = desk.buckets
    const first = await desk.item({ bucket_id: bucket, title: 'first' })
    for (const type of itemTypes) expect((await desk.item({ type, bucket_id: null })).type).toBe(type)
    const item = await desk.item({
      title: 'before it',
      bucket_id: bucket,
      before_item_id: first.id,
      label_ids: [...desk.labels].reverse(),
      description: '',
      due_at: '2027-01-01T01:00:00+01:00',
    })
    expect(item).toMatchObject({
      bucket_id: bucket,
      label_ids: [...desk.labels].sort(),
      description: '',
      due_at: '2027-01-01T00:00:00.000Z',
    })
    expect(await desk.titles(bucket!)).toEqual(['before it', 'first'])
  })

  test('null is no bucket, and a collection without buckets has none to give', async () => {
    expect((await desk.item({ bucket_id: null })).bucket_id).toBe(null)
    const { collectionId } = await desk.shelf(0)
    expect((await desk.item({ container_id: collectionId })).bucket_id).toBe(null)
  })

  test('one key makes one item', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { container_id: desk.collectionId, title: 'once' }
    const [one, two] = [
      await desk.ask('POST /items', body, { headers }),
      await desk.ask('POST /items', body, { headers }),
    ]
    expect([one.status, two.status, two.json.id]).toEqual([201, 201, one.json.id])
    const other = await desk.ask('POST /items', { ...body, title: 'twice' }, { headers })
    expect([other.status, other.json.code]).toEqual([422, 'idempotency.key_reused'])
  })

  test('the entry, the event and the row are there together', async () => {
    const item = await desk.item({ title: 'told' })
    const { sql } = desk.daemon.db
    const [entry] = await sql`select action, actor_account_id, params from audit_entry where subject_id = ${item.id}`
    expect(entry).toEqual({
      action: 'item.created',
      actor_account_id: desk.people.OWNER.accountId,
      params: { container_id: desk.collectionId, type: 'TASK' },
    })
    const [event] = await sql`select type, body from outbox_event where body like ${`%/items/${item.id}"%`}`
    expect(event!['type']).toBe('svc.work.item.created.v1')
    expect(JSON.parse(event!['body'])).toMatchObject({ subject: `/items/${item.id}`, data: item })
  })

  test('a wrong reference is refused with its pointer, and nothing is written', async () => {
    const elsewhere = await desk.shelf(1)
    const stray = await desk.item({ container_id: elsewhere.collectionId })
    const gone = await desk.item()
    await desk.ask(`DELETE /items/${gone.id}`)
    const foreignLabel = await desk.label(elsewhere.collectionId, 'foreign')
    const { parent_id: hubId } = (await desk.ask(`GET /containers/${desk.collectionId}`)).json
    const bodies: [object, string, string][] = [
      [{ container_id: randomUUID() }, '/container_id', 'reference.unknown'],
      [{ container_id: hubId }, '/container_id', 'container.is_hub'],
      [{ bucket_id: randomUUID() }, '/bucket_id', 'reference.unknown'],
      [{ bucket_id: elsewhere.buckets[0] }, '/bucket_id', 'reference.unknown'],
      [{ before_item_id: randomUUID() }, '/before_item_id', 'reference.unknown'],
      [{ before_item_id: stray.id }, '/before_item_id', 'reference.unknown'],
      [{ before_item_id: gone.id }, '/before_item_id', 'reference.unknown'],
      [{ label_ids: [desk.labels[0], desk.labels[0]] }, '/label_ids', 'list.unique'],
      [{ label_ids: [desk.labels[0], foreignLabel] }, '/label_ids/1', 'reference.unknown'],
      [{ custom_fields: { nowhere: 1 } }, '/custom_fields/nowhere', 'reference.unknown'],
      [{ title: '' }, '/title', 'text.too_short'],
      [{ title: '🜁'.repeat(501) }, '/title', 'text.too_long'],
      [{ title: null }, '/title', 'value.type'],
      [{ type: 'LUNCH' }, '/type', 'value.one_of'],
      [{ state: 'DONE' }, '/state', 'member.unknown'],
      [{ created_by: randomUUID() }, '/created_by', 'member.unknown'],
    ]
    for (const [body, pointer, code] of bodies) {
      const answer = await leavesAlone(() =>
        desk.ask('POST /items', { container_id: desk.collectionId, title: 'x', ...body }),
      )
      expect([body, answer.status, answer.json.code, pointers(answer)]).toEqual([
        body,
        422,
        'request.invalid',
        [[pointer, code]],
      ])
    }
    expect((await desk.item({ title: '🜁'.repeat(500) })).title).toBe('🜁'.repeat(500))
  })

  test('nothing is created in an archived collection, which the problem points at', async () => {
    const { collectionId } = await desk.shelf(1)
    await desk.ask(`POST /containers/${collectionId}:archive`)
    const answer = await leavesAlone(() => desk.ask('POST /items', { container_id: collectionId, title: 'x' }))
    expect([answer.status, answer.json.code, pointers(answer)]).toEqual([
      409,
      'container.archived',
      [['/container_id', 'container.archived']],
    ])
  })

  test('T-30: titles, descriptions and values come back byte for byte', async () => {
    await desk.field({ key: 'anything', kind: 'TEXT', appliesTo: ['NOTE'] })
    const texts = naughtyStrings.filter(
      (text) => text.isWellFormed() && !text.includes('\0') && text !== '' && [...text].length <= 500,
    )
    expect(texts.length).toBeGreaterThan(300)
    // Several in one item: the round trip is what is asked, not the number of calls.
    for (let at = 0; at < texts.length; at += 3) {
      const [title = 'x', description = 'x', anything = 'x'] = texts.slice(at, at + 3)
      const made = await desk.item({ title, description, type: 'NOTE', custom_fields: { anything } })
      const { title: t, description: d, custom_fields: c } = await desk.read(made)
      expect([t, d, c]).toEqual([title, description, { anything }])
    }
  })
})

describe('changing', () => {
  test('a patch changes what it names, counts the version and names the members in the trail, not their content', async () => {
    const item = await desk.item({ description: 'kept' })
    const { status, json, headers } = await desk.patch(item, { title: 'Other', due_at: '2027-05-05T05:05:05Z' })
    expect([status, headers.etag]).toEqual([200, '"2"'])
    expect(json).toEqual({
      ...item,
      title: 'Other',
      due_at: '2027-05-05T05:05:05.000Z',
      updated_at: json.updated_at,
      version: 2,
    })
    const [newest] = (await desk.ask(`GET /items/${item.id}/activity`)).json.data
    expect(newest).toMatchObject({ action: 'item.changed', params: { members: ['title', 'due_at'] } })
  })

  test('null clears description and due moment, and is refused where nothing can be cleared', async () => {
    const item = await desk.item({ description: 'x', due_at: '2027-05-05T05:05:05Z' })
    expect((await desk.patch(item, { description: null, due_at: null })).json).toMatchObject({
      description: null,
      due_at: null,
    })
    const answer = await leavesAlone(() => desk.patch(item, { title: null }))
    expect([answer.status, pointers(answer)]).toEqual([422, [['/title', 'value.type']]])
  })

  test('a patch that changes nothing writes nothing', async () => {
    const item = await desk.item({ title: 'same', due_at: '2027-05-05T05:05:05Z' })
    for (const body of [{}, { title: 'same' }, { description: null }, { due_at: '2027-05-05T07:05:05+02:00' }]) {
      const { status, json } = await leavesAlone(() => desk.patch(item, body))
      expect([status, json]).toEqual([200, item])
    }
  })

  test('T-27, T-34: a patch sets no other member, and nothing that only looks like one', async () => {
    const item = await desk.item()
    const bodies = [
      'id',
      'tenant_id',
      'container_id',
      'bucket_id',
      'type',
      'state',
      'rank',
      'position',
      'version',
      'created_by',
      'deleted_at',
      'completed_at',
      'label_ids',
      'custom_fields',
      'constructor',
    ]
    for (const name of bodies) {
      const answer = await leavesAlone(() => desk.patch(item, { [name]: 'x' }))
      expect([answer.status, pointers(answer)]).toEqual([422, [[`/${name}`, 'member.unknown']]])
    }
    for (const body of [
      '{"__proto__":{"title":"polluted"}}',
      '{"constructor":{"prototype":{"title":"polluted"}}}',
      '[]',
      '"x"',
      'null',
      '7',
    ])
      expect([body, (await leavesAlone(() => desk.patch(item, body))).status]).toEqual([body, 422])
    expect(({} as { title?: string }).title).toBe(undefined)
    const answer = await desk.patch(item, { title: 'x' }, { headers: { 'content-type': 'application/json' } })
    expect([answer.status, answer.headers['accept-patch']]).toEqual([415, 'application/merge-patch+json'])
  })

  test('a stale tag is refused by every operation that changes an item, and nothing is written', async () => {
    const item = await desk.item()
    const field = { key: 'stale', kind: 'BOOL' }
    await desk.field(field)
    const current = (await desk.patch(item, { title: 'newer' })).json
    const calls: [`${string} /${string}`, object?][] = [
      [`PATCH /items/${item.id}`, { title: 'lost' }],
      [`POST /items/${item.id}:move`, { bucket_id: null }],
      [`POST /items/${item.id}:complete`],
      [`POST /items/${item.id}:reopen`],
      [`PUT /items/${item.id}/labels/${desk.labels[0]}`],
      [`DELETE /items/${item.id}/labels/${desk.labels[0]}`],
      [`PUT /items/${item.id}/custom-fields/stale`, { value: true }],
      [`DELETE /items/${item.id}`],
    ]
    for (const [request, body] of calls)
      for (const tag of ['"1"', 'W/"2"', '"3", "1"']) {
        const answer = await leavesAlone(() => desk.ask(request, body, { headers: { 'if-match': tag } }))
        expect([request, tag, answer.status, answer.json.params]).toEqual([request, tag, 412, { current_etag: '"2"' }])
      }
    for (const tag of ['"2"', '"1", "2"', '*'])
      expect((await desk.patch(current, {}, { headers: { 'if-match': tag } })).status).toBe(200)
    expect((await desk.patch(current, {}, { headers: { 'if-match': 'two' } })).status).toBe(400)
  })

  test('a deleted item answers 404 to everything, is in no list, and its row is kept', async () => {
    const item = await desk.item({ title: 'gone' })
    expect((await desk.ask(`DELETE /items/${item.id}`)).status).toBe(204)
    const calls: [`${string} /${string}`, object?][] = [
      [`GET /items/${item.id}`],
      [`GET /items/${item.id}/activity`],
      [`PATCH /items/${item.id}`, { title: 'x' }],
      [`POST /items/${item.id}:move`, {}],
      [`POST /items/${item.id}:complete`],
      [`POST /items/${item.id}:reopen`],
      [`PUT /items/${item.id}/labels/${desk.labels[0]}`],
      [`DELETE /items/${item.id}`],
    ]
    for (const [request, body] of calls) {
      const answer = await leavesAlone(() => desk.ask(request, body))
      expect([request, answer.status]).toEqual([request, 404])
    }
    expect(await desk.titles(desk.buckets[0]!)).not.toContain('gone')
    const { sql } = desk.daemon.db
    expect(await sql`select title, version from item where id = ${item.id}`).toEqual([{ title: 'gone', version: 2 }])
    const [event] =
      await sql`select body from outbox_event where type = 'svc.work.item.deleted.v1' and body like ${`%${item.id}%`}`
    expect(JSON.parse(event!['body']).data).toMatchObject({ id: item.id, title: 'gone', version: 2 })
  })
})

describe('completing', () => {
  const [todo, doing, done] = [0, 1, 2]

  test('a completed item goes to the end of the done bucket, and back to the leftmost other one when reopened', async () => {
    const { collectionId, buckets } = await desk.shelf(3, { doneAt: 2 })
    const other = await desk.item({ container_id: collectionId, bucket_id: buckets[done], title: 'other' })
    const item = await desk.item({ container_id: collectionId, bucket_id: buckets[doing], title: 'this' })
    const completed = await desk.act(item, 'complete')
    expect(completed).toMatchObject({
      state: 'DONE',
      bucket_id: buckets[done],
      completed_at: completed.updated_at,
      version: 2,
    })
    expect(await desk.titles(buckets[done]!)).toEqual(['other', 'this'])
    expect(await leavesAlone(() => desk.act(item, 'complete'))).toEqual(completed)
    expect(await desk.act(item, 'reopen')).toMatchObject({
      state: 'OPEN',
      bucket_id: buckets[todo],
      completed_at: null,
      version: 3,
    })
    expect((await leavesAlone(() => desk.act(item, 'reopen'))).version).toBe(3)
    expect((await desk.read(other)).version).toBe(1)
  })

  test('moving into the done bucket completes nothing; completing there moves nothing', async () => {
    const { collectionId, buckets } = await desk.shelf(3, { doneAt: 2 })
    const item = await desk.item({ container_id: collectionId })
    const moved = await desk.act(item, 'move', { bucket_id: buckets[done] })
    expect(moved).toMatchObject({ state: 'OPEN', completed_at: null })
    expect(await desk.act(item, 'complete')).toMatchObject({
      state: 'DONE',
      bucket_id: buckets[done],
      position: moved.position,
    })
  })

  test('without a done bucket an item is completed and reopened where it is', async () => {
    const { collectionId, buckets } = await desk.shelf(2)
    const item = await desk.item({ container_id: collectionId, bucket_id: buckets[1] })
    expect(await desk.act(item, 'complete')).toMatchObject({
      state: 'DONE',
      bucket_id: buckets[1],
      position: item.position,
    })
    expect(await desk.act(item, 'reopen')).toMatchObject({
      state: 'OPEN',
      bucket_id: buckets[1],
      position: item.position,
    })
    const loose = await desk.item({ container_id: collectionId, bucket_id: null })
    expect(await desk.act(loose, 'complete')).toMatchObject({ state: 'DONE', bucket_id: null })
  })

  test('where every bucket is a done bucket, a reopened item stays', async () => {
    const { collectionId, buckets } = await desk.shelf(1, { doneAt: 0 })
    const item = await desk.item({ container_id: collectionId })
    await desk.act(item, 'complete')
    expect(await desk.act(item, 'reopen')).toMatchObject({ state: 'OPEN', bucket_id: buckets[0] })
  })
})

describe('activity', () => {
  test('tells who did what and when, newest first, in pages, and never the content', async () => {
    const item = await desk.item({ title: 'secret title' })
    await desk.patch(item, { title: 'another secret' })
    await desk.act(item, 'complete')
    await desk.ask(`PUT /items/${item.id}/labels/${desk.labels[0]}`)
    await desk.act(item, 'move', { bucket_id: null })
    const { json, text } = await desk.ask(`GET /items/${item.id}/activity`)
    expect(json.data.map(({ action }: { action: string }) => action)).toEqual([
      'item.moved',
      'item.label_added',
      'item.completed',
      'item.changed',
      'item.created',
    ])
    expect(json.data[0]).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      action: 'item.moved',
      actor: { kind: 'ACCOUNT', account_id: desk.people.OWNER.accountId, via: 'API' },
      subject: { kind: 'item', id: item.id },
      params: {
        from: { container_id: desk.collectionId, bucket_id: desk.buckets[2] },
        to: { container_id: desk.collectionId, bucket_id: null },
      },
    })
    expect(text).not.toContain('secret')
    const pages: unknown[] = []
    for (let cursor = ''; ; ) {
      const page = (await desk.ask(`GET /items/${item.id}/activity?size=2${cursor}`)).json
      pages.push(...page.data)
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
      const other = await desk.item()
      expect((await desk.ask(`GET /items/${other.id}/activity?size=2${cursor}`)).json.code).toBe('cursor.invalid')
    }
    expect(pages).toEqual(json.data)
  })
})

describe('who may', () => {
  test('read needs VIEWER, every change MEMBER', async () => {
    const item = await desk.item()
    for (const role of ['VIEWER', 'COMMENTER'] as const) {
      const as = desk.people[role]
      expect((await desk.read(item, as)).id).toBe(item.id)
      const answer = await leavesAlone(() => desk.patch(item, { title: 'x' }, { as }))
      expect([answer.status, answer.json.params]).toEqual([403, { role: 'MEMBER' }])
    }
    expect((await desk.patch(item, { title: 'x' }, { as: desk.people.MEMBER })).status).toBe(200)
  })

  test('what the caller does not see answers as an id that nobody has, whatever is asked of it', async () => {
    const hub = await desk.hub({ is_private: true })
    const { id: hidden } = await desk.collection(hub)
    const label = await desk.label(hidden, 'hidden')
    const item = await desk.item({ container_id: hidden })
    const as = desk.people.ADMIN
    const bare = ({ status, text }: { status: number; text: string }) =>
      `${status} ${text.replace(/urn:uuid:[0-9a-f-]+/, '')}`
    const requests = (id: string): [`${string} /${string}`, object?][] => [
      [`GET /items/${id}`],
      [`GET /items/${id}/activity`],
      [`PATCH /items/${id}`, { title: 'x' }],
      [`POST /items/${id}:move`, { bucket_id: null }],
      [`POST /items/${id}:complete`],
      [`POST /items/${id}:reopen`],
      [`PUT /items/${id}/labels/${label}`],
      [`DELETE /items/${id}/labels/${label}`],
      [`PUT /items/${id}/custom-fields/x`, { value: 1 }],
      [`DELETE /items/${id}`],
    ]
    const unknown = requests(randomUUID())
    for (const [at, [request, body]] of requests(item.id).entries()) {
      const nobodys = await desk.ask(unknown[at]![0], unknown[at]![1], { as })
      expect([request, bare(await leavesAlone(() => desk.ask(request, body, { as })))]).toEqual([
        request,
        bare(nobodys),
      ])
      expect(nobodys.status).toBe(404)
    }
    const body = (container_id: string) => ({ container_id, title: 'x' })
    expect(bare(await desk.ask('POST /items', body(hidden), { as }))).toBe(
      bare(await desk.ask('POST /items', body(randomUUID()), { as })),
    )
    await desk.grant({ id: hidden }, as, 'VIEWER')
    expect((await desk.read(item, as)).id).toBe(item.id)
    expect((await desk.ask(`DELETE /items/${item.id}`, undefined, { as })).status).toBe(403)
  })

  test('in an archived container everything is read and nothing is written', async () => {
    const { collectionId } = await desk.shelf(1)
    const item = await desk.item({ container_id: collectionId })
    await desk.ask(`POST /containers/${collectionId}:archive`)
    expect((await desk.read(item)).id).toBe(item.id)
    const answer = await leavesAlone(() => desk.patch(item, { title: 'x' }))
    expect([answer.status, answer.json.code]).toEqual([409, 'container.archived'])
    expect((await leavesAlone(() => desk.ask(`DELETE /items/${item.id}`))).json.code).toBe('container.archived')
  })
})
