/** What nobody does with an address: probe, confirm for another, block, mail without end. People 1, Addresses; 10; docs/decisions/0411. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Person, plantAccount, plantToken } from '../kit/accounts.ts'
import { type Addressing, addressing, confirms, fresh, patience } from '../kit/addresses.ts'
import { request } from '../kit/callers.ts'

const { confirmAddress, inviteAccount } = operations

let at: Addressing
let owner: Person
beforeAll(async () => {
  at = await addressing(7)
})
afterAll(() => at.end())
beforeEach(async () => {
  owner = await at.workspace()
})

describe('nobody', () => {
  test('learns by asking whether somebody has the address: the answer is the same, and its holder is told', async () => {
    const [mara, nils] = [await at.member(owner), await at.member(owner)]
    const [taken, free] = [await at.added(nils), fresh()]
    const answers = [await at.ask(mara, taken), await at.ask(mara, free)]
    expect(answers.map(({ address, confirmation_expires_at: at }) => [address, typeof at])).toEqual([
      [null, 'string'],
      [null, 'string'],
    ])
    await expect.poll(() => at.mailsTo(taken, /^Your address was asked for: /).length, patience).toBe(1)
    expect(at.mailsTo(taken, /^Your address was asked for: /)[0]!.mail.text).not.toContain('https://')
    await at.tokenFor(free)
    expect(at.mailsTo(taken, confirms)).toHaveLength(1) // the holder's own, from before
    const [row] = await at.oracle`
      select hash from address_confirmation where account_id = ${mara.accountId} and email_fold = ${taken} and used_at is null`
    expect(row).toEqual({ hash: null })
    // Also how often it may be asked for says nothing.
    for (const email of [taken, free])
      await expect(at.ask(mara, email)).rejects.toMatchObject({ code: 'mail.limited', params: { limit: 1 } })
  })

  test("confirms for somebody else: a victim's click is 401 or 410, and an access token is no session", async () => {
    const [attacker, victim] = [await at.member(owner), await at.member(owner)]
    const email = fresh()
    await at.ask(attacker, email)
    const token = await at.tokenFor(email)
    await expect(at.who.as().call(confirmAddress, { body: { token } })).rejects.toMatchObject({ status: 401 })
    await expect(at.confirm(victim, token)).rejects.toMatchObject({ code: 'auth.confirmation_invalid', status: 410 })
    const own = await plantToken(at.house.test, attacker, { scopes: ['workspace:admin'] })
    await expect(at.who.as(own.token).call(confirmAddress, { body: { token } })).rejects.toMatchObject({
      code: 'auth.credential_kind',
      status: 403,
    })
    await expect(at.confirm(attacker, `svcc_${'x'.repeat(49)}`)).rejects.toMatchObject({ status: 410 })
    await at.oracle`update address_confirmation set expires_at = now() where email_fold = ${email}`
    await expect(at.confirm(attacker, token)).rejects.toMatchObject({ status: 410 })
  })

  test('is blocked by an address that waits: who confirms first has it, an invitation counts as well', async () => {
    const [mara, nils] = [await at.member(owner), await at.member(owner)]
    const email = fresh()
    await at.ask(mara, email)
    const first = await at.tokenFor(email)
    await at.letTimePass(email)
    await at.ask(nils, email)
    const second = await at.tokenFor(email, 2)
    expect(await at.confirm(nils, second)).toMatchObject({ email })
    await expect(at.confirm(mara, first)).rejects.toMatchObject({
      code: 'account.address_taken',
      params: { account_id: nils.accountId, state: 'ACTIVE' },
    })

    const other = fresh()
    await at.ask(mara, other)
    const late = await at.tokenFor(other)
    const invited = await at.as(owner).call(inviteAccount, { body: { email: other, deliver: 'TOKEN' } })
    await expect(at.confirm(mara, late)).rejects.toMatchObject({
      code: 'account.address_taken',
      params: { account_id: invited.account.id, state: 'INVITED' },
    })
    await expect(at.as(owner).call(inviteAccount, { body: { email, deliver: 'TOKEN' } })).rejects.toMatchObject({
      code: 'account.address_taken',
      params: { account_id: nils.accountId },
    })
  })

  test('of two accounts that confirm one address at once one has it', async () => {
    const [mara, nils] = [await at.member(owner), await at.member(owner)]
    const email = fresh()
    const tokens: string[] = []
    for (const [index, person] of [mara, nils].entries()) {
      await at.ask(person, email)
      tokens.push(await at.tokenFor(email, index + 1))
      await at.letTimePass(email)
    }
    const answers = await Promise.all(
      [mara, nils].map((person, index) =>
        request(at.who.daemon.url, confirmAddress, { body: { token: tokens[index] } }, person.session.access_token),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('mails a stranger without end: one a minute, five an hour, and a workspace has its bound', async () => {
    const of = await at.workspace()
    const email = fresh()
    for (let count = 0; count < 5; count += 1) {
      await at.ask(of, email)
      const limit = count < 4 ? { limit: 1, window_seconds: 60 } : { limit: 5, window_seconds: 3600 }
      await expect(at.ask(of, email)).rejects.toMatchObject({ status: 429, code: 'mail.limited', params: limit })
      await at.oracle`update address_confirmation set created_at = created_at - interval '61 seconds' where email_fold = ${email}`
    }
    for (let count = 5; count < 7; count += 1) await at.ask(of, fresh())
    await expect(at.ask(of, fresh())).rejects.toMatchObject({ params: { limit: 7, window_seconds: 3600 } })
  })
})

describe('an administrator', () => {
  test("asks for others; the confirmation takes their session, not the administrator's", async () => {
    const [admin, mara] = [await at.member(owner, 'ADMIN'), await at.member(owner)]
    const email = fresh()
    await at.ask(admin, email, { of: mara })
    const token = await at.tokenFor(email)
    await expect(at.confirm(admin, token)).rejects.toMatchObject({ status: 410 })
    expect(await at.confirm(mara, token)).toMatchObject({ email })
    await at.remove(admin, (await at.own(mara)).addresses[1]!.id, mara)
    expect((await at.own(mara)).addresses).toHaveLength(1)
  })

  test('asks for nobody above; a member for nobody else; a service account and a disabled one have none', async () => {
    const [admin, mara] = [await at.member(owner, 'ADMIN'), await at.member(owner)]
    await expect(at.ask(admin, fresh(), { of: owner })).rejects.toMatchObject({ code: 'auth.role_required' })
    await expect(at.ask(mara, fresh(), { of: admin })).rejects.toMatchObject({ code: 'auth.role_required' })
    await expect(at.ask(admin, fresh(), { of: { ...mara, accountId: randomUUIDv7() } })).rejects.toMatchObject({
      status: 404,
    })
    const service = await plantAccount(at.house.test, owner.tenantId, 'MEMBER', 'SERVICE')
    await expect(at.ask(admin, fresh(), { of: { ...mara, ...service, email: '' } })).rejects.toMatchObject({
      status: 404,
    })
    await at.oracle`update account set state = 'DISABLED' where id = ${mara.accountId}`
    await expect(at.ask(admin, fresh(), { of: mara })).rejects.toMatchObject({ code: 'account.disabled', status: 409 })
  })

  test('who disables an account ends what it waits for', async () => {
    const mara = await at.member(owner)
    const email = fresh()
    await at.ask(mara, email)
    const token = await at.tokenFor(email)
    await at.as(owner).call(operations.disableAccount, { accountId: mara.accountId, stepUp: await at.proofOf(owner) })
    await at.as(owner).call(operations.enableAccount, { accountId: mara.accountId, stepUp: await at.proofOf(owner) })
    const session = await at.enter(mara, mara.email)
    const back = { ...mara, session }
    await expect(at.confirm(back, token)).rejects.toMatchObject({ status: 410 })
    expect((await at.own(back)).addresses.map((one) => one.email)).toEqual([mara.email])
  })
})
