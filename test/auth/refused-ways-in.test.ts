/**
 * What each way in refuses behind a closed gate, in a suspended workspace, after too many codes, and where the list of passwords that
 * nobody may have cannot be read: over HTTP, at each operation that says so. Index, Auth; people 10.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { closeGate } from '../../src/core/areas/recovery/gate.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import type { Answered } from '../kit/daemon.ts'
import { redirectUri } from '../kit/oidc-provider.ts'
import { type Place, type ProvingHouse, password, provingHouse, type Somebody } from '../kit/proving-house.ts'

let house: ProvingHouse
let at: Place
let ada: Somebody
beforeAll(async () => {
  house = await provingHouse()
})
afterAll(() => house.close())
beforeEach(async () => {
  at = await house.place()
  ada = await house.somebody(at)
})

const sql = (...of: Parameters<ProvingHouse['ways']['sql']>) => house.ways.sql(...of)
const fresh = 'quite another good password'
const codeOf = ({ status, json }: Answered) => [status, json?.code]

const setPassword = (more: object = {}) =>
  house.post('/auth/sessions:set-password', {
    ...{ workspace: at.slug, email: ada.email, password, new_password: fresh },
    ...more,
  })
async function reset(): Promise<Answered> {
  const { token, hash } = mintToken('passwordReset')
  await sql`
    insert into password_reset (tenant_id, id, account_id, hash, expires_at)
    values (${at.id}, ${randomUUIDv7()}, ${ada.accountId}, ${hash}, now() + interval '1 hour')`
  return house.post('/auth/password:reset', { token, password: fresh })
}
const start = () =>
  house.post('/auth/oidc:start', { workspace: at.slug, provider_id: at.offered, redirect_uri: redirectUri })
const finish = (back: object) => house.post('/auth/oidc:callback', back)

/** A workspace whose owner is invited. */
async function invited(): Promise<{ readonly token: string; readonly id: string; readonly slug: string }> {
  const slug = `invited-${randomUUIDv7().slice(-12)}`
  const { tenant, redemption_token } = await house.ways.call('recovery', operations.provisionTenant, {
    body: { slug, display_name: slug, owner_email: `owner@${slug}.example` },
  })
  return { token: redemption_token, id: tenant.id, slug }
}

/** Ada's identity at the provider. */
async function connected(): Promise<string> {
  const sub = `person-${randomUUIDv7()}`
  await sql`
    insert into connected_identity (tenant_id, id, account_id, provider_id, issuer, subject)
    values (${at.id}, ${randomUUIDv7()}, ${ada.accountId}, ${at.offered}, ${house.real.issuer}, ${sub})`
  return sub
}

describe('behind a closed gate', () => {
  const open = () => sql`update installation set gated_at = null, gate_reason = null`
  const gated = async (work: () => Promise<Answered>): Promise<Answered> => {
    await house.ways.installation.transaction(recoveryActor(), {}, (ctx) => closeGate(ctx, 'BEGUN', {}))
    return work().finally(open)
  }
  const recovering = [503, 'installation.recovering']

  test('nobody comes in with a password, an old one or a new one', async () => {
    expect(codeOf(await gated(() => setPassword()))).toEqual(recovering)
    expect(codeOf(await gated(() => reset()))).toEqual(recovering)
    expect(codeOf(await setPassword())).toEqual([201, undefined])
  })

  test('nobody comes in by an invitation, and it is there afterwards', async () => {
    const { token } = await invited()
    expect(codeOf(await gated(() => house.post('/auth/invitations:inspect', { token })))).toEqual(recovering)
    const redeem = () => house.post('/auth/invitations:redeem', { token, password: fresh })
    expect(codeOf(await gated(redeem))).toEqual(recovering)
    expect(codeOf(await redeem())).toEqual([201, undefined])
  })

  test('whoever comes back from a provider is turned away; who sets out may be an operator', async () => {
    const back = await house.comeBack(at, at.offered, await connected())
    expect(codeOf(await gated(start))).toEqual([201, undefined])
    expect(codeOf(await gated(() => finish(back)))).toEqual(recovering)
  })
})

