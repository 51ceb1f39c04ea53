/** Where counts and groups of a query end, and a hundred of the worst at once. Spec: Work on boards, 2, N3; 10, 4. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { person, workspace } from '../kit/people.ts'
import { type Desk, openDesk, type Shelf } from './desk.ts'

const most = 10_000
const mostGroups = 50

let desk: Desk
let shelf: Shelf
beforeAll(async () => {
  desk = await openDesk()
  shelf = await desk.shelf(1)
  await desk.daemon.db.sql`
    insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by, without_keys)
    select ${desk.tenantId}, uuidv7(), ${shelf.collectionId}, ${shelf.buckets[0]!}, 'NOTE', 'Number ' || n, 'b' || lpad(n::text, 6, '0'),
           ${desk.people.OWNER.accountId}, false
    from generate_series(1, ${most + 1}::int) n`
  await desk.daemon.db.sql`analyze item`
}, 60_000)
afterAll(() => desk.close())

const query = (body: object) => desk.ask('POST /items:query', body)

test('a count ends at 10,000, and says so', async () => {
  const body = { container_id: shelf.collectionId, count: true, size: 1 }
  expect((await query(body)).json).toMatchObject({ total: most, total_capped: true })
  const some = await desk.daemon.db.sql`select id from item where container_id = ${shelf.collectionId} limit 3`
  const filter = { field: 'id', op: 'in', value: some.map(({ id }) => id) }
  expect((await query({ ...body, filter })).json).toMatchObject({ total: 3, total_capped: false })
})

test('groups of more are refused', async () => {
  const body = { container_id: shelf.collectionId, group_by: { by: 'state' }, size: 1 }
  expect((await query(body)).json).toMatchObject({ code: 'query.too_broad', params: { limit: most } })
})

test(`there are ${mostGroups} groups at most`, { timeout: 60_000 }, async () => {
  const { collectionId } = await desk.shelf(1)
  for (let n = 0; n <= mostGroups; n += 1) {
    const label = await desk.label(collectionId, `label ${n}`)
    await desk.item({ container_id: collectionId, title: `of label ${n}`, label_ids: [label] })
  }
  const { json } = await query({ container_id: collectionId, group_by: { by: 'label' }, size: 1 })
  expect(json.groups).toHaveLength(mostGroups)
})

test('a hundred of the worst filters at once are answered or told to come back, and another workspace is served', {
  timeout: 120_000,
}, async () => {
  const neighbour = await person(desk.daemon, await workspace(desk.daemon, 'elsewhere'), { role: 'VIEWER' })
  await desk.daemon.db.sql`insert into tenant_quota values (${neighbour.tenantId}, 'api_requests_per_minute', 0)`
  const contains = (n: number) => ({ field: 'title', op: 'contains', value: `umber ${n} ` })
  const worst = { any: Array.from({ length: 50 }, (_, n) => contains(n)) }
  let isOver = false
  const flood = Promise.all(Array.from({ length: 100 }, () => query({ filter: worst }))).finally(() => {
    isOver = true
  })
  const served: number[] = []
  while (!isOver) served.push((await desk.daemon.call('GET', '/api/v1/containers', { token: neighbour.token })).status)
  const answers = await flood
  const statuses = Map.groupBy(answers, ({ status }) => status)
  expect([...statuses.keys()].filter((status) => ![200, 429, 503].includes(status))).toEqual([])
  expect(statuses.get(200)?.length).toBeGreaterThan(0)
  for (const { headers } of [...(statuses.get(429) ?? []), ...(statuses.get(503) ?? [])])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  expect(new Set(served)).toEqual(new Set([200]))
  expect((await query({ filter: contains(1) })).status).toBe(200)
})
