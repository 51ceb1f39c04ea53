/** What a new password must be, wherever it comes from. Spec: InstanceSettings (the thirteen password switches). */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formsOf, isCommonPassword } from '../../src/core/areas/auth/password/common-password.ts'
import { faultsOf } from '../../src/core/areas/auth/password/password-rules.ts'
import { readBlocklist } from '../../src/core/areas/settings/blocklist.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { signInDefaults } from '../../src/core/contract/settings/defaults.ts'
import { type Callers, callers, joinedWorkspace, type Person } from '../kit/accounts.ts'
import { decide, decideNothing } from '../kit/deciding.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

const { changePassword, checkPassword, redeemInvitation, signIn, signInWithNewPassword, getOwnAccount } = operations

let own: TestInstallation
let who: Callers
let owner: Person
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
beforeEach(async () => {
  await decideNothing(own)
  owner = await joinedWorkspace(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

const codes = (text: string, rules: Partial<typeof signInDefaults>, names: string[] = []) =>
  faultsOf(text, { ...signInDefaults, ...rules }, { names, isCommon: isCommonPassword }).map(({ code }) => code)
const change = (to: string, from = password) =>
  who.as(owner.session.access_token).call(changePassword, { body: { current_password: from, new_password: to } })
const enter = (secret: string) =>
  who.as().call(signIn, { body: { workspace: owner.slug, email: owner.email, password: secret } })
const check = (text: string, names?: string[]) =>
  who.as().call(checkPassword, { body: { password: text, ...(names ? { names } : {}) } })

describe('the rules', () => {
  test.each([
    ['elevenchars', {}, ['text.too_short']],
    ['twelve chars', {}, []],
    ['😀'.repeat(11), {}, ['text.too_short', 'password.common']],
    [`${'😀🎈'.repeat(5)}ab`, {}, []],
    ['x'.repeat(65), { password_max_length: 64 }, ['text.too_long', 'password.common']],
    ['NO LOWER CASE 1', { password_require_lowercase: true }, ['password.lowercase']],
    ['no upper case 1', { password_require_uppercase: true }, ['password.uppercase']],
    ['ÅNGSTRÖM och mer', { password_require_uppercase: true, password_require_lowercase: true }, []],
    ['no digit in here', { password_require_digit: true }, ['password.digit']],
    ['one ٣ in here now', { password_require_digit: true }, []],
    ['nosignsinhereatall', { password_require_symbol: true }, ['password.symbol']],
    ['signs in here, yes', { password_require_symbol: true }, []],
  ])('%s under %j breaks %j', (text, rules, expected) => {
    expect(codes(text, rules)).toEqual(expected)
  })

  test.each([
    'Password123!',
    'dragon123456',
    '!!!sunshine2024',
    'passwordpassword',
    'PasswordPassword',
    'qwertyuiop12',
    '121212121212',
    'aaaaaaaaaaaaaaaa',
    'abcabcabcabc',
  ])('%s is one that many people choose', (text) => {
    expect(codes(text, {})).toContain('password.common')
    expect(codes(text, { password_reject_common: false })).not.toContain('password.common')
  })

  test.each([password, 'correct horse battery', 'monkey8392018347615', 'x7Kq-dragon-9Lw2p'])('%s is not', (text) => {
    expect(codes(text, {})).toEqual([])
  })

  test('names of the account and its workspace are no passwords; in a long one they harm nobody', () => {
    const names = ['ada.lovelace@acme.example', 'Ada Lovelace', 'acme-works']
    expect(codes('lovelace1815', {}, names)).toEqual(['password.context'])
    expect(codes('Acme-Works-99', {}, names)).toEqual(['password.context'])
    expect(codes('ada.lovelace@acme.example', {}, names)).toEqual(['password.context'])
    expect(codes('lovelace sailed around the cape', {}, names)).toEqual([])
    expect(codes('lovelace1815', { password_reject_context: false }, names)).toEqual([])
  })

  test('every rule that is broken is told at once, and none of it repeats the password', async () => {
    await decide(own, {
      sign_in: { password_require_digit: { value: true }, password_require_symbol: { value: true } },
    })
    const refusal = (await change('dragon').catch((error: unknown) => error)) as { errors: object[]; code: string }
    expect(refusal).toMatchObject({
      code: 'request.invalid',
      errors: [
        { pointer: '/new_password', code: 'text.too_short', params: { minimum: 12 } },
        { pointer: '/new_password', code: 'password.digit' },
        { pointer: '/new_password', code: 'password.symbol' },
        { pointer: '/new_password', code: 'password.common' },
      ],
    })
    expect(JSON.stringify(refusal.errors)).not.toContain('dragon')
  })

  test('forms are looked up in time that grows with the length alone', () => {
    for (const text of ['a'.repeat(1024), 'ab'.repeat(512), '1'.repeat(1023) + 'a', 'é'.repeat(1024)])
      expect(formsOf(text).length).toBeLessThanOrEqual(4)
  })
})

describe('wherever it comes from', () => {
  test('an invitation, a change and a set-up obey the length that was decided', async () => {
    await decide(own, { sign_in: { password_min_length: { value: 30 } } })
    const invited = await own.provision()
    const redeem = (secret: string) =>
      who.as().call(redeemInvitation, { body: { token: invited.redemption_token, password: secret } })
    const tooShort = { code: 'request.invalid', errors: [{ code: 'text.too_short', params: { minimum: 30 } }] }
    await expect(redeem(password)).rejects.toMatchObject(tooShort)
    await expect(change('only twenty-nine characters..')).rejects.toMatchObject(tooShort)
    await change('thirty characters, not one less')
    expect((await redeem('thirty characters, not one less')).access_token).toMatch(/^svcs_/)
    await decide(own, { sign_in: { password_min_length: { value: 8 } } })
    owner = await joinedWorkspace(own)
    await change('w8!qz#L2')
    expect((await enter('w8!qz#L2')).access_token).toMatch(/^svcs_/)
  })

  test('a password in force is not held against new rules', async () => {
    await decide(own, { sign_in: { password_min_length: { value: 100 } } })
    expect((await enter(password)).access_token).toMatch(/^svcs_/)
  })

  test('the wrong current password is told before anything about the new one', async () => {
    await expect(change('dragon', 'not the password')).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
  })

  test('of the passwords before, as many are refused as the history says', async () => {
    await decide(own, { sign_in: { password_history: { value: 3 } } })
    const secrets = ['first of many words', 'second of many words', 'third of many words', 'fourth of many words']
    let current = password
    for (const secret of secrets) {
      await change(secret, current)
      current = secret
    }
    const usedBefore = { errors: [{ code: 'password.used_before', params: { history: 3 } }] }
    for (const secret of secrets.slice(1)) await expect(change(secret, current)).rejects.toMatchObject(usedBefore)
    expect(await own.oracle`select 1 from password_history where account_id = ${owner.accountId}`).toHaveLength(2)
    await change(secrets[0] as string, current)
    await decideNothing(own)
    await change(secrets[3] as string, secrets[0])
    expect(await own.oracle`select 1 from password_history where account_id = ${owner.accountId}`).toHaveLength(0)
  })

  test('one that is too old is replaced while signing in, and every session from before is over', async () => {
    await decide(own, { sign_in: { password_max_age_days: { value: 1 }, password_history: { value: 1 } } })
    await own.oracle`update account set password_changed_at = now() - interval '2 days' where id = ${owner.accountId}`
    await expect(enter(password)).rejects.toMatchObject({ code: 'auth.password_expired', status: 403 })
    const replace = (old: string, secret: string) =>
      who.as().call(signInWithNewPassword, {
        body: { workspace: owner.slug, email: owner.email, password: old, new_password: secret },
      })
    await expect(replace('not the password', 'another good one of mine')).rejects.toMatchObject({
      code: 'auth.sign_in_failed',
    })
    await expect(replace(password, password)).rejects.toMatchObject({ errors: [{ code: 'password.used_before' }] })
    await expect(replace(password, 'elevenchars')).rejects.toMatchObject({
      errors: [{ pointer: '/new_password', code: 'text.too_short' }],
    })
    const session = await replace(password, 'another good one of mine')
    expect((await who.as(session.access_token).call(getOwnAccount)).id).toBe(owner.accountId)
    await expect(who.as(owner.session.access_token).call(getOwnAccount)).rejects.toMatchObject({
      code: 'auth.unauthenticated',
    })
    expect((await enter('another good one of mine')).access_token).toMatch(/^svcs_/)
  })

  test('a password can be asked about before it is chosen', async () => {
    expect(await check(password)).toEqual({ acceptable: true, faults: [] })
    expect(await check('lovelace1815', ['Ada Lovelace'])).toEqual({
      acceptable: false,
      faults: [{ code: 'password.context', params: {} }],
    })
  })
})

describe('the operator’s own list', () => {
  const write = (name: string, text: string | Buffer) => {
    const path = join(own.installation.config.dataDir, name)
    writeFileSync(path, text)
    return path
  }

  test('is obeyed from the next password on, in any case, whole or as the word in it', async () => {
    write('refused.txt', '#! ours\n\nPlutonium Reactor\nskywalker\r\nÄpfel und Birnen\n')
    await decide(own, { blocklist_file: 'refused.txt' })
    for (const refused of ['plutonium reactor', 'PLUTONIUM REACTOR', 'Skywalker-1977', 'äpfel und birnen'])
      expect((await check(refused)).faults, refused).toContainEqual({ code: 'password.common', params: {} })
    expect((await check('plutonium reactors melt')).acceptable).toBe(true)
    await expect(change('Plutonium Reactor')).rejects.toMatchObject({ errors: [{ code: 'password.common' }] })
  })

  test('is read again when it was changed, and forgotten when it is decided no longer', async () => {
    const path = write('changing.txt', 'the first of all lists\n')
    await decide(own, { blocklist_file: path })
    expect((await check('the first of all lists')).acceptable).toBe(false)
    write('changing.txt', 'the second list of all\n')
    expect((await check('the first of all lists')).acceptable).toBe(true)
    expect((await check('the second list of all')).acceptable).toBe(false)
    await decideNothing(own)
    expect((await check('the second list of all')).acceptable).toBe(true)
  })

  test('one that has gone lets no new password through, and says so; signing in goes on', async () => {
    const path = write('gone.txt', 'something\n')
    await decide(own, { blocklist_file: path })
    await own.oracle`update setting set value = '"nowhere.txt"' where name = 'blocklist_file'`
    await expect(change('another good one of mine')).rejects.toMatchObject({
      code: 'auth.blocklist_unusable',
      status: 503,
      params: { reason: 'missing' },
    })
    await expect(check('another good one of mine')).rejects.toMatchObject({ code: 'auth.blocklist_unusable' })
    expect((await enter(password)).access_token).toMatch(/^svcs_/)
  })

  test('200,000 lines are looked up exactly', async () => {
    const lines = Array.from({ length: 200_000 }, (_, n) => `listed password number ${n}`)
    const list = await readBlocklist(write('long.txt', `${lines.join('\n')}\n`))
    expect(list.lines).toBe(200_000)
    for (let n = 0; n < 200_000; n += 997) {
      expect(list.has(`Listed Password Number ${n}`)).toBe(true)
      expect(list.has(`unlisted password number ${n}`)).toBe(false)
    }
  })
})
