/** Personal access tokens and service accounts. Spec: Authentication, 2, 3 and 7; decisions 2, Tokens and Scopes. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import type { Scope } from '../../src/core/contract/vocabulary.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantAccount, plantToken } from '../kit/accounts.ts'
import type { Caller } from '../kit/callers.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

const {
  createToken,
  listTokens,
  revokeToken,
  changePassword,
  createServiceAccount,
  endSession,
  listServiceAccounts,
  getOwnAccount,
  listTenants,
  stepUp,
} = operations

let own: TestInstallation
let who: Callers
let owner: Person
let person: Caller
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})
beforeEach(async () => {
  owner = await joinedWorkspace(own)
  person = who.as(owner.session.access_token)
})

const days = (moment: string | null) => Math.round((Date.parse(moment!) - Date.now()) / 86_400_000)
const inDays = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString()
const mint = (scopes: readonly Scope[], more: object = {}, by = person) =>
  by.call(createToken, { body: { name: 'mine', scopes: [...scopes], ...more } })
const unauthenticated = { code: 'auth.unauthenticated', status: 401 }
const prove = async (by = person) => (await by.call(stepUp, { body: { password } })).step_up_token

describe('a personal access token', () => {
  test('is shown once, serves at once, and is listed by its last four characters', async () => {
    const made = await mint(['workspace:read'])
    expect(made.token).toMatch(/^svcp_[0-9A-Za-z]{49}$/)
    expect(made.last4).toBe(made.token.slice(-4))
    expect((await who.as(made.token).call(getOwnAccount)).id).toBe(owner.accountId)
    const { token, ...row } = made
    const { data } = await person.call(listTokens)
    expect(data.map(({ last_used_at: _, ...rest }) => rest)).toEqual([(({ last_used_at: _, ...rest }) => rest)(row)])
    expect(JSON.stringify(data)).not.toContain(token)
  })

  test('lives 365 days, or as long as was asked, and neither longer nor in the past', async () => {
    expect(days((await mint(['workspace:read'])).expires_at)).toBe(365)
    expect(days((await mint(['workspace:read'], { expires_at: inDays(3) })).expires_at)).toBe(3)
    for (const expires_at of [inDays(366), inDays(-1), new Date(0).toISOString()])
      await expect(mint(['workspace:read'], { expires_at })).rejects.toMatchObject({
        code: 'request.invalid',
        errors: [{ pointer: '/expires_at', code: 'value.moment_range' }],
      })
    await expect(mint(['workspace:read'], { expires_at: 'tomorrow' })).rejects.toMatchObject({
      code: 'request.invalid',
    })
  })

  test('names each scope once, and at least one', async () => {
    await expect(mint([])).rejects.toMatchObject({ code: 'request.invalid', errors: [{ pointer: '/scopes' }] })
    await expect(mint(['workspace:read', 'workspace:read'])).rejects.toMatchObject({
      errors: [{ pointer: '/scopes', code: 'list.unique' }],
    })
    await expect(mint(['everything' as Scope])).rejects.toMatchObject({ code: 'request.invalid' })
  })

  test('reaches no further than what minted it', async () => {
    const admin = who.as((await mint(['workspace:read', 'workspace:admin'])).token)
    expect((await mint(['workspace:read'], {}, admin)).scopes).toEqual(['workspace:read'])
    await expect(mint(['workspace:read', 'workspace:write'], {}, admin)).rejects.toMatchObject({
      code: 'auth.scope_required',
      status: 403,
      params: { scope: 'workspace:write' },
    })
  })

  test('made for something else changes no way in: it mints none, revokes none, ends no session', async () => {
    const { token, id } = await mint(['workspace:read', 'workspace:write'])
    const reader = who.as(token)
    const other = await mint(['workspace:read'])
    for (const act of [
      () => mint(['workspace:read'], {}, reader),
      () => reader.call(revokeToken, { tokenId: other.id }),
      () => reader.call(revokeToken, { tokenId: id }),
      () => reader.call(endSession, { sessionId: owner.session.session_id }),
      () => reader.call(changePassword, { body: { current_password: password, new_password: `${password} 2` } }),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'auth.scope_required', params: { scope: 'workspace:admin' } })
    expect((await reader.call(getOwnAccount)).id).toBe(owner.accountId)
    expect((await reader.call(listTokens)).data).toHaveLength(2)
    expect((await reader.call(stepUp, { body: { password } })).step_up_token).toMatch(/^svcu_/)
    expect((await who.as(other.token).call(getOwnAccount)).id).toBe(owner.accountId)
  })

  test('mints none that outlives it; the step-up for an operator’s token shows the person, who may', async () => {
    const short = who.as((await mint(['workspace:read', 'workspace:admin'], { expires_at: inDays(3) })).token)
    expect(days((await mint(['workspace:read'], {}, short)).expires_at)).toBe(3)
    expect(days((await mint(['workspace:read'], { expires_at: inDays(2) }, short)).expires_at)).toBe(2)
    await expect(mint(['workspace:read'], { expires_at: inDays(4) }, short)).rejects.toMatchObject({
      code: 'request.invalid',
      errors: [{ pointer: '/expires_at', code: 'value.maximum' }],
    })

    const ops = await plantToken(own, who.operator, {
      scopes: ['workspace:admin', 'admin:tenants'],
      expiresAt: new Date(inDays(1)),
    })
    const proof = await prove(who.as(ops.token))
    const renewed = await who
      .as(ops.token)
      .call(createToken, { body: { name: 'ops', scopes: ['admin:tenants'] }, stepUp: proof })
    expect(days(renewed.expires_at)).toBe(90)
  })

  test('of a service account mints none that outlives it either: nobody can be shown for it', async () => {
    const robot = await person.call(createServiceAccount, {
      body: { name: 'robot', role: 'MEMBER', scopes: ['workspace:read', 'workspace:admin'], expires_at: inDays(1) },
    })
    const minted = await mint(['workspace:read'], {}, who.as(robot.token))
    expect(minted.expires_at).toBe(robot.expires_at)
    await expect(mint(['workspace:read'], { expires_at: inDays(2) }, who.as(robot.token))).rejects.toMatchObject({
      errors: [{ pointer: '/expires_at', code: 'value.maximum' }],
    })
  })

  test('takes what it made with it when it is revoked, to the last of the line, and nothing that a person made', async () => {
    const root = await mint(['workspace:read', 'workspace:admin'])
    const child = await mint(['workspace:read', 'workspace:admin'], {}, who.as(root.token))
    const grandchild = await mint(['workspace:read', 'workspace:admin'], {}, who.as(child.token))
    const robot = await who.as(grandchild.token).call(createServiceAccount, {
      body: { name: 'robot', role: 'MEMBER', scopes: ['workspace:read', 'workspace:admin'] },
    })
    const last = await mint(['workspace:read'], {}, who.as(robot.token))
    const beside = await mint(['workspace:read'])
    await person.call(revokeToken, { tokenId: root.id })
    for (const { token } of [root, child, grandchild, robot, last])
      await expect(who.as(token).call(getOwnAccount)).rejects.toMatchObject(unauthenticated)
    expect((await who.as(beside.token).call(getOwnAccount)).id).toBe(owner.accountId)
    expect((await person.call(listTokens)).data.map(({ id }) => id)).toEqual([beside.id])
    const told = await own.oracle`
      select count(*)::int as n from audit_entry where tenant_id = ${owner.tenantId} and action = 'token.revoked'`
    expect(told).toEqual([{ n: 5 }])
  })

  test('that a step-up made stays when the one that asked is revoked', async () => {
    const asking = await plantToken(own, who.operator, { scopes: ['workspace:admin', 'admin:tenants'] })
    const by = who.as(asking.token)
    const body = { name: 'ops', scopes: ['admin:tenants' as const] }
    const made = await by.call(createToken, { body, stepUp: await prove(by) })
    await by.call(revokeToken, { tokenId: asking.id })
    expect((await who.as(made.token).call(getOwnAccount)).id).toBe(who.operator.accountId)
  })

  test('ends when it expires, by the database’s clock', async () => {
    const { token, id } = await mint(['workspace:read'])
    await own.oracle`update credential set expires_at = now() where id = ${id}`
    await expect(who.as(token).call(getOwnAccount)).rejects.toMatchObject(unauthenticated)
    expect((await person.call(listTokens)).data).toEqual([])
  })

  test('ends from the next call on when it is revoked, once', async () => {
    const { token, id } = await mint(['workspace:read'])
    await who.as(token).call(getOwnAccount)
    await person.call(revokeToken, { tokenId: id })
    await expect(who.as(token).call(getOwnAccount)).rejects.toMatchObject(unauthenticated)
    await expect(person.call(revokeToken, { tokenId: id })).rejects.toMatchObject({ code: 'not_found' })
    const traces =
      await own.oracle`select action from audit_entry where tenant_id = ${owner.tenantId} and action like 'token.%' order by id`
    expect(traces.map((row) => row['action'] as string)).toEqual(['token.created', 'token.revoked'])
  })

  test('of somebody else, of another workspace, or of nobody is not_found', async () => {
    const colleague = await plantAccount(own, owner.tenantId)
    const theirs = await plantToken(own, colleague, { scopes: ['workspace:read'] })
    const elsewhere = await plantToken(own, who.operator, { scopes: ['workspace:read'] })
    for (const tokenId of [theirs.id, elsewhere.id, randomUUID(), owner.session.session_id])
      await expect(person.call(revokeToken, { tokenId })).rejects.toMatchObject({ code: 'not_found' })
    expect((await who.as(elsewhere.token).call(getOwnAccount)).id).toBe(who.operator.accountId)
  })
})

describe('a token that reaches the installation', () => {
  const operator = () => who.as(who.operator.session.access_token)
  const mintAdmin = async (by: Caller, more: object = {}) =>
    by.call(createToken, { body: { name: 'ops', scopes: ['admin:tenants'], ...more }, stepUp: await prove(by) })

  test('is for those in the register, and lives 90 days at most', async () => {
    const made = await mintAdmin(operator())
    expect(days(made.expires_at)).toBe(90)
    expect((await who.as(made.token).call(listTenants)).data.length).toBeGreaterThan(0)
    await expect(mintAdmin(operator(), { expires_at: inDays(91) })).rejects.toMatchObject({
      errors: [{ pointer: '/expires_at' }],
    })
    await expect(mintAdmin(person)).rejects.toMatchObject({ code: 'admin.operator_required', status: 403 })
  })

  test('is for the owner of the first workspace while the register is empty, and for no other owner', async () => {
    await own.oracle`delete from operator`
    try {
      await expect(mintAdmin(person)).rejects.toMatchObject({ code: 'admin.operator_required' })
      expect((await mintAdmin(operator())).scopes).toEqual(['admin:tenants'])
      await own.oracle`update membership set role = 'ADMIN' where account_id = ${who.operator.accountId}`
      await expect(mintAdmin(operator())).rejects.toMatchObject({ code: 'admin.operator_required' })
    } finally {
      await own.oracle`update membership set role = 'OWNER' where account_id = ${who.operator.accountId}`
      await own.oracle`insert into operator (account_id, workspace_id) values (${who.operator.accountId}, ${who.operator.tenantId})`
    }
  })

  test('is minted by such a token only while its bearer is in the register', async () => {
    const { token } = await plantToken(own, owner, { scopes: ['workspace:admin', 'admin:tenants'] })
    await expect(mintAdmin(who.as(token))).rejects.toMatchObject({ code: 'admin.operator_required' })
  })
})

describe('a service account', () => {
  const create = (body: object = {}, by = person) =>
    by.call(createServiceAccount, { body: { name: 'robot', role: 'MEMBER', scopes: ['workspace:read'], ...body } })

  test('has a token of its own kind and acts as itself', async () => {
    const made = await create()
    expect(made.token).toMatch(/^svca_/)
    expect(await who.as(made.token).call(getOwnAccount)).toMatchObject({
      id: made.account_id,
      kind: 'SERVICE',
      role: 'MEMBER',
      email: null,
      display_name: 'robot',
    })
    expect((await person.call(listServiceAccounts)).data).toEqual([
      { account_id: made.account_id, name: 'robot', role: 'MEMBER', created_at: made.created_at },
    ])
  })

  test('ranks no higher than who made it', async () => {
    const admin = await plantAccount(own, owner.tenantId, 'ADMIN')
    const { token } = await plantToken(own, admin, { scopes: ['workspace:read', 'workspace:admin'] })
    await expect(create({ role: 'OWNER' }, who.as(token))).rejects.toMatchObject({
      code: 'auth.role_required',
      params: { role: 'OWNER' },
    })
    expect((await create({ role: 'ADMIN' }, who.as(token))).role).toBe('ADMIN')
  })

  test('reaches no further and lives no longer than the token that makes it, but by step-up', async () => {
    const short = { scopes: ['workspace:read', 'workspace:admin'] as const, expiresAt: new Date(inDays(1)) }
    const asking = await plantToken(own, owner, short)
    const by = who.as(asking.token)
    const bounded = await create({}, by)
    expect(bounded.expires_at).toBe(short.expiresAt.toISOString())
    await create({ role: 'OWNER', expires_at: inDays(0.5) }, by)
    const beyond = [{ expires_at: inDays(2) }, { scopes: ['workspace:write'] }]
    for (const body of beyond) await expect(create(body, by)).rejects.toMatchObject({ code: 'auth.step_up_required' })
    const proven = async (body: object) => {
      const sent = { name: 'robot', role: 'OWNER' as const, scopes: ['workspace:read' as const], ...body }
      return by.call(createServiceAccount, { body: sent, stepUp: await prove(by) })
    }
    const [long, wide] = [await proven(beyond[0]!), await proven(beyond[1]!)]
    expect([days(long.expires_at), wide.scopes]).toEqual([2, ['workspace:write']])

    await person.call(revokeToken, { tokenId: asking.id })
    await expect(who.as(bounded.token).call(getOwnAccount)).rejects.toMatchObject(unauthenticated)
    for (const { token } of [long, wide]) await who.as(token).call(getOwnAccount)
  })

  test('of a session, which has shown its person at sign-in, is bound by neither', async () => {
    expect(days((await create({ role: 'OWNER' })).expires_at)).toBe(365)
  })

  test('is made by an ADMIN with the scope, not by a member, not with less', async () => {
    const member = await plantAccount(own, owner.tenantId, 'MEMBER')
    const theirs = await plantToken(own, member, { scopes: ['workspace:admin'] })
    await expect(create({}, who.as(theirs.token))).rejects.toMatchObject({
      code: 'auth.role_required',
      params: { role: 'ADMIN' },
    })
    const reading = await plantToken(own, owner, { scopes: ['workspace:read', 'workspace:write'] })
    await expect(create({}, who.as(reading.token))).rejects.toMatchObject({
      code: 'auth.scope_required',
      params: { scope: 'workspace:admin' },
    })
  })

  test('loses its token by an ADMIN’s hand, from the next call on', async () => {
    const made = await create()
    const reading = await plantToken(own, owner, { scopes: ['workspace:read'] })
    await expect(who.as(reading.token).call(revokeToken, { tokenId: made.token_id })).rejects.toMatchObject({
      code: 'auth.scope_required',
    })
    await person.call(revokeToken, { tokenId: made.token_id })
    await expect(who.as(made.token).call(getOwnAccount)).rejects.toMatchObject(unauthenticated)
  })

  test('has no password: neither sign-in nor step-up', async () => {
    const made = await create()
    await expect(who.as(made.token).call(stepUp, { body: { password } })).rejects.toMatchObject({
      code: 'auth.sign_in_failed',
    })
  })

  test('of another workspace is listed to nobody here', async () => {
    await create()
    const other = await joinedWorkspace(own)
    expect((await who.as(other.session.access_token).call(listServiceAccounts)).data).toEqual([])
  })
})
