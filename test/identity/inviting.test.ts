/**
 * Invitations: a new account with its roles, by mail or by a token that is answered once; a further one for who waits. Over
 * a real SMTP server. People 1, N1 and N2; docs/decisions/0378.
 */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Sent } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Role, Scope } from '../../src/core/contract/vocabulary.ts'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantAccount, plantToken } from '../kit/accounts.ts'
import { request } from '../kit/callers.ts'
import { password } from '../kit/installation.ts'
import { type Mailing, mailing } from '../kit/mailing.ts'
import { meeting, untilWaiting } from '../kit/meeting.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const {
  inviteAccount,
  renewInvitation,
  redeemInvitation,
  inspectInvitation,
  getAccount,
  createContainer,
  grantMembership,
  revokeToken,
} = operations
const patience = { timeout: 20_000 }
const perHour = 8

let relay: SmtpRelay
let house: Mailing
let who: Callers
let owner: Person
beforeAll(async () => {
  relay = await smtpRelay()
  house = await mailing({
    SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    SVC_PUBLIC_URL: 'https://{slug}.work.example',
    SVC_INVITE_MAILS_PER_HOUR: String(perHour),
  })
  who = await callers(house.test)
})
afterAll(async () => {
  await who.close()
  await house.end()
  await relay.close()
})
beforeEach(async () => {
  owner = await joinedWorkspace(house.test)
})

type Body = NonNullable<Sent<typeof inviteAccount>['body']>
const fresh = () => `${randomUUIDv7()}@new.example`
const asOwner = () => who.as(owner.session.access_token)
const invite = (body: Partial<Body> = {}) =>
  asOwner().call(inviteAccount, { body: { email: fresh(), deliver: 'TOKEN', ...body } })
const redeem = (token: string | null) => who.as().call(redeemInvitation, { body: { token: token ?? '', password } })
const read = (accountId: string) => asOwner().call(getAccount, { accountId })
const renew = (accountId: string, deliver: 'MAIL' | 'TOKEN' = 'TOKEN') =>
  asOwner().call(renewInvitation, { accountId, body: { deliver } })
const rolesOf = (accountId: string) => house.test.oracle<{ container_id: string | null; role: Role }[]>`
  select container_id, role from membership where account_id = ${accountId} order by container_id nulls first`
const mailsTo = (address: string) => relay.takenBy(address).map(({ mail }) => mail)

/** A token of a new account of the owner's workspace. */
async function asRole(role: Role, scopes: readonly Scope[] = ['workspace:read', 'workspace:admin']) {
  const { accountId } = await plantAccount(house.test, owner.tenantId)
  await house.test.oracle`update membership set role = ${role} where account_id = ${accountId}`
  const { token } = await plantToken(house.test, { tenantId: owner.tenantId, accountId }, { scopes })
  return who.as(token)
}

