/** When an item starts and is due: moments and days. Spec: items 1, Dates; decision 0200. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, expectUntouched, isRead, openDesk, pointers } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
  await desk.daemon.db.sql`update tenant set default_time_zone = 'Europe/Zurich' where id = ${desk.tenantId}`
})
afterAll(() => desk.close())

const put = ({ id }: Item, body: object) => desk.ask(`PUT /items/${id}/due`, body)
const datesOf = ({ start_at, due_at, start_on, due_on, time_zone }: Item) => ({
  start_at,
  due_at,
  start_on,
  due_on,
  time_zone,
})
async function dated(body: object): Promise<Item> {
  const { status, json } = await put(await desk.item(), body)
  expect(status).toBe(200)
  return json as Item
}

describe('setting', () => {
  test('days, with the moments at which they begin and end in the zone that is named', async () => {
    const item = await dated({ start_on: '2027-02-28', due_on: '2027-03-01', time_zone: 'America/New_York' })
    expect(datesOf(item)).toEqual({
      start_at: '2027-02-28T05:00:00.000Z',
      due_at: '2027-03-02T04:59:59.999Z',
      start_on: '2027-02-28',
      due_on: '2027-03-01',
      time_zone: 'America/New_York',
    })
    expect(item.version).toBe(2)
    await isRead(desk, item)
  })

  test("without a zone, in the caller's own", async () => {
    const { sql } = desk.daemon.db
    const { tenantId, accountId } = desk.people.OWNER
    await sql`insert into account_preference (tenant_id, account_id, time_zone) values (${tenantId}, ${accountId}, 'Asia/Tokyo')`
    try {
      const day = await dated({ due_on: '2027-07-01' })
      expect([day.due_at, day.time_zone]).toEqual(['2027-07-01T14:59:59.999Z', 'Asia/Tokyo'])
      const on = async (value: string) => {
        const filter = { field: 'due', op: 'on', value }
        const { json } = await desk.ask('POST /items:query', { filter })
        return json.data.some(({ id }: { id: string }) => id === day.id)
      }
      expect([await on('2027-06-30'), await on('2027-07-01')]).toEqual([false, true])
    } finally {
      await sql`delete from account_preference where account_id = ${accountId}`
    }
  })

  test("without one of the own, in the workspace's", async () => {
    const day = await dated({ due_on: '2027-07-01' })
    expect([day.due_at, day.time_zone]).toEqual(['2027-07-01T21:59:59.999Z', 'Europe/Zurich'])
    const moment = await dated({ due_at: '2027-07-01T12:00:00Z' })
    expect(moment).toMatchObject({ due_at: '2027-07-01T12:00:00.000Z', due_on: null, time_zone: 'Europe/Zurich' })
  })

  test('all of them whole: a start that is not sent is gone', async () => {
    const item = await dated({ start_at: '2027-02-01T00:00:00Z', due_at: '2027-03-01T00:00:00+01:00' })
    expect(item).toMatchObject({ start_at: '2027-02-01T00:00:00.000Z', due_at: '2027-02-28T23:00:00.000Z' })
    const { json } = await put(item, { due_on: '2027-03-01' })
    expect(json).toMatchObject({ start_at: null, start_on: null, due_on: '2027-03-01' })
  })

  test('a day that a zone skips is due at the skip', async () => {
    const item = await dated({ start_on: '2011-12-30', due_on: '2011-12-30', time_zone: 'Pacific/Apia' })
    expect([item.start_at, item.due_at]).toEqual(['2011-12-30T10:00:00.000Z', '2011-12-30T10:00:00.000Z'])
  })

  test('the same again changes nothing; the entry names what changed', async () => {
    const body = { start_on: '2027-02-28', due_on: '2027-03-01' }
    const item = await dated(body)
    expect((await expectUntouched(desk, () => put(item, body))).json).toEqual(item)
    await put(item, { due_on: '2027-03-01' })
    const { json } = await desk.ask(`GET /items/${item.id}/activity`)
    expect(json.data[0]).toMatchObject({ action: 'item.changed', params: { members: ['start_at', 'start_on'] } })
  })

  test.each([
    ['no due date', {}, '/due_on', 'member.required'],
    ['a start alone', { start_on: '2027-03-01' }, '/due_on', 'member.required'],
    ['two', { due_on: '2027-03-01', due_at: '2027-03-01T00:00:00Z' }, '/due_at', 'member.conflicts'],
    [
      'a moment beside a day',
      { due_on: '2027-03-01', start_at: '2027-03-01T00:00:00Z' },
      '/start_at',
      'member.conflicts',
    ],
    [
      'a day beside a moment',
      { due_at: '2027-03-01T00:00:00Z', start_on: '2027-03-01' },
      '/start_on',
      'member.conflicts',
    ],
    ['a start behind the day', { due_on: '2027-03-01', start_on: '2027-03-02' }, '/start_on', 'value.maximum'],
    ['367 days', { due_on: '2028-12-31', start_on: '2027-12-31' }, '/start_on', 'value.minimum'],
    [
      'a start behind the moment',
      { due_at: '2027-03-01T00:00:00Z', start_at: '2027-03-01T00:00:01Z' },
      '/start_at',
      'value.maximum',
    ],
    [
      'a long span',
      { due_at: '2027-03-01T00:00:00Z', start_at: '2026-02-27T23:59:59.999Z' },
      '/start_at',
      'value.minimum',
    ],
    ['no day', { due_on: '2027-02-29' }, '/due_on', 'value.format'],
    ['a day before all', { due_on: '0001-01-01' }, '/due_on', 'value.minimum'],
    ['a day after all', { due_on: '9999-12-31' }, '/due_on', 'value.maximum'],
    ['no zone', { due_on: '2027-03-01', time_zone: 'Mars/Olympus' }, '/time_zone', 'time_zone.unknown'],
    ['an offset', { due_on: '2027-03-01', time_zone: '+01:00' }, '/time_zone', 'time_zone.unknown'],
  ])('is refused with %s', async (_, body, pointer, code) => {
    const item = await desk.item()
    const answer = await expectUntouched(desk, () => put(item, body))
    expect([answer.status, pointers(answer)]).toEqual([422, [[pointer, code]]])
  })

  test('366 days are not too many, and the first and the last day have moments everywhere', async () => {
    await dated({ due_on: '2028-12-31', start_on: '2028-01-01' })
    await dated({ due_at: '2027-03-01T00:00:00Z', start_at: '2026-02-28T00:00:00Z' })
    for (const time_zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Manila']) {
      await isRead(desk, await dated({ due_on: '9999-12-30', start_on: '9999-12-30', time_zone }))
      await isRead(desk, await dated({ due_on: '0001-01-02', start_on: '0001-01-02', time_zone }))
    }
  })
})

describe('a change of the due moment alone', () => {
  test('drops days, keeps the zone, and null drops all dates', async () => {
    const item = await dated({ start_on: '2027-02-28', due_on: '2027-03-01' })
    const { json } = await desk.patch(item, { due_at: '2027-03-01T12:00:00Z' })
    expect(datesOf(json)).toEqual({
      start_at: null,
      due_at: '2027-03-01T12:00:00.000Z',
      start_on: null,
      due_on: null,
      time_zone: 'Europe/Zurich',
    })
    await isRead(desk, json)
    const { json: none } = await desk.patch(item, { due_at: null })
    expect(Object.values(datesOf(none))).toEqual([null, null, null, null, null])
    await isRead(desk, none)
  })

  test('keeps a start that fits and drops one that does not', async () => {
    const body = { start_at: '2027-02-01T00:00:00Z', due_at: '2027-03-01T00:00:00Z' }
    const startWith = async (due_at: string) => (await desk.patch(await dated(body), { due_at })).json.start_at
    expect(await startWith('2027-02-01T00:00:00Z')).toBe('2027-02-01T00:00:00.000Z')
    expect(await startWith('2028-02-02T00:00:00Z')).toBe('2027-02-01T00:00:00.000Z')
    expect(await startWith('2027-01-31T23:59:59Z')).toBe(null)
    expect(await startWith('2028-02-02T00:00:00.001Z')).toBe(null)
  })

  test('to what it is changes nothing, so a client may send back what it read', async () => {
    const item = await dated({ start_on: '2027-02-28', due_on: '2027-03-01' })
    const { due_at, title } = item
    expect((await expectUntouched(desk, () => desk.patch(item, { due_at, title }))).json).toEqual(item)
  })
})

test('taking the dates off', async () => {
  const item = await dated({ start_on: '2027-02-28', due_on: '2027-03-01' })
  expect((await desk.ask(`DELETE /items/${item.id}/due`)).status).toBe(204)
  const after = await desk.read(item)
  expect([...Object.values(datesOf(after)), after.version]).toEqual([null, null, null, null, null, 3])
  expect(await desk.told(item)).toEqual(after)
  expect((await expectUntouched(desk, () => desk.ask(`DELETE /items/${item.id}/due`))).status).toBe(204)
})

test('readers and archived containers are refused, and what nobody sees is not found', async () => {
  const item = await desk.item()
  const as = desk.people.COMMENTER
  const refused = async (more: object) => {
    const put = await desk.ask(`PUT /items/${item.id}/due`, { due_on: '2027-03-01' }, more)
    const cleared = await desk.ask(`DELETE /items/${item.id}/due`, undefined, more)
    return [put.json.code, cleared.json.code]
  }
  expect(await refused({ as })).toEqual(['auth.role_required', 'auth.role_required'])
  expect(await refused({ headers: { 'if-match': '"9"' } })).toEqual(['precondition.failed', 'precondition.failed'])
  await desk.ask(`POST /containers/${desk.collectionId}:archive`)
  expect(await refused({})).toEqual(['container.archived', 'container.archived'])
})
