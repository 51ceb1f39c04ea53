/** The trash: who sees what in it, the ways back and the end, and how it is emptied. Spec: items 1 and 3; decision 0203. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { emptyTrashJob, resumeEmptying } from '../../src/core/areas/items/trash/emptying.ts'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { TrashRow } from '../../src/core/contract/items/trash.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { Person } from '../kit/people.ts'
import { type Desk, expectUntouched, isRead, openDesk, type Shelf } from './desk.ts'

let desk: Desk
let installation: Installation
let close: () => Promise<void>
beforeAll(async () => {
  desk = await openDesk()
  const booted = await bootInstallation(desk.daemon.config, { works: false, applicationName: 'svc test' })
  ;({ installation } = booted)
  close = () => booted.close()
})
afterAll(async () => {
  await close()
  await desk.close()
})

const sql = () => desk.daemon.db.sql
const remove = async ({ id }: { readonly id: string }, as?: Person) =>
  expect((await desk.ask(`DELETE /items/${id}`, undefined, as ? { as } : {})).status).toBe(204)
async function deleted(members: object = {}): Promise<Item> {
  const item = await desk.item(members)
  await remove(item)
  return item
}
const trash = async (query = '', as?: Person): Promise<TrashRow[]> => {
  const { status, json, text } = await desk.ask(`GET /trash?size=200&${query}`, undefined, as ? { as } : {})
  if (status !== 200) throw new Error(text)
  return json.data
}
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)
const counts = async ({ collectionId }: Shelf) =>
  (await desk.ask(`GET /containers/${collectionId}/buckets`)).json.data.map(
    (one: { item_count: number }) => one.item_count,
  )
const tally = async () =>
  Number((await sql()`select items from item_tally where tenant_id = ${desk.tenantId}`)[0]?.['items'])
const purge = (item: { readonly id: string }, as?: Person) =>
  desk.ask(`POST /items/${item.id}:purge`, undefined, as ? { as } : {})
/** A job, as somebody reads it who acts for the workspace alone: `admin:tenants` acts for the installation. */
const job = async (id: string, as: Person = desk.people.OWNER) => {
  await sql()`
    update credential set scopes = 'workspace:read workspace:write workspace:admin' where account_id = ${as.accountId}`
  return desk.ask(`GET /jobs/${id}`, undefined, { as })
}
const rowsOf = async ({ id }: { readonly id: string }) => {
  const [row] = await sql()`
    select (select count(*)::int from item where id = ${id}) as item, (select count(*)::int from item_label where item_id = ${id}) as labels,
           (select count(*)::int from item_member where item_id = ${id}) as members,
           (select count(*)::int from item_field_value where item_id = ${id}) as field_values,
           (select count(*)::int from item_field_key where item_id = ${id}) as keys`
  return Object.values(row!).join(' ')
}
const destroy = () => removePurged.run(installation, { tenantId: desk.tenantId })

