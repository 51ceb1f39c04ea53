/** Queries of archived items, of people and of starts. Spec: Work on boards, 2, N3. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, openDesk } from './desk.ts'

let desk: Desk
beforeAll(async () => {
  desk = await openDesk()
})
afterAll(() => desk.close())

const query = (body: object) => desk.ask('POST /items:query', body)
async function every(body: object): Promise<Item[]> {
  const found: Item[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { status, json, text } = await query({ ...body, size: 2, ...(cursor ? { cursor } : {}) })
    if (status !== 200) throw new Error(text)
    found.push(...json.data)
    cursor = json.next_cursor
  }
  return found
}
const titles = (found: readonly Item[]) => found.map(({ title }) => title)

describe('the archive', () => {
  const mine: Item[] = []
  let shelf: string
  const there = (body: object) => every({ container_id: shelf, ...body })
  const only = async (archived: string, more: object = {}) => titles(await there({ archived, ...more })).sort()
  beforeAll(async () => {
    shelf = (await desk.shelf(2)).collectionId
    for (const title of ['a', 'b', 'c', 'd', 'e']) mine.push(await desk.item({ container_id: shelf, title }))
    for (const one of [mine[1]!, mine[3]!]) await desk.act(one, 'archive')
    await desk.act(mine[2]!, 'assign', { account_id: desk.people.MEMBER.accountId })
    await desk.act(mine[3]!, 'unarchive')
    await desk.act(mine[3]!, 'assign', { account_id: desk.people.MEMBER.accountId })
    await desk.act(mine[3]!, 'archive')
  })

  test('is looked at where it is asked for, in any order, in counts and in groups', async () => {
    expect(await only('EXCLUDE')).toEqual(['a', 'c', 'e'])
    for (const sort of [[{ by: 'created' }], [{ by: 'board' }], [{ by: 'title', order: 'DESC' }]]) {
      expect(await only('ONLY', { sort })).toEqual(['b', 'd'])
      expect(await only('INCLUDE', { sort })).toEqual(['a', 'b', 'c', 'd', 'e'])
      expect(titles(await there({ archived: 'INCLUDE', sort }))).toEqual(
        titles((await query({ container_id: shelf, archived: 'INCLUDE', sort })).json.data),
      )
    }
    const { json } = await query({
      container_id: shelf,
      archived: 'INCLUDE',
      count: true,
      group_by: { by: 'assignee' },
    })
    expect(json.total).toBe(5)
    expect(json.groups.map(({ key, count }: { key: string; count: number }) => [key, count])).toEqual([
      [desk.people.MEMBER.accountId, 2],
      [null, 3],
    ])
  })

  test('is a condition, and whoever is responsible leads to it', async () => {
    const archived = (value: boolean) => ({ field: 'archived', op: 'is', value })
    expect(await only('INCLUDE', { filter: archived(true) })).toEqual(['b', 'd'])
    expect(await only('INCLUDE', { filter: archived(false) })).toEqual(['a', 'c', 'e'])
    expect(await only('EXCLUDE', { filter: archived(true) })).toEqual([])
    const of = { field: 'assignee', op: 'is', value: desk.people.MEMBER.accountId }
    expect(await only('EXCLUDE', { filter: of })).toEqual(['c'])
    expect(await only('INCLUDE', { filter: of })).toEqual(['c', 'd'])
    expect(await only('ONLY', { filter: { field: 'assignee', op: 'is_empty' } })).toEqual(['b'])
  })

  test('belongs to the cursor', async () => {
    const { json } = await query({ container_id: shelf, archived: 'INCLUDE', size: 1 })
    expect((await query({ container_id: shelf, size: 1, cursor: json.next_cursor })).status).toBe(400)
  })
})

test('starts sort and filter; nothing comes last', async () => {
  const { collectionId } = await desk.shelf(1)
  const item = async (title: string, start?: string) => {
    const made = await desk.item({ container_id: collectionId, title })
    if (start) await desk.ask(`PUT /items/${made.id}/due`, { start_on: start, due_on: '2030-01-20' })
  }
  await item('none')
  await item('late', '2030-01-10')
  await item('early', '2030-01-02')
  const asked = async (body: object) => titles(await every({ container_id: collectionId, ...body }))
  expect(await asked({ sort: [{ by: 'start' }] })).toEqual(['early', 'late', 'none'])
  expect(await asked({ sort: [{ by: 'start', order: 'DESC' }] })).toEqual(['late', 'early', 'none'])
  expect(await asked({ filter: { field: 'start', op: 'before', value: '2030-01-10' } })).toEqual(['early'])
  expect(await asked({ filter: { field: 'start', op: 'is_empty' } })).toEqual(['none'])
})

test('people who have lost their access are found, in any field of people', async () => {
  const { collectionId } = await desk.shelf(1)
  const { ADMIN, MEMBER, OWNER } = desk.people
  const item = (title: string, more: object = {}) => desk.item({ container_id: collectionId, title, ...more })
  await desk.field({ key: 'reader', kind: 'USER' })
  await desk.act(await item('member'), 'assign', { account_id: MEMBER.accountId })
  await desk.act(await item('owner'), 'assign', { account_id: OWNER.accountId })
  await desk.ask(`PUT /items/${(await item('taking part')).id}/members/${ADMIN.accountId}`)
  await item('read', { custom_fields: { reader: MEMBER.accountId } })
  const lost = async (field: string, isNot = false) => {
    const filter = { field, op: 'has_no_access' }
    return titles(await every({ container_id: collectionId, filter: isNot ? { not: filter } : filter })).sort()
  }
  expect([await lost('assignee'), await lost('member'), await lost('custom.reader')]).toEqual([[], [], []])
  await desk.daemon.db.sql`update container set is_private = true where id = ${collectionId}`
  expect(await lost('assignee')).toEqual(['member'])
  expect(await lost('assignee', true)).toEqual(['owner', 'read', 'taking part'])
  expect(await lost('member')).toEqual(['member', 'taking part'])
  expect(await lost('custom.reader')).toEqual(['read'])
  await desk.grant({ id: collectionId }, MEMBER, 'VIEWER')
  expect([await lost('assignee'), await lost('member'), await lost('custom.reader')]).toEqual([[], ['taking part'], []])
  await desk.daemon.db.sql`update account set state = 'DISABLED' where id = ${MEMBER.accountId}`
  expect(await lost('custom.reader')).toEqual(['read'])
})