describe('an invitation', () => {
  test('makes an account that waits, with its roles, and its token joins once', async () => {
    const hub = await asOwner().call(createContainer, { body: { kind: 'HUB', name: 'Shut', is_private: true } })
    const email = fresh()
    const made = await invite({
      email,
      display_name: 'Niklaus Wirth',
      role: 'COMMENTER',
      memberships: [{ container_id: hub.id, role: 'ADMIN' }],
      external_id: 'hr-7',
    })
    expect(made.account).toMatchObject({ state: 'INVITED', email, role: 'COMMENTER', joined_at: null })
    expect(made.account.admin).toMatchObject({ external_id: 'hr-7', invitation_expires_at: made.expires_at })
    const days = (Date.parse(made.expires_at) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(13.9)
    expect(days).toBeLessThan(14.1)
    expect([...(await rolesOf(made.account.id))]).toEqual([
      { container_id: null, role: 'COMMENTER' },
      { container_id: hub.id, role: 'ADMIN' },
    ])
    expect((await asOwner().call(operations.listAccounts, { q: 'wirth' })).data).toEqual([made.account])
    expect(mailsTo(email)).toEqual([])
    await redeem(made.redemption_token)
    const joined = await read(made.account.id)
    expect(joined).toMatchObject({ state: 'ACTIVE', display_name: 'Niklaus Wirth' })
    expect(joined.joined_at).not.toBeNull()
    await expect(redeem(made.redemption_token)).rejects.toMatchObject({ status: 410 })
  })

  test('by mail holds its token in the link alone, and no text of whoever invites', async () => {
    const email = fresh()
    const body = { email, display_name: 'Buy now at https://spam.example', deliver: 'MAIL' as const }
    const made = await invite(body)
    expect(made.redemption_token).toBeNull()
    await expect.poll(() => mailsTo(email).length, patience).toBe(1)
    const [mail] = mailsTo(email)
    expect(mail!.text).not.toContain('spam')
    const token =
      new RegExp(`https://${owner.slug}\\.work\\.example/join#(svci_\\S+)`).exec(mail!.text ?? '')?.[1] ?? ''
    expect(await who.as().call(inspectInvitation, { body: { token } })).toMatchObject({
      email,
      workspace: { slug: owner.slug },
      expires_at: made.expires_at,
    })
    const queued = await house.test.oracle`select data::text as data from pgboss.job where name = 'send_invitation'`
    expect(queued.length).toBeGreaterThan(0)
    for (const { data } of queued) expect(data).not.toContain('svci_')
    await redeem(token)
  })

  test('of a guest gives roles in containers alone', async () => {
    const hub = await asOwner().call(createContainer, { body: { kind: 'HUB', name: 'Guests' } })
    const made = await invite({ role: null, memberships: [{ container_id: hub.id, role: 'VIEWER' }] })
    expect(made.account.role).toBeNull()
    expect([...(await rolesOf(made.account.id))]).toEqual([{ container_id: hub.id, role: 'VIEWER' }])
    await redeem(made.redemption_token)
  })

  test('leaves its trail and its events', async () => {
    const { account } = await invite({ role: 'VIEWER' })
    await renew(account.id)
    const entries = await house.test.oracle<{ action: string }[]>`
      select action from audit_entry where subject_id = ${account.id} order by id`
    expect(entries.map(({ action }) => action)).toEqual(['account.invited', 'account.invitation_renewed'])
    const events = await house.test.oracle<{ type: string }[]>`
      select body::jsonb ->> 'type' as type from outbox_event where body like ${`%${account.id}%`} order by id`
    expect(events.map(({ type }) => type.replace(/^svc\.|\.v1$/g, ''))).toEqual([
      'identity.account.invited',
      'identity.membership.granted',
      'identity.account.invitation_renewed',
    ])
  })

  test('is answered again under its key, with the same token', async () => {
    const sent = { idempotencyKey: randomUUID(), body: { email: fresh(), deliver: 'TOKEN' as const } }
    expect(await asOwner().call(inviteAccount, sent)).toEqual(await asOwner().call(inviteAccount, sent))
  })
})

describe('an invitation is refused', () => {
  test('for an address that is taken, in either spelling, whatever its state; of two at once one is made', async () => {
    const email = fresh()
    const { account } = await invite({ email })
    for (const [spelling, state] of [
      [email.toUpperCase(), 'INVITED'],
      [email, 'INVITED'],
      [owner.email, 'ACTIVE'],
    ] as const)
      await expect(invite({ email: spelling })).rejects.toMatchObject({
        code: 'account.address_taken',
        status: 409,
        params: { account_id: state === 'ACTIVE' ? owner.accountId : account.id, state },
      })
    await house.test.oracle`update account set state = 'DISABLED' where id = ${account.id}`
    await expect(invite({ email })).rejects.toMatchObject({ params: { state: 'DISABLED' } })
    const twice = fresh()
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => invite({ email: twice })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of outcomes)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'account.address_taken' })
  })

  test('without any role, with one container twice, with one that is not seen, with an address that is none', async () => {
    const hub = await asOwner().call(createContainer, { body: { kind: 'HUB', name: 'Here' } })
    const wrong: readonly (readonly [Partial<Body>, string])[] = [
      [{ role: null }, '/role'],
      [
        { memberships: [hub.id, hub.id].map((container_id) => ({ container_id, role: 'VIEWER' as const })) },
        '/memberships',
      ],
      [{ memberships: [{ container_id: randomUUID(), role: 'VIEWER' }] }, '/memberships/0/container_id'],
      [{ email: 'nobody' }, '/email'],
    ]
    const before = await house.test.oracle`select id from account where tenant_id = ${owner.tenantId}`
    for (const [body, pointer] of wrong)
      await expect(invite(body)).rejects.toMatchObject({ status: 422, errors: [{ pointer }] })
    expect(await house.test.oracle`select id from account where tenant_id = ${owner.tenantId}`).toEqual(before)
  })

  test('with a role above the own one, on the workspace or in a container', async () => {
    const admin = await asRole('ADMIN')
    const hub = await asOwner().call(createContainer, { body: { kind: 'HUB', name: 'Shut', is_private: true } })
    const send = (body: Partial<Body>) =>
      admin.call(inviteAccount, { body: { email: fresh(), deliver: 'TOKEN', ...body } })
    await expect(send({ role: 'OWNER' })).rejects.toMatchObject({
      code: 'auth.role_required',
      params: { role: 'OWNER' },
    })
    await expect(send({ memberships: [{ container_id: hub.id, role: 'VIEWER' }] })).rejects.toMatchObject({
      status: 422,
    })
    expect((await send({ role: 'ADMIN' })).account.role).toBe('ADMIN')
  })

  test('in a container, by who is no ADMIN there, or with a role above his own there', async () => {
    const { accountId } = await plantAccount(house.test, owner.tenantId)
    const { token } = await plantToken(
      house.test,
      { tenantId: owner.tenantId, accountId },
      { scopes: ['workspace:read', 'workspace:admin'] },
    )
    await house.test.oracle`update membership set role = 'ADMIN' where account_id = ${accountId}`
    const hub = await asOwner().call(createContainer, { body: { kind: 'HUB', name: 'Ours', is_private: true } })
    const roleThere = (role: Role) =>
      asOwner().call(grantMembership, { body: { account_id: accountId, container_id: hub.id, role } })
    const send = (role: Role) =>
      who.as(token).call(inviteAccount, {
        body: { email: fresh(), deliver: 'TOKEN', role: null, memberships: [{ container_id: hub.id, role }] },
      })
    await roleThere('MEMBER')
    await expect(send('VIEWER')).rejects.toMatchObject({ code: 'auth.role_required', params: { role: 'ADMIN' } })
    await roleThere('ADMIN')
    await expect(send('OWNER')).rejects.toMatchObject({ code: 'auth.role_required', params: { role: 'OWNER' } })
    expect([...(await rolesOf((await send('ADMIN')).account.id))]).toEqual([{ container_id: hub.id, role: 'ADMIN' }])
  })

  test('to who is no ADMIN, or has no token for it', async () => {
    const body = { email: fresh() }
    await expect((await asRole('MEMBER')).call(inviteAccount, { body })).rejects.toMatchObject({
      code: 'auth.role_required',
    })
    const reader = await asRole('ADMIN', ['workspace:read', 'workspace:write'])
    await expect(reader.call(inviteAccount, { body })).rejects.toMatchObject({ code: 'auth.scope_required' })
  })

  test('where the token is revoked while the call waits for its turn, and nothing of it is written', async () => {
    const { oracle } = house.test
    const { accountId } = await plantAccount(house.test, owner.tenantId, 'ADMIN')
    const planted = await plantToken(
      house.test,
      { tenantId: owner.tenantId, accountId },
      { scopes: ['workspace:read', 'workspace:admin'] },
    )
    const admin = who.as(planted.token)
    const [late, next] = [fresh(), fresh()]
    const deliver = 'MAIL'
    // It has passed the gate and waits; the revocation takes no turn. The second one shows that turns go on.
    const [refused, served] = await meeting(
      oracle,
      (held) => held`select pg_advisory_xact_lock(${lockClasses.memberships}, hashtext(${owner.tenantId}))`,
      2,
      async () => {
        const waiting = Promise.allSettled([admin.call(inviteAccount, { body: { email: late, deliver } })])
        await untilWaiting(oracle, 1)
        await admin.call(revokeToken, { tokenId: planted.id })
        const [[first], second] = await Promise.all([waiting, invite({ email: next })])
        return [first, second] as const
      },
    )
    expect(served.account.state).toBe('INVITED')
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'auth.unauthenticated', status: 401 } })
    const [written] = await oracle`
      select (select count(*)::int from account where email = ${late}) as accounts,
             (select count(*)::int from account_address where email = ${late}) as addresses,
             (select count(*)::int from audit_entry where tenant_id = ${owner.tenantId} and actor_account_id = ${accountId} and action like 'account.%') as entries`
    expect(written).toEqual({ accounts: 0, addresses: 0, entries: 0 })
  })

  test('by mail from the workspace that has mailed so many in the hour: a token is still given', async () => {
    for (let count = 0; count < perHour; count += 1) await invite({ deliver: 'MAIL' })
    const body = { email: fresh(), deliver: 'MAIL' as const }
    const answer = await request(who.daemon.url, inviteAccount, { body }, owner.session.access_token)
    expect(answer).toMatchObject({
      status: 429,
      body: { code: 'mail.limited', params: { limit: perHour, window_seconds: 3600 } },
    })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3500)
    expect((await invite({ deliver: 'TOKEN' })).redemption_token).toMatch(/^svci_/)
    await house.test.oracle`
      update invitation set created_at = now() - interval '61 minutes' where tenant_id = ${owner.tenantId}`
    expect((await invite(body)).account.state).toBe('INVITED')
  })
})

