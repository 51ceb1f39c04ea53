/** Personal access tokens and service accounts. Spec: Authentication, 2, 3 and 7; decisions 2, Tokens and Scopes. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/operations.ts'
import type { Scope } from '../../src/core/schema.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantAccount, plantToken } from '../support/accounts.ts'
import type { Caller } from '../support/callers.ts'
import { password, type TestInstallation, testInstallation } from '../support/installation.ts'

const {
  createToken,
  listTokens,
  revokeToken,
  createServiceAccount,
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
    const reader = who.as((await mint(['workspace:read'])).token)
    expect((await mint(['workspace:read'], {}, reader)).scopes).toEqual(['workspace:read'])
    for (const scope of ['workspace:write', 'workspace:admin'] as const)
      await expect(mint(['workspace:read', scope], {}, reader)).rejects.toMatchObject({
        code: 'auth.scope_required',
        status: 403,
        params: { scope },
      })
  })

  test('mints none that outlives it; the step-up for an operator’s token shows the person, who may', async () => {
    const short = who.as((await mint(['workspace:read'], { expires_at: inDays(3) })).token)
    expect(days((await mint(['workspace:read'], {}, short)).expires_at)).toBe(3)
    expect(days((await mint(['workspace:read'], { expires_at: inDays(2) }, short)).expires_at)).toBe(2)
    await expect(mint(['workspace:read'], { expires_at: inDays(4) }, short)).rejects.toMatchObject({
      code: 'request.invalid',
      errors: [{ pointer: '/expires_at', code: 'value.maximum' }],
    })

    const ops = await plantToken(own, who.operator, { scopes: ['admin:tenants'], expiresAt: new Date(inDays(1)) })
    const proof = await prove(who.as(ops.token))
    const renewed = await who
      .as(ops.token)
      .call(createToken, { body: { name: 'ops', scopes: ['admin:tenants'] }, stepUp: proof })
    expect(days(renewed.expires_at)).toBe(90)
  })

  test('of a service account renews itself: nobody has a password to show for it', async () => {
    const robot = await person.call(createServiceAccount, {
      body: { name: 'robot', role: 'MEMBER', scopes: ['workspace:read'], expires_at: inDays(1) },
    })
    expect(days((await mint(['workspace:read'], {}, who.as(robot.token))).expires_at)).toBe(365)
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
    const { token } = await plantToken(own, owner, { scopes: ['admin:tenants'] })
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
    await expect(create({ scopes: ['workspace:write'] }, who.as(token))).rejects.toMatchObject({
      code: 'auth.scope_required',
    })
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
      code: 'not_found',
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
