/**
 * A page ends at its size or at about 1 MiB, whichever comes first: walked by its cursors, a list of large
 * rows answers each of them exactly once, and no page is much larger than that.
 * Spec: decisions 7, Bounds at the door.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Desk, openDesk } from '../items/desk.ts'
import { numberEvents } from '../kit/events.ts'

let desk: Desk
let sql: Desk['daemon']['db']['sql']
beforeAll(async () => {
  desk = await openDesk()
  sql = desk.daemon.db.sql
})
afterAll(() => desk.close())

const mebibyte = 1024 * 1024
/** A page is closed by the row that would make it larger than 1 MiB; names, moments and the like are counted roughly. */
const largestPage = 1.1 * mebibyte

interface Page {
  readonly data: readonly { readonly id: string }[]
  readonly next_cursor?: string | null
  readonly next_since?: string
  readonly has_more?: boolean
}

interface Walk {
  readonly ids: string[]
  readonly pages: number
  readonly largest: number
}

/** Walks a list to its end; `follow` answers what the next page is asked with. */
async function walk(path: `/${string}`, query: string, follow = byCursor): Promise<Walk> {
  const ids: string[] = []
  let [pages, largest] = [0, 0]
  for (let next: string | undefined = ''; next !== undefined; pages += 1) {
    const answer = await desk.ask(`GET ${path}?${query}${next}`)
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`)
    const page = answer.json as Page
    ids.push(...page.data.map(({ id }) => id))
    if (page.data.length > 1) largest = Math.max(largest, Buffer.byteLength(answer.text))
    next = follow(page)
  }
  return { ids, pages, largest }
}

const byCursor = ({ next_cursor }: Page) => (next_cursor ? `&cursor=${next_cursor}` : undefined)
const bySince = ({ has_more, next_since }: Page) => (has_more ? `&since=${next_since}` : undefined)

function expectBounded({ ids, pages, largest }: Walk, rows: readonly string[]): void {
  expect(ids).toEqual(rows)
  expect(largest).toBeLessThanOrEqual(largestPage)
  expect(pages).toBeGreaterThan(1)
}

const newIds = (count: number) => Array.from({ length: count }, () => randomUUIDv7()).sort()

async function items(count: number, description: string) {
  const { collectionId, buckets } = await desk.shelf(1)
  const ids = newIds(count)
  const [{ account_id } = { account_id: '' }] = await sql<{ account_id: string }[]>`
    select account_id from membership where tenant_id = ${desk.tenantId} limit 1`
  const rows = ids.map((id, n) => ({
    tenant_id: desk.tenantId,
    id,
    container_id: collectionId,
    bucket_id: buckets[0]!,
    type: 'TASK',
    title: `i${n}`,
    description,
    rank: `a${String(n).padStart(4, '0')}`,
    created_by: account_id,
  }))
  for (let at = 0; at < rows.length; at += 20) await sql`insert into item ${sql(rows.slice(at, at + 20))}`
  return { collectionId, bucketId: buckets[0]!, ids }
}

test.each([
  ['of 40 KB each', '\u00e4'.repeat(20_000)],
  // Six characters of JSON for one in the database.
  ['of characters that JSON spells out', '\u0001'.repeat(20_000)],
  ['that compress well', 'x'.repeat(20_000)],
])('items with descriptions %s', async (_, description) => {
  const { collectionId, bucketId, ids } = await items(130, description)
  const label = await desk.label(collectionId, 'all')
  await sql`
    insert into item_label (tenant_id, item_id, label_id)
    select tenant_id, id, ${label} from item where container_id = ${collectionId}`
  for (const query of [`container_id=${collectionId}`, `bucket_id=${bucketId}`, `label_id=${label}`])
    expectBounded(await walk('/items', `${query}&size=200`), ids)
})

test('items whose custom fields are large', async () => {
  const { collectionId, ids } = await items(40, '')
  for (let n = 0; n < 10; n += 1) {
    const field = await desk.field({ key: `field_${n}`, kind: 'TEXT', collectionId })
    await sql`
      insert into item_field_value (tenant_id, item_id, field_id, value)
      select tenant_id, id, ${field}, ${sql.json('v'.repeat(10_000))} from item where container_id = ${collectionId}`
  }
  expectBounded(await walk('/items', `container_id=${collectionId}&size=200`), ids)
})

test('a row that is larger than a page is a page', async () => {
  const { collectionId, ids } = await items(3, '')
  for (let n = 0; n < 60; n += 1) {
    const field = await desk.field({ key: `wide_${n}`, kind: 'TEXT', collectionId })
    await sql`
      insert into item_field_value (tenant_id, item_id, field_id, value)
      select tenant_id, id, ${field}, ${sql.json('\u00e4'.repeat(10_000))} from item where container_id = ${collectionId}`
  }
  const found = await walk('/items', `container_id=${collectionId}&size=200`)
  expect([found.ids, found.pages]).toEqual([ids, 3])
})

test('containers with long descriptions', async () => {
  const { id: hub } = (await desk.ask('POST /containers', { kind: 'HUB', name: 'Large' })).json as { id: string }
  const ids = newIds(100)
  const description = '\u00e4'.repeat(10_000)
  for (const [n, id] of ids.entries())
    await sql`
      insert into container (tenant_id, id, kind, parent_id, name, description, rank)
      values (${desk.tenantId}, ${id}, 'COLLECTION', ${hub}, ${`c${n}`}, ${description}, ${`b${String(n).padStart(4, '0')}`})`
  expectBounded(await walk('/containers', `parent_id=${hub}&size=200`), ids)
})

test('entries of the trail, and of one item', async () => {
  const { ids: [item] = [] } = await items(1, '')
  const ids = newIds(60)
  for (const [n, id] of ids.entries())
    await sql`
      insert into audit_entry (tenant_id, id, at, action, actor_kind, via, subject_kind, subject_id, params)
      values (${desk.tenantId}, ${id}, now() + ${n} * interval '1 ms', 'test.large', 'SYSTEM', 'JOB', 'item', ${item!}, ${sql.json({ text: 'p'.repeat(50_000) })})`
  const newestFirst = [...ids].reverse()
  expectBounded(await walk('/audit', 'action=test.large&size=200'), newestFirst)
  expectBounded(await walk(`/items/${item}/activity`, 'size=200'), newestFirst)
})

test('entries of the journal', async () => {
  const ids = newIds(60)
  for (const id of ids)
    await sql`
      insert into journal (id, action, actor_kind, via, params)
      values (${id}, 'settings.replaced', 'SYSTEM', 'JOB', ${sql.json({ text: 'p'.repeat(50_000) })})`
  await sql`insert into operator (account_id, workspace_id) values (${desk.people.OWNER.accountId}, ${desk.tenantId})`
  const known = new Set<string>(ids)
  const { ids: found, largest } = await walk('/admin/journal', 'size=200')
  expect(found.filter((id) => known.has(id))).toEqual([...ids].reverse())
  expect(largest).toBeLessThanOrEqual(largestPage)
})

test('deliveries with the bodies that targets answered', async () => {
  const webhookId = randomUUIDv7()
  await sql`
    insert into webhook (tenant_id, id, target_url, host, event_types)
    values (${desk.tenantId}, ${webhookId}, 'https://example.org/', 'example.org:443', ${sql.json(['svc.work.item.created.v1'])})`
  const ids = newIds(120)
  for (const id of ids) {
    await sql`
      insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, status, attempt, due_at, finished_at)
      values (${desk.tenantId}, ${id}, ${webhookId}, ${randomUUIDv7()}, 'svc.work.item.created.v1', 'EVENT', 'DEAD_LETTER', 8, null, now())`
    await sql`
      insert into delivery_attempt (tenant_id, delivery_id, n, at, host, status, body)
      select ${desk.tenantId}, ${id}, n, now(), 'example.org', 500, ${'b'.repeat(4096)} from generate_series(1, 8) n`
  }
  expectBounded(await walk(`/integrations/webhooks/${webhookId}/deliveries`, 'size=200'), [...ids].reverse())
})

test('events that are pulled', async () => {
  const type = 'svc.work.item.created.v1'
  const ids = newIds(120)
  for (const id of ids)
    await sql`
      with before as (${numberEvents(sql, desk.tenantId, 1)})
      insert into outbox_event (tenant_id, id, seq, type, body)
      select ${desk.tenantId}, ${id}, last + 1, ${type}, ${JSON.stringify({ id, data: { description: '\u00e4'.repeat(20_000) } })} from before`
  const known = new Set<string>(ids)
  const { ids: found, largest } = await walk(`/integrations/triggers/${type}`, 'limit=200', bySince)
  expect(found.filter((id) => known.has(id))).toEqual(ids)
  expect(found.length).toBe(new Set(found).size)
  expect(largest).toBeLessThanOrEqual(largestPage)
})