describe('an item', () => {
  test('is in the trash with who deleted it, when, until when, and its version', async () => {
    const shelf = await desk.shelf(1)
    const item = await desk.item({ container_id: shelf.collectionId, title: 'Gone' })
    await remove(item, desk.people.MEMBER)
    const [row, ...others] = await trash(`container_id=${shelf.collectionId}`)
    expect(others).toEqual([])
    expect(row).toEqual({
      ...{ kind: 'ITEM', id: item.id, title: 'Gone', container_id: shelf.collectionId, item_count: 1, version: 2 },
      deleted_at: expect.any(String),
      deleted_by: desk.people.MEMBER.accountId,
      purge_after: expect.any(String),
    })
    expect(Date.parse(row!.purge_after!) - Date.parse(row!.deleted_at)).toBe(30 * 24 * 3600 * 1000)
  })

  test('comes back as it was, to the end of its bucket, and is counted again', async () => {
    const shelf = await desk.shelf(2)
    const [a, b] = [
      await desk.item({ container_id: shelf.collectionId, title: 'a', label_ids: [] }),
      await desk.item({ container_id: shelf.collectionId, title: 'b' }),
    ]
    const before = await tally()
    await remove(a)
    expect([await counts(shelf), await tally()]).toEqual([[1, 0], before - 1])
    const back = await desk.act(a, 'restore')
    expect(back).toEqual({ ...a, position: expect.any(String), updated_at: expect.any(String), version: 3 })
    await isRead(desk, back)
    expect(await desk.titles(shelf.buckets[0]!)).toEqual(['b', 'a'])
    expect([await counts(shelf), await tally()]).toEqual([[2, 0], before])
    expect(await trash(`container_id=${shelf.collectionId}`)).toEqual([])
    expect(await expectUntouched(desk, () => desk.act(back, 'restore'))).toEqual(back)
    expect(b.id).not.toBe(a.id)
    const { json } = await desk.ask(`GET /items/${a.id}/activity`)
    expect(json.data.map(({ action }: { action: string }) => action)).toEqual([
      'item.restored',
      'item.deleted',
      'item.created',
    ])
  })

  test('that was archived comes back archived, one in no bucket to none, a done one done', async () => {
    const shelf = await desk.shelf(2, { doneAt: 1 })
    const of = { container_id: shelf.collectionId }
    const archived = await desk.act(await desk.item(of), 'archive')
    const loose = await desk.item({ ...of, bucket_id: null })
    const done = await desk.act(await desk.item(of), 'complete')
    const before = await counts(shelf)
    for (const item of [archived, loose, done]) await remove(item)
    const back = [
      await desk.act(archived, 'restore'),
      await desk.act(loose, 'restore'),
      await desk.act(done, 'restore'),
    ]
    for (const item of back) await isRead(desk, item)
    expect(back).toMatchObject([
      { archived_at: archived.archived_at },
      { bucket_id: null },
      { state: 'DONE', bucket_id: shelf.buckets[1], completed_at: done.completed_at },
    ])
    expect(await counts(shelf)).toEqual(before)
  })

  test('goes where its bucket went that was deleted meanwhile', async () => {
    const shelf = await desk.shelf(2)
    const item = await deleted({ container_id: shelf.collectionId, bucket_id: shelf.buckets[0] })
    const gone = await desk.ask(`DELETE /containers/${shelf.collectionId}/buckets/${shelf.buckets[0]}`)
    expect([gone.status, gone.text]).toEqual([200, expect.any(String)])
    expect((await desk.act(item, 'restore')).bucket_id).toBe(shelf.buckets[1])
  })

  test('is restored by a MEMBER and purged by an ADMIN; a stale tag does neither', async () => {
    const item = await deleted()
    const { COMMENTER, MEMBER } = desk.people
    const refusedTo = async (action: string, as: Person) => {
      const { status, json } = await expectUntouched(desk, () =>
        desk.ask(`POST /items/${item.id}:${action}`, undefined, { as }),
      )
      return [status, json.code, json.params]
    }
    expect(await refusedTo('restore', COMMENTER)).toEqual([403, 'auth.role_required', { role: 'MEMBER' }])
    expect(await refusedTo('purge', MEMBER)).toEqual([403, 'auth.role_required', { role: 'ADMIN' }])
    for (const action of ['restore', 'purge']) {
      const stale = await desk.ask(`POST /items/${item.id}:${action}`, undefined, { headers: { 'if-match': '"1"' } })
      expect([stale.status, stale.json.params]).toEqual([412, { current_etag: '"2"' }])
    }
    const tagged = await desk.ask(`POST /items/${item.id}:restore`, undefined, {
      as: MEMBER,
      headers: { 'if-match': '"2"' },
    })
    expect(tagged.status).toBe(200)
  })

  test('without room in the quota stays where it is', async () => {
    const item = await deleted()
    await sql()`insert into tenant_quota values (${desk.tenantId}, 'items', ${await tally()})`
    const { status, json } = await expectUntouched(desk, () => desk.ask(`POST /items/${item.id}:restore`))
    await sql()`delete from tenant_quota where tenant_id = ${desk.tenantId} and quota = 'items'`
    expect([status, json.code]).toEqual([409, 'quota.exceeded'])
  })

  test('by two at once is restored once', async () => {
    const item = await deleted()
    const answers = await Promise.all([1, 2].map(() => desk.act(item, 'restore')))
    expect(answers.map(({ version }) => version)).toEqual([3, 3])
    const { json } = await desk.ask(`GET /items/${item.id}/activity`)
    expect(json.data.filter(({ action }: { action: string }) => action === 'item.restored')).toHaveLength(1)
  })

  test('restored and purged at once is one of both', async () => {
    for (let round = 0; round < 5; round += 1) {
      const item = await deleted()
      const [back, gone] = await Promise.all([desk.ask(`POST /items/${item.id}:restore`), purge(item)])
      const there = (await desk.ask(`GET /items/${item.id}`)).status
      expect([
        [200, 409, 200],
        [404, 204, 404],
      ]).toContainEqual([back.status, gone.status, there])
    }
  })
})

