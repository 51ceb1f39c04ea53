/** Accounts are listed and found, each caller sees of them what it may, and a page reads little more than it answers. People 1, N4 and I1. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { wordsOf } from '../../src/core/areas/access/account-words.ts'
import { wordAccounts } from '../../src/core/areas/identity/accounts/words.ts'
import type { Account } from '../../src/core/contract/identity/accounts.ts'
import { accountOperations } from '../../src/core/contract/identity/accounts.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type Board, openBoard } from '../containers/board.ts'
import { type Person, person } from '../kit/people.ts'

let board: Board
let installation: Installation
let close: () => Promise<void>
beforeAll(async () => {
  board = await openBoard()
  const booted = await bootInstallation(board.daemon.config, { works: false, applicationName: 'svc test' })
  ;({ installation } = booted)
  close = () => booted.close()
})
afterAll(async () => {
  await close()
  await board.close()
})

const ask = (request: `GET /${string}`, as?: Person) => board.ask(request, undefined, as ? { as } : {})
const list = async (query: string, as?: Person): Promise<Account[]> => {
  const { status, json, text } = await ask(`GET /accounts?${query}`, as)
  expect(status, text).toBe(200)
  return json.data
}
const names = async (query: string, as?: Person) => (await list(query, as)).map(({ display_name }) => display_name)

/** Somebody with a name and an address, without the words of either, as older code makes accounts. */
async function named(display_name: string, email: string, role = 'MEMBER'): Promise<string> {
  const { sql } = board.daemon.db
  const id = randomUUIDv7()
  await sql`
    insert into account (tenant_id, id, kind, state, email, email_fold, display_name)
    values (${board.tenantId}, ${id}, 'PERSON', 'ACTIVE', ${email}, ${email.toLowerCase()}, ${display_name})`
  await sql`insert into membership (tenant_id, id, account_id, role) values (${board.tenantId}, ${randomUUIDv7()}, ${id}, ${role})`
  return id
}
const word = () => wordAccounts.run(installation, null)

describe('one account', () => {
  test('is answered whole, with its ETag; the administrators and its person see more', async () => {
    const { MEMBER, ADMIN, VIEWER } = board.people
    const answer = await ask(`GET /accounts/${MEMBER.accountId}`, VIEWER)
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({ etag: '"1"' })
    expect(answer.json).toEqual({
      id: MEMBER.accountId,
      kind: 'PERSON',
      state: 'ACTIVE',
      is_restricted: false,
      display_name: 'Somebody',
      email: `${MEMBER.accountId}@people.example`,
      sign_in_name: null,
      is_managed: false,
      role: 'MEMBER',
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      joined_at: null,
      disabled_at: null,
      version: 1,
      admin: null,
    })
    const email = `${MEMBER.accountId}@people.example`
    const admin = {
      addresses: [{ id: MEMBER.accountId, email, is_primary: true, confirmed_at: expect.any(String) }],
      identities: [],
      has_password: false,
      has_second_factor: false,
      start_password_expires_at: null,
      last_seen_at: null,
      invitation_expires_at: null,
      external_id: null,
      open_item_count: 0,
    }
    for (const who of [ADMIN, MEMBER]) {
      const { json } = await ask(`GET /accounts/${MEMBER.accountId}`, who)
      expect({ ...json.admin, last_seen_at: null }).toEqual(admin)
    }
  })

  test('shows an administrator its ways in, and a token without workspace:admin none of them', async () => {
    const { sql } = board.daemon.db
    const who = await person(board.daemon, board.tenantId, { role: 'MEMBER', passwordHash: 'x' })
    const providerId = randomUUIDv7()
    await sql`
      insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
      values (${board.tenantId}, ${randomUUIDv7()}, ${providerId}, ${who.accountId}, 'https://sso.example', '1')`
    await sql`update credential set last_used_at = '2026-11-20T12:00:00.123456Z' where id = ${who.credentialId}`
    await sql`
      insert into invitation (tenant_id, id, account_id, hash, expires_at)
      values (${board.tenantId}, ${randomUUIDv7()}, ${who.accountId}, 'x', '2999-01-01T00:00:00Z')`
    const { json } = await ask(`GET /accounts/${who.accountId}`, board.people.ADMIN)
    expect(json.admin).toMatchObject({
      identities: [{ provider_id: providerId, connected_at: expect.stringMatching(/\.\d{3}Z$/) }],
      has_password: true,
      last_seen_at: '2026-11-20T12:00:00.123Z',
      invitation_expires_at: '2999-01-01T00:00:00.000Z',
    })
    const reader = await person(board.daemon, board.tenantId, { role: 'ADMIN', scopes: ['workspace:read'] })
    expect((await ask(`GET /accounts/${who.accountId}`, reader)).json.admin).toBeNull()
  })

  test('counts the open items that it is responsible for', async () => {
    const { sql } = board.daemon.db
    const collection = await board.collection(await board.hub())
    const who = await person(board.daemon, board.tenantId, { role: 'MEMBER' })
    for (const [state, deleted] of [
      ['OPEN', null],
      ['OPEN', new Date()],
      ['DONE', null],
    ] as const)
      await sql`
        insert into item (tenant_id, id, container_id, type, title, rank, created_by, assignee_id, state, deleted_at, completed_at)
        values (${board.tenantId}, ${randomUUIDv7()}, ${collection.id}, 'TASK', 'x', ${`a${randomUUID()}`}, ${who.accountId}, ${who.accountId}, ${state}, ${deleted}, ${state === 'DONE' ? new Date() : null})`
    expect((await ask(`GET /accounts/${who.accountId}`)).json.admin.open_item_count).toBe(1)
  })

  test('is unknown in another workspace', async () => {
    const other = await openBoard()
    try {
      expect((await other.ask(`GET /accounts/${board.people.OWNER.accountId}`)).status).toBe(404)
    } finally {
      await other.close()
    }
  })
})

