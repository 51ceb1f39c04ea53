/**
 * A sign-in in two calls: the password, and then the second factor with the challenge that the first call answered. A
 * challenge serves once and five minutes, and ends with the password, the factor, the account or the way in. People 4, N17.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { Problem } from '../../src/core/contract/problem.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantToken } from '../kit/accounts.ts'
import { codeAt, type Enrolled, enroll, forget, wrongCode } from '../kit/authenticator.ts'
import { decide, decideNothing } from '../kit/deciding.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { meeting } from '../kit/meeting.ts'
import { plantProof } from '../kit/proofs.ts'

let own: TestInstallation
let who: Callers
let ada: Person
let app: Enrolled
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})
beforeEach(async () => {
  ada = await joinedWorkspace(own)
  app = await enroll(who, ada)
  await forget(own)
})

const { signIn, verifySignIn } = operations
const enter = (more: object = {}) =>
  who.as().call(signIn, { body: { workspace: ada.slug, email: ada.email, password, ...more } })
const refusalOf = (work: Promise<unknown>): Promise<Problem> =>
  work.then(
    () => Promise.reject(new Error('it was served')),
    (error: unknown) => (error instanceof Problem ? error : Promise.reject(error)),
  )
/** The challenge of a sign-in with the password alone. */
const challenged = async () => String((await refusalOf(enter())).params['challenge_token'])
const verify = (challenge_token: string, shown: object = {}) =>
  who.as().call(verifySignIn, { body: { challenge_token, ...shown } })
const rightCode = () => ({ totp: codeAt(app.secret) })
const asAda = () => who.as(ada.session.access_token)
const proof = async (operation: string) =>
  plantProof(own.oracle, { ...ada, credentialId: ada.session.session_id }, { operation })
const invalid = { code: 'auth.challenge_invalid', status: 410 }
const sessions = async () =>
  (await own.oracle`select 1 from session where tenant_id = ${ada.tenantId} and revoked_at is null`).length
/** That the challenge leads to nothing, with a code that is right. */
const expectVoid = async (challenge: string) => {
  const before = await sessions()
  await expect(verify(challenge, { recovery_code: app.codes[9]! })).rejects.toMatchObject(invalid)
  expect(await sessions()).toBe(before)
}

describe('a challenge', () => {
  test('is answered behind the right password, with its end, and opens a session with a code alone', async () => {
    const refused = await refusalOf(enter())
    expect(refused).toMatchObject({ code: 'auth.second_factor_required', status: 401 })
    const { challenge_token: token, challenge_expires_at: end } = refused.params as Record<string, string>
    expect(token).toMatch(/^svch_/)
    expect(Math.round((Date.parse(end!) - Date.now()) / 1000)).toBeGreaterThan(290)
    const session = await verify(token!, rightCode())
    expect((await who.as(session.access_token).call(operations.getOwnAccount)).id).toBe(ada.accountId)
    const started = await own.oracle`
      select 1 from audit_entry where action = 'session.started' and subject_id = ${session.session_id}`
    expect(started).toHaveLength(1)
  })

  test('is not told behind a wrong password, and no step-up has one', async () => {
    expect((await refusalOf(enter({ password: 'not the password' }))).params).toEqual({})
    const asked = await refusalOf(asAda().call(operations.stepUp, { body: { password } }))
    expect([asked.code, asked.params]).toEqual(['auth.second_factor_required', {}])
    const renewed = await refusalOf(
      who.as().call(operations.signInWithNewPassword, {
        body: { workspace: ada.slug, email: ada.email, password, new_password: 'an entirely different one' },
      }),
    )
    expect([renewed.code, renewed.params]).toEqual(['auth.second_factor_required', {}])
  })

  test('takes a recovery code, and a code in the first call still serves', async () => {
    expect((await verify(await challenged(), { recovery_code: app.codes[0]! })).access_token).toMatch(/^svcs_/)
    expect((await enter(rightCode())).access_token).toMatch(/^svcs_/)
  })

  test('stays open behind wrong codes, which count as at sign-in', async () => {
    const challenge = await challenged()
    const wrong = { totp: wrongCode(app.secret) }
    for (let n = 0; n < 4; n += 1)
      await expect(verify(challenge, wrong)).rejects.toMatchObject({ code: 'auth.second_factor_failed', status: 401 })
    await expect(enter(wrong)).rejects.toMatchObject({ code: 'auth.second_factor_failed' })
    const locked = await refusalOf(verify(challenge, rightCode()))
    expect([locked.code, locked.status]).toEqual(['auth.second_factor_locked', 429])
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(890)
    await forget(own)
    expect((await verify(challenge, rightCode())).access_token).toMatch(/^svcs_/)
  })

  test('serves once, and is stored as a hash', async () => {
    const challenge = await challenged()
    const rows = JSON.stringify(await own.oracle`select *, encode(hash, 'escape') as text from sign_in_challenge`)
    expect(rows).not.toContain(challenge.slice(5))
    await verify(challenge, rightCode())
    await expectVoid(challenge)
  })

  test('of two uses at once one opens a session, whichever code each has', async () => {
    const challenge = await challenged()
    const before = await sessions()
    const outcomes = await meeting(
      own.oracle,
      (sql) => sql`select 1 from account where id = ${ada.accountId} for update`,
      2,
      () => Promise.allSettled([verify(challenge, rightCode()), verify(challenge, { recovery_code: app.codes[0]! })]),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: invalid })
    expect(await sessions()).toBe(before + 1)
  })

  test('needs one code, and takes no two', async () => {
    const challenge = await challenged()
    await expect(verify(challenge)).rejects.toMatchObject({ code: 'request.invalid', status: 422 })
    await expect(verify(challenge, { ...rightCode(), recovery_code: app.codes[0]! })).rejects.toMatchObject({
      code: 'request.invalid',
    })
    expect((await verify(challenge, rightCode())).access_token).toMatch(/^svcs_/)
  })

  test("of another account does not take this account's code", async () => {
    const bob = await joinedWorkspace(own)
    const other = await enroll(who, bob)
    await forget(own)
    await expect(verify(await challenged(), { totp: codeAt(other.secret) })).rejects.toMatchObject({
      code: 'auth.second_factor_failed',
    })
  })
})