describe('purged', () => {
  test('it is nowhere, has no way back, and says so with its id alone', async () => {
    const item = await deleted({ title: 'Secret' })
    const { status, text } = await purge(item)
    expect([status, text]).toEqual([204, ''])
    expect(ids(await trash())).not.toContain(item.id)
    for (const request of [`GET /items/${item.id}`, `POST /items/${item.id}:restore`, `POST /items/${item.id}:purge`])
      expect((await desk.ask(request as 'GET /')).status).toBe(404)
    expect(await desk.told(item)).toEqual({ id: item.id, container_id: item.container_id })
  })

  test('what is not in the trash is refused, and stays', async () => {
    const item = await desk.item()
    const { status, json } = await expectUntouched(desk, () => purge(item))
    expect([status, json.code]).toEqual([409, 'item.not_in_trash'])
  })

  test('its rows go, with all that belongs to it', async () => {
    const fieldId = await desk.field({ key: 'kept', kind: 'TEXT' })
    const item = await desk.item({ label_ids: [desk.labels[0]], custom_fields: { kept: 'Value' } })
    await desk.act(item, 'assign', { account_id: desk.people.ADMIN.accountId })
    await remove(item)
    expect(await rowsOf(item)).toBe('1 1 1 1 2')
    await purge(item)
    await destroy()
    expect(await rowsOf(item)).toBe('0 0 0 0 0')
    await sql()`update custom_field set deleted_at = now() where id = ${fieldId}`
    const trail = await sql()`select action from audit_entry where subject_id = ${item.id}`
    expect(trail.map(({ action }) => action)).toContain('item.purged')
  })
})

