/**
 * Addresses of accounts: asked for, confirmed in a session of the account that gets them, made the primary one, removed.
 * Over a real SMTP server. People 1, N6 and I4; 4, N20; 10; docs/decisions/0410, 0411.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Session } from '../../src/core/contract/auth/operations.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantAccount, plantToken } from '../kit/accounts.ts'
import { request } from '../kit/callers.ts'
import { password } from '../kit/installation.ts'
import { type Mailing, mailing } from '../kit/mailing.ts'
import { plantProof } from '../kit/proofs.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const { addAddress, removeAddress, confirmAddress, inviteAccount, redeemInvitation, getOwnAccount, signIn } = operations
const patience = { timeout: 20_000 }

let relay: SmtpRelay
let house: Mailing
let who: Callers
let owner: Person
beforeAll(async () => {
  relay = await smtpRelay()
  house = await mailing({
    SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    SVC_PUBLIC_URL: 'https://{slug}.work.example',
    SVC_INVITE_MAILS_PER_HOUR: '8',
  })
  who = await callers(house.test)
})
beforeEach(async () => {
  owner = await joinedWorkspace(house.test)
})
afterAll(async () => {
  await who.close()
  await house.end()
  await relay.close()
})

const oracle: Mailing['test']['oracle'] = ((...all: Parameters<Mailing['test']['oracle']>) =>
  house.test.oracle(...all)) as never
const fresh = () => `${randomUUIDv7()}@new.example`
const mailsTo = (address: string, subject: RegExp) =>
  relay.takenBy(address).filter(({ mail }) => subject.test(mail.subject ?? ''))
const confirms = /^Confirm your address: /
const changes = /^Addresses changed: /

/** Somebody who joined by a token that was handed over. */
async function member(role: 'ADMIN' | 'MEMBER' = 'MEMBER', of = owner): Promise<Person> {
  const email = fresh()
  const made = await who
    .as(of.session.access_token)
    .call(inviteAccount, { body: { email, display_name: 'Mara', role, deliver: 'TOKEN' } })
  const session: Session = await who
    .as()
    .call(redeemInvitation, { body: { token: made.redemption_token ?? '', password } })
  return { tenantId: of.tenantId, slug: of.slug, accountId: made.account.id, email, session }
}

const as = (person: Person) => who.as(person.session.access_token)
const proofOf = ({ tenantId, accountId, session }: Person) =>
  plantProof(house.test.oracle, { tenantId, accountId, credentialId: session.session_id })
const ask = async (by: Person, email: string, more: { is_primary?: boolean; of?: Person } = {}) => {
  const { of = by, ...body } = more
  return as(by).call(addAddress, { accountId: of.accountId, body: { email, ...body }, stepUp: await proofOf(by) })
}
const remove = async (by: Person, addressId: string, of = by) =>
  as(by).call(removeAddress, { accountId: of.accountId, addressId, stepUp: await proofOf(by) })
const confirm = (by: Person, token: string) => as(by).call(confirmAddress, { body: { token } })
const own = (of: Person) => as(of).call(getOwnAccount)
const enter = (of: Person, email: string) => who.as().call(signIn, { body: { workspace: of.slug, email, password } })

/** The token of the newest mail that asks to confirm the address. */
async function tokenFor(email: string, count = 1): Promise<string> {
  await expect.poll(() => mailsTo(email, confirms).length, patience).toBeGreaterThanOrEqual(count)
  const text = mailsTo(email, confirms).at(-1)!.mail.text ?? ''
  const link = /https:\/\/\S+/.exec(text)?.[0] ?? ''
  expect(link).toMatch(
    new RegExp(`^https://${owner.slug}\\.work\\.example/confirm-address\\?workspace=${owner.slug}#svcc_`),
  )
  return link.slice(link.indexOf('#') + 1)
}
/** Takes the mails before out of the count of a minute and of the hour. */
const letTimePass = (email: string) => oracle`
  update address_confirmation set created_at = created_at - interval '2 hours' where email_fold = ${email}`
async function added(by: Person, is_primary = false): Promise<string> {
  const email = fresh()
  await ask(by, email, { is_primary })
  await confirm(by, await tokenFor(email))
  await letTimePass(email)
  return email
}

