/**
 * A change answers the item without reading it again: what it answers, and what its event says, is what a read finds.
 * Decision 0180.
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { ReservedSql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { Answered } from '../kit/daemon.ts'
import { type Desk, isRead, openDesk } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
  await desk.field({ key: 'note', kind: 'TEXT' })
  await desk.field({ key: 'b', kind: 'NUMBER' })
  await desk.field({ key: 'choice', kind: 'MULTI_SELECT', options: ['x', 'y'] })
})
afterAll(() => desk.close())

const full = () => ({
  title: 'All of it',
  type: 'TASK',
  description: 'à\u0301 𝒳 "quoted"\n',
  due_at: '2026-12-24T18:30:00.123987+05:30',
  label_ids: [...desk.labels].reverse(),
  custom_fields: { note: 'n', b: 1e21, choice: ['y', 'x'] },
})

test('a new item', async () => {
  await isRead(desk, await desk.item(full()))
  await isRead(desk, await desk.item({ title: '  spaces  ' }))
})

test.each<[string, object]>([
  ['title', { title: 'Another' }],
  ['description', { description: 'More' }],
  ['no description', { description: null }],
  ['a moment with an offset', { due_at: '2027-01-01T00:00:00-11:30' }],
  ['a moment between milliseconds', { due_at: '2027-01-01T00:00:00.999999Z' }],
  ['an early moment', { due_at: '0001-01-01T00:00:00Z' }],
  ['the last moment', { due_at: '9999-12-31T23:59:59.999Z' }],
  ['no moment', { due_at: null }],
])('a change of its members: %s', async (_, body) => {
  const item = await desk.item(full())
  const { status, json } = await desk.patch(item, body)
  expect(status).toBe(200)
  expect(json.version).toBe(2)
  await isRead(desk, json)
})

test.each(['9999-12-31T23:59:59-01:00', '0000-01-01T00:00:00Z'])(
  'a moment that no answer could show is refused: %s',
  async (due_at) => {
    const { status, json } = await desk.patch(await desk.item(), { due_at })
    expect([status, json.errors[0].pointer]).toEqual([422, '/due_at'])
  },
)

test('moves, completion and labels', async () => {
  const item = await desk.item(full())
  const [first, second] = desk.buckets as [string, string]
  const [label] = desk.labels as [string]
  await isRead(desk, await desk.act(item, 'move', { bucket_id: second }))
  await isRead(desk, await desk.act(item, 'move', { bucket_id: first, before_item_id: (await desk.item()).id }))
  await isRead(desk, await desk.act(item, 'complete'))
  await isRead(desk, await desk.act(item, 'reopen'))
  expect((await desk.ask(`DELETE /items/${item.id}/labels/${label}`)).status).toBe(204)
  expect(await desk.told(item)).toEqual(await desk.read(item))
  await isRead(desk, (await desk.ask(`PUT /items/${item.id}/labels/${label}`)).json as Item)
  await isRead(desk, (await desk.ask(`PUT /items/${item.id}/custom-fields/note`, { value: 'm' })).json as Item)
})

/** Holds a row, of the item unless another one is named, lets the call wait for it, and lets it go with `end` when `meanwhile` is done. */
async function held(
  { id }: Item,
  call: () => Promise<Answered>,
  meanwhile: (other: ReservedSql) => Promise<unknown>,
  end: 'commit' | 'rollback',
  row: { readonly table: string; readonly id: string } = { table: 'item', id },
): Promise<Answered> {
  const other = await desk.daemon.db.sql.reserve()
  try {
    await other`begin`
    await other`select 1 from ${other(row.table)} where id = ${row.id} for update`
    const called = call()
    await desk.untilWaiting(1)
    await pause(30) // a shorter wait counts as none
    await meanwhile(other)
    await other.unsafe(end)
    return await called
  } finally {
    other.release()
  }
}

test('a change that waited for another answers what the other left', async () => {
  const item = await desk.item({ label_ids: [] })
  const [label] = desk.labels as [string]
  const attach = async (other: ReservedSql) => {
    await other`update item set without_labels = false, version = version + 1 where id = ${item.id}`
    await other`insert into item_label (tenant_id, item_id, label_id) values (${desk.tenantId}, ${item.id}, ${label})`
  }
  const { json } = await held(item, () => desk.patch(item, { title: 'Later' }), attach, 'commit')
  expect([json.label_ids, json.version]).toEqual([[label], 3])
  await isRead(desk, json)
})

test('a change that waited, while a label was deleted and restored, knows it', async () => {
  const label = await desk.label(desk.collectionId, 'for a while')
  const item = await desk.item({ label_ids: [label] })
  const path = `containers/${desk.collectionId}/labels/${label}`
  const patched = await held(
    item,
    () => desk.patch(item, { title: 'Later' }),
    async () => expect((await desk.ask(`DELETE /${path}`)).status).toBe(204),
    'rollback',
  )
  expect(patched.json.label_ids).toEqual([])
  await isRead(desk, patched.json)
  const put = await held(
    item,
    () => desk.ask(`PUT /items/${item.id}/labels/${label}`),
    async () => expect((await desk.ask(`POST /${path}:restore`)).status).toBe(200),
    'rollback',
  )
  expect(put.json.label_ids).toEqual([label])
})

test('a change that waited for its container, while a field was deleted, knows it', async () => {
  const { collectionId } = desk
  const fieldId = await desk.field({ key: 'short', kind: 'TEXT' })
  const item = await desk.item({ custom_fields: { short: 'lived' } })
  const { json } = await held(
    item,
    () => desk.patch(item, { title: 'Later' }),
    async () => desk.daemon.db.sql`update custom_field set deleted_at = now() where id = ${fieldId}`,
    'rollback',
    { table: 'container', id: collectionId },
  )
  expect(json.custom_fields).toEqual({})
  await isRead(desk, json)
})