describe('a container', () => {
  test('is in the trash for its ADMINs, with all in it counted; what was deleted in it before is not listed beside it', async () => {
    const shelf = await desk.shelf(1)
    const of = { container_id: shelf.collectionId }
    await desk.item(of)
    await desk.act(await desk.item(of), 'archive')
    const before = await deleted(of)
    expect(ids(await trash())).toContain(before.id)
    expect((await desk.ask(`DELETE /containers/${shelf.collectionId}`)).status).toBe(204)
    const row = (await trash('kind=CONTAINER')).find(({ id }) => id === shelf.collectionId)
    expect(row).toMatchObject({ item_count: 3, deleted_by: desk.people.OWNER.accountId })
    expect(ids(await trash())).not.toContain(before.id)
    expect(ids(await trash('', desk.people.MEMBER))).not.toContain(shelf.collectionId)
    const refused = await desk.ask(`POST /items/${before.id}:restore`)
    expect([refused.status, refused.json.code]).toEqual([409, 'container.deleted'])
    const inBulk = await desk.ask('POST /items:bulk', { items: [{ id: before.id }], actions: [{ action: 'restore' }] })
    expect(inBulk.json.results[0]).toMatchObject({ status: 409, code: 'container.deleted' })
    expect((await desk.ask(`POST /containers/${shelf.collectionId}:restore`)).status).toBe(200)
    expect(ids(await trash())).toContain(before.id)
  })

  test('of a deleted hub is not a row of its own, and the hub counts its items', async () => {
    const hub = await desk.hub()
    const { id } = await desk.collection(hub)
    await desk.item({ container_id: id, bucket_id: null })
    await desk.ask(`DELETE /containers/${id}`)
    await desk.ask(`DELETE /containers/${hub.id}`)
    const rows = await trash('kind=CONTAINER')
    expect(rows.find((row) => row.id === hub.id)).toMatchObject({ item_count: 1, container_id: null })
    expect(ids(rows)).not.toContain(id)
  })

  test('that is archived keeps its trash: nothing in it is listed, restored or purged', async () => {
    const shelf = await desk.shelf(1)
    const item = await deleted({ container_id: shelf.collectionId })
    await desk.ask(`POST /containers/${shelf.collectionId}:archive`)
    expect(ids(await trash())).not.toContain(item.id)
    for (const action of ['restore', 'purge']) {
      const { status, json } = await expectUntouched(desk, () => desk.ask(`POST /items/${item.id}:${action}`))
      expect([status, json.code]).toEqual([409, 'container.archived'])
    }
  })

  test('that is purged goes with its buckets, labels, fields and items, once no row of it is needed', async () => {
    const hub = await desk.hub()
    const { id } = await desk.collection(hub)
    const label = await desk.label(id, 'x')
    await desk.field({ key: 'own', kind: 'TEXT', collectionId: id })
    const item = await desk.item({ container_id: id, bucket_id: null, label_ids: [label], custom_fields: { own: 'v' } })
    // It takes its label and its value along, which stop showing (decision 0108).
    const moved = await desk.item({
      container_id: id,
      bucket_id: null,
      label_ids: [label],
      custom_fields: { own: 'w' },
    })
    await desk.act(moved, 'move', { container_id: desk.collectionId })
    await empty({ confirm_count: (await trash()).length })
    const before = await tally()
    await desk.ask(`DELETE /containers/${hub.id}`)
    await empty({ confirm_count: (await trash()).length })
    expect(await tally()).toBe(before - 1)
    expect((await desk.ask(`POST /containers/${hub.id}:restore`)).status).toBe(404)
    expect(ids((await desk.ask('GET /containers?state=DELETED&size=200')).json.data)).not.toContain(hub.id)
    expect((await desk.ask(`POST /items/${item.id}:restore`)).status).toBe(404)
    await destroy()
    const [left] = await sql()`
      select (select count(*)::int from container where id in (${hub.id}, ${id})) as containers,
             (select count(*)::int from label where container_id = ${id}) as labels,
             (select count(*)::int from custom_field where collection_id = ${id}) as fields,
             (select count(*)::int from membership where container_id in (${hub.id}, ${id})) as memberships`
    expect([left, await rowsOf(item)]).toEqual([{ containers: 0, labels: 0, fields: 0, memberships: 0 }, '0 0 0 0 0'])
    expect(await rowsOf(moved)).toBe('1 0 0 0 1')
    expect((await desk.read(moved)).title).toBe(moved.title)
  })
})

describe('who sees what', () => {
  test('a VIEWER has no trash; a guest sees that of the containers in which it is MEMBER', async () => {
    const viewer = await desk.ask('GET /trash', undefined, { as: desk.people.VIEWER })
    expect([viewer.status, viewer.json.code]).toEqual([403, 'auth.role_required'])
    const shelf = await desk.shelf(1)
    const mine = await deleted({ container_id: shelf.collectionId })
    const guest = await desk.guest()
    await desk.grant({ id: shelf.collectionId }, guest, 'MEMBER')
    await desk.grant({ id: desk.collectionId }, guest, 'VIEWER')
    await deleted()
    expect(ids(await trash('', guest))).toEqual([mine.id])
    const refused = await desk.ask(`GET /trash?container_id=${desk.collectionId}`, undefined, { as: guest })
    expect([refused.status, refused.json.code]).toEqual([403, 'auth.role_required'])
  })

  test('what is deleted in a private container is in the trash of its people and the OWNERs alone', async () => {
    const hub = await desk.hub({ is_private: true })
    const { id } = await desk.collection(hub)
    const item = await deleted({ container_id: id, bucket_id: null })
    expect(ids(await trash())).toContain(item.id)
    expect(ids(await trash('', desk.people.ADMIN))).not.toContain(item.id)
    expect((await desk.ask(`GET /trash?container_id=${id}`, undefined, { as: desk.people.ADMIN })).status).toBe(404)
  })

  test('pages of two have each row once, newest first, also where several were deleted at once', async () => {
    const shelf = await desk.shelf(1)
    const made: Item[] = []
    for (let n = 0; n < 5; n += 1) made.push(await desk.item({ container_id: shelf.collectionId }))
    await sql()`
      update item set deleted_at = now(), deleted_by = ${desk.people.OWNER.accountId} where container_id = ${shelf.collectionId}`
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await desk.ask(
        `GET /trash?container_id=${shelf.collectionId}&size=2${cursor && `&cursor=${cursor}`}`,
      )
      seen.push(...ids(json.data))
      cursor = json.next_cursor
    }
    expect(seen).toEqual(ids(made).sort().reverse())
  })
})

