/** Notifications as they are read, and what people decide of them. Spec: people 3, N13, N14, I9, I10; decisions 0431, 0432. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { notificationCategories } from '../../src/core/contract/notifications/categories.ts'
import type { Notification, NotificationPreference } from '../../src/core/contract/notifications/operations.ts'
import { type Desk, openDesk, pointers } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'
import { openTelling, type Telling } from './telling-kit.ts'

let desk: Desk
let telling: Telling
let maker: Person
let other: Person
beforeAll(async () => {
  desk = await openDesk()
  telling = await openTelling(desk)
  maker = desk.people.ADMIN
  other = desk.people.OWNER
})
beforeEach(() => telling.clean())
afterAll(async () => {
  await telling.close()
  await desk.close()
})

const sql = () => desk.daemon.db.sql
/** Items of the maker, each of which somebody else changed. */
async function changed(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n += 1) {
    const { id } = await desk.item({ title: `Item ${n}` }, maker)
    await desk.ask(`PATCH /items/${id}`, { title: `Changed ${n}` }, { as: other })
    ids.push(`/items/${id}`)
  }
  return ids
}
const mark = (body: unknown, as = maker) => desk.ask('POST /accounts/me/notifications:mark-read', body, { as })
const subjects = (data: readonly Notification[]) => data.map(({ subject }) => subject)

describe('a list', () => {
  test('is newest first, page by page, each once', async () => {
    const made = (await changed(5)).toReversed()
    const first = await telling.shown(maker, 'size=2')
    const second = await telling.shown(maker, `size=2&cursor=${first.next_cursor}`)
    const third = await telling.shown(maker, `size=2&cursor=${second.next_cursor}`)
    expect(subjects([...first.data, ...second.data, ...third.data])).toEqual(made)
    expect(third.next_cursor).toBeNull()
    expect([first.unread_count, second.unread_count]).toEqual([5, 5])
    const { status, json } = await desk.ask(
      `GET /accounts/me/notifications?unread=true&cursor=${first.next_cursor}`,
      undefined,
      { as: maker },
    )
    expect([status, json.code]).toEqual([400, 'cursor.invalid'])
  })

  test('is of one category, of unread ones, or of read ones', async () => {
    const [one = '', two = ''] = await changed(2)
    await desk.ask(`POST ${one}:assign` as 'POST /x', { account_id: maker.accountId }, { as: other })
    const { data } = await telling.shown(maker, 'category=CHANGED')
    expect(subjects(data)).toEqual([two, one])
    await mark({ ids: [data[0]?.id] })
    expect(subjects((await telling.shown(maker, 'unread=true')).data)).toEqual([one, one])
    expect(subjects((await telling.shown(maker, 'unread=false')).data)).toEqual([two])
    expect((await telling.shown(maker, 'category=DUE')).data).toEqual([])
  })

  test('shows nothing of a container that is not seen now, and counts it not', async () => {
    await changed(1)
    expect((await telling.shown(maker)).unread_count).toBe(1)
    await sql()`update container set is_private = true where id = ${desk.collectionId}`
    expect(await telling.shown(maker)).toMatchObject({ data: [], unread_count: 0 })
    await sql()`update container set is_private = false where id = ${desk.collectionId}`
    expect((await telling.shown(maker)).unread_count).toBe(1)
    const [hub] = await sql()`select parent_id as id from container where id = ${desk.collectionId}`
    for (const id of [desk.collectionId, hub?.['id'] as string]) {
      await sql()`update container set deleted_at = now() where id = ${id}`
      expect(await telling.shown(maker), 'in the trash').toMatchObject({ data: [], unread_count: 0 })
      await sql()`update container set deleted_at = null where id = ${id}`
    }
  })

  test('is the account’s own, whatever its role', async () => {
    await changed(1)
    await telling.tell()
    expect((await telling.shown(other)).data).toEqual([])
  })
})

describe('read', () => {
  test('by ids, up to a moment that is included, and back', async () => {
    await changed(3)
    const { data } = await telling.shown(maker)
    expect((await mark({ ids: [data[0]?.id, randomUUID()] })).json).toEqual({ unread_count: 2 })
    expect((await mark({ until: data[1]?.at })).json).toEqual({ unread_count: 0 })
    expect((await mark({ ids: data.map(({ id }) => id), is_read: false })).json).toEqual({ unread_count: 3 })
    expect((await mark({ until: data[2]?.at })).json).toEqual({ unread_count: 2 })
  })

  test('changes nobody else’s', async () => {
    await changed(1)
    const { data } = await telling.shown(maker)
    await mark({ ids: [data[0]?.id] }, other)
    await mark({ until: '9999-01-01T00:00:00Z' }, other)
    expect((await telling.shown(maker)).unread_count).toBe(1)
  })

  test('takes exactly one of ids and until', async () => {
    expect(pointers(await mark({}))).toEqual([['/ids', 'member.required']])
    expect(pointers(await mark({ ids: [randomUUID()], until: '2026-01-01T00:00:00Z' }))).toEqual([
      ['/until', 'member.conflicts'],
    ])
  })
})

