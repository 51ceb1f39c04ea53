/** Step-up: one proof, one call. Spec: Authentication, 4; decisions 2, Step-up; threats T-07, T-08. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { spendStepUp } from '../../src/core/areas/auth/step-up.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { newId } from '../../src/core/kernel/values/id.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantToken } from '../kit/accounts.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { meeting } from '../kit/meeting.ts'

const { stepUp, createToken, createServiceAccount, revokeToken, signIn, signOut } = operations

const crowd = 20
const rounds = 200

let own: TestInstallation
let who: Callers
let owner: Person
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  owner = who.operator
})
afterAll(async () => {
  await who.close()
  await own.close()
})
beforeEach(() => own.oracle`delete from failed_attempt`)

const minting = { name: 'x', scopes: ['admin:tenants' as const] }
const mint = (proof: string | undefined, token = owner.session.access_token) =>
  who.as(token).call(createToken, { body: minting, stepUp: proof })
const prove = async (body: object = {}, token = owner.session.access_token, secret = password) =>
  (await who.as(token).call(stepUp, { body: { password: secret, ...body } })).step_up_token
const refused = { code: 'auth.step_up_required', status: 401 }

/** A proof written past the rules: minting one properly costs a password hash each. */
async function plantProof(
  more: { operation?: string; target?: string; bearer?: string; expires?: Date } = {},
): Promise<string> {
  const { token, hash } = mintToken('stepUp')
  const {
    operation = null,
    target = null,
    bearer = owner.session.session_id,
    expires = new Date(Date.now() + 300_000),
  } = more
  await own.oracle`
    insert into step_up (tenant_id, id, account_id, bearer_id, hash, operation, target_id, expires_at)
    values (${owner.tenantId}, ${newId()}, ${owner.accountId}, ${bearer}, ${hash}, ${operation}, ${target}, ${expires})`
  return token
}

test('a proof lives 300 seconds and serves once', async () => {
  const { step_up_token, expires_at } = await who.as(owner.session.access_token).call(stepUp, { body: { password } })
  const seconds = (Date.parse(expires_at) - Date.now()) / 1000
  expect(seconds).toBeGreaterThan(290)
  expect(seconds).toBeLessThanOrEqual(300.5)
  expect((await mint(step_up_token)).scopes).toEqual(['admin:tenants'])
  await expect(mint(step_up_token)).rejects.toMatchObject({
    ...refused,
    headers: { 'www-authenticate': 'Bearer error="insufficient_user_authentication", max_age=300' },
  })
})