/** Asks for the trash to be emptied, and runs the job. */
async function empty(body: object, as?: Person) {
  const { status, json, text } = await desk.ask('POST /trash:empty', body, as ? { as } : {})
  expect([status, text]).toEqual([202, expect.any(String)])
  await emptyTrashJob.run(installation, { tenantId: desk.tenantId, jobId: json.job_id })
  return (await job(json.job_id, as)).json
}

describe('emptied', () => {
  test('with another count it purges nothing and says the number; with the right one all of it', async () => {
    const shelf = await desk.shelf(1)
    const items = [1, 2, 3].map(() => deleted({ container_id: shelf.collectionId }))
    await Promise.all(items)
    const of = { container_id: shelf.collectionId }
    const refused = await expectUntouched(desk, () => desk.ask('POST /trash:empty', { ...of, confirm_count: 2 }))
    expect([refused.status, refused.json.code, refused.json.params]).toEqual([
      409,
      'trash.count_mismatch',
      { expected: 3 },
    ])
    expect(await empty({ ...of, confirm_count: 3 })).toMatchObject({
      ...{ kind: 'TRASH_EMPTY', state: 'SUCCEEDED', failure: null, result: { purged: 3 } },
      progress: { phase: 'DONE', done: 3, total: 3 },
    })
    expect(await trash(`container_id=${shelf.collectionId}`)).toEqual([])
    for (const item of await Promise.all(items))
      expect(await desk.told(item)).toEqual({ id: item.id, container_id: item.container_id })
  })

  test('it leaves what is deleted after the request, and what was restored meanwhile', async () => {
    const shelf = await desk.shelf(1)
    const of = { container_id: shelf.collectionId }
    const [gone, back] = [await deleted(of), await deleted(of)]
    const { json } = await desk.ask('POST /trash:empty', { ...of, confirm_count: 2 })
    const later = await deleted(of)
    await desk.act(back, 'restore')
    await emptyTrashJob.run(installation, { tenantId: desk.tenantId, jobId: json.job_id })
    expect(ids(await trash(`container_id=${shelf.collectionId}`))).toEqual([later.id])
    expect((await job(json.job_id)).json.result).toEqual({ purged: 1 })
    expect((await desk.read(back)).version).toBe(3)
    expect((await desk.ask(`POST /items/${gone.id}:restore`)).status).toBe(404)
  })

  test('`deleted_before` bounds it', async () => {
    const shelf = await desk.shelf(1)
    const of = { container_id: shelf.collectionId }
    const [old, young] = [await deleted(of), await deleted(of)]
    await sql()`update item set deleted_at = now() - interval '3 days' where id = ${old.id}`
    const deleted_before = new Date(Date.now() - 24 * 3600 * 1000).toISOString()
    await empty({ ...of, deleted_before, confirm_count: 1 })
    expect(ids(await trash(`container_id=${shelf.collectionId}`))).toEqual([young.id])
  })

  test('by an ADMIN of one container it purges nothing of others, and he reads his job; another MEMBER does not', async () => {
    const shelf = await desk.shelf(1)
    const guest = await desk.guest()
    await desk.grant({ id: shelf.collectionId }, guest, 'ADMIN')
    await desk.grant({ id: desk.collectionId }, guest, 'MEMBER')
    const [mine, others] = [await deleted({ container_id: shelf.collectionId }), await deleted()]
    expect(ids(await trash('', guest))).toContain(others.id)
    const emptied = await empty({ confirm_count: 1 }, guest)
    expect(emptied).toMatchObject({ state: 'SUCCEEDED', result: { purged: 1 } })
    expect(ids(await trash())).toContain(others.id)
    expect(ids(await trash())).not.toContain(mine.id)
    expect((await job(emptied.job_id, desk.people.MEMBER)).status).toBe(404)
    expect((await job(emptied.job_id, desk.people.ADMIN)).status).toBe(200)
    const refused = await desk.ask(
      'POST /trash:empty',
      { container_id: desk.collectionId, confirm_count: 0 },
      { as: guest },
    )
    expect([refused.status, refused.json.code]).toEqual([403, 'auth.role_required'])
    const unknown = await desk.ask('POST /trash:empty', { container_id: randomUUID(), confirm_count: 0 })
    expect([unknown.status, unknown.json.errors[0].pointer]).toEqual([422, '/container_id'])
  })

  test('who may not any more when the job runs purges nothing', async () => {
    const shelf = await desk.shelf(1)
    const guest = await desk.guest()
    await desk.grant({ id: shelf.collectionId }, guest, 'ADMIN')
    const item = await deleted({ container_id: shelf.collectionId })
    const { json } = await desk.ask('POST /trash:empty', { confirm_count: 1 }, { as: guest })
    await sql()`update account set state = 'DISABLED' where id = ${guest.accountId}`
    await emptyTrashJob.run(installation, { tenantId: desk.tenantId, jobId: json.job_id })
    expect((await job(json.job_id)).json).toMatchObject({
      state: 'FAILED',
      failure: 'auth.role_required',
    })
    expect(ids(await trash())).toContain(item.id)
  })

  test('a job whose worker is gone is resumed, and counts what was purged before', async () => {
    const shelf = await desk.shelf(1)
    const of = { container_id: shelf.collectionId }
    for (let n = 0; n < 3; n += 1) await deleted(of)
    const { json } = await desk.ask('POST /trash:empty', { ...of, confirm_count: 3 })
    // As a worker leaves it that was killed behind its first portion.
    await sql()`
      update job set state = 'RUNNING', attempt = 1, beat_at = now() - interval '2 minutes', progress = '{"phase":"WORKING","done":4,"total":7}'
      where id = ${json.job_id}`
    await resumeEmptying.run(installation, {})
    await emptyTrashJob.run(installation, { tenantId: desk.tenantId, jobId: json.job_id })
    expect((await job(json.job_id)).json).toMatchObject({
      state: 'SUCCEEDED',
      result: { purged: 7 },
    })
    expect(await trash(`container_id=${shelf.collectionId}`)).toEqual([])
  })
})

test('bulk restores, and does more to what it has restored', async () => {
  const [item, there] = [await deleted(), await desk.item()]
  const bulk = (actions: object[], items = [{ id: item.id }, { id: there.id }]) =>
    desk.ask('POST /items:bulk', { items, actions })
  const statuses = async (asked: ReturnType<typeof bulk>) =>
    (await asked).json.results.map(({ status, version }: { status: number; version: number }) => [status, version])
  expect(await statuses(bulk([{ action: 'complete' }]))).toEqual([
    [404, null],
    [200, 2],
  ])
  expect(await statuses(bulk([{ action: 'restore' }, { action: 'update', title: 'Back' }]))).toEqual([
    [200, 4],
    [200, 3],
  ])
  expect(await statuses(bulk([{ action: 'delete' }, { action: 'restore' }]))).toEqual([
    [200, 6],
    [200, 5],
  ])
  expect((await desk.read(item)).title).toBe('Back')
})
