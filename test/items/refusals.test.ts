/** Refusals that an operation shares with many: each by each operation that declares it (items 1 to 4 and 7). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Files, openFiles, png } from '../media/files.ts'

let desk: Files
beforeAll(async () => {
  desk = await openFiles()
})
afterAll(() => desk.close())

const sql = () => desk.daemon.db.sql
const code = async (request: string, body?: unknown) => {
  const { status, json } = await desk.ask(request as `${string} /${string}`, body)
  return [status, json?.code]
}
const made = async (request: string, body?: unknown) => {
  const { status, json, text } = await desk.ask(request as `${string} /${string}`, body)
  if (status >= 300) throw new Error(`${request}: ${status} ${text}`)
  return json
}

describe('in a container that is archived', () => {
  let names: Record<string, string>
  beforeAll(async () => {
    const { collectionId, buckets } = await desk.shelf(2)
    const label = await desk.label(collectionId, 'one')
    await desk.field({ key: 'size', kind: 'TEXT', collectionId })
    const members = { container_id: collectionId, custom_fields: { size: 'L' } }
    const { id } = await desk.item({ ...members, label_ids: [label] })
    const done = await desk.item(members)
    await desk.act(done, 'complete')
    const { id: media } = await desk.file(png, {}, desk.people.OWNER)
    const { id: other } = await desk.file(png, {}, desk.people.OWNER)
    await made(`PUT /items/${id}/attachments/${media}`, {})
    const view = await made('POST /views', { container_id: collectionId, name: 'all', visibility: 'SHARED' })
    const content = { items: [{ title: 'x' }] }
    const template = await made('POST /templates', { kind: 'ITEM', container_id: collectionId, name: 'x', content })
    names = { container: collectionId, bucket: buckets[0]!, label, item: id, done: done.id, media, other }
    Object.assign(names, { view: view.id, template: template.id })
    await made(`POST /containers/${collectionId}:archive`)
  })

  const calls: readonly (readonly [string, unknown?])[] = [
    ['PUT /containers/{container}/privacy', { is_private: true }],
    ['POST /items/{item}:complete'],
    ['POST /items/{done}:reopen'],
    ['PUT /items/{item}/labels/{label}'],
    ['DELETE /items/{item}/labels/{label}'],
    ['PUT /items/{item}/custom-fields/size', { value: 'M' }],
    ['PUT /items/{item}/cover', { color_token: 'red' }],
    ['DELETE /items/{item}/cover'],
    ['POST /views', { container_id: '{container}', name: 'new', visibility: 'SHARED' }],
    ['DELETE /views/{view}'],
    ['POST /items/{item}:reorder', { before_item_id: null }],
    ['POST /items/{item}:duplicate', {}],
    ['POST /items/{item}:auto-assign', {}],
    ['PATCH /templates/{template}', { name: 'y' }],
    ['DELETE /templates/{template}'],
    ['PUT /items/{item}/attachments/{other}', {}],
    ['DELETE /items/{item}/attachments/{media}'],
  ]
  test.each(calls.map(([request, body]) => ({ request, body })))('$request is refused', async ({ request, body }) => {
    const filled = (text: string) => text.replace(/\{(\w+)\}/g, (whole: string, name: string) => names[name] ?? whole)
    const sent = body === undefined ? undefined : JSON.parse(filled(JSON.stringify(body)))
    expect(await code(filled(request), sent)).toEqual([409, 'container.archived'])
  })
})

test('an item that is archived is not reordered or assigned by turns, and keeps its files', async () => {
  const item = await desk.item()
  const { id: media } = await desk.file(png, {}, desk.people.OWNER)
  await made(`PUT /items/${item.id}/attachments/${media}`, {})
  await desk.act(item, 'archive')
  for (const [request, body] of [
    [`POST /items/${item.id}:reorder`, { before_item_id: null }],
    [`POST /items/${item.id}:auto-assign`, {}],
    [`DELETE /items/${item.id}/attachments/${media}`],
  ] as const)
    expect(await code(request, body)).toEqual([409, 'item.archived'])
})

describe('between two neighbours whose ranks leave no room', () => {
  const long = `a0${'a0'.repeat(499)}`
  const [left, right] = [long, `${long.slice(0, -1)}1`]

  test('no item is made, moved or put', async () => {
    const { collectionId, buckets } = await desk.shelf(1)
    const of = { container_id: collectionId, bucket_id: buckets[0] }
    const [a, b, c] = [await desk.item(of), await desk.item(of), await desk.item(of)]
    await sql()`update item set rank = ${left} where id = ${a.id}`
    await sql()`update item set rank = ${right} where id = ${b.id}`
    const before_item_id = b.id
    const exhausted = [409, 'order.exhausted']
    expect(await code('POST /items', { ...of, title: 'x', before_item_id })).toEqual(exhausted)
    expect(await code(`POST /items/${c.id}:move`, { bucket_id: buckets[0], before_item_id })).toEqual(exhausted)
    expect(await code(`POST /items/${c.id}:reorder`, { before_item_id })).toEqual(exhausted)
  })

  test('no bucket is made or put', async () => {
    const { collectionId, buckets } = await desk.shelf(3)
    await sql()`update bucket set rank = ${left} where id = ${buckets[0]!}`
    await sql()`update bucket set rank = ${right} where id = ${buckets[1]!}`
    await sql()`update bucket set rank = 'b000' where id = ${buckets[2]!}`
    const path = `/containers/${collectionId}/buckets`
    const exhausted = [409, 'order.exhausted']
    expect(await code(`POST ${path}`, { name: 'x', before_bucket_id: buckets[1] })).toEqual(exhausted)
    expect(await code(`POST ${path}/${buckets[2]}:reorder`, { before_bucket_id: buckets[1] })).toEqual(exhausted)
  })

  test('no container is made, moved or put', async () => {
    const [hub, from] = [await desk.hub(), await desk.hub()]
    const [a, b, c] = [await desk.collection(hub), await desk.collection(hub), await desk.collection(hub)]
    const other = await desk.collection(from)
    await sql()`update container set rank = ${left} where id = ${a.id}`
    await sql()`update container set rank = ${right} where id = ${b.id}`
    const before_container_id = b.id
    const exhausted = [409, 'order.exhausted']
    const fresh = { kind: 'COLLECTION', parent_id: hub.id, name: 'x', before_container_id }
    expect(await code('POST /containers', fresh)).toEqual(exhausted)
    expect(await code(`POST /containers/${other.id}:move`, { parent_id: hub.id, before_container_id })).toEqual(
      exhausted,
    )
    expect(await code(`POST /containers/${c.id}:reorder`, { before_container_id })).toEqual(exhausted)
  })
})

describe('what is full', () => {
  test('an item of 100 people takes nobody by turns', async () => {
    const item = await desk.item()
    await sql()`
      with made as (
        insert into account (tenant_id, id, kind, state)
        select ${desk.tenantId}, uuidv7(), 'SERVICE', 'ACTIVE' from generate_series(1, 100) returning id)
      insert into item_member (tenant_id, item_id, account_id) select ${desk.tenantId}, ${item.id}, id from made`
    await sql()`update item set without_members = false where id = ${item.id}`
    const body = { account_ids: [desk.people.MEMBER.accountId] }
    expect(await code(`POST /items/${item.id}:auto-assign`, body)).toEqual([409, 'structure.full'])
  })

  test('a tree has no room for a copy of what is in it', async () => {
    const top = await desk.item()
    const child = await desk.item({ parent_id: top.id })
    await sql()`
      insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, parent_id, root_id, sibling_rank, created_by)
      select ${desk.tenantId}, uuidv7(), ${desk.collectionId}, ${desk.buckets[0]!}, 'TASK', 'x', 'd' || lpad(n::text, 4, '0'),
        ${top.id}, ${top.id}, 'd' || lpad(n::text, 4, '0'), ${desk.people.OWNER.accountId}
      from generate_series(1, 999) n`
    expect(await code(`POST /items/${child.id}:duplicate`, {})).toEqual([409, 'item.tree_full'])
  })

  test('a workspace of 200 shared views has no private one shared, and an item of 100 files none by a comment', async () => {
    const view = await made('POST /views', { container_id: desk.collectionId, name: 'mine' })
    await sql()`
      insert into item_view (tenant_id, id, name, layout, columns, sort, visibility, created_by)
      select ${desk.tenantId}, uuidv7(), 'v' || n, 'LIST', '[]', '[]', 'SHARED', ${desk.people.OWNER.accountId} from generate_series(1, 200) n`
    expect(await code(`PATCH /views/${view.id}`, { visibility: 'SHARED' })).toEqual([409, 'structure.full'])
    await sql()`delete from item_view where tenant_id = ${desk.tenantId}`

    const item = await desk.item()
    const said = await made(`POST /items/${item.id}/comments`, { body: 'x' })
    const { id: file } = await desk.file(png, {}, desk.people.OWNER)
    await sql()`
      with made as (
        insert into media (tenant_id, id, filename, size_bytes, state, created_by)
        select ${desk.tenantId}, uuidv7(), 'x', 1, 'READY', ${desk.people.OWNER.accountId} from generate_series(1, 100) returning id)
      insert into media_reference (tenant_id, item_id, media_id, added_by)
      select ${desk.tenantId}, ${item.id}, id, ${desk.people.OWNER.accountId} from made`
    expect(await code(`PATCH /comments/${said.id}`, { media_ids: [file] })).toEqual([409, 'structure.full'])
  })
})

test('a file that was refused is on no comment', async () => {
  const item = await desk.item()
  const said = await made(`POST /items/${item.id}/comments`, { body: 'x' })
  const { id: file } = await desk.file(png, {}, desk.people.OWNER)
  await sql()`update media set state = 'REFUSED' where id = ${file}`
  expect(await code(`PATCH /comments/${said.id}`, { media_ids: [file] })).toEqual([409, 'media.not_ready'])
})

test.each(['/views', '/memberships', '/auth/sessions'])('a cursor of nowhere is refused by GET %s', async (path) => {
  expect(await code(`GET ${path}?cursor=x`)).toEqual([400, 'cursor.invalid'])
})
