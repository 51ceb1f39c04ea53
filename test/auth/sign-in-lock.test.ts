/** The lock of signing in with a password, and the ways in. Spec: InstanceSettings (password_lockout_attempts); Password opening. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { passwordWay, readSignIn, type WayIn } from '../../src/core/areas/auth/sign-in/sign-in-methods.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { anyone } from '../../src/core/kernel/values/actor.ts'
import { type Callers, callers, joinedWorkspace, type Person } from '../kit/accounts.ts'
import { request } from '../kit/callers.ts'
import { decide, decideNothing } from '../kit/deciding.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { meeting } from '../kit/meeting.ts'

const { signIn } = operations

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

const ask = async (secret: string, email = owner.email, workspace = owner.slug) => {
  const { status, headers, body } = await request(who.daemon.url, signIn, {
    body: { workspace, email, password: secret },
  })
  return { status, code: (body as { code?: string }).code, retryAfter: headers.get('retry-after') }
}
const counted = () => own.oracle`select 1 from failed_sign_in where tenant_id = ${owner.tenantId}`
const wrong = { status: 401, code: 'auth.sign_in_failed' }
const locked = { status: 429, code: 'auth.sign_in_locked' }

const wayIn = (email = owner.email): Promise<WayIn> =>
  own.installation.transaction(anyone, { readOnly: true }, async (ctx) =>
    passwordWay((await readSignIn(ctx, owner.slug, email))!),
  )

describe('the lock', () => {
  test('so many failures lock the address, the right password too, and nothing is counted meanwhile', async () => {
    await decide(own, { sign_in: { password_lockout_attempts: { value: 3 } } })
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await ask('not the password')).toMatchObject(wrong)
    expect(await ask(password)).toMatchObject(locked)
    const { retryAfter } = await ask('not the password')
    expect(Number(retryAfter)).toBeGreaterThan(14 * 60)
    expect(Number(retryAfter)).toBeLessThanOrEqual(15 * 60)
    expect(await counted()).toHaveLength(3)
    expect(await wayIn()).toMatchObject({
      isOpen: false,
      because: 'locked',
      decidedBy: { name: 'password_lockout_attempts' },
    })
    expect(
      await own.oracle`select params from audit_entry where tenant_id = ${owner.tenantId} and action = 'account.sign_in_locked'`,
    ).toEqual([{ params: { failures: 3 } }])
  })

  test('an address that nobody has is locked alike', async () => {
    await decide(own, { sign_in: { password_lockout_attempts: { value: 2 } } })
    const nobody = 'nobody@nowhere.example'
    const seen = []
    for (let attempt = 0; attempt < 3; attempt += 1)
      seen.push(
        [await ask('not the password', nobody), await ask('not the password')].map(({ status, code }) => ({
          status,
          code,
        })),
      )
    for (const [unknown, known] of seen) expect(unknown).toEqual(known)
    expect(seen[2]?.[0]).toEqual(locked)
  })

  test('it is the address in its workspace that is locked, in whatever case, and nobody else', async () => {
    await decide(own, { sign_in: { password_lockout_attempts: { value: 1 } } })
    const other = await joinedWorkspace(own)
    expect(await ask('not the password')).toMatchObject(wrong)
    expect(await ask(password, owner.email.toUpperCase())).toMatchObject(locked)
    expect(await ask(password, other.email, other.slug)).toMatchObject({ status: 201 })
  })

  test('it ends after 15 minutes, by the database’s clock', async () => {
    await decide(own, { sign_in: { password_lockout_attempts: { value: 2 } } })
    await ask('not the password')
    await ask('not the password')
    expect(await ask(password)).toMatchObject(locked)
    await own.oracle`update failed_sign_in set at = at - interval '14 minutes' where tenant_id = ${owner.tenantId}`
    expect(await ask(password)).toMatchObject(locked)
    await own.oracle`update failed_sign_in set at = at - interval '1 minute' where tenant_id = ${owner.tenantId}`
    expect(await ask(password)).toMatchObject({ status: 201 })
  })

  test('failures further apart than 15 minutes lock nothing, and the right password ends the count', async () => {
    await decide(own, { sign_in: { password_lockout_attempts: { value: 2 } } })
    await ask('not the password')
    await own.oracle`update failed_sign_in set at = at - interval '16 minutes' where tenant_id = ${owner.tenantId}`
    expect(await ask('not the password')).toMatchObject(wrong)
    expect(await ask(password)).toMatchObject({ status: 201 })
    expect(await counted()).toHaveLength(0)
  })

  test('0 counts nothing, and ends a lock that was', async () => {
    await decide(own, { sign_in: { password_lockout_attempts: { value: 1 } } })
    await ask('not the password')
    expect(await ask(password)).toMatchObject(locked)
    await decide(own, { sign_in: { password_lockout_attempts: { value: 0 } } })
    expect(await ask(password)).toMatchObject({ status: 201 })
  })

  const rounds = process.env['SVC_FAULTS'] === 'full' ? 50 : 3
  test.each([5, 10])('of many guesses at once exactly %i hear a verdict', async (attempts) => {
    await decide(own, { sign_in: { password_lockout_attempts: { value: attempts } } })
    for (let round = 0; round < rounds; round += 1) {
      owner = await joinedWorkspace(own)
      const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(`guess number ${n}`)))
      const statuses = answers.map(({ status }) => status)
      expect(statuses.filter((status) => status === 401)).toHaveLength(attempts)
      expect(statuses.filter((status) => status === 429)).toHaveLength(30 - attempts)
      expect(await counted()).toHaveLength(attempts)
    }
  })

  test('also when all guesses have been looked at before the first one is counted', async () => {
    await decide(own, { sign_in: { password_lockout_attempts: { value: 5 } } })
    const answers = await meeting(
      own.oracle,
      (sql) => sql`lock table failed_sign_in in exclusive mode`,
      8,
      () => Promise.all(Array.from({ length: 8 }, (_, n) => ask(`guess number ${n}`))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(401), ...Array(3).fill(429)])
  })

  test('nothing is written into a workspace that is leaving', async () => {
    await own.oracle`update tenant set state = 'PENDING_DELETION', purge_after = now() + interval '30 days' where id = ${owner.tenantId}`
    expect(await ask('not the password')).toMatchObject(wrong)
    expect(await counted()).toHaveLength(0)
  })
})

describe('the switches', () => {
  test('a locked switch keeps passwords out of every workspace, whoever asks, with reason and setter', async () => {
    const other = await joinedWorkspace(own)
    await decide(own, { sign_in: { password_enabled: { value: false, locked: true, reason: 'single sign-on only' } } })
    for (const { email, slug } of [owner, other, who.operator]) {
      expect(await ask(password, email, slug)).toMatchObject({ status: 403, code: 'auth.password_disabled' })
      expect(await ask('x', 'nobody@nowhere.example', slug)).toMatchObject({ code: 'auth.password_disabled' })
    }
    expect(await wayIn()).toMatchObject({
      isOpen: false,
      because: 'switched_off',
      decidedBy: {
        name: 'password_enabled',
        value: false,
        source: 'INSTANCE',
        locked: true,
        reason: 'single sign-on only',
      },
    })
  })

  test('`methods` without PASSWORD does the same', async () => {
    await decide(own, { sign_in: { methods: { value: ['PROVIDER'] } } })
    expect(await ask(password)).toMatchObject({ status: 403, code: 'auth.password_disabled' })
    expect(await wayIn()).toMatchObject({ because: 'switched_off', decidedBy: { name: 'methods' } })
  })

  test('a password opening lets in all the same, until it ends', async () => {
    await decide(own, { sign_in: { password_enabled: { value: false, locked: true } } })
    await own.asRecovery(operations.openPassword, {
      tenantId: owner.tenantId,
      body: { requester: 'Ada', reason: 'the provider is down' },
    })
    expect(await ask(password)).toMatchObject({ status: 201 })
    expect(await wayIn()).toMatchObject({ isOpen: true, because: 'password_opening' })
    await own.oracle`
      update password_opening set opened_at = now() - interval '2 hours', until = now() - interval '1 second' where tenant_id = ${owner.tenantId}`
    expect(await ask(password)).toMatchObject({ code: 'auth.password_disabled' })
  })

  test('each state of the account and its workspace has its own reason', async () => {
    expect(await wayIn()).toMatchObject({
      isOpen: true,
      because: 'allowed',
      decidedBy: { name: 'password_enabled', source: 'PRODUCT' },
    })
    expect(await wayIn('nobody@nowhere.example')).toMatchObject({ isOpen: false, because: 'account_unknown' })
    await own.oracle`update account set password_hash = null where id = ${owner.accountId}`
    expect(await wayIn()).toMatchObject({ isOpen: false, because: 'no_password' })
    await own.oracle`update account set state = 'DISABLED' where id = ${owner.accountId}`
    expect(await wayIn()).toMatchObject({ isOpen: false, because: 'account_not_active' })
    await own.oracle`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${owner.tenantId}`
    expect(await wayIn()).toMatchObject({ isOpen: false, because: 'workspace_not_active' })
  })

  test('a password that is too old is right, and still lets nobody in', async () => {
    await decide(own, { sign_in: { password_max_age_days: { value: 30 } } })
    expect(await ask(password)).toMatchObject({ status: 201 })
    await own.oracle`update account set password_changed_at = now() - interval '30 days' where id = ${owner.accountId}`
    expect(await ask(password)).toMatchObject({ status: 403, code: 'auth.password_expired' })
    expect(await ask('not the password')).toMatchObject(wrong)
    expect(await wayIn()).toMatchObject({ isOpen: true, needsNewPassword: 'AGE' })
  })
})
