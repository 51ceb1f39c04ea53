/**
 * A call of a known token begins its work before its look-up is answered. Whatever has changed since the last call, the
 * answer is that of a call whose token was looked up first. Decision 0175.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

let daemon: TestDaemon
let tenantId: string
let hubId: string
let somebody: Person
let slugs = 0
beforeAll(async () => {
  daemon = await testDaemon()
  await setUp(daemon)
})
beforeEach(async () => {
  slugs += 1
  tenantId = await workspace(daemon, `known-${slugs}`)
  hubId = await container()
  somebody = await person(daemon, tenantId, { kind: 'SESSION', operator: true, role: 'ADMIN' })
})
afterAll(() => daemon.close())

async function container({ isPrivate = false } = {}): Promise<string> {
  const id = randomUUIDv7()
  await daemon.db.sql`
    insert into container (tenant_id, id, kind, name, rank, is_private) values (${tenantId}, ${id}, 'HUB', 'Hub', ${`a${slugs}`}, ${isPrivate})`
  return id
}

const read = (id = hubId) => daemon.call('GET', `/api/v1/containers/${id}`, { token: somebody.token })
const write = (body: object = { kind: 'COLLECTION', parent_id: hubId, name: 'New' }) =>
  daemon.call('POST', '/api/v1/containers', { token: somebody.token, body })
const seen = async (call: ReturnType<typeof read>) => {
  const { status, json } = await call
  return status < 400 ? status : `${status} ${json.code}`
}
const written = async () =>
  (await daemon.db.sql`select from container where tenant_id = ${tenantId} and kind = 'COLLECTION'`).count

const mine = () => ({ tenant_id: somebody.tenantId, account_id: somebody.accountId })
/** What may have changed since the last call, and what the next one is answered. */
const changes: readonly (readonly [string, (sql: TestDaemon['db']['sql']) => Promise<unknown>, unknown, unknown])[] = [
  ['nothing', async () => {}, 200, 201],
  [
    'the token was revoked',
    (sql) => sql`update credential set revoked_at = now() where id = ${somebody.credentialId}`,
    '401 auth.unauthenticated',
    '401 auth.unauthenticated',
  ],
  [
    'the token has expired',
    (sql) => sql`update credential set expires_at = now() - interval '1 second' where id = ${somebody.credentialId}`,
    '401 auth.unauthenticated',
    '401 auth.unauthenticated',
  ],
  [
    'the session was revoked',
    (sql) => sql`update session set revoked_at = now() where account_id = ${mine().account_id}`,
    '401 auth.unauthenticated',
    '401 auth.unauthenticated',
  ],
  [
    'the account was disabled',
    (sql) => sql`update account set state = 'DISABLED' where id = ${mine().account_id}`,
    '401 auth.unauthenticated',
    '401 auth.unauthenticated',
  ],
  [
    'the account has no role any more',
    (sql) => sql`delete from membership where account_id = ${mine().account_id}`,
    '401 auth.unauthenticated',
    '401 auth.unauthenticated',
  ],
  [
    'the role is lower',
    (sql) => sql`update membership set role = 'VIEWER' where account_id = ${mine().account_id}`,
    200,
    '403 auth.role_required',
  ],
  [
    'the role is higher',
    (sql) => sql`update membership set role = 'OWNER' where account_id = ${mine().account_id}`,
    200,
    201,
  ],
  [
    'the token has fewer scopes',
    (sql) => sql`update credential set scopes = 'workspace:read' where id = ${somebody.credentialId}`,
    200,
    '403 auth.scope_required',
  ],
  [
    'the workspace is suspended',
    (sql) => sql`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${tenantId}`,
    '403 tenant_suspended',
    '403 tenant_suspended',
  ],
]