describe('the list', () => {
  test('is oldest first, in pages, and narrowed by state, kind, address and external id', async () => {
    const { sql } = board.daemon.db
    const id = await named('Edsger Dijkstra', 'Edsger@structured.example')
    await sql`update account set external_id = 'hr-1', state = 'INVITED' where id = ${id}`
    const all = await list('size=200')
    expect(all.map((one) => one.id)).toEqual(all.map((one) => one.id).toSorted())
    const paged: Account[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await ask(`GET /accounts?size=2${cursor && `&cursor=${cursor}`}`)
      paged.push(...json.data)
      cursor = json.next_cursor
    }
    expect(paged).toEqual(all)
    const machine = await person(board.daemon, board.tenantId, { role: 'MEMBER', kind: 'SERVICE' })
    expect((await list('kind=SERVICE')).map((one) => one.id)).toEqual([machine.accountId])
    for (const query of [
      'external_id=hr-1',
      'state=INVITED',
      'email=EDSGER%40structured.example',
      'state=INVITED&kind=PERSON',
    ])
      expect([query, (await list(query)).map((one) => one.id)]).toEqual([query, [id]])
    for (const query of ['external_id=HR-1', 'state=DISABLED', 'email=edsger%25', 'state=INVITED&kind=SERVICE'])
      expect([query, await list(query)]).toEqual([query, []])
  })

  test('is found by the beginning of a word of the name or the address, without case and accents', async () => {
    await named('Zoë Quinn O’Hara', 'zq@games.example')
    await named('100% Zorro_', 'z@mask.example')
    await word()
    for (const q of ['zo', 'ZOE', 'zoë q', 'quinn', 'hara', 'zq@', 'games.ex', 'Quinn  O’H'])
      expect([q, await names(`q=${encodeURIComponent(q)}`)]).toEqual([
        q,
        q === 'zo' ? ['Zoë Quinn O’Hara', '100% Zorro_'] : ['Zoë Quinn O’Hara'],
      ])
    for (const q of ['uinn', '%', '_', 'z%', 'ara'])
      expect([q, await names(`q=${encodeURIComponent(q)}`)]).toEqual([q, []])
    expect(await names(`q=${encodeURIComponent('100% z')}`)).toEqual(['100% Zorro_'])
  })

  test('answers an account once, and pages by the word', async () => {
    for (const one of ['Kay Kaye', 'Kai Kaufmann', 'Kamala Ka']) await named(one, `${one.replace(' ', '.')}@k.example`)
    await word()
    expect(await names('q=ka')).toEqual(['Kamala Ka', 'Kai Kaufmann', 'Kay Kaye'])
    const first = (await ask('GET /accounts?q=ka&size=2')).json
    const second = (await ask(`GET /accounts?q=ka&size=2&cursor=${first.next_cursor}`)).json
    expect([...first.data, ...second.data].map((one: Account) => one.display_name)).toEqual([
      'Kamala Ka',
      'Kai Kaufmann',
      'Kay Kaye',
    ])
    expect(second.next_cursor).toBeNull()
    expect((await ask(`GET /accounts?q=kai&cursor=${first.next_cursor}`)).json.code).toBe('cursor.invalid')
  })

  test('follows a name that older code changed', async () => {
    const id = await named('Before Marriage', 'bm@k.example')
    await word()
    await board.daemon.db.sql`update account set display_name = 'Behind Wedding' where id = ${id}`
    await word()
    expect(await names('q=marriage')).toEqual([])
    expect(await names('q=wedding')).toEqual(['Behind Wedding'])
  })

  test('takes no workspace but at the database', async () => {
    const { status, json } = await ask('GET /accounts?workspace=home')
    expect([status, json.code, json.errors[0].code]).toEqual([400, 'request.malformed', 'member.unknown'])
    const found = await performForAnswer(installation, accountOperations.listAccounts, recoveryActor(), {
      workspace: 'home',
      email: `${board.people.MEMBER.accountId}@people.example`,
    })
    expect(found.data).toMatchObject([{ id: board.people.MEMBER.accountId, admin: { has_password: false } }])
    const sent = { accountId: board.people.MEMBER.accountId }
    expect(await performForAnswer(installation, accountOperations.getAccount, recoveryActor(), sent)).toEqual(
      found.data[0],
    )
    await expect(performForAnswer(installation, accountOperations.listAccounts, recoveryActor(), {})).rejects.toThrow()
    await expect(
      performForAnswer(installation, accountOperations.getAccount, recoveryActor(), { accountId: randomUUID() }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('who sees a container', () => {
  const seeing = async (container: { id: string }, as?: Person) =>
    new Set((await list(`container_id=${container.id}&size=200`, as)).map((one) => one.id))

  test('of an open one: everybody of the workspace, and its guests', async () => {
    const open = await board.collection(await board.hub())
    const guest = await board.guest()
    const stranger = await board.guest()
    await board.grant(open, guest, 'VIEWER')
    const seen = await seeing(open)
    expect(seen.has(board.people.VIEWER.accountId) && seen.has(guest.accountId)).toBe(true)
    expect(seen.has(stranger.accountId)).toBe(false)
  })

  test('of a private one, or one in a private hub: who has a role there, and the OWNERs', async () => {
    const hub = await board.hub({ is_private: true })
    const inHub = await board.collection(hub)
    const apart = await board.collection(hub, { is_private: true })
    const [ofHub, ofApart] = [await board.guest(), await board.guest()]
    await board.grant(hub, ofHub, 'MEMBER')
    await board.grant(apart, ofApart, 'MEMBER')
    const owners = new Set((await list('size=200')).filter(({ role }) => role === 'OWNER').map(({ id }) => id))
    expect(await seeing(inHub)).toEqual(new Set([...owners, ofHub.accountId]))
    expect(await seeing(apart)).toEqual(new Set([...owners, ofApart.accountId]))
    expect(await seeing(apart, board.people.ADMIN)).toEqual(new Set())
    expect(await seeing({ id: randomUUID() })).toEqual(new Set())
  })

  test('a guest sees these alone, of others no address, and finds nobody by one', async () => {
    const shut = await board.collection(await board.hub({ is_private: true }), { is_private: true })
    const [guest, other] = [await board.guest(), await board.guest()]
    await board.grant(shut, guest, 'VIEWER')
    await board.grant(shut, other, 'VIEWER')
    await named('Unseen Member', 'unseen@k.example')
    await board.daemon.db.sql`update account set display_name = 'Pia Guest' where id = ${other.accountId}`
    await word()
    const seen = await list('size=200', guest)
    const ids = new Set(seen.map(({ id }) => id))
    expect(ids.has(other.accountId) && ids.has(board.people.OWNER.accountId)).toBe(true)
    expect(ids.has(board.people.ADMIN.accountId)).toBe(false)
    expect(seen.map(({ id, email, admin }) => [id === guest.accountId, email !== null, admin !== null])).toEqual(
      seen.map(({ id }) => [id === guest.accountId, id === guest.accountId, id === guest.accountId]),
    )
    expect((await ask(`GET /accounts/${board.people.ADMIN.accountId}`, guest)).status).toBe(404)
    expect((await ask(`GET /accounts/${other.accountId}`, guest)).json).toMatchObject({ email: null, admin: null })
    expect(await names('q=pia', guest)).toEqual(['Pia Guest'])
    expect(await names('q=unseen', guest)).toEqual([])
    expect(await names(`q=${other.accountId}`, guest)).toEqual([])
    expect(await names(`email=${other.accountId}%40people.example`, guest)).toEqual([])
    expect((await names(`email=${guest.accountId}%40people.example`, guest)).length).toBe(1)
    const open = await board.collection(await board.hub())
    await board.grant(open, guest, 'VIEWER')
    expect(await names('q=unseen', guest)).toEqual(['Unseen Member'])
    expect((await ask(`GET /accounts/${board.people.ADMIN.accountId}`, guest)).status).toBe(200)
  })
})

test('the words of a text', () => {
  expect(wordsOf('Ada  King-Noël')).toEqual(['ada king-noel', 'king-noel', 'noel'])
  expect(wordsOf('ada@x.example')).toEqual(['ada@x.example', 'x.example', 'example'])
  expect(wordsOf(null)).toEqual([])
  expect(wordsOf('ha ha')).toEqual(['ha ha', 'ha'])
  expect(wordsOf('𝒳'.repeat(300))[0]).toHaveLength(120)
  expect(wordsOf(Array.from({ length: 100 }, (_, at) => `w${at}`).join(' '))).toHaveLength(12)
})
