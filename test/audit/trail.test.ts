/** The workspace's trail: newest first, narrowed by each filter, in pages that join to the whole. Decision 0103. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AuditEntry } from '../../src/core/contract/audit/operations.ts'
import { roles } from '../../src/core/contract/vocabulary.ts'
import { type Board, openBoard } from '../containers/board.ts'
import { person } from '../kit/people.ts'

let board: Board
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())

const read = async (query = ''): Promise<{ data: AuditEntry[]; next_cursor: string | null }> => {
  const { status, json, text } = await board.ask(`GET /audit${query && `?${query}`}`)
  if (status !== 200) throw new Error(text)
  return json
}

test('a change is there at once, with who did what to what', async () => {
  const { id } = await board.hub({}, board.people.ADMIN)
  const [entry] = (await read(`subject_id=${id}`)).data
  expect(entry).toEqual({
    id: expect.any(String),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    action: 'container.created',
    actor: { kind: 'ACCOUNT', account_id: board.people.ADMIN.accountId, via: 'API' },
    subject: { kind: 'container', id },
    params: { kind: 'HUB', parent_id: null },
  })
})

test('pages join to the whole, newest first, also where a thousand entries share one moment', async () => {
  const { sql } = board.daemon.db
  const subject = randomUUID()
  const rows = Array.from({ length: 1000 }, (_, n) => ({
    tenant_id: board.tenantId,
    id: randomUUIDv7(),
    at: new Date(Date.UTC(2020, 0, 1, 0, 0, n < 700 ? 0 : n)),
    action: 'planted',
    actor_kind: 'SYSTEM',
    via: 'JOB',
    subject_kind: 'thing',
    subject_id: subject,
  }))
  await sql`insert into audit_entry ${sql(rows)}`
  const found: AuditEntry[] = []
  let cursor: string | null = ''
  do {
    const page = await read(`subject_id=${subject}&size=87${cursor && `&cursor=${cursor}`}`)
    found.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  const expected = [...rows].sort((a, b) => b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1))
  expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
})

test('each filter narrows it, and all of them together', async () => {
  const { sql } = board.daemon.db
  const [subject, other] = [randomUUID(), randomUUID()]
  const actor = board.people.MEMBER.accountId
  const plant = (at: string, action: string, subject_id: string, by: string | null) => sql`
    insert into audit_entry (tenant_id, id, at, action, actor_kind, actor_account_id, via, subject_kind, subject_id)
    values (${board.tenantId}, ${randomUUIDv7()}, ${at}, ${action}, 'ACCOUNT', ${by}, 'API', 'thing', ${subject_id})`
  await plant('2021-01-01T00:00:00.000Z', 'one', subject, actor)
  await plant('2021-01-02T00:00:00.000Z', 'two', subject, actor)
  await plant('2021-01-03T00:00:00.000Z', 'one', other, actor)
  await plant('2021-01-04T00:00:00.000Z', 'one', subject, null)
  const days = async (query: string) =>
    (await read(`from=2021-01-01T00:00:00Z&until=2021-02-01T00:00:00Z&${query}`)).data.map(({ at }) => at.slice(8, 10))
  expect(await days('')).toEqual(['04', '03', '02', '01'])
  expect(await days('action=one')).toEqual(['04', '03', '01'])
  expect(await days(`subject_id=${subject}`)).toEqual(['04', '02', '01'])
  expect(await days(`actor_id=${actor}`)).toEqual(['03', '02', '01'])
  expect(await days(`actor_id=${actor}&action=one&subject_id=${subject}`)).toEqual(['01'])
  const between = async (from: string, until: string) =>
    (await read(`subject_id=${subject}&from=${from}&until=${until}`)).data.map(({ at }) => at.slice(8, 10))
  expect(await between('2021-01-02T00:00:00Z', '2021-01-04T00:00:00Z')).toEqual(['02'])
  // The same moments as another zone writes them.
  expect(await between('2021-01-02T01:00:00%2B01:00', '2021-01-04T00:00:00.001Z')).toEqual(['04', '02'])
})

test('a cursor is bound to its filters', async () => {
  const { next_cursor } = await read('size=1')
  expect(next_cursor).not.toBe(null)
  for (const query of [`action=one&cursor=${next_cursor}`, `from=2021-01-01T00:00:00Z&cursor=${next_cursor}`])
    expect((await board.ask(`GET /audit?${query}`)).json.code).toBe('cursor.invalid')
})

test.each([
  'from=yesterday',
  'until=2021-13-01T00:00:00Z',
  'subject_id=x',
  'actor_id=',
  'action=',
  'size=201',
  'size=0',
  'at=1',
])('%s is 400 and names the parameter', async (query) => {
  const { status, json } = await board.ask(`GET /audit?${query}`)
  expect([status, json.code, json.errors[0].parameter]).toEqual([400, 'request.malformed', query.split('=')[0]])
})

test('ADMINs read it, with workspace:read, and nobody below', async () => {
  for (const role of roles) {
    const { status } = await board.ask('GET /audit?size=1', undefined, { as: board.people[role] })
    expect([role, status]).toEqual([role, role === 'OWNER' || role === 'ADMIN' ? 200 : 403])
  }
  const writer = await person(board.daemon, board.tenantId, { scopes: ['workspace:write', 'workspace:admin'] })
  expect((await board.ask('GET /audit', undefined, { as: writer })).json.params).toEqual({ scope: 'workspace:read' })
})
