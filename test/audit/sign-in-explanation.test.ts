/** Why an address can sign in, or cannot: by both ways, and never another answer than signing in itself gives. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, modes, type Person } from '../kit/accounts.ts'
import { codeAt, enroll, forget, wrongCode } from '../kit/authenticator.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  // Whoever asks has a second factor, so that he may go on asking while one is demanded.
  await own.oracle`
    insert into second_factor (tenant_id, id, account_id, confirmed_at, last_step)
    values (${who.operator.tenantId}, ${crypto.randomUUID()}, ${who.operator.accountId}, now(), 0)`
})
afterAll(async () => {
  await who.close()
  await own.close()
})
afterEach(() => own.oracle`delete from setting`)

const decide = (name: string, value: unknown, locked = false, reason: string | null = null) =>
  own.oracle`
    insert into setting (name, value, is_locked, reason, set_by)
    values (${`sign_in.${name}`}, ${JSON.stringify(value)}::text::jsonb, ${locked}, ${reason}, ${who.operator.accountId})`

describe.each(modes)('by %s', (mode) => {
  const explain = (person: Pick<Person, 'slug' | 'email'>) =>
    who[mode].call(operations.explainSignIn, { body: { workspace: person.slug, email: person.email } })
  const signIn = (person: Person, more: object = {}) =>
    who
      .as()
      .call(operations.signIn, { body: { workspace: person.slug, email: person.email, password, ...more } })
      .then(
        () => 'signed in',
        (error: unknown) => (error as { code: string }).code,
      )

  test('an account with a password', async () => {
    const ada = await joinedWorkspace(own)
    expect(await explain(ada)).toMatchObject({
      workspace: { slug: ada.slug, state: 'ACTIVE' },
      account: { id: ada.accountId, state: 'ACTIVE', role: 'OWNER', is_operator: false },
      can_sign_in: true,
      is_gated: false,
      ways: [
        {
          way: 'PASSWORD',
          provider: null,
          is_open: true,
          because: 'allowed',
          decided_by: { name: 'password_enabled', value: true, source: 'PRODUCT', locked: false, set_by: null },
          until: null,
          needs_new_password: false,
        },
      ],
      second_factor: { enrolled_at: null, demand: 'NOT_DEMANDED', locked_until: null },
    })
    expect(await signIn(ada)).toBe('signed in')
  })

  test('a switch that is locked: which, by whom, why, since when', async () => {
    const ada = await joinedWorkspace(own)
    await decide('password_enabled', false, true, 'single sign-on only')
    const { can_sign_in, ways } = await explain(ada)
    expect(can_sign_in).toBe(false)
    expect(ways).toMatchObject([
      {
        is_open: false,
        because: 'switched_off',
        decided_by: {
          name: 'password_enabled',
          value: false,
          source: 'INSTANCE',
          locked: true,
          reason: 'single sign-on only',
          set_by: who.operator.accountId,
          set_at: expect.any(String),
        },
      },
    ])
    expect(await signIn(ada)).toBe('auth.password_disabled')
  })

  test('passwords that are not among the methods', async () => {
    const ada = await joinedWorkspace(own)
    await decide('methods', ['PROVIDER'])
    expect((await explain(ada)).ways).toMatchObject([
      { because: 'switched_off', decided_by: { name: 'methods', value: ['PROVIDER'] } },
    ])
    expect(await signIn(ada)).toBe('auth.password_disabled')
  })

  test('a password opening: open until its end, whatever is locked, and under the second factor all the same', async () => {
    const ada = await joinedWorkspace(own)
    const app = await enroll(who, ada)
    await forget(own)
    await decide('password_enabled', false, true, 'single sign-on only')
    const { password_opening } = await own.asRecovery(operations.openPassword, {
      tenantId: ada.tenantId,
      body: { requester: 'Ruth', reason: 'their provider is down', hours: 2 },
    })
    expect(await explain(ada)).toMatchObject({
      can_sign_in: true,
      ways: [{ is_open: true, because: 'password_opening', until: password_opening?.until, decided_by: null }],
      second_factor: { enrolled_at: expect.any(String), recovery_codes_left: 10 },
    })
    expect(await signIn(ada)).toBe('auth.second_factor_required')
    expect(await signIn(ada, { totp: codeAt(app.secret) })).toBe('signed in')

    // It ends by itself, and a clock that falls back to before it was opened does not reopen it.
    await own.oracle`update password_opening set opened_at = now() - interval '3 hours', until = now() - interval '1 second' where tenant_id = ${ada.tenantId}`
    expect((await explain(ada)).ways[0]?.because).toBe('switched_off')
    expect(await signIn(ada)).toBe('auth.password_disabled')
    await own.oracle`update password_opening set opened_at = now() + interval '1 hour', until = now() + interval '2 hours' where tenant_id = ${ada.tenantId}`
    expect(await signIn(ada)).toBe('auth.password_disabled')
    await own.asRecovery(operations.closePassword, { tenantId: ada.tenantId })
    expect(await signIn(ada)).toBe('auth.password_disabled')
  })

  test('an address that failed too often: locked, until when, by which switch', async () => {
    const ada = await joinedWorkspace(own)
    await decide('password_lockout_attempts', 3)
    for (let n = 0; n < 3; n += 1) expect(await signIn(ada, { password: 'wrong' })).toBe('auth.sign_in_failed')
    const [way] = (await explain(ada)).ways
    expect(way).toMatchObject({
      is_open: false,
      because: 'locked',
      decided_by: { name: 'password_lockout_attempts', value: 3, source: 'INSTANCE' },
    })
    const minutes = (Date.parse(way?.until ?? '') - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(14)
    expect(minutes).toBeLessThanOrEqual(15.1)
    expect(await signIn(ada)).toBe('auth.sign_in_locked')
  })

  test('codes that were wrong too often', async () => {
    const ada = await joinedWorkspace(own)
    const app = await enroll(who, ada)
    await forget(own)
    for (let n = 0; n < 5; n += 1) await signIn(ada, { totp: wrongCode(app.secret) })
    const { second_factor: factor } = await explain(ada)
    expect(Date.parse(factor.locked_until ?? '')).toBeGreaterThan(Date.now() + 14 * 60_000)
    expect(await signIn(ada, { totp: codeAt(app.secret) })).toBe('auth.second_factor_locked')
  })

  test('a second factor that is demanded and missing', async () => {
    const ada = await joinedWorkspace(own)
    await decide('mfa_required_for', 'ALL', true, 'audit of 2026')
    expect((await explain(ada)).second_factor).toMatchObject({
      demand: 'MUST_ENROL',
      decided_by: { name: 'mfa_required_for', value: 'ALL', locked: true, reason: 'audit of 2026' },
    })
    await enroll(who, ada)
    expect((await explain(ada)).second_factor.demand).toBe('MET')
  })

  test.each([
    ['INVITED', 'account_not_active'],
    ['DISABLED', 'account_not_active'],
  ])('an account that is %s', async (state, because) => {
    const ada = await joinedWorkspace(own)
    await own.oracle`update account set state = ${state} where id = ${ada.accountId}`
    expect(await explain(ada)).toMatchObject({ can_sign_in: false, account: { state }, ways: [{ because }] })
    expect(await signIn(ada)).toBe('auth.sign_in_failed')
  })

  test('an account without a password, an address nobody has, a workspace nobody has', async () => {
    const ada = await joinedWorkspace(own)
    await own.oracle`update account set password_hash = null where id = ${ada.accountId}`
    expect((await explain(ada)).ways).toMatchObject([{ because: 'no_password', is_open: false }])
    expect(await explain({ ...ada, email: 'nobody@x.example' })).toMatchObject({
      account: null,
      can_sign_in: false,
      ways: [{ because: 'account_unknown' }],
    })
    await expect(explain({ ...ada, slug: 'nobody-here' })).rejects.toMatchObject({ code: 'not_found', status: 404 })
  })

  test('an account that lost its last role', async () => {
    const ada = await joinedWorkspace(own)
    await own.oracle`delete from membership where account_id = ${ada.accountId}`
    expect(await explain(ada)).toMatchObject({
      can_sign_in: false,
      account: { state: 'ACTIVE', role: null },
      ways: [{ because: 'no_role', is_open: false }],
    })
    expect(await signIn(ada)).toBe('auth.sign_in_failed')
  })

  test('a suspended workspace', async () => {
    const ada = await joinedWorkspace(own)
    await own.asRecovery(operations.suspendTenant, { tenantId: ada.tenantId })
    expect(await explain(ada)).toMatchObject({
      workspace: { state: 'SUSPENDED' },
      can_sign_in: false,
      ways: [{ because: 'workspace_not_active' }],
    })
    expect(await signIn(ada)).toBe('tenant_suspended')
  })

  test('a recovery under way', async () => {
    const ada = await joinedWorkspace(own)
    await own.oracle`update installation set gated_at = now(), gate_reason = 'BEGUN'`
    try {
      expect(await explain(ada)).toMatchObject({ can_sign_in: false, is_gated: true })
      expect(await signIn(ada)).toBe('installation.recovering')
      expect(await explain(who.operator)).toMatchObject({ can_sign_in: true, is_gated: false })
    } finally {
      await own.oracle`update installation set gated_at = null, gate_reason = null`
    }
  })
})
