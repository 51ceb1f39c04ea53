/** Labels on items, and values of custom fields. Spec: Index, Items; Structure: labels, custom fields; decisions 3. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, expectUntouched, openDesk, pointers } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const leavesAlone = <T>(call: () => Promise<T>) => expectUntouched(desk, call)

describe('labels', () => {
  test('are put on and taken off, once each', async () => {
    const item = await desk.item()
    const [one] = desk.labels
    const put = await desk.ask(`PUT /items/${item.id}/labels/${one}`)
    expect([put.status, put.headers.etag, put.json.label_ids]).toEqual([200, '"2"', [one]])
    expect((await leavesAlone(() => desk.ask(`PUT /items/${item.id}/labels/${one}`))).json).toEqual(put.json)
    expect((await desk.ask(`DELETE /items/${item.id}/labels/${one}`)).status).toBe(204)
    expect(await desk.read(item)).toMatchObject({ label_ids: [], version: 3 })
    expect((await leavesAlone(() => desk.ask(`DELETE /items/${item.id}/labels/${one}`))).status).toBe(204)
  })

  test("another container's, a deleted one and one that nobody has are not found", async () => {
    const item = await desk.item()
    const elsewhere = await desk.label((await desk.shelf(0)).collectionId, 'elsewhere')
    const deleted = await desk.label(desk.collectionId, 'deleted')
    await desk.daemon.db.sql`update label set deleted_at = now() where id = ${deleted}`
    for (const label of [elsewhere, deleted, randomUUID()])
      for (const method of ['PUT', 'DELETE'] as const)
        expect((await leavesAlone(() => desk.ask(`${method} /items/${item.id}/labels/${label}`))).status).toBe(404)
  })

  test('an item stops showing a label that was deleted, is not rewritten, and shows it again when it is back', async () => {
    const label = await desk.label(desk.collectionId, 'comes back')
    const item = await desk.item({ label_ids: [label, desk.labels[0]] })
    const { sql } = desk.daemon.db
    await sql`update label set deleted_at = now() where id = ${label}`
    expect(await desk.read(item)).toEqual({ ...item, label_ids: [desk.labels[0]] })
    await sql`update label set deleted_at = null where id = ${label}`
    expect(await desk.read(item)).toEqual(item)
  })
})

test('an item says which lists it lacks, so that nobody looks for them', async () => {
  const lacks = async ({ id }: Item) => {
    const [row] = await desk.daemon.db
      .sql`select without_labels, without_members, without_values from item where id = ${id}`
    return Object.values(row!)
  }
  const item = await desk.item()
  expect(await lacks(item)).toEqual([true, true, true])
  await desk.ask(`PUT /items/${item.id}/labels/${desk.labels[0]}`)
  expect(await lacks(item)).toEqual([false, true, true])
  expect(await lacks(await desk.item({ label_ids: [desk.labels[0]] }))).toEqual([false, true, true])
  const { accountId } = desk.people.MEMBER
  await desk.ask(`PUT /items/${item.id}/members/${accountId}`)
  expect(await lacks(item)).toEqual([false, false, true])
  expect(await lacks(await desk.act(await desk.item(), 'assign', { account_id: accountId }))).toEqual([
    true,
    false,
    true,
  ])
})

describe('values of custom fields', () => {
  const set = (item: Item, key: string, value: unknown) =>
    desk.ask(`PUT /items/${item.id}/custom-fields/${key}`, { value })

  test('each kind takes its own values, answers them as they were sent, and null clears them', async () => {
    const options = ['red', 'rød', '赤']
    const kinds: [string, unknown[], unknown[]][] = [
      ['TEXT', ['x', ' 0 ', 'ß\u0301'], [1, true, '', ['x'], 'x'.repeat(10_001), 'a\u0000']],
      ['NUMBER', [0, -1.5, 1e21, 9007199254740991], ['1', true, [1]]],
      ['DATE', ['2024-02-29', '0001-01-01'], ['2023-02-29', '2024-2-1', '2024-02-29T00:00:00Z', 20240229]],
      ['SELECT', options, ['blue', 'RED', ['red'], 0]],
      ['MULTI_SELECT', [['rød', 'red'], ['赤']], ['red', [], ['red', 'red'], ['blue']]],
      ['BOOL', [true, false], ['true', 0, 1, []]],
      ['USER', [desk.people.VIEWER.accountId], [randomUUID(), 'somebody', 7]],
      [
        'URL',
        ['https://svc.example/a?b#c', 'http://x'],
        ['ftp://svc.example', 'svc.example', 'https://', 'javascript:alert(1)'],
      ],
    ]
    const item = await desk.item()
    for (const [kind, right, wrong] of kinds) {
      const key = `of_${kind.toLowerCase()}`
      await desk.field({ key, kind, collectionId: desk.collectionId, ...(kind.endsWith('SELECT') ? { options } : {}) })
      for (const value of right) {
        const { status, json } = await set(item, key, value)
        expect([kind, status, json.custom_fields[key]]).toEqual([kind, 200, value])
      }
      const last = await desk.read(item)
      expect((await leavesAlone(() => set(item, key, right.at(-1)))).json).toEqual(last)
      for (const value of wrong) {
        const answer = await leavesAlone(() => set(item, key, value))
        expect([
          kind,
          value,
          answer.status,
          answer.json.code,
          pointers(answer)?.[0]?.[0]?.startsWith('/value'),
        ]).toEqual([kind, value, 422, 'request.invalid', true])
      }
      expect(Object.keys((await set(item, key, null)).json.custom_fields)).not.toContain(key)
      expect((await leavesAlone(() => set(item, key, null))).status).toBe(200)
    }
  })

  test('a key that is not defined for the container and the type is not found', async () => {
    const { collectionId } = await desk.shelf(1)
    await desk.field({ key: 'elsewhere', kind: 'TEXT', collectionId })
    await desk.field({ key: 'for_notes', kind: 'TEXT', appliesTo: ['NOTE'] })
    const [task, activity] = [await desk.item(), await desk.item({ type: 'ACTIVITY' })]
    for (const [item, key] of [
      [task, 'elsewhere'],
      [task, 'for_notes'],
      [task, 'never'],
      [activity, 'for_notes'],
    ] as const)
      expect([key, (await leavesAlone(() => set(item, key, 'x'))).status]).toEqual([key, 404])
  })

  test('a required field is asked of new items of its types, cannot be cleared, and invalidates none that is there', async () => {
    const { collectionId } = await desk.shelf(1)
    const before = await desk.item({ container_id: collectionId })
    await desk.field({ key: 'must', kind: 'NUMBER', collectionId, isRequired: true })
    for (const custom_fields of [{}, { must: null }]) {
      const answer = await leavesAlone(() =>
        desk.ask('POST /items', { container_id: collectionId, title: 'x', custom_fields }),
      )
      expect([answer.status, pointers(answer)]).toEqual([422, [['/custom_fields/must', 'member.required']]])
    }
    expect((await desk.item({ container_id: collectionId, type: 'NOTE' })).custom_fields).toEqual({})
    const item = await desk.item({ container_id: collectionId, custom_fields: { must: 0 } })
    expect(pointers(await leavesAlone(() => set(item, 'must', null)))).toEqual([['/value', 'member.required']])
    expect((await desk.patch(before, { title: 'still writable' })).status).toBe(200)
    expect(await desk.act(before, 'complete')).toMatchObject({ custom_fields: {} })
  })

  test('narrowed options leave the value; a deleted field hides it, and one made anew does not show it', async () => {
    const { sql } = desk.daemon.db
    const id = await desk.field({ key: 'colour', kind: 'SELECT', options: ['a', 'b'] })
    const item = await desk.item({ custom_fields: { colour: 'b' } })
    await sql`update custom_field set options = '["a"]' where id = ${id}`
    expect((await desk.read(item)).custom_fields).toEqual({ colour: 'b' })
    expect((await leavesAlone(() => set(item, 'colour', 'b'))).status).toBe(422)
    await sql`update custom_field set deleted_at = now() where id = ${id}`
    expect((await desk.read(item)).custom_fields).toEqual({})
    await desk.field({ key: 'colour', kind: 'SELECT', options: ['b'] })
    expect((await desk.read(item)).custom_fields).toEqual({})
    expect(await sql`select value from item_field_value where item_id = ${item.id}`).toEqual([{ value: 'b' }])
  })

  test("a collection's own field stands before the workspace's under the same key", async () => {
    const { collectionId } = await desk.shelf(1)
    await desk.field({ key: 'shared', kind: 'TEXT' })
    const item = await desk.item({ container_id: collectionId, custom_fields: { shared: 'workspace' } })
    const own = await desk.field({ key: 'shared', kind: 'NUMBER', collectionId })
    expect((await desk.read(item)).custom_fields).toEqual({})
    expect((await set(item, 'shared', 3)).json.custom_fields).toEqual({ shared: 3 })
    await desk.daemon.db.sql`update custom_field set deleted_at = now() where id = ${own}`
    expect((await desk.read(item)).custom_fields).toEqual({ shared: 'workspace' })
  })
})