describe('a further invitation', () => {
  test('voids the one before, also where that has ended', async () => {
    const { account, redemption_token } = await invite()
    const again = await renew(account.id)
    expect(again.account).toMatchObject({ id: account.id, state: 'INVITED' })
    await expect(redeem(redemption_token)).rejects.toMatchObject({ status: 410 })
    await house.test.oracle`delete from invitation where account_id = ${account.id}`
    expect((await read(account.id)).admin?.invitation_expires_at).toBeNull()
    await redeem((await renew(account.id)).redemption_token)
    expect((await read(account.id)).state).toBe('ACTIVE')
    await expect(renew(account.id)).rejects.toMatchObject({
      code: 'account.not_invited',
      status: 409,
      params: { state: 'ACTIVE' },
    })
    await expect(renew(randomUUID())).rejects.toMatchObject({ status: 404 })
  })

  test('goes by mail to an address once a minute, and five times an hour', async () => {
    const { account } = await invite({ deliver: 'MAIL' })
    const earlier = (interval: string) =>
      house.test
        .oracle`update invitation set created_at = created_at - ${interval}::interval where account_id = ${account.id}`
    await expect(renew(account.id, 'MAIL')).rejects.toMatchObject({
      code: 'mail.limited',
      params: { limit: 1, window_seconds: 60 },
    })
    for (let count = 2; count <= 5; count += 1) {
      await earlier('61 seconds')
      await renew(account.id, 'MAIL')
    }
    await earlier('61 seconds')
    await expect(renew(account.id, 'MAIL')).rejects.toMatchObject({ params: { limit: 5, window_seconds: 3600 } })
    await renew(account.id, 'TOKEN')
  })

  test('is given by an operator to an OWNER alone, and while no OWNER is there', async () => {
    const made = await house.test.provision()
    const call = (accountId: string) => who.api.call(renewInvitation, { accountId, body: { deliver: 'TOKEN' } })
    const again = await call(made.owner.account_id)
    await expect(redeem(made.redemption_token)).rejects.toMatchObject({ status: 410 })
    const { accountId: member } = await plantAccount(house.test, made.tenant.id)
    await house.test.oracle`update account set state = 'INVITED' where id = ${member}`
    await house.test.oracle`update membership set role = 'ADMIN' where account_id = ${member}`
    await expect(call(member)).rejects.toMatchObject({ code: 'auth.role_required' })
    await redeem(again.redemption_token)
    await house.test.oracle`update membership set role = 'OWNER' where account_id = ${member}`
    await expect(call(member)).rejects.toMatchObject({ code: 'auth.role_required' })
    const [entry] = await house.test
      .oracle`select action, workspace_slug from journal where subject_id = ${made.owner.account_id}`
    expect(entry).toEqual({ action: 'account.invitation_renewed', workspace_slug: made.tenant.slug })
  })

  test('is given by an operator in the own workspace as by any administrator, and not journalled', async () => {
    const { accountId } = await plantAccount(house.test, who.operator.tenantId)
    await house.test.oracle`update account set state = 'INVITED' where id = ${accountId}`
    const again = await who.api.call(renewInvitation, { accountId, body: { deliver: 'TOKEN' } })
    await redeem(again.redemption_token)
    expect(await house.test.oracle`select 1 from journal where subject_id = ${accountId}`).toEqual([])
  })

  test('is given at the database to anybody who waits', async () => {
    const { account } = await invite({ role: 'VIEWER' })
    const again = await house.test.asRecovery(renewInvitation, { accountId: account.id, body: { deliver: 'TOKEN' } })
    expect(again.account.admin).toMatchObject({ has_password: false })
    await redeem(again.redemption_token)
  })
})

test('a disabled account is not joined, and comes back invited', async () => {
  const { account, redemption_token } = await invite()
  await house.test.asRecovery(operations.disableAccount, { accountId: account.id })
  await expect(redeem(redemption_token)).rejects.toMatchObject({ status: 410 })
  await expect(renew(account.id)).rejects.toMatchObject({ params: { state: 'DISABLED' } })
  await house.test.asRecovery(operations.enableAccount, { accountId: account.id })
  await expect(redeem(redemption_token)).rejects.toMatchObject({ status: 410 })
  await redeem((await renew(account.id)).redemption_token)
})