describe('a challenge ends', () => {
  test('after five minutes; one from a clock that went ahead does not live longer; an unknown one answers alike', async () => {
    const [over, ahead] = [await challenged(), await challenged()]
    await own.oracle`update sign_in_challenge set expires_at = now() where tenant_id = ${ada.tenantId}`
    await expectVoid(over)
    await own.oracle`
      update sign_in_challenge set issued_at = now() + interval '1 day', expires_at = now() + interval '1 day 5 minutes'
      where tenant_id = ${ada.tenantId}`
    await expectVoid(ahead)
    for (const token of [mintToken('challenge').token, mintToken('flow').token, ada.session.refresh_token, 'x'])
      await expect(verify(token, rightCode())).rejects.toMatchObject(invalid)
  })

  test('with the password', async () => {
    const challenge = await challenged()
    await asAda().call(operations.changePassword, {
      body: { current_password: password, new_password: 'an entirely different one' },
    })
    await expectVoid(challenge)
  })

  test.each(['replaced', 'removed', 'new codes'] as const)('with the factor: %s', async (how) => {
    const challenge = await challenged()
    if (how === 'removed')
      await asAda().call(operations.disableSecondFactor, { body: {}, stepUp: await proof('disableSecondFactor') })
    else if (how === 'new codes')
      await asAda().call(operations.regenerateRecoveryCodes, { stepUp: await proof('regenerateRecoveryCodes') })
    else {
      const begun = await asAda().call(operations.replaceTotp, { stepUp: await proof('replaceTotp') })
      await asAda().call(operations.confirmTotpReplacement, { body: { code: codeAt(begun.secret) } })
    }
    await expectVoid(challenge)
  })

  test('with the account: disabled, or without a role', async () => {
    await own.oracle`update membership set role = 'ADMIN' where account_id = ${ada.accountId}`
    const challenge = await challenged()
    const { token, id } = await plantToken(own, ada, { scopes: ['workspace:admin'] })
    const stepUp = await plantProof(own.oracle, { ...ada, credentialId: id })
    await who.as(token).call(operations.disableAccount, { accountId: ada.accountId, stepUp })
    await expectVoid(challenge)
    const alive = await own.oracle`
      select 1 from sign_in_challenge where tenant_id = ${ada.tenantId} and used_at is null`
    expect(alive).toHaveLength(0)
    await own.oracle`update account set state = 'ACTIVE', disabled_at = null, state_before = null where id = ${ada.accountId}`
    await expectVoid(challenge)
    const again = await challenged()
    await own.oracle`delete from membership where tenant_id = ${ada.tenantId} and account_id = ${ada.accountId}`
    await expectVoid(again)
  })

  test('where the way in is closed meanwhile', async () => {
    const challenge = await challenged()
    await decide(own, { sign_in: { password_enabled: { value: false } } })
    try {
      await expectVoid(challenge)
    } finally {
      await decideNothing(own)
    }
    await own.oracle`update installation set gated_at = now(), gate_reason = 'BEGUN'`
    await expect(verify(challenge, rightCode())).rejects.toMatchObject({ code: 'installation.recovering', status: 503 })
    await own.oracle`update installation set gated_at = null, gate_reason = null`
    await own.oracle`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${ada.tenantId}`
    await expect(verify(challenge, rightCode())).rejects.toMatchObject({ code: 'tenant_suspended', status: 403 })
    await own.oracle`update tenant set state = 'ACTIVE', suspended_at = null where id = ${ada.tenantId}`
    expect((await verify(challenge, rightCode())).access_token).toMatch(/^svcs_/)
  })
})
