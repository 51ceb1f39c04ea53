/**
 * Managed accounts: people without an address, start passwords, and what a new account begins with. People 1, N1, N3 and
 * N5; 2; 10; docs/decisions/0412.
 */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { endStartPassword } from '../../src/core/areas/auth/password/start-password.ts'
import type { Session } from '../../src/core/contract/auth/operations.ts'
import type { Sent } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantAccount, plantToken } from '../kit/accounts.ts'
import { decide, decideNothing } from '../kit/deciding.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { linesAbout } from '../kit/ledger-lines.ts'
import { plantProof } from '../kit/proofs.ts'

const { createManagedAccount, issueStartPassword, signIn, signInWithNewPassword, getOwnAccount, inviteAccount } =
  operations
const form = /^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/
const better = 'quite another good password'

let house: TestInstallation
let who: Callers
let owner: Person
beforeAll(async () => {
  house = await testInstallation({})
  who = await callers(house)
})
afterAll(async () => {
  await who.close()
  await house.close()
})
beforeEach(async () => {
  owner = await joinedWorkspace(house)
})

const freshName = () => `bench-${randomUUIDv7().slice(-12)}`
type Body = NonNullable<Sent<typeof createManagedAccount>['body']>
const asOwner = () => who.as(owner.session.access_token)
const create = (body: Partial<Body> = {}, by = asOwner()) =>
  by.call(createManagedAccount, { body: { sign_in_name: freshName(), display_name: 'Bench', ...body } })
const enter = (email: string, secret: string) =>
  who.as().call(signIn, { body: { workspace: owner.slug, email, password: secret } })
const replace = (email: string, secret: string, next = better): Promise<Session> =>
  who.as().call(signInWithNewPassword, { body: { workspace: owner.slug, email, password: secret, new_password: next } })
const proof = () => plantProof(house.oracle, { ...owner, credentialId: owner.session.session_id })
const issue = async (accountId: string) => asOwner().call(issueStartPassword, { accountId, stepUp: await proof() })
const stateOf = async (id: string) =>
  (
    await house.oracle<{ state: string; start: boolean }[]>`
    select state, start_password_until is not null as start from account where id = ${id}`
  )[0]

async function asRole(role: Role) {
  const { accountId } = await plantAccount(house, owner.tenantId, role)
  const { token } = await plantToken(
    house,
    { tenantId: owner.tenantId, accountId },
    { scopes: ['workspace:read', 'workspace:admin'] },
  )
  return who.as(token)
}