test(`of ${crowd} uses at once one passes, ${rounds} times over`, async () => {
  const before = await own.oracle`select 1 from credential where tenant_id = ${owner.tenantId} and kind = 'PERSONAL'`
  for (let round = 0; round < rounds; round += 1) {
    const proof = await plantProof()
    const outcomes = await Promise.allSettled(Array.from({ length: crowd }, () => mint(proof)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(refused)
  }
  const after = await own.oracle`select 1 from credential where tenant_id = ${owner.tenantId} and kind = 'PERSONAL'`
  expect(after.length - before.length).toBe(rounds)
}, 120_000)

describe('a proof serves only what it was made for', () => {
  test('the operation that it names', async () => {
    await expect(mint(await prove({ operation: 'createServiceAccount' }))).rejects.toMatchObject(refused)
    expect((await mint(await prove({ operation: 'createToken' }))).token).toMatch(/^svcp_/)
  })

  test('the target that it names', async () => {
    // This call has no id in its path, so a proof for one is for another call.
    await expect(mint(await prove({ operation: 'createToken', target_id: randomUUID() }))).rejects.toMatchObject(
      refused,
    )
  })

  test('the credential that asked', async () => {
    const other = await who.as().call(signIn, { body: { workspace: owner.slug, email: owner.email, password } })
    await expect(mint(await prove({}, other.access_token))).rejects.toMatchObject(refused)
    const { token } = await plantToken(own, owner, { scopes: ['workspace:admin'] })
    await expect(mint(await prove({}, token))).rejects.toMatchObject(refused)
    expect((await mint(await prove({}, token), token)).token).toMatch(/^svcp_/)
  })

  test('the account that asked', async () => {
    const stranger = await joinedWorkspace(own)
    await expect(mint(await prove({}, stranger.session.access_token))).rejects.toMatchObject(refused)
  })

  test('and it outlives the access token of its session, not the session', async () => {
    const session = await who.as().call(signIn, { body: { workspace: owner.slug, email: owner.email, password } })
    const proof = await prove({}, session.access_token)
    const next = await who.as().call(operations.refreshSession, { body: { refresh_token: session.refresh_token } })
    expect((await mint(proof, next.access_token)).token).toMatch(/^svcp_/)

    const second = await prove({}, next.access_token)
    await who.as(next.access_token).call(signOut)
    await expect(mint(second, next.access_token)).rejects.toMatchObject({ code: 'auth.unauthenticated' })
    expect(
      await own.oracle`select 1 from step_up where bearer_id = ${session.session_id} and used_at is null`,
    ).toHaveLength(0)
  })

  test('a revoked token’s proofs are void', async () => {
    const { id, token } = await plantToken(own, owner, { scopes: ['workspace:read'] })
    await prove({}, token)
    await who.as(owner.session.access_token).call(revokeToken, { tokenId: id })
    expect(await own.oracle`select 1 from step_up where bearer_id = ${id} and used_at is null`).toHaveLength(0)
  })
})

test('expired, unknown, garbage and missing proofs answer alike', async () => {
  const expired = await plantProof({ expires: new Date(Date.now() - 1000) })
  for (const proof of [expired, mintToken('stepUp').token, mintToken('session').token, 'x', "' or true --", undefined])
    await expect(mint(proof)).rejects.toMatchObject({ ...refused, params: {} })
})

describe('what spends a proof', () => {
  test('a call that its rule refuses has spent it', async () => {
    const stranger = await joinedWorkspace(own)
    const proof = await prove({}, stranger.session.access_token)
    await expect(mint(proof, stranger.session.access_token)).rejects.toMatchObject({ code: 'admin.operator_required' })
    await expect(mint(proof, stranger.session.access_token)).rejects.toMatchObject(refused)
  })

  test('a call that its schema refuses has not', async () => {
    const proof = await prove()
    const person = who.as(owner.session.access_token)
    await expect(person.call(createToken, { body: { ...minting, name: '' }, stepUp: proof })).rejects.toMatchObject({
      code: 'request.invalid',
    })
    expect((await mint(proof)).token).toMatch(/^svcp_/)
  })

  test('a call that needs none has not', async () => {
    const proof = await prove()
    const person = who.as(owner.session.access_token)
    await person.call(createToken, { body: { name: 'x', scopes: ['workspace:read'] }, stepUp: proof })
    expect((await mint(proof)).token).toMatch(/^svcp_/)
  })
})

test('where the installation demands it, only a proof that names its operation serves', async () => {
  const strict = await testInstallation({ env: { SVC_STEP_UP_BOUND: 'require' } })
  const them = await callers(strict)
  try {
    const person = them.as(them.operator.session.access_token)
    const proof = async (body: object) => (await person.call(stepUp, { body: { password, ...body } })).step_up_token
    const call = async (body: object) => person.call(createToken, { body: minting, stepUp: await proof(body) })
    await expect(call({})).rejects.toMatchObject(refused)
    expect((await call({ operation: 'createToken' })).token).toMatch(/^svcp_/)
  } finally {
    await them.close()
    await strict.close()
  }
})

describe('failures', () => {
  const wrong = () => prove({}, owner.session.access_token, 'not the password')
  const failed = { code: 'auth.sign_in_failed', status: 401 }
  const locked = { code: 'auth.step_up_locked', status: 429 }

  test('after five within a quarter of an hour even the right password is refused, with the time to wait', async () => {
    for (let n = 0; n < 5; n += 1) await expect(wrong()).rejects.toMatchObject(failed)
    const answer = (await prove().catch((error: unknown) => error)) as { headers: Record<string, string> }
    expect(answer).toMatchObject(locked)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(890)
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(900)
  })

  test('four do not lock', async () => {
    for (let n = 0; n < 4; n += 1) await expect(wrong()).rejects.toMatchObject(failed)
    expect(await prove()).toMatch(/^svcu_/)
  })

  test('the lock ends a quarter of an hour after the fifth, and lasts until then', async () => {
    for (let n = 0; n < 5; n += 1) await expect(wrong()).rejects.toMatchObject(failed)
    await own.oracle`update failed_attempt set at = at - interval '14 minutes 50 seconds'`
    await expect(prove()).rejects.toMatchObject(locked)
    await own.oracle`update failed_attempt set at = at - interval '11 seconds'`
    expect(await prove()).toMatch(/^svcu_/)
  })

  test('five that are spread over more than a quarter of an hour do not lock', async () => {
    for (let n = 0; n < 4; n += 1) await expect(wrong()).rejects.toMatchObject(failed)
    await own.oracle`update failed_attempt set at = at - interval '15 minutes 1 second'`
    await expect(wrong()).rejects.toMatchObject(failed)
    expect(await prove()).toMatch(/^svcu_/)
  })

  test(`of ${crowd} wrong ones at once five are looked at`, async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: crowd }, wrong))
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : 'passed',
    )
    expect(codes.filter((code) => code === 'auth.sign_in_failed')).toHaveLength(5)
    expect(codes.filter((code) => code === 'auth.step_up_locked')).toHaveLength(crowd - 5)
    expect(await own.oracle`select 1 from failed_attempt`).toHaveLength(5)
  })

  test('also when all have looked at the password before the first one is counted', async () => {
    const outcomes = await meeting(
      own.oracle,
      (sql) => sql`select 1 from account where id = ${owner.accountId} for update`,
      7,
      () => Promise.allSettled(Array.from({ length: 7 }, wrong)),
    )
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : 'passed',
    )
    expect(codes.sort()).toEqual([...Array(5).fill('auth.sign_in_failed'), ...Array(2).fill('auth.step_up_locked')])
  })

  test('another account is not locked with it', async () => {
    for (let n = 0; n < 5; n += 1) await expect(wrong()).rejects.toMatchObject(failed)
    const stranger = await joinedWorkspace(own)
    expect(await prove({}, stranger.session.access_token)).toMatch(/^svcu_/)
  })
})

