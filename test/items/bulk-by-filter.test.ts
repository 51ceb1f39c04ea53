/** Actions on all that a filter finds, by a job. Spec: items 1, N6; decision 0345. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { bulkItemsJob, resumeBulk } from '../../src/core/areas/items/bulk/job.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { Person } from '../kit/people.ts'
import { person } from '../kit/people.ts'
import { type Desk, expectUntouched, openDesk, pointers } from './desk.ts'

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
const titled = (title: string) => ({ field: 'title', op: 'is', value: title })
const bulk = (body: object, as?: Person) => desk.ask('POST /items:bulk', body, as ? { as } : {})
const run = (jobId: string) => bulkItemsJob.run(installation, { tenantId: desk.tenantId, jobId })
const rowOf = async (jobId: string) =>
  (await sql()`select state, failure, progress, result from job where id = ${jobId}`)[0]
const left = async () =>
  (await sql()`select (select count(*)::int from bulk_target) + (select count(*)::int from bulk_run) as rows`)[0]?.[
    'rows'
  ]
/** A person of their own, whose rights a test changes. */
const asker = () =>
  person(desk.daemon, desk.tenantId, { role: 'MEMBER', scopes: ['workspace:read', 'workspace:write'] })

test('what matches at the call is done, and nothing that matches later; the result counts by code', async () => {
  const [a, b, c] = [
    await desk.item({ title: 'found' }),
    await desk.item({ title: 'found' }),
    await desk.item({ title: 'found' }),
  ]
  const other = await desk.item({ title: 'other' })
  const as = await asker()
  const actions = [{ action: 'update', title: 'done' }, { action: 'archive' }]
  const { status, json } = await bulk({ filter: titled('found'), actions }, as)
  expect([status, json.kind, json.state]).toEqual([202, 'ITEM_BULK', 'QUEUED'])
  const later = await desk.item({ title: 'found' })
  await desk.ask(`DELETE /items/${c.id}`)
  await run(json.job_id)
  const job = await desk.ask(`GET /jobs/${json.job_id}`, undefined, { as })
  expect(job.json).toMatchObject({
    state: 'SUCCEEDED',
    progress: { phase: 'DONE', done: 3, total: 3 },
    result: { counts: { done: 2, not_found: 1 }, refusals: [{ id: c.id, status: 404, code: 'not_found' }] },
  })
  for (const one of [a, b])
    expect(await desk.read(one)).toMatchObject({ title: 'done', archived_at: expect.any(String), version: 3 })
  expect([await desk.read(later), await desk.read(other)]).toEqual([later, other])
  expect(await left()).toBe(0)
  await run(json.job_id)
  expect((await desk.read(a)).version).toBe(3)
})

test('each portion has the rights of its moment, and none once whoever asked is disabled', async () => {
  const item = await desk.item({ title: 'rights' })
  const [demoted, disabled] = [await asker(), await asker()]
  const body = { filter: titled('rights'), actions: [{ action: 'complete' }] }
  const [first, second] = [await bulk(body, demoted), await bulk(body, disabled)]
  await sql()`update membership set role = 'VIEWER' where account_id = ${demoted.accountId}`
  await sql()`update account set state = 'DISABLED' where id = ${disabled.accountId}`
  await run(first.json.job_id)
  await run(second.json.job_id)
  expect(await rowOf(first.json.job_id)).toMatchObject({
    state: 'SUCCEEDED',
    result: { counts: { 'auth.role_required': 1 }, refusals: [{ id: item.id, code: 'auth.role_required' }] },
  })
  expect(await rowOf(second.json.job_id)).toMatchObject({ state: 'FAILED', failure: 'auth.role_required' })
  expect(await desk.read(item)).toEqual(item)
  expect(await left()).toBe(0)
})

test('a job whose last worker was lost has failed, and leaves no rows that name items', async () => {
  const item = await desk.item({ title: 'lost' })
  const { json } = await bulk({ filter: titled('lost'), actions: [{ action: 'complete' }] })
  const lose = (attempt: number) =>
    sql()`update job set state = 'RUNNING', attempt = ${attempt}, beat_at = now() - interval '2 minutes' where id = ${json.job_id}`
  await lose(100)
  await resumeBulk.run(installation, null)
  expect(await rowOf(json.job_id)).toMatchObject({ state: 'QUEUED' })
  await run(json.job_id)
  expect(await rowOf(json.job_id)).toMatchObject({ state: 'FAILED', failure: 'worker.lost' })
  expect([await left(), await desk.read(item)]).toEqual([0, item])
  await resumeBulk.run(installation, null)
  expect(await rowOf(json.job_id)).toMatchObject({ state: 'FAILED', failure: 'worker.lost' })
})

test('finds what the caller sees, and what is gone from a filter finds nothing', async () => {
  const shelf = await desk.shelf(1)
  await desk.item({ container_id: shelf.collectionId, title: 'hidden' })
  await sql()`update container set is_private = true where id = ${shelf.collectionId}`
  const { json } = await bulk({ filter: titled('hidden'), actions: [{ action: 'complete' }] }, await asker())
  await run(json.job_id)
  expect(await rowOf(json.job_id)).toMatchObject({
    progress: { done: 0, total: 0 },
    result: { counts: {}, refusals: [] },
  })
})

test('the row of the job holds no content', async () => {
  await desk.item({ title: 'secret' })
  const { json } = await bulk({ filter: titled('secret'), actions: [{ action: 'update', title: 'also secret' }] })
  const [row] = await sql()`select to_jsonb(j)::text as text from job j where id = ${json.job_id}`
  expect(row?.['text']).not.toContain('secret')
})

test('it is either: items or a filter, and EACH', async () => {
  const { id } = await desk.item()
  const actions = [{ action: 'complete' }]
  const refused = async (body: object) => pointers(await expectUntouched(desk, () => bulk({ actions, ...body })))
  expect(await refused({})).toEqual([['/items', 'member.required']])
  expect(await refused({ items: [{ id }], filter: titled('x') })).toEqual([['/filter', 'member.conflicts']])
  expect(await refused({ filter: titled('x'), mode: 'ATOMIC' })).toEqual([['/mode', 'value.not_taken']])
  expect((await refused({ filter: null }))?.[0]?.[0]).toBe('/filter')
  expect((await refused({ filter: { field: 'nonsense', op: 'is', value: 1 } }))?.[0]?.[0]).toMatch(/^\/filter/)
})

test('more than 10,000 are too many', { timeout: 60_000 }, async () => {
  const shelf = await desk.shelf(1)
  await sql()`
    insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by, without_keys)
    select ${desk.tenantId}, gen_random_uuid(), ${shelf.collectionId}, ${shelf.buckets[0]!}, 'NOTE', 'many', 'b' || lpad(n::text, 6, '0'), gen_random_uuid(), false
    from generate_series(1, 10001) n`
  const filter = { field: 'container', op: 'is', value: shelf.collectionId }
  expect(await bulk({ filter, actions: [{ action: 'complete' }] })).toMatchObject({
    status: 422,
    json: { code: 'query.too_broad', params: { limit: 10_000 } },
  })
})