describe('an address', () => {
  test('waits until it is confirmed, and then signs in', async () => {
    const mara = await member()
    const email = fresh()
    const asked = await ask(mara, email)
    expect(asked).toEqual({ email, address: null, confirmation_expires_at: expect.any(String) })
    const hours = (Date.parse(asked.confirmation_expires_at ?? '') - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThan(24.1)
    expect((await own(mara)).addresses.map((one) => [one.email, one.is_primary, one.confirmed_at])).toEqual([
      [mara.email, true, null],
      [email, false, null],
    ])
    await expect(enter(mara, email)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })

    const token = await tokenFor(email)
    expect(await confirm(mara, token)).toMatchObject({ email, is_primary: false, confirmed_at: expect.any(String) })
    await expect(confirm(mara, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid', status: 410 })
    expect((await enter(mara, email.toUpperCase())).access_token).toMatch(/^svcs_/)
    expect(await own(mara)).toMatchObject({ email: mara.email })
    // Both addresses are told, the primary one although nobody has confirmed it.
    for (const told of [mara.email, email]) await expect.poll(() => mailsTo(told, changes).length, patience).toBe(1)
    const found = await as(owner).call(operations.listAccounts, { email })
    expect(found.data.map(({ id }) => id)).toEqual([mara.accountId])
    const byWord = await as(owner).call(operations.listAccounts, { q: email.slice(0, 30) })
    expect(byWord.data.map(({ id }) => id)).toEqual([mara.accountId])
  })

  test('becomes the primary one by its confirmation or at once; mail goes there, and the version moves', async () => {
    const mara = await member()
    const email = await added(mara, true)
    expect(await own(mara)).toMatchObject({ email, version: 3 })
    // The one before was never confirmed, so it is the account's no more; it is told all the same.
    expect((await own(mara)).addresses.map((one) => one.email)).toEqual([email])
    await expect.poll(() => mailsTo(mara.email, changes).length, patience).toBe(1)
    await expect(enter(mara, mara.email)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })

    const other = await added(mara)
    const moved = await ask(mara, other, { is_primary: true })
    expect(moved).toMatchObject({ address: { email: other, is_primary: true }, confirmation_expires_at: null })
    expect(await ask(mara, email)).toMatchObject({ address: { email, is_primary: false } })
    expect(await own(mara)).toMatchObject({ email: other })
    expect((await enter(mara, email)).access_token).toMatch(/^svcs_/)
    const actions = await oracle<{ action: string }[]>`
      select action from audit_entry where subject_id = ${mara.accountId} and action like 'account.%address%' order by id`
    expect(actions.map(({ action }) => action)).toEqual([
      'account.address_asked',
      'account.address_confirmed',
      'account.address_asked',
      'account.address_confirmed',
      'account.primary_address_changed',
    ])
  })

  test('is removed, and is told; the primary one stays', async () => {
    const mara = await member()
    const email = await added(mara)
    const { addresses } = await own(mara)
    await expect(remove(mara, addresses[0]!.id)).rejects.toMatchObject({ code: 'account.address_primary', status: 409 })
    await remove(mara, addresses[1]!.id)
    // Once when it was added, and once now.
    await expect.poll(() => mailsTo(email, changes).length, patience).toBe(2)
    await expect(enter(mara, email)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(remove(mara, addresses[1]!.id)).rejects.toMatchObject({ status: 404 })
    expect((await own(mara)).addresses).toHaveLength(1)
    // It is free again.
    const other = await member()
    await letTimePass(email)
    await ask(other, email)
    await confirm(other, await tokenFor(email, 2))
    expect((await enter(other, email)).access_token).toMatch(/^svcs_/)
  })

  test('one that waits is removed in silence, and its link is void', async () => {
    const mara = await member()
    const email = fresh()
    await ask(mara, email)
    const token = await tokenFor(email)
    await remove(mara, (await own(mara)).addresses[1]!.id)
    await expect(confirm(mara, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid' })
    expect(mailsTo(email, changes)).toEqual([])
  })

  test('is one of five, those that wait included', async () => {
    const mara = await member()
    for (let count = 1; count < 5; count += 1) await ask(mara, fresh())
    await expect(ask(mara, fresh())).rejects.toMatchObject({ code: 'account.addresses_full', params: { limit: 5 } })
  })

  test('of an account that joined by a token handed over is asked to be confirmed, by mail and again', async () => {
    const mara = await member()
    const token = await tokenFor(mara.email)
    await letTimePass(mara.email)
    expect(await ask(mara, mara.email)).toMatchObject({ address: null, confirmation_expires_at: expect.any(String) })
    const next = await tokenFor(mara.email, 2)
    await expect(confirm(mara, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid' })
    expect(await confirm(mara, next)).toMatchObject({ is_primary: true, confirmed_at: expect.any(String) })
  })

  test('of an account that joined by the link of its mail is confirmed', async () => {
    const email = fresh()
    await as(owner).call(inviteAccount, { body: { email } })
    await expect.poll(() => mailsTo(email, /^Invitation: /).length, patience).toBe(1)
    const token = /#(svci_\S+)/.exec(mailsTo(email, /^Invitation: /)[0]!.mail.text ?? '')?.[1] ?? ''
    const session = await who.as().call(redeemInvitation, { body: { token, password } })
    const { addresses } = await who.as(session.access_token).call(getOwnAccount)
    expect(addresses).toMatchObject([{ email, is_primary: true, confirmed_at: expect.any(String) }])
    expect(mailsTo(email, confirms)).toEqual([])
  })

  test('is confirmed by the link of a reset, which ends the tokens of whoever joined before', async () => {
    const mara = await member()
    const { token } = await plantToken(house.test, mara, { scopes: ['workspace:read'] })
    await who.as().call(operations.forgetPassword, { body: { workspace: mara.slug, email: mara.email } })
    const resets = /^Set a new password: /
    await expect.poll(() => mailsTo(mara.email, resets).length, patience).toBe(1)
    const link = /#(svcw_\S+)/.exec(mailsTo(mara.email, resets)[0]!.mail.text ?? '')?.[1] ?? ''
    await who.as().call(operations.resetPassword, { body: { token: link, password: 'quite another good password' } })
    await expect(who.as(token).call(getOwnAccount)).rejects.toMatchObject({ code: 'auth.unauthenticated' })
    const [row] =
      await oracle`select confirmed_at is not null as confirmed from account_address where account_id = ${mara.accountId}`
    expect(row).toEqual({ confirmed: true })
  })

  test('any confirmed one is mailed the link of a reset, if it was the one that was given', async () => {
    const mara = await member()
    const email = await added(mara)
    await who.as().call(operations.forgetPassword, { body: { workspace: mara.slug, email } })
    const resets = /^Set a new password: /
    await expect.poll(() => mailsTo(email, resets).length, patience).toBe(1)
    expect(mailsTo(mara.email, resets)).toEqual([])
    const link = /#(svcw_\S+)/.exec(mailsTo(email, resets)[0]!.mail.text ?? '')?.[1] ?? ''
    await who.as().call(operations.resetPassword, { body: { token: link, password: 'quite another good password' } })
    const done = /^New password set: /
    for (const told of [mara.email, email]) await expect.poll(() => mailsTo(told, done).length, patience).toBe(1)
  })
})

describe('nobody', () => {
  test('learns by asking whether somebody has the address: the answer is the same, and its holder is told', async () => {
    const [mara, nils] = [await member(), await member()]
    const [taken, free] = [await added(nils), fresh()]
    const answers = [await ask(mara, taken), await ask(mara, free)]
    expect(answers.map(({ address, confirmation_expires_at: at }) => [address, typeof at])).toEqual([
      [null, 'string'],
      [null, 'string'],
    ])
    await expect.poll(() => mailsTo(taken, /^Your address was asked for: /).length, patience).toBe(1)
    expect(mailsTo(taken, /^Your address was asked for: /)[0]!.mail.text).not.toContain('https://')
    await tokenFor(free)
    expect(mailsTo(taken, confirms)).toHaveLength(1) // the holder's own, from before
    const [row] = await oracle`
      select hash from address_confirmation where account_id = ${mara.accountId} and email_fold = ${taken} and used_at is null`
    expect(row).toEqual({ hash: null })
    // Also how often it may be asked for says nothing.
    for (const email of [taken, free])
      await expect(ask(mara, email)).rejects.toMatchObject({ code: 'mail.limited', params: { limit: 1 } })
  })

  test("confirms for somebody else: a victim's click is 401 or 410, and a token is no session", async () => {
    const [attacker, victim] = [await member(), await member()]
    const email = fresh()
    await ask(attacker, email)
    const token = await tokenFor(email)
    await expect(who.as().call(confirmAddress, { body: { token } })).rejects.toMatchObject({ status: 401 })
    await expect(confirm(victim, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid', status: 410 })
    const own = await plantToken(house.test, attacker, { scopes: ['workspace:admin'] })
    await expect(who.as(own.token).call(confirmAddress, { body: { token } })).rejects.toMatchObject({ status: 410 })
    await expect(confirm(attacker, `svcc_${'x'.repeat(49)}`)).rejects.toMatchObject({ status: 410 })
    await oracle`update address_confirmation set expires_at = now() where email_fold = ${email}`
    await expect(confirm(attacker, token)).rejects.toMatchObject({ status: 410 })
  })

  test('is blocked by an address that waits: who confirms first has it, an invitation counts as well', async () => {
    const [mara, nils] = [await member(), await member()]
    const email = fresh()
    await ask(mara, email)
    const first = await tokenFor(email)
    await letTimePass(email)
    await ask(nils, email)
    const second = await tokenFor(email, 2)
    expect(await confirm(nils, second)).toMatchObject({ email })
    await expect(confirm(mara, first)).rejects.toMatchObject({
      code: 'account.address_taken',
      params: { account_id: nils.accountId, state: 'ACTIVE' },
    })

    const other = fresh()
    await ask(mara, other)
    const late = await tokenFor(other)
    const invited = await as(owner).call(inviteAccount, { body: { email: other, deliver: 'TOKEN' } })
    await expect(confirm(mara, late)).rejects.toMatchObject({
      code: 'account.address_taken',
      params: { account_id: invited.account.id, state: 'INVITED' },
    })
    await expect(as(owner).call(inviteAccount, { body: { email, deliver: 'TOKEN' } })).rejects.toMatchObject({
      code: 'account.address_taken',
      params: { account_id: nils.accountId },
    })
  })

  test('of two accounts that confirm one address at once both have it', async () => {
    const [mara, nils] = [await member(), await member()]
    const email = fresh()
    const tokens: string[] = []
    for (const [at, person] of [mara, nils].entries()) {
      await ask(person, email)
      tokens.push(await tokenFor(email, at + 1))
      await letTimePass(email)
    }
    const answers = await Promise.all(
      [mara, nils].map((person, at) =>
        request(who.daemon.url, confirmAddress, { body: { token: tokens[at] } }, person.session.access_token),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('mails a stranger without end: one a minute, five an hour, and a workspace has its bound', async () => {
    const of = await joinedWorkspace(house.test)
    const email = fresh()
    for (let count = 0; count < 5; count += 1) {
      await ask(of, email)
      const limit = count < 4 ? { limit: 1, window_seconds: 60 } : { limit: 5, window_seconds: 3600 }
      await expect(ask(of, email)).rejects.toMatchObject({ status: 429, code: 'mail.limited', params: limit })
      await oracle`update address_confirmation set created_at = created_at - interval '61 seconds' where email_fold = ${email}`
    }
    for (let count = 5; count < 8; count += 1) await ask(of, fresh())
    await expect(ask(of, fresh())).rejects.toMatchObject({ params: { limit: 8, window_seconds: 3600 } })
  })
})

describe('an administrator', () => {
  test("asks for others; the confirmation takes their session, not the administrator's", async () => {
    const [admin, mara] = [await member('ADMIN'), await member()]
    const email = fresh()
    await ask(admin, email, { of: mara })
    const token = await tokenFor(email)
    await expect(confirm(admin, token)).rejects.toMatchObject({ status: 410 })
    expect(await confirm(mara, token)).toMatchObject({ email })
    await remove(admin, (await own(mara)).addresses[1]!.id, mara)
    expect((await own(mara)).addresses).toHaveLength(1)
  })

  test('asks for nobody above; a member for nobody else; a service account and a disabled one have none', async () => {
    const [admin, mara] = [await member('ADMIN'), await member()]
    await expect(ask(admin, fresh(), { of: owner })).rejects.toMatchObject({ code: 'auth.role_required' })
    await expect(ask(mara, fresh(), { of: admin })).rejects.toMatchObject({ code: 'auth.role_required' })
    await expect(ask(admin, fresh(), { of: { ...mara, accountId: randomUUIDv7() } })).rejects.toMatchObject({
      status: 404,
    })
    const service = await plantAccount(house.test, owner.tenantId, 'MEMBER', 'SERVICE')
    await expect(ask(admin, fresh(), { of: { ...mara, ...service, email: '' } })).rejects.toMatchObject({ status: 404 })
    await oracle`update account set state = 'DISABLED' where id = ${mara.accountId}`
    await expect(ask(admin, fresh(), { of: mara })).rejects.toMatchObject({ code: 'account.disabled', status: 409 })
  })

  test('who disables an account ends what it waits for', async () => {
    const mara = await member()
    const email = fresh()
    await ask(mara, email)
    const token = await tokenFor(email)
    await as(owner).call(operations.disableAccount, { accountId: mara.accountId, stepUp: await proofOf(owner) })
    await as(owner).call(operations.enableAccount, { accountId: mara.accountId, stepUp: await proofOf(owner) })
    const session = await enter(mara, mara.email)
    const back = { ...mara, session }
    await expect(confirm(back, token)).rejects.toMatchObject({ status: 410 })
    expect((await own(back)).addresses.map((one) => one.email)).toEqual([mara.email])
  })
})
