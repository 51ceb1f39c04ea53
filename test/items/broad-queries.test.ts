/** Queries to which no index leads take turns in their workspace, and nothing else waits for them (docs/decisions/0510). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { type Desk, openDesk } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
  await desk.item({ title: 'Sand', label_ids: desk.labels.slice(0, 1) })
})
afterAll(() => desk.close())

const broad = { field: 'title', op: 'contains', value: 'and' }
const narrow = () => ({ field: 'label', op: 'has_any', value: [desk.labels[0]] })
async function titles(body: object): Promise<string[]> {
  const { status, json, text } = await desk.ask('POST /items:query', body)
  if (status !== 200) throw new Error(text)
  return json.data.map(({ title }: { readonly title: string }) => title)
}

/** While a broad query of the workspace is under way. */
const besideOneOf = (tenantId: string, work: () => Promise<void>) =>
  desk.daemon.db.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(${lockClasses.broadQueries}, hashtext(${tenantId}))`
    await work()
  })

test.each([
  ['by a page', { filter: broad }],
  ['in another order', { filter: broad, sort: [{ by: 'title' }] }],
  ['counted', { filter: broad, count: true }],
])('wait for the one before: %s', async (_, body) => {
  const answered: string[] = []
  let waiting: Promise<void> | undefined
  await besideOneOf(desk.tenantId, async () => {
    waiting = titles(body).then((found) => void answered.push(...found))
    await desk.untilWaiting(1)
    expect(await titles({ filter: narrow() })).toEqual(['Sand'])
    expect(answered).toEqual([])
  })
  await waiting
  expect(answered).toEqual(['Sand'])
})

test('a turn that does not come in time is refused, and the next query is served', async () => {
  await besideOneOf(desk.tenantId, async () => {
    const { status, json } = await desk.ask('POST /items:query', { filter: broad })
    expect({ status, code: json.code }).toEqual({ status: 503, code: 'service.unavailable' })
  })
  expect(await titles({ filter: broad })).toEqual(['Sand'])
})

test('of another workspace do not wait', async () => {
  await besideOneOf(randomUUID(), async () => expect(await titles({ filter: broad })).toEqual(['Sand']))
})