describe.each(changes)('where since the last call %s', (_, change, onRead, onWrite) => {
  beforeEach(async () => {
    expect(await seen(read())).toBe(200)
    await change(daemon.db.sql)
  })

  test('a read', async () => {
    expect(await seen(read())).toBe(onRead)
    expect(await seen(read())).toBe(onRead)
  })

  test('a change, which is made once or not at all', async () => {
    expect(await seen(write())).toBe(onWrite)
    expect(await written()).toBe(onWrite === 201 ? 1 : 0)
  })

  test('a body that the schema refuses', async () => {
    const isRefused = typeof onWrite === 'string'
    expect(await seen(write({ kind: 'COLLECTION' }))).toBe(isRefused ? onWrite : '422 request.invalid')
  })
})

test('the gate of the installation closes for a known token', async () => {
  const plain = await person(daemon, tenantId)
  const call = () => seen(daemon.call('GET', `/api/v1/containers/${hubId}`, { token: plain.token }))
  expect(await call()).toBe(200)
  await daemon.db.sql`update installation set gated_at = now(), gate_reason = 'BEGUN'`
  try {
    expect(await call()).toBe('503 installation.recovering')
  } finally {
    await daemon.db.sql`update installation set gated_at = null, gate_reason = null`
  }
  expect(await call()).toBe(200)
})

test('an operator that was removed from the register is refused, and one that was entered is served', async () => {
  const list = () => seen(daemon.call('GET', '/api/v1/admin/journal', { token: somebody.token }))
  expect(await list()).toBe(200)
  await daemon.db.sql`delete from operator where account_id = ${somebody.accountId}`
  expect(await list()).toBe('403 admin.operator_required')
  await daemon.db.sql`insert into operator (account_id, workspace_id) values (${somebody.accountId}, ${tenantId})`
  expect(await list()).toBe(200)
})

test('a private container is seen from the next call on by who became an owner, and no longer by who was one', async () => {
  const hidden = await container({ isPrivate: true })
  const become = (role: string) =>
    daemon.db.sql`update membership set role = ${role} where account_id = ${somebody.accountId}`
  expect(await seen(read(hidden))).toBe('404 not_found')
  await become('OWNER')
  expect(await seen(read(hidden))).toBe(200)
  await become('ADMIN')
  expect(await seen(read(hidden))).toBe('404 not_found')
})

test('a second factor that is demanded is demanded at the next call', async () => {
  await daemon.db.sql`update account set password_hash = 'not looked at' where id = ${somebody.accountId}`
  expect(await seen(read())).toBe(200)
  await daemon.db.sql`insert into setting (name, value) values ('sign_in.mfa_required_for', '"ALL"')`
  try {
    expect(await seen(read())).toBe('403 auth.second_factor_demanded')
  } finally {
    await daemon.db.sql`delete from setting where name = 'sign_in.mfa_required_for'`
  }
  expect(await seen(read())).toBe(200)
})

test('after a recovery, a cursor of the old epoch is gone, also to a known token', async () => {
  const list = (cursor = '') =>
    daemon.call('GET', `/api/v1/admin/journal?size=1${cursor && `&cursor=${cursor}`}`, { token: somebody.token })
  const { next_cursor: cursor } = (await list()).json
  expect((await list(cursor)).status).toBe(200)
  await daemon.db.sql`update installation set epoch = gen_random_uuid()`
  expect(await seen(list(cursor))).toBe('410 gone')
})

test('calls at once with a change of the role beside them: each is answered by one of the two roles, and none after the change by the old one', async () => {
  for (let round = 0; round < 10; round += 1) {
    await daemon.db.sql`update membership set role = 'ADMIN' where account_id = ${somebody.accountId}`
    expect(await seen(read())).toBe(200)
    const calls = Array.from({ length: 8 }, () => seen(write()))
    await daemon.db.sql`update membership set role = 'VIEWER' where account_id = ${somebody.accountId}`
    expect(await seen(write())).toBe('403 auth.role_required')
    for (const answer of await Promise.all(calls)) expect([201, '403 auth.role_required']).toContain(answer)
  }
})
