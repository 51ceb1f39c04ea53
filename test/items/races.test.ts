/** Many at once on one board: quota, tags, keys, and a board that stays whole. T-11, T-39, F-20; decisions 0105 and 0106. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { Answered } from '../kit/daemon.ts'
import { person } from '../kit/people.ts'
import { type Desk, openDesk } from './desk.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = isFull ? 200 : 6
const atOnce = 20

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const together = <T>(count: number, call: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => call(n)))

const tallied = (answers: readonly Answered[]) => {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

async function ceiling(value: number | null): Promise<void> {
  const { sql } = desk.daemon.db
  await sql`delete from tenant_quota where tenant_id = ${desk.tenantId} and quota = 'items'`
  if (value !== null) await sql`insert into tenant_quota values (${desk.tenantId}, 'items', ${value})`
}

async function counted(): Promise<{ rows: number; tally: number }> {
  const { sql } = desk.daemon.db
  const [row] = await sql`
    select (select count(*)::int from item where tenant_id = ${desk.tenantId} and deleted_at is null) as rows,
           (select items::int from item_tally where tenant_id = ${desk.tenantId}) as tally`
  return row as { rows: number; tally: number }
}

describe('T-39: the ceiling `items`', () => {
  test('50 at once at one below it: exactly one is made, the others hear limit and use', async () => {
    // In buckets of their own: in one they would take their turns for a place, and the ceiling would have it easy.
    const { collectionId, buckets } = await desk.shelf(25)
    const body = (n: number) => ({ container_id: collectionId, title: 'x', bucket_id: buckets[n % buckets.length] })
    // A busy machine turns some of fifty away at the door (503): they made nothing, and come again.
    const make = async (n: number): Promise<Answered> => {
      const answered = await desk.ask('POST /items', body(n))
      return answered.status === 503 ? make(n) : answered
    }
    await desk.item()
    for (let round = 0; round < (isFull ? 20 : 3); round += 1) {
      const { rows } = await counted()
      await ceiling(rows + 1)
      const answers = await together(50, make)
      expect(tallied(answers)).toEqual({ 201: 1, 409: 49 })
      for (const { json } of answers.filter(({ status }) => status === 409))
        expect([json.code, json.params]).toEqual([
          'quota.exceeded',
          { quota: 'items', limit: rows + 1, used: rows + 1 },
        ])
      expect(await counted()).toEqual({ rows: rows + 1, tally: rows + 1 })
    }
    await ceiling(0)
    expect((await desk.item()).version).toBe(1)
  })

  test('the first items of a workspace are counted as exactly', async () => {
    const { sql } = desk.daemon.db
    await sql`delete from item_tally where tenant_id = ${desk.tenantId}`
    const { rows } = await counted()
    await ceiling(rows + 3)
    const { collectionId, buckets } = await desk.shelf(12)
    const answers = await together(12, (n) =>
      desk.ask('POST /items', { container_id: collectionId, title: 'x', bucket_id: buckets[n] }),
    )
    expect(tallied(answers)).toEqual({ 201: 3, 409: 9 })
    expect(await counted()).toEqual({ rows: rows + 3, tally: rows + 3 })
    await ceiling(null)
  })

  test('a deleted item makes room for another one, once', async () => {
    const item = await desk.item()
    const { rows } = await counted()
    await ceiling(rows)
    const make = () => desk.ask('POST /items', { container_id: desk.collectionId, title: 'x' })
    expect((await make()).status).toBe(409)
    expect(tallied(await together(5, () => desk.ask(`DELETE /items/${item.id}`)))).toEqual({ 204: 1, 404: 4 })
    expect(tallied(await together(5, make))).toEqual({ 201: 1, 409: 4 })
    expect(await counted()).toEqual({ rows, tally: rows })
    await ceiling(null)
  })

  test('what an operator reads as used is what there is', async () => {
    const { token } = await person(desk.daemon, desk.tenantId, { operator: true })
    const { json } = await desk.daemon.call('PATCH', `/api/v1/admin/tenants/${desk.tenantId}/quotas`, {
      token,
      body: {},
    })
    const { tally, rows } = await counted()
    expect(json.items.used).toBe(rows)
    expect(tally).toBe(rows)
  })
})

describe('T-11, F-20: one tag, many writers', () => {
  const changes: readonly [string, (item: Item, n: number) => [`${string} /${string}`, object?]][] = [
    ['updateItem', ({ id }, n) => [`PATCH /items/${id}`, { title: `t${n}` }]],
    ['moveItem', ({ id }, n) => [`POST /items/${id}:move`, { bucket_id: desk.buckets[1 + (n % 2)] }]],
    ['completeItem', ({ id }) => [`POST /items/${id}:complete`]],
    ['addItemLabel', ({ id }, n) => [`PUT /items/${id}/labels/${desk.labels[n % 2]}`]],
    ['setItemField', ({ id }, n) => [`PUT /items/${id}/custom-fields/raced`, { value: n }]],
    ['deleteItem', ({ id }) => [`DELETE /items/${id}`]],
  ]

  test.each(changes)('%s: exactly one wins', async (name, change) => {
    if (name === 'setItemField') await desk.field({ key: 'raced', kind: 'NUMBER' })
    for (let round = 0; round < (isFull ? 34 : 2); round += 1) {
      const item = await desk.item()
      const answers = await together(isFull ? 50 : atOnce, (n) => {
        const [request, body] = change(item, n)
        return desk.ask(request, body, { headers: { 'if-match': '"1"' } })
      })
      const won = answers.filter(({ status }) => status < 300)
      expect(won).toHaveLength(1)
      expect(new Set(answers.filter(({ status }) => status >= 300).map(({ status }) => status))).toEqual(
        new Set([name === 'deleteItem' ? 404 : 412]),
      )
      const [row] = await desk.daemon.db.sql`select version from item where id = ${item.id}`
      expect(row).toEqual({ version: 2 })
      const entries = await desk.daemon.db.sql`select 1 from audit_entry where subject_id = ${item.id}`
      expect(entries).toHaveLength(2)
    }
  })

  test('one key, many at once: one item, and everybody is answered it', async () => {
    for (let round = 0; round < (isFull ? 50 : 2); round += 1) {
      const headers = { 'idempotency-key': randomUUID() }
      const before = (await counted()).rows
      const answers = await together(atOnce, () =>
        desk.ask('POST /items', { container_id: desk.collectionId, title: 'one' }, { headers }),
      )
      expect(new Set(answers.filter(({ status }) => status === 201).map(({ json }) => json.id)).size).toBe(1)
      expect(
        answers.filter(({ status }) => status !== 201).every(({ json }) => json.code === 'idempotency.in_progress'),
      ).toBe(true)
      expect((await counted()).rows).toBe(before + 1)
    }
  })
})

interface Seen {
  readonly id: string
  readonly bucket_id: string | null
  readonly rank: string
}

test(`${rounds} rounds of ${atOnce} at once on one board: the order stays a permutation, no item is lost, each is in one bucket or none`, async () => {
  const { sql } = desk.daemon.db
  const { collectionId } = await desk.shelf(3, { doneAt: 2 })
  const path = `/containers/${collectionId}/buckets` as const
  const buckets = async () =>
    (await desk.ask(`GET ${path}`)).json.data as { id: string; position: number; item_count: number }[]
  const alive = new Set<string>()
  for (let n = 0; n < 12; n += 1) alive.add((await desk.item({ container_id: collectionId, title: `i${n}` })).id)

  const statuses: Record<string, number> = {}
  const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!
  for (let round = 0; round < rounds; round += 1) {
    const held = (await buckets()).map(({ id }) => id)
    const ids = [...alive]
    const made = await together(atOnce, async (n) => {
      const [request, body] = anyCall(n, any, { path, held, ids, collectionId })
      const answer = await desk.ask(request, body)
      return { request, answer }
    })
    for (const { request, answer } of made) {
      const { status, json } = answer
      statuses[status] = (statuses[status] ?? 0) + 1
      // A neighbour or a bucket that somebody else has just moved or deleted is refused; nothing else may happen.
      expect([200, 201, 204, 404, 422], `${request} ${answer.text}`).toContain(status)
      if (request === 'POST /items' && status === 201) alive.add(json.id)
      if (request.startsWith('DELETE /items/') && status === 204) alive.delete(request.slice('DELETE /items/'.length))
    }
    await expectWholeBoard(await buckets(), alive)
  }
  expect(statuses['200']).toBeGreaterThan(rounds)

  async function expectWholeBoard(
    now: readonly { id: string; position: number; item_count: number }[],
    expected: ReadonlySet<string>,
  ): Promise<void> {
    expect(now.map(({ position }) => position)).toEqual(now.map((_, at) => at))
    const rows = await sql<Seen[]>`
      select id, bucket_id, rank from item where container_id = ${collectionId} and deleted_at is null order by id`
    expect(rows.map(({ id }) => id)).toEqual([...expected].sort())
    const places = new Set(rows.map(({ bucket_id, rank }) => `${bucket_id} ${rank}`))
    expect(places.size).toBe(rows.length)
    const inBuckets: string[] = []
    for (const { id, item_count } of now) {
      const items = await everyItem(`bucket_id=${id}`)
      expect(items).toHaveLength(item_count)
      inBuckets.push(...items.map((item) => item.id))
    }
    const inNone = rows.filter(({ bucket_id }) => bucket_id === null).map(({ id }) => id)
    expect([...inBuckets, ...inNone].sort()).toEqual([...expected].sort())
  }
}, 600_000)

/** A list from its first page to its last. */
async function everyItem(filter: string): Promise<Item[]> {
  const items: Item[] = []
  let cursor = ''
  do {
    const { json } = await desk.ask(`GET /items?size=200&${filter}${cursor && `&cursor=${cursor}`}`)
    items.push(...json.data)
    cursor = json.next_cursor
  } while (cursor)
  return items
}

