/**
 * Removed means out: with its last role an account loses every session, token and proof, cannot sign in, and gets
 * back by a later grant the right to sign in alone. Decisions 7; decision 0151.
 */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import type { Role } from '../../src/core/contract/vocabulary.ts'
import { mintToken, type TokenKind } from '../../src/core/kernel/values/token.ts'
import { type Board, openBoard } from '../containers/board.ts'
import { type Credential, type Person, person, plantProof, storedPassword } from '../kit/people.ts'

const password = 'correct horse battery staple'

let board: Board
let passwordHash: string
let slug: string
let who: Person
beforeAll(async () => {
  board = await openBoard()
  passwordHash = await storedPassword(password)
  slug = (await board.daemon.db.sql<{ slug: string }[]>`select slug from tenant where id = ${board.tenantId}`)[0]!.slug
})
afterAll(() => board.close())
beforeEach(async () => {
  who = await member()
})

const member = (role: Role = 'MEMBER', more: Credential = {}) =>
  person(board.daemon, board.tenantId, { role, passwordHash, ...more })
const call = (method: string, path: string, body?: unknown, token?: string) =>
  board.daemon.call(method, `/api/v1${path}`, { token, ...(body === undefined ? {} : { body }) })
const signIn = ({ accountId }: Person, given = password) =>
  call('POST', '/auth/sessions', { workspace: slug, email: `${accountId}@people.example`, password: given })
const me = (token: string) => call('GET', '/accounts/me', undefined, token)
const memberships = async ({ accountId }: Person): Promise<{ id: string; container_id: string | null }[]> =>
  (await board.ask(`GET /memberships?account_id=${accountId}`)).json.data
async function remove(person: Person): Promise<void> {
  for (const { id } of await memberships(person)) {
    const { status } = await board.ask(`DELETE /memberships/${id}`)
    expect(status).toBe(204)
  }
}
const grant = ({ accountId }: Person, role: Role = 'MEMBER', container_id: string | null = null) =>
  board.ask('POST /memberships', { account_id: accountId, role, container_id })

/** What of the account's could still let somebody in. */
async function alive({ accountId }: Person): Promise<Record<string, number>> {
  const [row] = await board.daemon.db.sql<Record<string, number>[]>`
    select (select count(*) from credential where account_id = ${accountId} and revoked_at is null)::int as credentials,
           (select count(*) from session where account_id = ${accountId} and revoked_at is null)::int as sessions,
           (select count(*) from step_up where account_id = ${accountId} and used_at is null)::int as proofs,
           (select count(*) from password_reset where account_id = ${accountId} and used_at is null)::int as resets,
           (select count(*) from sign_in_flow where proved_account_id = ${accountId} and used_at is null)::int as flows,
           (select count(*) from invitation where account_id = ${accountId} and used_at is null)::int as invitations`
  return row!
}
const nothing = { credentials: 0, sessions: 0, proofs: 0, resets: 0, flows: 0, invitations: 0 }

/** One of everything that lets in, as it is in the middle of its life. */
async function plantAll({ tenantId, accountId }: Person): Promise<Record<'invitation' | 'passwordReset', string>> {
  const { sql } = board.daemon.db
  const minted = (kind: TokenKind) => mintToken(kind)
  const [invitation, reset, flow] = [minted('invitation'), minted('passwordReset'), minted('flow')]
  const soon = new Date(Date.now() + 600_000)
  await sql`insert into invitation (tenant_id, id, account_id, hash, expires_at) values (${tenantId}, ${randomUUID()}, ${accountId}, ${invitation.hash}, ${soon})`
  await sql`insert into password_reset (tenant_id, id, account_id, hash, expires_at) values (${tenantId}, ${randomUUID()}, ${accountId}, ${reset.hash}, ${soon})`
  await sql`
    insert into sign_in_flow (tenant_id, id, hash, provider_scope, provider_id, redirect_uri, proved_account_id, expires_at)
    values (${tenantId}, ${randomUUID()}, ${flow.hash}, ${tenantId}, ${randomUUID()}, 'https://app.example/', ${accountId}, ${soon})`
  return { invitation: invitation.token, passwordReset: reset.token }
}