test('a service account that reaches the installation takes a proof as well', async () => {
  const person = who.as(owner.session.access_token)
  const body = { name: 'robot', role: 'MEMBER' as const, scopes: ['admin:tenants' as const] }
  await expect(person.call(createServiceAccount, { body })).rejects.toMatchObject(refused)
  const made = await person.call(createServiceAccount, { body, stepUp: await prove() })
  expect(made.token).toMatch(/^svca_/)
})

test('a suspension that comes between the gate and the proof keeps the proof unspent', async () => {
  const { tenantId, accountId, session } = owner
  const proof = await plantProof()
  const actor: AccountActor = {
    kind: 'ACCOUNT',
    accountId,
    tenantId,
    credentialId: session.session_id,
    bearerId: session.session_id,
    sessionId: session.session_id,
    scopes: ['workspace:read'],
    role: 'OWNER',
    isOperator: true,
  }
  const spend = () => spendStepUp(own.installation, actor, proof, { operation: createToken.id, targetId: undefined })
  await own.oracle`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${tenantId}`
  try {
    await expect(spend()).rejects.toMatchObject({ code: 'tenant_suspended' })
  } finally {
    await own.oracle`update tenant set state = 'ACTIVE', suspended_at = null where id = ${tenantId}`
  }
  await spend()
})
