/** Suspension and resumption. Spec: Workspace states, rows 1 and 2; decisions 4. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, modes, type Person, plantToken } from '../kit/accounts.ts'
import { password, provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const { suspendTenant, resumeTenant, listTenants, getOwnAccount } = operations

describe.each(modes)('by %s', (mode) => {
  let owner: Person
  let tenantId: string
  beforeEach(async () => {
    owner = await joinedWorkspace(own)
    tenantId = owner.tenantId
  })

  const stateNow = async () => (await who[mode].call(listTenants, { slug: owner.slug })).data[0]
  const traces = async () => {
    const { oracle } = own
    const [journal, trail, events] = await Promise.all([
      oracle`select action, actor_kind from journal where workspace_id = ${tenantId} and action <> 'tenant.provisioned' order by id`,
      oracle`select action from audit_entry where tenant_id = ${tenantId} and action like 'tenant.%' and action <> 'tenant.provisioned' order by id`,
      oracle`select type from outbox_event where tenant_id = ${tenantId} and type like '%.tenant.%' and type not like '%provisioned%' order by tx, seq`,
    ])
    return { journal: [...journal], trail: [...trail], events: [...events] }
  }

  test('a suspended workspace says since when, is one version on, and leaves one trace of each kind', async () => {
    await who[mode].call(suspendTenant, { tenantId })
    expect(await stateNow()).toMatchObject({
      state: 'SUSPENDED',
      version: 2,
      suspended_at: expect.stringMatching(/Z$/),
    })
    expect(await traces()).toEqual({
      journal: [{ action: 'tenant.suspended', actor_kind: mode === 'api' ? 'ACCOUNT' : 'RECOVERY' }],
      trail: [{ action: 'tenant.suspended' }],
      events: [{ type: 'svc.work.tenant.suspended.v1' }],
    })
  })

  test('a second suspension is answered alike and leaves nothing', async () => {
    await who[mode].call(suspendTenant, { tenantId })
    const [was, left] = [await stateNow(), await traces()]
    await who[mode].call(suspendTenant, { tenantId })
    expect(await stateNow()).toEqual(was)
    expect(await traces()).toEqual(left)
  })

  test('resumed, it is as before; resuming an active one leaves nothing', async () => {
    await who[mode].call(resumeTenant, { tenantId })
    expect(await stateNow()).toMatchObject({ state: 'ACTIVE', version: 1 })
    expect((await traces()).journal).toEqual([])

    await who[mode].call(suspendTenant, { tenantId })
    await who[mode].call(resumeTenant, { tenantId })
    expect(await stateNow()).toMatchObject({ state: 'ACTIVE', version: 3, suspended_at: null })
    expect((await traces()).events.map(({ type }) => type)).toEqual([
      'svc.work.tenant.suspended.v1',
      'svc.work.tenant.resumed.v1',
    ])
  })

  test('its people are refused from their next request on, and served again from the next one after resumption', async () => {
    const person = who.as(owner.session.access_token)
    expect((await person.call(getOwnAccount)).id).toBe(owner.accountId)
    await who[mode].call(suspendTenant, { tenantId })
    const refused = { code: 'tenant_suspended', status: 403 }
    await expect(person.call(getOwnAccount)).rejects.toMatchObject(refused)
    await expect(person.call(operations.listContainers)).rejects.toMatchObject(refused)
    await expect(
      person.call(operations.createToken, { body: { name: 'x', scopes: ['workspace:read'] } }),
    ).rejects.toMatchObject(refused)
    await expect(
      who.as().call(operations.refreshSession, { body: { refresh_token: owner.session.refresh_token } }),
    ).rejects.toMatchObject(refused)
    const signIn = (secret: string) =>
      who.as().call(operations.signIn, { body: { workspace: owner.slug, email: owner.email, password: secret } })
    await expect(signIn(password)).rejects.toMatchObject(refused)
    await expect(signIn('not the password')).rejects.toMatchObject({ code: 'auth.sign_in_failed' })

    await who[mode].call(resumeTenant, { tenantId })
    expect((await person.call(getOwnAccount)).id).toBe(owner.accountId)
    expect((await signIn(password)).session_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('an invitation into a suspended workspace is not used up by trying', async () => {
    const made = await own.provision()
    await who[mode].call(suspendTenant, { tenantId: made.tenant.id })
    const redeem = () =>
      who.as().call(operations.redeemInvitation, { body: { token: made.redemption_token, password } })
    await expect(redeem()).rejects.toMatchObject({ code: 'tenant_suspended' })
    await who[mode].call(resumeTenant, { tenantId: made.tenant.id })
    expect((await redeem()).access_token).toMatch(/^svcs_/)
  })

  test('an operator of a suspended workspace is one of its people: refused', async () => {
    const { token } = await plantToken(own, owner, { scopes: ['admin:tenants'] })
    await own.oracle`insert into operator (account_id, workspace_id) values (${owner.accountId}, ${tenantId})`
    await who[mode].call(suspendTenant, { tenantId })
    await expect(who.as(token).call(listTenants)).rejects.toMatchObject({ code: 'tenant_suspended' })
    await own.oracle`delete from operator where account_id = ${owner.accountId}`
  })

  test('its data stays', async () => {
    const count = () => own.oracle`
      select (select count(*) from container where tenant_id = ${tenantId}) as containers, (select count(*) from label where tenant_id = ${tenantId}) as labels,
             (select count(*) from session where tenant_id = ${tenantId} and revoked_at is null) as sessions`
    const before = [...(await count())]
    await who[mode].call(suspendTenant, { tenantId })
    expect([...(await count())]).toEqual(before)
  })

  test('a workspace that is pending deletion is neither suspended nor resumed', async () => {
    await own.oracle`update tenant set state = 'PENDING_DELETION', purge_after = now() + interval '30 days' where id = ${tenantId}`
    for (const operation of [suspendTenant, resumeTenant])
      await expect(who[mode].call(operation, { tenantId })).rejects.toMatchObject({
        code: 'admin.tenant_leaving',
        status: 409,
      })
    expect(await stateNow()).toMatchObject({ state: 'PENDING_DELETION', version: 1 })
    await own.oracle`update tenant set state = 'ACTIVE', purge_after = null where id = ${tenantId}`
  })

  test('a workspace nobody knows is not_found', async () => {
    for (const operation of [suspendTenant, resumeTenant])
      await expect(who[mode].call(operation, { tenantId: randomUUID() })).rejects.toMatchObject({
        code: 'not_found',
        status: 404,
      })
  })

  test.each([
    'nil',
    'URN:UUID:0190c9d2-7a3b-7cde-8f01-23456789abcd',
    '0190C9D2-7A3B-7CDE-8F01-23456789ABCD',
    "' or true --",
  ])('the id %j is malformed', async (id) => {
    const refused = await who[mode].call(suspendTenant, { tenantId: id }).catch((error: unknown) => error)
    // A path that our URLs cannot have at all is no route.
    expect(['request.malformed', 'not_found']).toContain((refused as { code: string }).code)
  })
})

const waiting = async () => {
  const [row] = await own.oracle`
    select count(*)::int as n from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
    where l.locktype = 'advisory' and not l.granted`
  return row?.['n'] as number
}

test('what an operator has under way when his own workspace is suspended does not commit', async () => {
  const { tenantId, ...owner } = await joinedWorkspace(own)
  const { token } = await plantToken(own, { tenantId, ...owner }, { scopes: ['admin:tenants'] })
  await own.oracle`insert into operator (account_id, workspace_id) values (${owner.accountId}, ${tenantId})`
  const body = provisionBody()
  let provisioned: Promise<unknown> | undefined
  await own.oracle.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7301, hashtext(${tenantId}))`
    await tx`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${tenantId}`
    provisioned = who
      .as(token)
      .call(operations.provisionTenant, { body })
      .catch((error: unknown) => error)
    // The call itself, and the note that its token was used.
    await expect.poll(waiting).toBe(2)
  })
  expect(await provisioned).toMatchObject({ code: 'tenant_suspended', status: 403 })
  expect(await own.oracle`select 1 from tenant where slug = ${body.slug}`).toHaveLength(0)
  await own.oracle`delete from operator where account_id = ${owner.accountId}`
})

test('a refresh under way when its workspace is suspended brings no pair, and its token stays good', async () => {
  const { tenantId, session } = await joinedWorkspace(own)
  const refresh = () => who.as().call(operations.refreshSession, { body: { refresh_token: session.refresh_token } })
  let refreshed: Promise<unknown> | undefined
  await own.oracle.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7301, hashtext(${tenantId}))`
    await tx`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${tenantId}`
    refreshed = refresh().catch((error: unknown) => error)
    await expect.poll(waiting).toBe(1)
  })
  expect(await refreshed).toMatchObject({ code: 'tenant_suspended', status: 403 })
  const pairs = () => own.oracle`select 1 from credential where tenant_id = ${tenantId} and kind = 'REFRESH'`
  expect(await pairs()).toHaveLength(1)
  await who.api.call(resumeTenant, { tenantId })
  await refresh()
  expect(await pairs()).toHaveLength(2)
})

test('of two operators who suspend their own workspace at once both are done with it', async () => {
  const { tenantId, ...owner } = await joinedWorkspace(own)
  const { token } = await plantToken(own, { tenantId, ...owner }, { scopes: ['admin:tenants'] })
  await own.oracle`insert into operator (account_id, workspace_id) values (${owner.accountId}, ${tenantId})`
  const suspend = () => who.as(token).call(suspendTenant, { tenantId })
  const outcomes = await Promise.allSettled([suspend(), suspend(), suspend()])
  expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'tenant_suspended' })
  await own.oracle`delete from operator where account_id = ${owner.accountId}`
})

test('that a token was used is not noted behind a suspension either', async () => {
  const { tenantId, ...owner } = await joinedWorkspace(own)
  const { id, token } = await plantToken(own, { tenantId, ...owner }, { scopes: ['workspace:read'] })
  await own.oracle.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7301, hashtext(${tenantId}))`
    await tx`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${tenantId}`
    // The suspension is not committed: the call is served, and its note waits for what becomes of it.
    expect((await who.as(token).call(getOwnAccount)).id).toBe(owner.accountId)
    await expect.poll(waiting).toBe(1)
  })
  await expect.poll(() => own.installation.pool.counts.used).toBe(0)
  expect([...(await own.oracle`select last_used_at from credential where id = ${id}`)]).toEqual([
    { last_used_at: null },
  ])
})