interface Situation {
  readonly path: `/containers/${string}/buckets`
  readonly held: readonly string[]
  readonly ids: readonly string[]
  readonly collectionId: string
}

/** One of the calls that rearrange a board; some of them meet what another one has just taken away. */
function anyCall(
  n: number,
  any: <T>(list: readonly T[]) => T,
  { path, held, ids, collectionId }: Situation,
): [`${string} /${string}`, object?] {
  const item = ids.length > 0 ? any(ids) : randomUUID()
  const bucket = held.length > 0 ? any(held) : null
  switch (n % 10) {
    case 0:
      return ['POST /items', { container_id: collectionId, title: 'new', ...(bucket ? { bucket_id: bucket } : {}) }]
    case 1:
      return ['POST /items', { container_id: collectionId, title: 'new', bucket_id: null }]
    case 2:
    case 3:
      return [`POST /items/${item}:move`, { bucket_id: bucket }]
    case 4:
      return [`POST /items/${item}:move`, ids.length > 0 ? { before_item_id: any(ids) } : {}]
    case 5:
      return [`POST /items/${item}:${any(['complete', 'reopen'])}`]
    case 6:
      return n === 6 ? [`DELETE /items/${item}`] : [`POST /items/${item}:move`, { bucket_id: null }]
    case 7:
      return held.length > 4 || n === 7
        ? [`POST ${path}/${bucket ?? randomUUID()}:reorder`, held.length > 0 ? { before_bucket_id: any(held) } : {}]
        : [`POST ${path}`, { name: randomUUID(), is_done_bucket: Math.random() < 0.3 }]
    case 8:
      return n === 8 ? [`DELETE ${path}/${bucket ?? randomUUID()}`] : [`POST ${path}`, { name: randomUUID() }]
    default:
      return [`PATCH /items/${item}`, { title: `t${n}` }]
  }
}
