/**
 * Every reader follows groups, because each asks the one place: what a private board shows by search, pull, comments,
 * assignments and lists is shown to a member of a group with a role in it, and to nobody else. people 2.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Container } from '../../src/core/contract/containers/operations.ts'
import { type Person, person } from '../kit/people.ts'
import { indexed } from '../search/indexing.ts'
import { openParty, type Party } from './party.ts'

let party: Party
let board: Container
let inside: Person
let outside: Person
let itemId: string
beforeAll(async () => {
  party = await openParty()
  board = await party.collection(await party.hub(), { is_private: true })
  inside = await person(party.daemon, party.tenantId, { role: 'ADMIN' })
  outside = await person(party.daemon, party.tenantId, { role: 'ADMIN' })
  const group = await party.group([inside])
  await party.give(group, 'MEMBER', board)
  itemId = (await party.ask('POST /items', { container_id: board.id, title: 'Aardvark' })).json.id
  await indexed(party.daemon)
})
afterAll(() => party.close())

const both = async <T>(ask: (as: Person) => Promise<T>): Promise<[T, T]> => [await ask(inside), await ask(outside)]
const statusOf = (request: `${string} /${string}`, body?: unknown) => async (as: Person) =>
  (await party.ask(request, body, { as })).status

describe('a member of the group, and nobody else,', () => {
  test('reads and writes', async () => {
    for (const path of [
      `/items/${itemId}`,
      `/containers/${board.id}/board`,
      `/items/${itemId}/comments`,
      `/items/${itemId}/activity`,
    ])
      expect([path, await both(statusOf(`GET ${path}` as `GET /${string}`))]).toEqual([path, [200, 404]])
    expect(await both(statusOf('POST /items', { container_id: board.id, title: 'x' }))).toEqual([201, 422])
    expect(await both(statusOf(`PATCH /items/${itemId}`, { description: 'said' }))).toEqual([200, 404])
  })

  test('finds by words, by a filter and in lists', async () => {
    const found = (request: `${string} /${string}`, body?: unknown) =>
      both(async (as) => JSON.stringify((await party.ask(request, body, { as })).json).includes(itemId))
    expect(await found('POST /search', { query: 'aardvark' })).toEqual([true, false])
    expect(await found('POST /items:query', { filter: { field: 'title', op: 'contains', value: 'aardvark' } })).toEqual(
      [true, false],
    )
    expect(await found('GET /items?size=200')).toEqual([true, false])
    expect(await found('GET /integrations/triggers/svc.work.item.created.v1?limit=200')).toEqual([true, false])
  })

  test('is none who lost the access, for a filter', async () => {
    const { status } = await party.ask(`POST /items/${itemId}:assign`, { account_id: inside.accountId }, { as: inside })
    expect(status).toBe(200)
    const filter = { field: 'assignee', op: 'has_no_access' }
    const { json } = await party.ask('POST /items:query', { filter }, { as: inside })
    expect(json.data.map(({ id }: { id: string }) => id)).not.toContain(itemId)
    const others = await party.ask('POST /items:query', { filter: { not: filter } }, { as: inside })
    expect(others.json.data.map(({ id }: { id: string }) => id)).toContain(itemId)
  })

  test('is mentioned, made responsible, and picked', async () => {
    const mention = (who: Person) => party.ask(`POST /items/${itemId}/comments`, { body: `<@${who.accountId}>` })
    const assign = (who: Person) => party.ask(`POST /items/${itemId}:assign`, { account_id: who.accountId })
    for (const act of [mention, assign]) {
      const [one, other] = [await act(inside), await act(outside)]
      expect([one.status < 300, other.status >= 400, one.text, other.json.code]).toEqual([
        true,
        true,
        one.text,
        expect.stringMatching(/no_access$|^request\.invalid$/),
      ])
    }
    await party.ask(`POST /items/${itemId}:unassign`)
    const picked = await party.ask(`POST /items/${itemId}:auto-assign`, {})
    expect(picked.json.assignee_id).toBe(inside.accountId)
  })

  test('is let out again by the next call', async () => {
    const [group] = (await party.ask(`GET /groups?account_id=${inside.accountId}`)).json.data
    await party.remove(group, inside)
    expect(await both(statusOf(`GET /items/${itemId}`))).toEqual([404, 404])
    await party.add(group, inside)
    expect(await both(statusOf(`GET /items/${itemId}`))).toEqual([200, 404])
  })
})