describe('the last role', () => {
  test('takes every session, token and proof with it, and a later grant gives none of them back', async () => {
    const session = (await signIn(who)).json
    await plantAll(who)
    await plantProof(board.daemon, who)
    await remove(who)
    expect(await alive(who)).toEqual(nothing)

    await grant(who)
    for (const token of [who.token, session.access_token]) expect((await me(token)).status).toBe(401)
    expect((await call('POST', '/auth/sessions:refresh', { refresh_token: session.refresh_token })).status).toBe(401)
    const again = await signIn(who)
    expect(again.status).toBe(201)
    expect((await me(again.json.access_token)).json.role).toBe('MEMBER')
  })

  test('may be one in a container, and what is left elsewhere keeps everything', async () => {
    const hub = await board.hub()
    const guest = await member()
    await grant(guest, 'VIEWER', hub.id)
    await board.daemon.db.sql`delete from membership where account_id = ${guest.accountId} and container_id is null`
    const other = await board.hub()
    await grant(guest, 'VIEWER', other.id)
    const [first, second] = await memberships(guest)
    expect((await board.ask(`DELETE /memberships/${first!.id}`)).status).toBe(204)
    expect((await me(guest.token)).status).toBe(200)
    expect((await signIn(guest)).status).toBe(201)
    expect((await board.ask(`DELETE /memberships/${second!.id}`)).status).toBe(204)
    expect(await alive(guest)).toEqual(nothing)
    expect((await signIn(guest)).json.code).toBe('auth.sign_in_failed')
  })

  test("ends what the account's tokens made: a service account's token, and its own", async () => {
    const admin = await member('ADMIN')
    const robot = await call(
      'POST',
      '/auth/service-accounts',
      { name: 'robot', role: 'ADMIN', scopes: ['workspace:read', 'workspace:admin'] },
      admin.token,
    )
    const child = await call('POST', '/auth/tokens', { name: 'child', scopes: ['workspace:read'] }, robot.json.token)
    expect((await me(child.json.token)).status).toBe(200)
    await remove(admin)
    for (const token of [robot.json.token, child.json.token]) expect((await me(token)).status).toBe(401)
  })

  test('is in the trail and in the events, session by session and token by token', async () => {
    const { session_id } = (await signIn(who)).json
    await remove(who)
    const { sql } = board.daemon.db
    expect(
      await sql`select params from audit_entry where subject_id = ${who.accountId} and action = 'account.credentials_ended'`,
    ).toEqual([{ params: { reason: 'role_lost', sessions: 1, tokens: 1 } }])
    for (const id of [session_id, who.credentialId])
      expect(
        await sql`select type from outbox_event where body like ${`%${id}%`} and type ~ 'ended|revoked'`,
      ).toHaveLength(1)
  })
})

describe('without a role', () => {
  beforeEach(() => remove(who))

  test('the right password answers as a wrong one does, and as an address that nobody has', async () => {
    const bare = ({ status, headers, json }: Awaited<ReturnType<typeof signIn>>) => {
      const { instance: _, ...problem } = json
      return [status, headers['www-authenticate'], problem]
    }
    const right = bare(await signIn(who))
    expect(right[0]).toBe(401)
    expect(right).toEqual(bare(await signIn(who, 'a wrong password')))
    expect(right).toEqual(bare(await signIn({ ...who, accountId: randomUUID() })))
  })

  test('both passwords count towards the lock alike', async () => {
    for (const given of [password, password, 'wrong', password, 'wrong']) await signIn(who, given)
    const [row] = await board.daemon.db.sql`
      select count(*)::int as failures from failed_sign_in where tenant_id = ${board.tenantId} group by subject order by max(at) desc limit 1`
    expect(row).toEqual({ failures: 5 })
  })

  test('neither :set-password nor a reset, an invitation or a refresh token lets in', async () => {
    const { sql } = board.daemon.db
    const { invitation, passwordReset } = await plantAll(who)
    await sql`update account set state = 'INVITED' where id = ${who.accountId}`
    expect((await call('POST', '/auth/invitations:redeem', { token: invitation, password })).json.code).toBe(
      'auth.invitation_invalid',
    )
    expect((await call('POST', '/auth/invitations:inspect', { token: invitation })).status).toBe(410)
    await sql`update account set state = 'ACTIVE' where id = ${who.accountId}`
    expect((await call('POST', '/auth/password:reset', { token: passwordReset, password })).json.code).toBe(
      'auth.reset_invalid',
    )
    const replaced = {
      workspace: slug,
      email: `${who.accountId}@people.example`,
      password,
      new_password: `${password}!`,
    }
    expect((await call('POST', '/auth/sessions:set-password', replaced)).json.code).toBe('auth.sign_in_failed')

    const sessionId = randomUUIDv7()
    const { token, hash } = mintToken('refresh')
    await sql`insert into session (tenant_id, id, account_id) values (${who.tenantId}, ${sessionId}, ${who.accountId})`
    await sql`
      insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, scopes, expires_at)
      values (${who.tenantId}, ${randomUUIDv7()}, ${who.accountId}, ${sessionId}, 'REFRESH', ${hash}, 'last', '', now() + interval '1 day')`
    expect((await call('POST', '/auth/sessions:refresh', { refresh_token: token })).json.code).toBe(
      'auth.unauthenticated',
    )
  })

  test('an operator is nobody either', async () => {
    const operator = await member('MEMBER', { operator: true })
    await board.daemon.db.sql`delete from membership where account_id = ${operator.accountId}`
    expect((await me(operator.token)).status).toBe(401)
    expect((await signIn(operator)).json.code).toBe('auth.sign_in_failed')
  })
})