test('into a suspended workspace nobody comes, and no password of it is set', async () => {
  const back = await house.comeBack(at, at.offered, await connected())
  await sql`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${at.id}`
  const suspended = [403, 'tenant_suspended']
  expect(codeOf(await setPassword())).toEqual(suspended)
  expect(codeOf(await reset())).toEqual(suspended)
  expect(codeOf(await start())).toEqual(suspended)
  expect(codeOf(await finish(back))).toEqual(suspended)
})

describe('a new password in place of an old one', () => {
  afterEach(() => sql`delete from setting`)
  const decided = (name: string, value: unknown) => sql`
    insert into setting (name, value) values (${name}, ${JSON.stringify(value)}::text::jsonb)`

  test('is refused where passwords are switched off, and after too many wrong ones', async () => {
    await decided('sign_in.password_lockout_attempts', 2)
    for (const code of ['auth.sign_in_failed', 'auth.sign_in_failed', 'auth.sign_in_locked'])
      expect((await setPassword({ password: 'not the one' })).json.code).toBe(code)
    await decided('sign_in.password_enabled', false)
    expect(codeOf(await setPassword())).toEqual([403, 'auth.password_disabled'])
  })

  test('takes the second factor of the account, and five wrong codes lock it', async () => {
    await sql`
      insert into second_factor (tenant_id, id, account_id, confirmed_at, last_step)
      values (${at.id}, ${randomUUIDv7()}, ${ada.accountId}, now(), 0)`
    const codes: unknown[] = []
    for (let n = 0; n < 6; n += 1) codes.push((await setPassword({ recovery_code: '0000-0000-0000-0000' })).json.code)
    expect(codes).toEqual([...Array(5).fill('auth.second_factor_failed'), 'auth.second_factor_locked'])
    const back = await house.comeBack(at, at.offered, await connected())
    const answer = await finish({ ...back, recovery_code: '0000-0000-0000-0000' })
    expect(codeOf(answer)).toEqual([429, 'auth.second_factor_locked'])
  })

  test('is set by nobody while the list of refused ones cannot be read', async () => {
    await decided('blocklist_file', 'nowhere.txt')
    const unusable = [503, 'auth.blocklist_unusable']
    expect(codeOf(await setPassword())).toEqual(unusable)
    expect(codeOf(await reset())).toEqual(unusable)
    const { token } = await invited()
    expect(codeOf(await house.post('/auth/invitations:redeem', { token, password: fresh }))).toEqual(unusable)
  })
})

describe('the way back from a provider', () => {
  test('with an invitation that was redeemed meanwhile lets nobody in', async () => {
    const { token, slug, id } = await invited()
    await sql`
      insert into provider_switch (tenant_id, provider_scope, provider_id)
      values (${id}, '00000000-0000-0000-0000-000000000000', ${at.offered})`
    const sub = `person-${randomUUIDv7()}`
    house.real.person(sub, {})
    const started = await house.post('/auth/oidc:start', {
      ...{ workspace: slug, provider_id: at.offered, redirect_uri: redirectUri, invitation_token: token },
    })
    const brought = await house.real.browse(started.json.authorization_url)
    expect((await house.post('/auth/invitations:redeem', { token, password: fresh })).status).toBe(201)
    const answer = await finish({ flow_token: started.json.flow_token, ...brought })
    expect(codeOf(answer)).toEqual([410, 'auth.invitation_invalid'])
  })

  test('is closed while the client’s secret cannot be opened', async () => {
    const back = await house.comeBack(at, at.offered, await connected())
    await sql`update sealed_value set ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1) where owner_id = ${at.offered}`
    expect(codeOf(await finish(back))).toEqual([503, 'secret.unavailable'])
  })
})
