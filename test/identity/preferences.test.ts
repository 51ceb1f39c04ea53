/** Preferences of accounts: the own ones, what an administrator may change of others, and what the own account says. People 1, N7. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Board, openBoard } from '../containers/board.ts'
import { type Person, person } from '../kit/people.ts'

let board: Board
let who: Person
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())
beforeEach(async () => {
  who = await person(board.daemon, board.tenantId, { role: 'MEMBER', scopes: ['workspace:read'] })
})

const change = (
  body: object,
  { as = who, of = who, headers = {} }: { as?: Person; of?: Person; headers?: object } = {},
) =>
  board.ask(`PATCH /accounts/${of.accountId}/preferences` as 'PATCH /x', body, {
    as,
    headers: { 'content-type': 'application/merge-patch+json', ...headers },
  })
const me = async (as = who) => (await board.ask('GET /accounts/me', undefined, { as })).json
const traces = async () =>
  (
    await board.daemon.db.sql`
      select (select version from account where id = ${who.accountId}) as version,
             (select count(*)::int from audit_entry) as entries, (select count(*)::int from outbox_event) as events`
  )[0]

describe('the own preferences', () => {
  test('are changed one by one, taken back by null, and answered by the own account', async () => {
    expect((await me()).preferences).toEqual({ locale: null, time_zone: null, week_start: null, client: null })
    const client = { theme: 'dark', panes: [{ open: [1, 2, { deep: true }] }] }
    const answer = await change({
      display_name: 'Pia',
      locale: 'de-at',
      time_zone: 'Europe/Vienna',
      week_start: 'SUNDAY',
      client,
    })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers).toMatchObject({ etag: '"2"' })
    const chosen = { locale: 'de-AT', time_zone: 'Europe/Vienna', week_start: 'SUNDAY', client }
    expect(answer.json).toEqual({ account_id: who.accountId, display_name: 'Pia', ...chosen, version: 2 })
    expect(await me()).toMatchObject({ display_name: 'Pia', preferences: chosen, version: 2 })
    expect((await change({ locale: null, client: null })).json).toMatchObject({
      locale: null,
      time_zone: 'Europe/Vienna',
      client: null,
      version: 3,
    })
    expect((await board.ask('GET /accounts?q=pia')).json.data).toMatchObject([{ id: who.accountId }])
  })

  test('that are the same change nothing and leave no trace', async () => {
    await change({ locale: 'fr', client: { b: 1, a: [2] } })
    const before = await traces()
    expect((await change({ locale: 'fr', client: { a: [2], b: 1 } })).status).toBe(200)
    expect((await change({})).status).toBe(200)
    expect(await traces()).toEqual(before)
  })

  test('have the entity tag of the account, and tell in the trail which changed', async () => {
    expect((await change({ locale: 'fr' }, { headers: { 'if-match': '"9"' } })).json.code).toBe('precondition.failed')
    expect((await change({ locale: 'fr' }, { headers: { 'if-match': '"1"' } })).status).toBe(200)
    const [entry] = await board.daemon.db.sql`
      select action, params from audit_entry where subject_id = ${who.accountId} order by id desc limit 1`
    expect(entry).toEqual({ action: 'account.preferences_changed', params: { changed: ['locale'] } })
  })

  test('refuse what is unknown, too large, too deep, a number that would change, or a name that is cleared', async () => {
    const deep = { a: { b: { c: { d: { e: {} } } } } }
    const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }
    for (const [body, pointer] of [
      [{ locale: 'xx-nowhere' }, '/locale'],
      [{ time_zone: 'Mars/Olympus' }, '/time_zone'],
      [{ week_start: 'TUESDAY' }, '/week_start'],
      [{ display_name: null }, '/display_name'],
      [{ client: deep }, '/client'],
      [{ client: { text: 'x'.repeat(16 * 1024) } }, '/client'],
      [{ client: { text: '"'.repeat(9 * 1024) } }, '/client'],
      [{ client: { ['€'.repeat(6 * 1024)]: 1 } }, '/client'],
      [{ client: [1] }, '/client'],
      [{ client: { a: [1, rawJSON('-87914156701391936')] } }, '/client/a/1'],
      [{ client: { a: {}, b: rawJSON('1e400') } }, '/client/b'],
      [{ email: 'x@y.example' }, '/email'],
    ] as const) {
      const { status, json } = await change(body)
      expect([body, status, json.errors?.[0]?.pointer]).toEqual([body, 422, pointer])
    }
    expect((await change({ client: { a: { b: { c: { d: 1 } } }, most: 2 ** 53 - 1, least: 1e-300 } })).status).toBe(200)
  })
})

describe("another's preferences", () => {
  test('are changed by an ADMIN with workspace:admin: name, locale and time zone', async () => {
    const admin = await person(board.daemon, board.tenantId, { role: 'ADMIN' })
    expect((await change({ display_name: 'Renamed', locale: 'sv', time_zone: 'UTC' }, { as: admin })).status).toBe(200)
    for (const body of [{ week_start: 'MONDAY' }, { client: {} }])
      expect((await change(body, { as: admin })).json.code).toBe('auth.role_required')
    const reader = await person(board.daemon, board.tenantId, { role: 'ADMIN', scopes: ['workspace:read'] })
    expect((await change({ locale: 'sv' }, { as: reader })).json).toMatchObject({ code: 'auth.scope_required' })
    const member = await person(board.daemon, board.tenantId, { role: 'MEMBER' })
    expect((await change({ locale: 'sv' }, { as: member })).json).toMatchObject({
      code: 'auth.role_required',
      params: { role: 'ADMIN' },
    })
  })
})

test('the own account says its identities, and with what the call was made', async () => {
  expect(await me()).toMatchObject({
    identities: [],
    credential: { kind: 'PERSONAL', scopes: ['workspace:read'], expires_at: expect.any(String), app_id: null },
  })
  const machine = await person(board.daemon, board.tenantId, { kind: 'SERVICE', role: 'VIEWER' })
  expect((await me(machine)).credential.kind).toBe('SERVICE')
  const session = await person(board.daemon, board.tenantId, { kind: 'SESSION', role: 'VIEWER' })
  expect((await me(session)).credential.kind).toBe('SESSION')
})