describe('a managed account', () => {
  test('waits with a start password, which opens no session and is replaced', async () => {
    const name = freshName()
    const made = await create({ sign_in_name: name, role: 'COMMENTER', external_id: 'hr-3' })
    expect(made.start_password).toMatch(form)
    const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(6.9)
    expect(days).toBeLessThan(7.1)
    expect(made.account).toMatchObject({
      state: 'INVITED',
      email: null,
      sign_in_name: name,
      is_managed: true,
      role: 'COMMENTER',
    })
    expect(made.account.admin).toMatchObject({ addresses: [], start_password_expires_at: made.expires_at })
    await expect(enter(name, made.start_password)).rejects.toMatchObject({
      status: 403,
      code: 'auth.password_expired',
      params: { because: 'START' },
    })
    await expect(replace(name, made.start_password, made.start_password)).rejects.toMatchObject({
      errors: [{ pointer: '/new_password', code: 'password.used_before' }],
    })
    expect(await stateOf(made.account.id)).toEqual({ state: 'INVITED', start: true })
    const session = await replace(name.toUpperCase(), made.start_password)
    expect(await stateOf(made.account.id)).toEqual({ state: 'ACTIVE', start: false })
    expect(await who.as(session.access_token).call(getOwnAccount)).toMatchObject({ sign_in_name: name, email: null })
    await expect(replace(name, made.start_password)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    expect((await enter(name, better)).access_token).toMatch(/^svcs_/)
    const actions = await house.oracle<{ action: string }[]>`
      select action from audit_entry where subject_id = ${made.account.id} order by id`
    expect(actions.map(({ action }) => action)).toEqual([
      'account.created',
      'account.password_changed',
      'account.joined',
    ])
    expect((await asOwner().call(operations.listAccounts, { email: name })).data).toHaveLength(1)
  })

  test('is refused with a name that is taken, or that is none', async () => {
    const name = freshName()
    await create({ sign_in_name: name })
    await expect(create({ sign_in_name: name })).rejects.toMatchObject({ status: 409, code: 'account.name_taken' })
    for (const sign_in_name of ['a', 'Upper', '.dot', 'a@b.example', 'x'.repeat(65)])
      await expect(create({ sign_in_name })).rejects.toMatchObject({ code: 'request.invalid' })
    const other = await joinedWorkspace(house)
    expect((await create({ sign_in_name: name }, who.as(other.session.access_token))).account.sign_in_name).toBe(name)
  })

  test('is refused where the installation has none, or nobody signs in with a password', async () => {
    await decide(house, { sign_in: { managed_accounts: { value: false } } })
    await expect(create()).rejects.toMatchObject({ status: 403, code: 'account.managed_disabled' })
    await decide(house, { sign_in: { password_enabled: { value: false } } })
    await expect(create()).rejects.toMatchObject({ status: 403, code: 'auth.password_disabled' })
    await decideNothing(house)
  })

  test('is made once for one key, and an administrator gives no role above the own one', async () => {
    const sent = { idempotencyKey: randomUUID(), body: { sign_in_name: freshName(), display_name: 'Once' } }
    const made = await asOwner().call(createManagedAccount, sent)
    expect(await asOwner().call(createManagedAccount, sent)).toEqual(made)
    const admin = await asRole('ADMIN')
    await expect(create({ role: 'OWNER' }, admin)).rejects.toMatchObject({ code: 'auth.role_required' })
    await expect(create({}, await asRole('MEMBER'))).rejects.toMatchObject({ code: 'auth.role_required' })
    const { email: _, ...rest } = { email: '', role: null }
    await expect(create(rest)).rejects.toMatchObject({ errors: [{ pointer: '/role', code: 'member.required' }] })
  })

  test('waits for no invitation', async () => {
    const { account } = await create()
    await expect(
      asOwner().call(operations.renewInvitation, { accountId: account.id, body: { deliver: 'TOKEN' } }),
    ).rejects.toMatchObject({ code: 'account.not_invited' })
  })
})

describe('a start password', () => {
  test('that is guessed locks the name, and another one lifts the lock', async () => {
    await decide(house, { sign_in: { password_lockout_attempts: { value: 3 } } })
    const name = freshName()
    const { account, start_password } = await create({ sign_in_name: name })
    for (let tries = 0; tries < 3; tries += 1)
      await expect(enter(name, `guess-${tries}`)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(enter(name, start_password)).rejects.toMatchObject({ status: 429, code: 'auth.sign_in_locked' })
    const next = await issue(account.id)
    await expect(enter(name, start_password)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(enter(name, next.start_password)).rejects.toMatchObject({ code: 'auth.password_expired' })
    await decideNothing(house)
  })

  test('ends', async () => {
    const name = freshName()
    const { account, start_password } = await create({ sign_in_name: name })
    await house.oracle`update account set start_password_until = now() where id = ${account.id}`
    await expect(enter(name, start_password)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(replace(name, start_password)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
  })

  test('does not live longer where the clock falls back: a job takes an expired one away, and one from the future is none', async () => {
    const name = freshName()
    const { account, start_password } = await create({ sign_in_name: name })
    const of = { tenantId: owner.tenantId, accountId: account.id }
    const [job] = await house.oracle`
      select data, start_after > now() + interval '6 days' as is_later from pgboss.job where name = 'end_start_password' and data ->> 'accountId' = ${account.id}`
    expect(job).toEqual({ data: of, is_later: true })
    await endStartPassword.run(house.installation, of) // come early
    await house.oracle`update account set password_changed_at = now() + interval '1 day' where id = ${account.id}`
    await expect(enter(name, start_password)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await house.oracle`update account set password_changed_at = now() where id = ${account.id}`
    await expect(enter(name, start_password)).rejects.toMatchObject({ code: 'auth.password_expired' })

    await house.oracle`update account set start_password_until = now() where id = ${account.id}`
    await endStartPassword.run(house.installation, of)
    await house.oracle`
      update account set start_password_until = now() + interval '1 day' where id = ${account.id} and password_hash is not null`
    await expect(enter(name, start_password)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    expect(await stateOf(account.id)).toEqual({ state: 'INVITED', start: false })
    expect((await issue(account.id)).start_password).toMatch(form)
  })

  test('voids password, sessions and tokens of before, and not the second factor', async () => {
    const name = freshName()
    const { account, start_password } = await create({ sign_in_name: name })
    const session = await replace(name, start_password)
    const holder = { tenantId: owner.tenantId, accountId: account.id }
    const { id, token } = await plantToken(house, holder, { scopes: ['workspace:read'] })
    await house.oracle`
      insert into second_factor (tenant_id, id, account_id, confirmed_at, last_step)
      values (${owner.tenantId}, ${randomUUIDv7()}, ${account.id}, now(), 1)`
    const issued = await issue(account.id)
    expect(issued).toMatchObject({ account_id: account.id, sign_in_name: name })
    expect(issued.start_password).toMatch(form)
    for (const ended of [session.access_token, token])
      await expect(who.as(ended).call(getOwnAccount)).rejects.toMatchObject({ code: 'auth.unauthenticated' })
    const lines = linesAbout(house.installation.config.ledgerFile, id)
    expect(lines, 'a rewind does not bring it back').toMatchObject([{ act: 'token.revoked' }])
    await expect(enter(name, better)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    expect(await stateOf(account.id)).toEqual({ state: 'ACTIVE', start: true })
    await expect(replace(name, issued.start_password, 'yet another good password')).rejects.toMatchObject({
      code: 'auth.second_factor_required',
    })
    const [kept] = await house.oracle`select count(*)::int as count from second_factor where account_id = ${account.id}`
    expect(kept).toEqual({ count: 1 })
  })

  test('is for people without an address, who are not disabled', async () => {
    const { accountId } = await plantAccount(house, owner.tenantId)
    await expect(issue(accountId)).rejects.toMatchObject({ status: 409, code: 'account.has_address' })
    const service = await plantAccount(house, owner.tenantId, 'MEMBER', 'SERVICE')
    await expect(issue(service.accountId)).rejects.toMatchObject({ status: 404 })
    const { account } = await create()
    await house.oracle`update account set state = 'DISABLED', state_before = 'INVITED', disabled_at = now() where id = ${account.id}`
    await expect(issue(account.id)).rejects.toMatchObject({ status: 409, code: 'account.disabled' })
  })

  test('at the database serves anybody: a locked-out owner gets in again', async () => {
    const issued = await who.recovery.call(issueStartPassword, { accountId: owner.accountId })
    expect(issued.sign_in_name).toBe(owner.email)
    await expect(asOwner().call(getOwnAccount)).rejects.toMatchObject({ code: 'auth.unauthenticated' })
    await expect(enter(owner.email, password)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    const session = await replace(owner.email, issued.start_password)
    expect((await who.as(session.access_token).call(getOwnAccount)).role).toBe('OWNER')
    const [entry] = await house.oracle<{ subject_id: string }[]>`
      select subject_id from journal where action = 'account.start_password_issued' order by id desc limit 1`
    expect(entry?.subject_id).toBe(owner.accountId)
  })
})

describe('a new account', () => {
  async function group(name: string, more: object = {}): Promise<string> {
    return (await asOwner().call(operations.createGroup, { body: { name, ...more } })).id
  }
  const grant = (group_id: string, container_id: string | null, role: Role) =>
    asOwner().call(operations.grantMembership, { body: { group_id, role, ...(container_id && { container_id }) } })
  const hub = async (is_private: boolean) =>
    (await asOwner().call(operations.createContainer, { body: { kind: 'HUB', name: randomUUID(), is_private } })).id

  test('is in groups from the beginning, which may be all that it has', async () => {
    const [crew, guests] = [await group('Crew'), await group('Guests')]
    await grant(crew, null, 'COMMENTER')
    await grant(guests, await hub(false), 'VIEWER')
    const made = await create({ role: null, group_ids: [crew, guests] })
    expect(made.account.role).toBe('COMMENTER')
    const { sign_in_name } = made.account
    const session = await replace(sign_in_name ?? '', made.start_password)
    expect((await who.as(session.access_token).call(getOwnAccount)).groups).toEqual([
      { id: crew, name: 'Crew' },
      { id: guests, name: 'Guests' },
    ])
    const invited = await asOwner().call(inviteAccount, {
      body: { email: `${randomUUIDv7()}@new.example`, role: null, group_ids: [guests], deliver: 'TOKEN' },
    })
    expect(invited.account.role).toBeNull()
    const members = await asOwner().call(operations.listGroupMembers, { groupId: guests })
    expect(members.data.map(({ account_id, source }) => [account_id, source])).toEqual([
      [made.account.id, 'DIRECT'],
      [invited.account.id, 'DIRECT'],
    ])
  })

  test('gets by a group no more than whoever invites could grant', async () => {
    const opens = await group('Opens a private board')
    await grant(opens, await hub(true), 'VIEWER')
    const body = { email: `${randomUUIDv7()}@new.example`, group_ids: [opens], deliver: 'TOKEN' as const }
    const admin = await asRole('ADMIN')
    await expect(admin.call(inviteAccount, { body })).rejects.toMatchObject({
      code: 'auth.role_required',
      params: { role: 'OWNER' },
    })
    await expect(create({ group_ids: [opens] }, admin)).rejects.toMatchObject({ code: 'auth.role_required' })
    expect((await asOwner().call(inviteAccount, { body })).account.state).toBe('INVITED')
  })

  test('is refused in a group that is unknown, named twice, bound, full or without a role', async () => {
    const [bare, bound, full] = [await group('Bare'), await group('Bound'), await group('Full')]
    await house.oracle`
      update account_group set binding_provider_id = ${randomUUIDv7()}, binding_value = 'x' where id = ${bound}`
    await house.oracle`update account_group set member_count = 10000 where id = ${full}`
    await expect(create({ group_ids: [bare, randomUUIDv7()] })).rejects.toMatchObject({
      errors: [{ pointer: '/group_ids/1', code: 'reference.unknown' }],
    })
    await expect(create({ group_ids: [bare, bare] })).rejects.toMatchObject({ errors: [{ code: 'list.unique' }] })
    await expect(create({ group_ids: [bound] })).rejects.toMatchObject({ status: 409, code: 'group.bound' })
    await expect(create({ group_ids: [full] })).rejects.toMatchObject({ code: 'structure.full' })
    await expect(create({ role: null, group_ids: [bare] })).rejects.toMatchObject({
      errors: [{ pointer: '/role', code: 'member.required' }],
    })
    const [rows] = await house.oracle`
      select count(*)::int as count from account where tenant_id = ${owner.tenantId} and sign_in_name is not null`
    expect(rows).toEqual({ count: 0 })
  })
})