describe('decisions', () => {
  const path = (who = maker) => `/accounts/${who.accountId}/notification-preferences` as const
  const read = async (as = maker): Promise<NotificationPreference[]> =>
    (await desk.ask(`GET ${path(as)}`, undefined, { as })).json.data
  const put = (pair: string, body: unknown, headers: Record<string, string> = {}) =>
    desk.ask(`PUT ${path()}/${pair}`, body, { as: maker, headers })

  test('are all pairs, with the defaults of the product', async () => {
    const pairs = await read()
    expect(
      pairs.map(
        ({ category, channel, delivery, locked }) => `${category} ${channel} ${delivery}${locked ? ' locked' : ''}`,
      ),
    ).toEqual([
      'SECURITY MAIL IMMEDIATE locked',
      'SECURITY IN_APP IMMEDIATE locked',
      'ADMINISTRATION MAIL IMMEDIATE locked',
      'ADMINISTRATION IN_APP IMMEDIATE locked',
      'ASSIGNED MAIL IMMEDIATE',
      'ASSIGNED IN_APP IMMEDIATE',
      'MENTIONED MAIL IMMEDIATE',
      'MENTIONED IN_APP IMMEDIATE',
      'DUE MAIL IMMEDIATE',
      'DUE IN_APP IMMEDIATE',
      'COMMENTED MAIL DAILY',
      'COMMENTED IN_APP IMMEDIATE',
      'ACCESS MAIL DAILY',
      'ACCESS IN_APP IMMEDIATE',
      'AUTOMATION MAIL DAILY',
      'AUTOMATION IN_APP IMMEDIATE',
      'CHANGED MAIL OFF',
      'CHANGED IN_APP IMMEDIATE',
    ])
    expect(new Set(pairs.map(({ source, version }) => `${source} ${version}`))).toEqual(new Set(['DEFAULT 1']))
  })

  test('are changed with their entity tag, told once, and stay as they are by the same once more', async () => {
    const { status, json, headers } = await put('COMMENTED/MAIL', { delivery: 'OFF' }, { 'if-match': '"1"' })
    expect([status, headers['etag']]).toEqual([200, '"2"'])
    expect(json).toMatchObject({
      category: 'COMMENTED',
      channel: 'MAIL',
      delivery: 'OFF',
      source: 'OWN',
      version: 2,
      overrides: [],
    })
    expect((await read()).find(({ category, channel }) => category === 'COMMENTED' && channel === 'MAIL')).toEqual(json)
    expect((await put('COMMENTED/MAIL', { delivery: 'DAILY' }, { 'if-match': '"1"' })).status).toBe(412)
    expect((await put('COMMENTED/MAIL', { delivery: 'OFF' })).json).toEqual(json)
    const entries = await sql()`
      select action, params from audit_entry where subject_id = ${maker.accountId} and action = 'notification_preference.changed'`
    expect([...entries]).toEqual([
      {
        action: 'notification_preference.changed',
        params: { category: 'COMMENTED', channel: 'MAIL', delivery: 'OFF', overrides: 0 },
      },
    ])
  })

  test.each(['SECURITY', 'ADMINISTRATION'])('of %s are nobody’s to make', async (category) => {
    for (const channel of ['MAIL', 'IN_APP']) {
      const { status, json } = await put(`${category}/${channel}`, { delivery: 'OFF' })
      expect([status, json.code, json.params]).toEqual([409, 'notification.locked', { category }])
    }
  })

  test('of an unknown pair, and of somebody else, are not found', async () => {
    for (const pair of ['SECRETS/MAIL', 'CHANGED/SMS', 'changed/MAIL'])
      expect((await put(pair, { delivery: 'OFF' })).status, pair).toBe(404)
    expect((await desk.ask(`GET ${path(other)}`, undefined, { as: maker })).json.code).toBe('not_found')
    expect((await desk.ask(`GET ${path()}`, undefined, { as: other })).status, 'an OWNER as well').toBe(404)
    expect((await desk.ask(`PUT ${path()}/CHANGED/MAIL`, { delivery: 'OFF' }, { as: other })).status).toBe(404)
  })

  test('in the application are no digest', async () => {
    const refused = await put('CHANGED/IN_APP', { delivery: 'DAILY' })
    expect([refused.status, pointers(refused)]).toEqual([422, [['/delivery', 'value.one_of']]])
    const overrides = [{ container_id: desk.collectionId, delivery: 'DAILY' }]
    expect(pointers(await put('CHANGED/IN_APP', { delivery: 'OFF', overrides }))).toEqual([
      ['/overrides/0/delivery', 'value.one_of'],
    ])
  })

  test('name containers that are seen, each once; those that were seen may stay', async () => {
    const shelf = await desk.shelf(1)
    const override = { container_id: shelf.collectionId, delivery: 'OFF' }
    expect(pointers(await put('CHANGED/MAIL', { delivery: 'DAILY', overrides: [override, override] }))).toEqual([
      ['/overrides', 'list.unique'],
    ])
    expect(
      pointers(
        await put('CHANGED/MAIL', { delivery: 'OFF', overrides: [{ ...override, container_id: randomUUID() }] }),
      ),
    ).toEqual([['/overrides/0/container_id', 'reference.unknown']])
    await sql()`update container set is_private = true where id = ${shelf.collectionId}`
    expect(pointers(await put('CHANGED/MAIL', { delivery: 'OFF', overrides: [override] }))).toEqual([
      ['/overrides/0/container_id', 'reference.unknown'],
    ])
    await sql()`update container set is_private = false where id = ${shelf.collectionId}`
    expect((await put('CHANGED/MAIL', { delivery: 'OFF', overrides: [override] })).json.overrides).toEqual([override])
    await sql()`update container set is_private = true where id = ${shelf.collectionId}`
    expect((await put('CHANGED/MAIL', { delivery: 'DAILY', overrides: [override] })).json).toMatchObject({
      delivery: 'DAILY',
      overrides: [override],
    })
    expect((await put('CHANGED/MAIL', { delivery: 'DAILY' })).json.overrides).toEqual([])
  })

  test('concern every category there is', () => {
    expect(notificationCategories).toHaveLength(9)
  })
})
