/** Every session but one ends with one call, and the other tokens where asked. People 4, N16. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { linesAbout } from '../kit/ledger-lines.ts'
import { type Person, person, plantProof, setUp, storedPassword } from '../kit/people.ts'

const password = 'correct horse battery staple'
let daemon: TestDaemon
let tenantId: string
let passwordHash: string
let who: Person
beforeAll(async () => {
  daemon = await testDaemon()
  tenantId = (await setUp(daemon)).tenantId
  passwordHash = await storedPassword(password)
})
afterAll(() => daemon.close())
beforeEach(async () => {
  who = await person(daemon, tenantId, { role: 'MEMBER', passwordHash, scopes: ['workspace:read', 'workspace:admin'] })
})

const signIn = async () =>
  (
    await daemon.call('POST', '/api/v1/auth/sessions', {
      body: { workspace: 'home', email: `${who.accountId}@people.example`, password },
    })
  ).json as { access_token: string; refresh_token: string; session_id: string }
const revoke = (token: string, body: object = {}) =>
  daemon.call('POST', '/api/v1/auth/sessions:revoke-others', { token, body })
const lives = async (token: string) => (await daemon.call('GET', '/api/v1/accounts/me', { token })).status === 200

/** A token of the account, made by another one. */
async function tokenOf(accountId: string, parentId: string | null) {
  const { token, hash } = mintToken('personal')
  const id = randomUUIDv7()
  await daemon.db.sql`
    insert into credential (tenant_id, id, account_id, parent_id, kind, hash, last4, name, scopes)
    values (${tenantId}, ${id}, ${accountId}, ${parentId}, 'PERSONAL', ${hash}, 'xxxx', 'made', 'workspace:read workspace:admin')`
  return { id, token }
}

test('every other session ends, with its refresh token and its proofs; the own one and the tokens stay', async () => {
  const [own, other] = [await signIn(), await signIn()]
  await plantProof(daemon, { ...who, credentialId: other.session_id })
  const { status, json } = await revoke(own.access_token)
  expect([status, json]).toEqual([200, { sessions: 1, tokens: 0, apps: 0 }])
  expect([await lives(own.access_token), await lives(other.access_token), await lives(who.token)]).toEqual([
    true,
    false,
    true,
  ])
  const refresh = { body: { refresh_token: other.refresh_token } }
  expect((await daemon.call('POST', '/api/v1/auth/sessions:refresh', refresh)).status).toBe(401)
  expect(await daemon.db.sql`select 1 from step_up where account_id = ${who.accountId} and used_at is null`).toEqual([])
  const entries = await daemon.db.sql`
    select params ->> 'reason' as reason from audit_entry where action = 'session.ended' and subject_id = ${other.session_id}`
  expect([...entries]).toEqual([{ reason: 'revoked_by_account' }])
  expect((await revoke(own.access_token, { tokens: true, apps: true })).json).toEqual({
    sessions: 0,
    tokens: 1,
    apps: 0,
  })
  expect([await lives(own.access_token), await lives(who.token)]).toEqual([true, false])
})

test('under a token every session ends; that token stays, and so do those that it comes from', async () => {
  const session = await signIn()
  const parent = await tokenOf(who.accountId, null)
  const own = await tokenOf(who.accountId, parent.id)
  const sibling = await tokenOf(who.accountId, parent.id)
  const machine = await person(daemon, tenantId, { role: 'VIEWER', kind: 'SERVICE' })
  await daemon.db.sql`update credential set parent_id = ${sibling.id} where id = ${machine.credentialId}`
  expect((await revoke(own.token, { tokens: true })).json).toEqual({ sessions: 1, tokens: 3, apps: 0 })
  const tokens = [session.access_token, parent.token, own.token, sibling.token, machine.token, who.token]
  expect(await Promise.all(tokens.map(lives))).toEqual([false, true, true, false, false, false])
  const actsOn = (id: string) => linesAbout(daemon.config.ledgerFile, id).map(({ act }) => act)
  expect([sibling.id, machine.credentialId, who.credentialId].map(actsOn)).toEqual(Array(3).fill(['token.revoked']))
  expect(actsOn(own.id)).toEqual([])
})

test('a token without workspace:admin ends nothing', async () => {
  const reader = await person(daemon, tenantId, { role: 'OWNER', scopes: ['workspace:read'] })
  expect((await revoke(reader.token)).json.code).toBe('auth.scope_required')
})
