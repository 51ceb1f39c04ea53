/** The second factor: enrolment, sign-in, step-up, recovery codes, removal. Spec: Index, Auth; decisions 2; threats T-07, T-38. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantToken } from '../kit/accounts.ts'
import { codeAt, type Enrolled, enroll, forget, wrongCode } from '../kit/authenticator.ts'
import { dump, occurrences } from '../kit/dump.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

const crowd = 20
const rounds = process.env['SVC_FAULTS'] === 'full' ? 200 : 10

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

interface Shown {
  readonly totp?: string
  readonly recovery_code?: string
}
const signIn = (shown: Shown = {}, person = ada, secret = password) =>
  who
    .as()
    .call(operations.signIn, { body: { workspace: person.slug, email: person.email, password: secret, ...shown } })
const prove = async (shown: Shown = {}, more: object = {}) =>
  (await who.as(ada.session.access_token).call(operations.stepUp, { body: { password, ...shown, ...more } }))
    .step_up_token
const asAda = () => who.as(ada.session.access_token)
const me = async () => asAda().call(operations.getOwnAccount)
const codesOf = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => (outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : 'passed'))
const trail = async (tenantId = ada.tenantId) =>
  (
    await own.oracle<
      { action: string }[]
    >`select action from audit_entry where tenant_id = ${tenantId} and action like 'second_factor%' order by id`
  ).map(({ action }) => action)

const failed = { code: 'auth.second_factor_failed', status: 401 }
const required = { code: 'auth.second_factor_required', status: 401 }

describe('enrolment', () => {
  test('asks for nothing until a code was confirmed', async () => {
    const bob = await joinedWorkspace(own)
    const caller = who.as(bob.session.access_token)
    const { step_up_token } = await caller.call(operations.stepUp, { body: { password } })
    const begun = await caller.call(operations.enrollTotp, { stepUp: step_up_token })
    expect(new URL(begun.otpauth_uri).searchParams.get('secret')).toBe(begun.secret)
    expect((await signIn({}, bob)).session_id).toBeTruthy()
    await expect(
      caller.call(operations.confirmTotp, { body: { code: wrongCode(begun.secret) } }),
    ).rejects.toMatchObject(failed)
    expect((await signIn({}, bob)).session_id).toBeTruthy()
    await caller.call(operations.confirmTotp, { body: { code: codeAt(begun.secret) } })
    await expect(signIn({}, bob)).rejects.toMatchObject(required)
  })

  test('takes a step-up', async () => {
    const bob = await joinedWorkspace(own)
    await expect(who.as(bob.session.access_token).call(operations.enrollTotp)).rejects.toMatchObject({
      code: 'auth.step_up_required',
    })
  })

  test('begun again, the first secret is void; a quarter of an hour later every one is', async () => {
    const bob = await joinedWorkspace(own)
    const caller = who.as(bob.session.access_token)
    const begin = async () => {
      const { step_up_token } = await caller.call(operations.stepUp, { body: { password } })
      return caller.call(operations.enrollTotp, { stepUp: step_up_token })
    }
    const [first, second] = [await begin(), await begin()]
    const confirm = (secret: string) => caller.call(operations.confirmTotp, { body: { code: codeAt(secret) } })
    await expect(confirm(first.secret)).rejects.toMatchObject(failed)
    await own.oracle`update second_factor set created_at = now() - interval '15 minutes 1 second' where account_id = ${bob.accountId}`
    await expect(confirm(second.secret)).rejects.toMatchObject({ code: 'auth.second_factor_not_begun', status: 409 })
  })

  test('a second one is refused, and what the account has is shown without a secret', async () => {
    await expect(
      asAda().call(operations.enrollTotp, { stepUp: await prove({ totp: codeAt(app.secret) }) }),
    ).rejects.toMatchObject({
      code: 'auth.second_factor_enrolled',
      status: 409,
    })
    expect((await me()).second_factor).toEqual({ enrolled_at: expect.any(String), recovery_codes_left: 10 })
    expect(JSON.stringify(await me())).not.toContain(app.secret)
  })

  test('ends the other sessions, voids unspent proofs, and the trail says so', async () => {
    const bob = await joinedWorkspace(own)
    const other = await signIn({}, bob)
    const caller = who.as(bob.session.access_token)
    const { step_up_token: unspent } = await caller.call(operations.stepUp, { body: { password } })
    await enroll(who, bob)
    await expect(who.as(other.access_token).call(operations.getOwnAccount)).rejects.toMatchObject({
      code: 'auth.unauthenticated',
    })
    await expect(caller.call(operations.regenerateRecoveryCodes, { stepUp: unspent })).rejects.toMatchObject({
      code: 'auth.step_up_required',
    })
    expect(await trail(bob.tenantId)).toEqual(['second_factor.confirmed'])
  })

  test('a service account has none', async () => {
    const robot = await asAda().call(operations.createServiceAccount, {
      body: { name: 'robot', role: 'MEMBER', scopes: ['workspace:read'] },
    })
    await expect(who.as(robot.token).call(operations.stepUp, { body: { password } })).rejects.toMatchObject({
      code: 'auth.sign_in_failed',
    })
  })
})

describe('signing in', () => {
  test('asks for the code behind the right password only, so that nobody else learns that there is one', async () => {
    await expect(signIn()).rejects.toMatchObject(required)
    await expect(signIn({}, ada, 'not the password')).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(signIn({ totp: codeAt(app.secret) }, ada, 'not the password')).rejects.toMatchObject({
      code: 'auth.sign_in_failed',
    })
    expect((await signIn({ totp: codeAt(app.secret) })).access_token).toMatch(/^svcs_/)
  })

  test('takes the codes of the step before and after, and none further away', async () => {
    for (const steps of [-1, 0, 1]) {
      await forget(own)
      expect((await signIn({ totp: codeAt(app.secret, steps) })).session_id).toBeTruthy()
    }
    await forget(own)
    for (const steps of [-3, 3]) await expect(signIn({ totp: codeAt(app.secret, steps) })).rejects.toMatchObject(failed)
  })

  test('a code serves once, and so does none before it', async () => {
    const [now, next] = [codeAt(app.secret), codeAt(app.secret, 1)]
    await signIn({ totp: next })
    await expect(signIn({ totp: next })).rejects.toMatchObject(failed)
    await expect(signIn({ totp: now })).rejects.toMatchObject(failed)
  })

  test(`of ${crowd} uses of a code at once one passes`, async () => {
    await own.oracle`update second_factor set last_step = 0 where account_id = ${ada.accountId}`
    const totp = codeAt(app.secret)
    const outcomes = codesOf(await Promise.allSettled(Array.from({ length: crowd }, () => signIn({ totp }))))
    expect(outcomes.filter((code) => code === 'passed')).toHaveLength(1)
  })

  test('after five wrong codes the right one is refused, and the password alone says nothing else', async () => {
    for (let n = 0; n < 5; n += 1) await expect(signIn({ totp: wrongCode(app.secret) })).rejects.toMatchObject(failed)
    const locked = (await signIn({ totp: codeAt(app.secret) }).catch((error: unknown) => error)) as {
      headers: Record<string, string>
    }
    expect(locked).toMatchObject({ code: 'auth.second_factor_locked', status: 429 })
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(890)
    expect(await trail()).toContain('second_factor.locked')
    await own.oracle`update failed_attempt set at = at - interval '15 minutes 1 second'`
    expect((await signIn({ totp: codeAt(app.secret) })).session_id).toBeTruthy()
  })

  test(`of ${crowd} wrong codes at once five are looked at`, async () => {
    const totp = wrongCode(app.secret)
    const outcomes = codesOf(await Promise.allSettled(Array.from({ length: crowd }, () => signIn({ totp }))))
    expect(outcomes.filter((code) => code === 'auth.second_factor_failed')).toHaveLength(5)
    expect(outcomes.filter((code) => code === 'auth.second_factor_locked')).toHaveLength(crowd - 5)
  })

  test("another account's code is no code", async () => {
    const bob = await joinedWorkspace(own)
    const other = await enroll(who, bob)
    await expect(signIn({ totp: codeAt(other.secret) })).rejects.toMatchObject(failed)
    await expect(signIn({ recovery_code: other.codes[0]! })).rejects.toMatchObject(failed)
  })

  test('a code and a recovery code together are refused', async () => {
    await expect(signIn({ totp: codeAt(app.secret), recovery_code: app.codes[0]! })).rejects.toMatchObject({
      code: 'request.invalid',
    })
  })
})

describe('recovery codes', () => {
  test('each stands in once, however it is typed, and the trail says so', async () => {
    const [first = '', second = ''] = app.codes
    expect(new Set(app.codes).size).toBe(10)
    for (const code of app.codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/)
    expect((await signIn({ recovery_code: first })).session_id).toBeTruthy()
    await expect(signIn({ recovery_code: first })).rejects.toMatchObject(failed)
    await signIn({ recovery_code: second.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O').replaceAll('1', 'l') })
    expect((await me()).second_factor?.recovery_codes_left).toBe(8)
    expect((await trail()).filter((action) => action === 'second_factor.recovery_code_used')).toHaveLength(2)
  })

  test(`of ${crowd} uses of one at once one passes`, async () => {
    const outcomes = codesOf(
      await Promise.allSettled(Array.from({ length: crowd }, () => signIn({ recovery_code: app.codes[0]! }))),
    )
    expect(outcomes.filter((code) => code === 'passed')).toHaveLength(1)
  })

  test('made anew, the old ones are void', async () => {
    const { recovery_codes } = await asAda().call(operations.regenerateRecoveryCodes, {
      stepUp: await prove({ totp: codeAt(app.secret) }),
    })
    expect(recovery_codes.filter((code) => app.codes.includes(code))).toEqual([])
    await expect(signIn({ recovery_code: app.codes[3]! })).rejects.toMatchObject(failed)
    expect((await signIn({ recovery_code: recovery_codes[3]! })).session_id).toBeTruthy()
  })
})

describe('step-up', () => {
  test('demands the second factor beside the password', async () => {
    await expect(prove()).rejects.toMatchObject(required)
    await expect(prove({ totp: wrongCode(app.secret) })).rejects.toMatchObject(failed)
    expect(await prove({ totp: codeAt(app.secret) })).toMatch(/^svcu_/)
    expect(await prove({ recovery_code: app.codes[0]! })).toMatch(/^svcu_/)
  })

  test('wrong codes count with wrong passwords: five in all lock it', async () => {
    const wrong = () => prove({ totp: wrongCode(app.secret) })
    for (let n = 0; n < 3; n += 1) await expect(wrong()).rejects.toMatchObject(failed)
    for (let n = 0; n < 2; n += 1)
      await expect(
        asAda().call(operations.stepUp, { body: { password: 'wrong', totp: codeAt(app.secret) } }),
      ).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(prove({ totp: codeAt(app.secret) })).rejects.toMatchObject({
      code: 'auth.step_up_locked',
      status: 429,
    })
  })

  test(`a proof made with it serves one of ${crowd} calls at once, ${rounds} times over`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      await forget(own)
      const stepUp = await prove({ totp: codeAt(app.secret) }, { operation: 'regenerateRecoveryCodes' })
      const outcomes = codesOf(
        await Promise.allSettled(
          Array.from({ length: crowd }, () => asAda().call(operations.regenerateRecoveryCodes, { stepUp })),
        ),
      )
      // A pool that is too busy answers 503 and has looked at nothing; every other call is told that the proof is spent.
      const looked = outcomes.filter((code) => code !== 'service.unavailable')
      expect(looked.filter((code) => code === 'passed')).toHaveLength(1)
      expect(looked.filter((code) => code === 'auth.step_up_required')).toHaveLength(looked.length - 1)
    }
  }, 240_000)

  test('a code that signed in proves nothing, and one that proved signs nobody in', async () => {
    const code = codeAt(app.secret)
    await signIn({ totp: code })
    await expect(prove({ totp: code })).rejects.toMatchObject(failed)
    const next = codeAt(app.secret, 1)
    await prove({ totp: next })
    await expect(signIn({ totp: next })).rejects.toMatchObject(failed)
  })
})

describe('replacement', () => {
  test('the old app serves until the new one is confirmed, and then no more; recovery codes stay', async () => {
    const begun = await asAda().call(operations.replaceTotp, { stepUp: await prove({ totp: codeAt(app.secret) }) })
    await forget(own)
    expect((await signIn({ totp: codeAt(app.secret) })).session_id).toBeTruthy()
    const after = await asAda().call(operations.confirmTotpReplacement, { body: { code: codeAt(begun.secret) } })
    expect(after.recovery_codes_left).toBe(10)
    await forget(own)
    await expect(signIn({ totp: codeAt(app.secret) })).rejects.toMatchObject(failed)
    expect((await signIn({ totp: codeAt(begun.secret) })).session_id).toBeTruthy()
    expect(
      await own.oracle`select 1 from sealed_value where tenant_id = ${ada.tenantId} and kind = 'mfa.totp'`,
    ).toHaveLength(1)
  })

  test('a wrong code keeps the old one', async () => {
    const begun = await asAda().call(operations.replaceTotp, { stepUp: await prove({ totp: codeAt(app.secret) }) })
    await forget(own)
    await expect(
      asAda().call(operations.confirmTotpReplacement, { body: { code: wrongCode(begun.secret) } }),
    ).rejects.toMatchObject(failed)
    expect((await signIn({ totp: codeAt(app.secret) })).session_id).toBeTruthy()
  })

  test.each([
    ['replaceTotp', 'auth.second_factor_absent'],
    ['regenerateRecoveryCodes', 'auth.second_factor_absent'],
  ] as const)('without one there is nothing for %s', async (id, code) => {
    const bob = await joinedWorkspace(own)
    const caller = who.as(bob.session.access_token)
    const { step_up_token } = await caller.call(operations.stepUp, { body: { password } })
    await expect(caller.call(operations[id], { stepUp: step_up_token })).rejects.toMatchObject({ code, status: 409 })
    await expect(caller.call(operations.confirmTotpReplacement, { body: { code: '000000' } })).rejects.toMatchObject({
      code: 'auth.second_factor_not_begun',
    })
  })
})

describe('removal', () => {
  const remove = async (body: object = {}, caller = asAda(), shown: Shown = { totp: codeAt(app.secret) }) =>
    caller.call(operations.disableSecondFactor, {
      body,
      stepUp: (await caller.call(operations.stepUp, { body: { password, ...shown } })).step_up_token,
    })

  test("one's own: the password alone signs in again, and nothing is left behind", async () => {
    await remove()
    expect((await signIn()).session_id).toBeTruthy()
    expect((await me()).second_factor).toBeNull()
    for (const table of ['second_factor', 'recovery_code'])
      expect(await own.oracle`select 1 from ${own.oracle(table)} where account_id = ${ada.accountId}`).toEqual([])
    expect(
      await own.oracle`select 1 from sealed_value where tenant_id = ${ada.tenantId} and kind = 'mfa.totp'`,
    ).toEqual([])
    expect(await trail()).toEqual(['second_factor.confirmed', 'second_factor.removed'])
  })

  /** Another person of the same workspace, who has a password and no second factor. */
  const colleague = async (role: Role): Promise<Person> => {
    const made = await joinedWorkspace(own)
    await own.oracle`update membership set tenant_id = tenant_id, role = ${role} where account_id = ${made.accountId}`
    const { token } = await plantToken(own, made, { scopes: ['workspace:read', 'workspace:admin'] })
    return { ...made, session: { ...made.session, access_token: token } }
  }

  test('an administrator removes that of somebody at most as high, in his own workspace only', async () => {
    const stranger = await colleague('OWNER')
    await expect(
      remove({ account_id: ada.accountId }, who.as(stranger.session.access_token), {}),
    ).rejects.toMatchObject({ code: 'not_found' })
    await expect(remove({ email: ada.email }, who.as(stranger.session.access_token), {})).rejects.toMatchObject({
      code: 'not_found',
    })
    expect((await me()).second_factor).not.toBeNull()
  })

  test.each([
    ['OWNER', 'OWNER', undefined],
    ['ADMIN', 'MEMBER', undefined],
    ['ADMIN', 'OWNER', 'auth.role_required'],
    ['MEMBER', 'MEMBER', 'auth.role_required'],
  ] as const)('a caller who is %s, of an account that is %s', async (mine, theirs, refusal) => {
    const { hash } = await own.oracle<{ hash: string }[]>`
      select password_hash as hash from account where id = ${ada.accountId}`.then(([row]) => row!)
    const id = crypto.randomUUID()
    await own.oracle`
      insert into account (tenant_id, id, kind, state, email, email_fold, display_name, password_hash)
      values (${ada.tenantId}, ${id}, 'PERSON', 'ACTIVE', ${`${id}@x.example`}, ${`${id}@x.example`}, 'Bob', ${hash})`
    await own.oracle`insert into membership (tenant_id, id, account_id, role) values (${ada.tenantId}, ${crypto.randomUUID()}, ${id}, ${mine})`
    await own.oracle`update membership set role = ${theirs} where account_id = ${ada.accountId}`
    const { token } = await plantToken(
      own,
      { tenantId: ada.tenantId, accountId: id },
      { scopes: ['workspace:read', 'workspace:admin'] },
    )
    await own.oracle`update account set sign_in_name = 'bench-3' where id = ${ada.accountId}`
    const removal = () => remove({ account_id: ada.accountId }, who.as(token), {})
    if (refusal) {
      await expect(removal()).rejects.toMatchObject({ code: refusal })
      for (const email of [ada.email, 'Bench-3'])
        await expect(remove({ email }, who.as(token), {}), email).rejects.toMatchObject({ code: refusal })
    } else expect(await removal()).toBeUndefined()
    expect((await me()).second_factor === null).toBe(refusal === undefined)
  })

  test('of somebody without an address, by the sign-in name', async () => {
    await own.oracle`delete from account_address where account_id = ${ada.accountId}`
    await own.oracle`
      update account set email = null, email_fold = null, sign_in_name = 'bench-3' where id = ${ada.accountId}`
    const named = { workspace: ada.slug, email: 'bench-3' }
    await own.asRecovery(operations.disableSecondFactor, { body: named })
    expect((await me()).second_factor).toBeNull()
    await expect(own.asRecovery(operations.disableSecondFactor, { body: named })).rejects.toMatchObject({
      code: 'auth.second_factor_absent',
    })
  })

  test('at the database by workspace and address, and only of somebody who has one', async () => {
    const named = { workspace: ada.slug, email: ada.email }
    await own.asRecovery(operations.disableSecondFactor, { body: named })
    expect((await signIn()).session_id).toBeTruthy()
    await expect(own.asRecovery(operations.disableSecondFactor, { body: named })).rejects.toMatchObject({
      code: 'auth.second_factor_absent',
    })
    await expect(
      own.asRecovery(operations.disableSecondFactor, { body: { ...named, email: 'nobody@x.example' } }),
    ).rejects.toMatchObject({ code: 'not_found' })
    for (const body of [{}, { workspace: ada.slug }, { email: ada.email }, { ...named, account_id: ada.accountId }])
      await expect(own.asRecovery(operations.disableSecondFactor, { body })).rejects.toMatchObject({
        code: 'request.invalid',
      })
  })
})

describe('what is stored', () => {
  test('neither secret nor codes stand in the database, and a moved secret opens nothing', async () => {
    const contents = await dump(own.oracle)
    expect(occurrences(contents, ada.accountId)).toContain('public.second_factor')
    for (const secret of [app.secret, ...app.codes, app.codes[0]!.replaceAll('-', '')])
      expect(occurrences(contents, secret)).toEqual([])

    const bob = await joinedWorkspace(own)
    const other = await enroll(who, bob)
    await own.oracle`
      update sealed_value s set (key_id, wrap, ciphertext) = (select key_id, wrap, ciphertext from sealed_value where tenant_id = ${ada.tenantId} and kind = 'mfa.totp')
      where tenant_id = ${bob.tenantId} and kind = 'mfa.totp'`
    await forget(own)
    for (const totp of [codeAt(app.secret), codeAt(other.secret)])
      await expect(signIn({ totp }, bob)).rejects.toMatchObject({ code: 'secret.unavailable', status: 503 })
  })
})
