/** `:reindex`: a generation beside the one that answers, one job for two requests, and how it ends. Decision 0231. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { takeTurn } from '../../src/core/areas/search/indexing.ts'
import type { JobRef } from '../../src/core/contract/jobs/operations.ts'
import type { SearchAnswer } from '../../src/core/contract/search/operations.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Person, person } from '../kit/people.ts'
import { type Indexing, openIndexing } from './indexing.ts'

let desk: Desk
let indexing: Indexing
let admin: Person
let member: Person
let operator: Person
beforeAll(async () => {
  desk = await openDesk()
  indexing = await openIndexing(desk.daemon)
  const scopes = ['workspace:read', 'workspace:admin'] as const
  admin = await person(desk.daemon, desk.tenantId, { role: 'ADMIN', scopes })
  member = await person(desk.daemon, desk.tenantId, { role: 'MEMBER', scopes })
  operator = await person(desk.daemon, desk.tenantId, { operator: true, scopes: ['admin:tenants', 'workspace:admin'] })
  for (let n = 0; n < 3; n += 1) await desk.item({ title: `Puffin ${n}`, description: 'of the north' })
})
beforeEach(() => indexing.catchUp())
afterEach(() => indexing.catchUp())
afterAll(async () => {
  await indexing.close()
  await desk.close()
})

const reindex = async (as: Person, body: object = {}) => desk.ask('POST /search:reindex', body, { as })
const job = async (id: string, as: Person) =>
  (await desk.ask(`GET /jobs/${id}` as 'GET /items', undefined, { as })).json as JobRef
const found = async (query = 'puffin') => (await desk.ask('POST /search', { query })).json as SearchAnswer
const generations = async () =>
  (await desk.daemon.db.sql`
    select s.state, (select count(*)::int from search_document d where d.tenant_id = s.tenant_id and d.generation = s.generation) as documents
    from search_index s where s.tenant_id = ${desk.tenantId} order by generation`) as unknown as {
    state: string
    documents: number
  }[]
const entries = async () =>
  (
    await desk.daemon.db
      .sql`select subject_id, subject_kind from audit_entry where action = 'search.reindex_requested' and tenant_id = ${desk.tenantId}`
  ).length
const journal = async () =>
  (await desk.daemon.db.sql`select from journal where action = 'search.reindex_requested'`).length
const events = async () => (await desk.daemon.db.sql`select count(*)::int as n from outbox_event`)[0]!['n'] as number

describe('a request', () => {
  test('is a job and one entry, without an event; asked again, the same job', async () => {
    const before = [await entries(), await events()] as const
    const answers = await Promise.all([reindex(admin), reindex(admin), reindex(admin)])
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202])
    const ids = new Set(answers.map(({ json }) => json.job_id))
    expect(ids.size).toBe(1)
    const [first] = answers
    expect(first!.headers['location']).toBe(`/api/v1/jobs/${first!.json.job_id}`)
    expect(first!.json).toMatchObject({ kind: 'SEARCH_REINDEX', state: 'QUEUED', result: null, failure: null })
    expect([await entries(), await events()]).toEqual([before[0] + 1, before[1]])
    await indexing.catchUp()
    const ended = await job(first!.json.job_id, admin)
    expect(ended).toMatchObject({ state: 'SUCCEEDED', progress: { phase: 'DONE' } })
    expect(ended.progress.done).toBe(ended.progress.total)
    expect((await reindex(admin)).json.job_id, 'a later one is another').not.toBe(ended.job_id)
  })

  test('of a MEMBER is refused, and one that names another workspace is 404', async () => {
    expect((await reindex(member)).status).toBe(403)
    expect((await reindex(admin, { tenant_id: '0199c0de-0000-7000-8000-000000000001' })).status).toBe(404)
    expect((await reindex(admin, { tenant_id: desk.tenantId })).status).toBe(202)
  })
})

test('a turn that writes all that was changed says so: what comes meanwhile waits for the next look', async () => {
  await indexing.catchUp()
  const { id } = await desk.item({ title: 'Plover' })
  expect(await takeTurn(indexing.installation, desk.tenantId)).toBe(false)
  expect((await found('plover')).data.map((one) => one.id)).toEqual([id])
  await desk.daemon.db.sql`
    insert into search_pending (tenant_id, id, subject, subject_id)
    select ${desk.tenantId}, uuidv7(), 'ITEM', ${id} from generate_series(1, 100)`
  expect(await takeTurn(indexing.installation, desk.tenantId), 'a full portion: there may be more').toBe(true)
})

describe('while it is built', () => {
  test('the old generation answers, whole, and what changes is in both', async () => {
    await desk.daemon.db.sql`
      update search_document set words = (words::text || ' ''old'':1A')::tsvector where tenant_id = ${desk.tenantId}`
    await reindex(admin)
    expect(await takeTurn(indexing.installation, desk.tenantId), 'the items').toBe(true)
    expect((await generations()).map(({ state }) => state)).toEqual(['SERVING', 'BUILDING'])
    expect(await found()).toMatchObject({ is_behind: false, data: [{}, {}, {}] })
    const late = await desk.item({ title: 'Puffin late' })
    expect(await takeTurn(indexing.installation, desk.tenantId), 'what was changed goes first').toBe(true)
    expect((await found('late')).data.map(({ id }) => id)).toEqual([late.id])
    await indexing.catchUp()
    const after = await generations()
    expect(after.map(({ state }) => state)).toEqual(['SERVING'])
    expect((await found()).data).toHaveLength(4)
    expect(
      await desk.daemon.db.sql`select from search_document where words::text like '%''old''%'`,
      'none is of before',
    ).toHaveLength(0)
  })

  test('for the first time, what is there already is found, and that it is behind is told', async () => {
    await desk.daemon.db.sql`delete from search_index where tenant_id = ${desk.tenantId}`
    await desk.daemon.db.sql`delete from search_document where tenant_id = ${desk.tenantId}`
    expect(await found()).toMatchObject({ is_behind: true, data: [] })
    await takeTurn(indexing.installation, desk.tenantId) // begins
    await takeTurn(indexing.installation, desk.tenantId) // the items
    const half = await found()
    expect([half.is_behind, half.data.length]).toEqual([true, 4])
    await indexing.catchUp()
    expect((await found()).is_behind).toBe(false)
  })

  test('two indexers at once write each document once', async () => {
    await reindex(admin)
    const other = await openIndexing(desk.daemon)
    await Promise.all([indexing.catchUp(), other.catchUp(), indexing.catchUp()])
    await indexing.catchUp()
    await other.close()
    const [{ items = 0 } = {}] = await desk.daemon.db.sql<{ items: number }[]>`
      select ((select count(*) from item where tenant_id = ${desk.tenantId} and deleted_at is null)
              + (select count(*) from container where tenant_id = ${desk.tenantId} and deleted_at is null))::int as items`
    expect(await generations()).toEqual([{ state: 'SERVING', documents: items }])
  })

  test('a workspace that is suspended waits', async () => {
    await reindex(admin)
    await desk.daemon.db.sql`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${desk.tenantId}`
    await expect(takeTurn(indexing.installation, desk.tenantId)).rejects.toMatchObject({ code: 'tenant_suspended' })
    await indexing.catchUp()
    expect((await generations()).map(({ state }) => state)).toEqual(['SERVING', 'BUILDING'])
    await desk.daemon.db.sql`update tenant set state = 'ACTIVE', suspended_at = null where id = ${desk.tenantId}`
  })
})

describe('an operator', () => {
  test('asks for one workspace: in its trail and in the journal', async () => {
    const before = [await entries(), await journal()] as const
    const { status, json } = await reindex(operator, { tenant_id: desk.tenantId })
    expect(status).toBe(202)
    expect([await entries(), await journal()]).toEqual([before[0] + 1, before[1] + 1])
    expect((await reindex(admin)).json.job_id).toBe(json.job_id)
    expect([await entries(), await journal()]).toEqual([before[0] + 1, before[1] + 1])
    expect((await reindex(operator, { tenant_id: '0199c0de-0000-7000-8000-000000000001' })).status).toBe(404)
  })

  test('asks for all: one job, whose progress counts workspaces', async () => {
    const before = await journal()
    const answers = await Promise.all([reindex(operator), reindex(operator)])
    expect(new Set(answers.map(({ json }) => json.job_id)).size).toBe(1)
    expect(await journal()).toBe(before + 1)
    const own = (await reindex(admin)).json as JobRef
    expect(own.job_id, 'the workspace has a job of its own').not.toBe(answers[0]!.json.job_id)
    await indexing.catchUp()
    await indexing.catchUp()
    const [{ active = 0 } = {}] = await desk.daemon.db.sql<
      { active: number }[]
    >`select count(*)::int as active from tenant where state = 'ACTIVE'`
    expect(await job(answers[0]!.json.job_id, operator)).toMatchObject({
      state: 'SUCCEEDED',
      progress: { phase: 'DONE', done: active, total: active },
    })
    expect(await job(own.job_id, admin)).toMatchObject({ state: 'SUCCEEDED' })
  })
})
