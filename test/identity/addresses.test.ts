/** Addresses of accounts: asked for, confirmed, made the primary one, removed. People 1, N6 and I4; 4, N20; docs/decisions/0410. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { endConfirmation } from '../../src/core/areas/auth/addresses/ending-confirmation.ts'
import { sendPasswordReset } from '../../src/core/areas/auth/password/forgotten-password.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type Person, plantToken } from '../kit/accounts.ts'
import { type Addressing, addressing, changes, confirms, fresh, patience } from '../kit/addresses.ts'
import { password } from '../kit/installation.ts'

const { inviteAccount, redeemInvitation, getOwnAccount } = operations

let at: Addressing
let owner: Person
beforeAll(async () => {
  at = await addressing(100)
})
afterAll(() => at.end())
beforeEach(async () => {
  owner = await at.workspace()
})

describe('an address', () => {
  test('waits until it is confirmed, and then signs in', async () => {
    const mara = await at.member(owner)
    const email = fresh()
    const asked = await at.ask(mara, email)
    expect(asked).toEqual({ email, address: null, confirmation_expires_at: expect.any(String) })
    const hours = (Date.parse(asked.confirmation_expires_at ?? '') - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThan(24.1)
    expect((await at.own(mara)).addresses.map((one) => [one.email, one.is_primary, one.confirmed_at])).toEqual([
      [mara.email, true, null],
      [email, false, null],
    ])
    await expect(at.enter(mara, email)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })

    const token = await at.tokenFor(email)
    expect(await at.confirm(mara, token)).toMatchObject({ email, is_primary: false, confirmed_at: expect.any(String) })
    await expect(at.confirm(mara, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid', status: 410 })
    expect((await at.enter(mara, email.toUpperCase())).access_token).toMatch(/^svcs_/)
    expect(await at.own(mara)).toMatchObject({ email: mara.email })
    // Both addresses are told, the primary one although nobody has confirmed it.
    for (const told of [mara.email, email]) await expect.poll(() => at.mailsTo(told, changes).length, patience).toBe(1)
    const found = await at.as(owner).call(operations.listAccounts, { email })
    expect(found.data.map(({ id }) => id)).toEqual([mara.accountId])
    const byWord = await at.as(owner).call(operations.listAccounts, { q: email.slice(0, 30) })
    expect(byWord.data.map(({ id }) => id)).toEqual([mara.accountId])
  })

  test('becomes the primary one by its confirmation or at once; mail goes there, and the version moves', async () => {
    const mara = await at.member(owner)
    const email = await at.added(mara, true)
    expect(await at.own(mara)).toMatchObject({ email, version: 3 })
    // The one before was never confirmed, so it is the account's no more; it is told all the same.
    expect((await at.own(mara)).addresses.map((one) => one.email)).toEqual([email])
    await expect.poll(() => at.mailsTo(mara.email, changes).length, patience).toBe(1)
    await expect(at.enter(mara, mara.email)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })

    const other = await at.added(mara)
    const moved = await at.ask(mara, other, { is_primary: true })
    expect(moved).toMatchObject({ address: { email: other, is_primary: true }, confirmation_expires_at: null })
    expect(await at.ask(mara, email)).toMatchObject({ address: { email, is_primary: false } })
    expect(await at.own(mara)).toMatchObject({ email: other })
    expect((await at.enter(mara, email)).access_token).toMatch(/^svcs_/)
    const actions = await at.oracle<{ action: string }[]>`
      select action from audit_entry where subject_id = ${mara.accountId} and action like 'account.%address%' order by id`
    expect(actions.map(({ action }) => action)).toEqual([
      'account.address_asked',
      'account.address_confirmed',
      'account.address_asked',
      'account.address_confirmed',
      'account.primary_address_changed',
    ])
  })

  test('that takes the place of one that nobody confirmed leaves no link to its reader', async () => {
    const mara = await at.member(owner)
    await at.who.as().call(operations.forgetPassword, { body: { workspace: mara.slug, email: mara.email } })
    const resets = /^Set a new password: /
    await expect.poll(() => at.mailsTo(mara.email, resets).length, patience).toBe(1)
    await at.added(mara, true)
    const link = /#(svcw_\S+)/.exec(at.mailsTo(mara.email, resets)[0]!.mail.text ?? '')?.[1] ?? ''
    await expect(
      at.who.as().call(operations.resetPassword, { body: { token: link, password: 'quite another good password' } }),
    ).rejects.toMatchObject({ code: 'auth.reset_invalid' })
  })

  test('is removed, and is told; the primary one stays', async () => {
    const mara = await at.member(owner)
    const email = await at.added(mara)
    const { addresses } = await at.own(mara)
    await expect(at.remove(mara, addresses[0]!.id)).rejects.toMatchObject({
      code: 'account.address_primary',
      status: 409,
    })
    await at.who.as().call(operations.forgetPassword, { body: { workspace: mara.slug, email } })
    const resets = /^Set a new password: /
    await expect.poll(() => at.mailsTo(email, resets).length, patience).toBe(1)
    await at.remove(mara, addresses[1]!.id)
    const link = /#(svcw_\S+)/.exec(at.mailsTo(email, resets)[0]!.mail.text ?? '')?.[1] ?? ''
    await expect(
      at.who.as().call(operations.resetPassword, { body: { token: link, password: 'quite another good password' } }),
    ).rejects.toMatchObject({ code: 'auth.reset_invalid' })
    expect((await at.as(owner).call(operations.listAccounts, { q: email.slice(0, 30) })).data).toEqual([])
    // A mail that waited for the relay meanwhile goes nowhere.
    const late = { tenantId: mara.tenantId, accountId: mara.accountId, addressId: addresses[1]!.id }
    await sendPasswordReset.run(at.house.test.installation, late)
    expect(at.mailsTo(email, resets).length + at.mailsTo(mara.email, resets).length).toBe(1)
    // Once when it was added, and once now.
    await expect.poll(() => at.mailsTo(email, changes).length, patience).toBe(2)
    await expect(at.enter(mara, email)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(at.remove(mara, addresses[1]!.id)).rejects.toMatchObject({ status: 404 })
    expect((await at.own(mara)).addresses).toHaveLength(1)
    // It is free again.
    const other = await at.member(owner)
    await at.letTimePass(email)
    await at.ask(other, email)
    await at.confirm(other, await at.tokenFor(email, 2))
    expect((await at.enter(other, email)).access_token).toMatch(/^svcs_/)
  })

  test('one that waits is removed in silence, and its link is void', async () => {
    const mara = await at.member(owner)
    const email = fresh()
    await at.ask(mara, email)
    const token = await at.tokenFor(email)
    await at.remove(mara, (await at.own(mara)).addresses[1]!.id)
    await expect(at.confirm(mara, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid' })
    expect(at.mailsTo(email, changes)).toEqual([])
  })

  test('a link from a clock that went ahead confirms nothing, until the clock is there', async () => {
    const mara = await at.member(owner)
    const email = fresh()
    await at.ask(mara, email)
    const token = await at.tokenFor(email)
    const pass = (days: number) => at.house.test.oracle`
      update address_confirmation set created_at = created_at - make_interval(days => ${days}), expires_at = expires_at - make_interval(days => ${days})
      where account_id = ${mara.accountId} and used_at is null`
    await pass(-1)
    await expect(at.confirm(mara, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid' })
    await pass(1)
    expect(await at.confirm(mara, token)).toMatchObject({ email })
  })

  test('a link that has ended is ended by a job, so that no clock that falls back lets it serve', async () => {
    const mara = await at.member(owner)
    const email = fresh()
    await at.ask(mara, email)
    const token = await at.tokenFor(email)
    const move = (to: 'now' | 'tomorrow') => at.house.test.oracle`
      update address_confirmation set expires_at = ${at.house.test.oracle.unsafe(`'${to}'::timestamptz`)} where account_id = ${mara.accountId}`
    const [job] = await at.house.test.oracle`
      select data from pgboss.job where name = 'end_address_confirmation' and data ->> 'tenantId' = ${owner.tenantId} order by created_on desc limit 1`
    await endConfirmation.run(at.house.test.installation, job?.['data']) // come early
    await move('now')
    await endConfirmation.run(at.house.test.installation, job?.['data'])
    await move('tomorrow')
    await expect(at.confirm(mara, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid' })
  })

  test('is one of five, those that wait included', async () => {
    const mara = await at.member(owner)
    for (let count = 1; count < 5; count += 1) await at.ask(mara, fresh())
    await expect(at.ask(mara, fresh())).rejects.toMatchObject({ code: 'account.addresses_full', params: { limit: 5 } })
  })

  test('of an account that joined by a token handed over is asked to be confirmed, by mail and again', async () => {
    const mara = await at.member(owner)
    const token = await at.tokenFor(mara.email)
    await at.letTimePass(mara.email)
    expect(await at.ask(mara, mara.email)).toMatchObject({ address: null, confirmation_expires_at: expect.any(String) })
    const next = await at.tokenFor(mara.email, 2)
    await expect(at.confirm(mara, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid' })
    expect(await at.confirm(mara, next)).toMatchObject({ is_primary: true, confirmed_at: expect.any(String) })
  })

  test('of an account that joined by the link of its mail is confirmed', async () => {
    const email = fresh()
    await at.as(owner).call(inviteAccount, { body: { email } })
    await expect.poll(() => at.mailsTo(email, /^Invitation: /).length, patience).toBe(1)
    const token = /#(svci_\S+)/.exec(at.mailsTo(email, /^Invitation: /)[0]!.mail.text ?? '')?.[1] ?? ''
    const session = await at.who.as().call(redeemInvitation, { body: { token, password } })
    const { addresses } = await at.who.as(session.access_token).call(getOwnAccount)
    expect(addresses).toMatchObject([{ email, is_primary: true, confirmed_at: expect.any(String) }])
    expect(at.mailsTo(email, confirms)).toEqual([])
  })

  test('is confirmed by the link of a reset, which ends the tokens of whoever joined before', async () => {
    const mara = await at.member(owner)
    const { token } = await plantToken(at.house.test, mara, { scopes: ['workspace:read'] })
    await at.who.as().call(operations.forgetPassword, { body: { workspace: mara.slug, email: mara.email } })
    const resets = /^Set a new password: /
    await expect.poll(() => at.mailsTo(mara.email, resets).length, patience).toBe(1)
    const link = /#(svcw_\S+)/.exec(at.mailsTo(mara.email, resets)[0]!.mail.text ?? '')?.[1] ?? ''
    await at.who.as().call(operations.resetPassword, { body: { token: link, password: 'quite another good password' } })
    await expect(at.who.as(token).call(getOwnAccount)).rejects.toMatchObject({ code: 'auth.unauthenticated' })
    const [row] =
      await at.oracle`select confirmed_at is not null as confirmed from account_address where account_id = ${mara.accountId}`
    expect(row).toEqual({ confirmed: true })
  })

  test('any confirmed one is mailed the link of a reset, if it was the one that was given', async () => {
    const mara = await at.member(owner)
    const email = await at.added(mara)
    await at.who.as().call(operations.forgetPassword, { body: { workspace: mara.slug, email } })
    const resets = /^Set a new password: /
    await expect.poll(() => at.mailsTo(email, resets).length, patience).toBe(1)
    expect(at.mailsTo(mara.email, resets)).toEqual([])
    const link = /#(svcw_\S+)/.exec(at.mailsTo(email, resets)[0]!.mail.text ?? '')?.[1] ?? ''
    await at.who.as().call(operations.resetPassword, { body: { token: link, password: 'quite another good password' } })
    const done = /^New password set: /
    for (const told of [mara.email, email]) await expect.poll(() => at.mailsTo(told, done).length, patience).toBe(1)
  })
})
