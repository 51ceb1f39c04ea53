/** `mfa_required_for`: whoever lacks a second factor that is demanded is served what it takes to get one. Spec: InstanceSettings. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { isMeant } from '../../src/core/areas/auth/second-factor/demand.ts'
import { type Operation, takesSessionOnly } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { type Callers, callers, joinedWorkspace, type Person, plantAccount, plantToken } from '../kit/accounts.ts'
import { codeAt, enroll, forget } from '../kit/authenticator.ts'
import { request } from '../kit/callers.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})
afterEach(() => own.oracle`delete from setting`)

const demandOf = (whom: string) =>
  own.oracle`
    insert into setting (name, value) values ('sign_in.mfa_required_for', ${JSON.stringify(whom)}::text::jsonb)
    on conflict (name) do update set value = excluded.value`
const demanded = { code: 'auth.second_factor_demanded', status: 403 }

test.each([
  ['NONE', []],
  ['OPERATORS', ['operator']],
  ['ADMINS', ['operator', 'OWNER', 'ADMIN']],
  ['ALL', ['operator', 'OWNER', 'ADMIN', 'MEMBER', 'COMMENTER', 'VIEWER']],
] as const)('%s means %j', (whom, meant) => {
  const people = ['operator', 'OWNER', 'ADMIN', 'MEMBER', 'COMMENTER', 'VIEWER'] as const
  const isOf = (person: (typeof people)[number]) => ({
    kind: 'ACCOUNT' as const,
    role: (person === 'operator' ? 'VIEWER' : person) as Role,
    isOperator: person === 'operator',
    hasPassword: true,
  })
  expect(people.filter((person) => isMeant(whom, isOf(person)))).toEqual(meant)
  for (const person of people) {
    expect(isMeant(whom, { ...isOf(person), kind: 'SERVICE' })).toBe(false)
    expect(isMeant(whom, { ...isOf(person), hasPassword: false })).toBe(false)
  }
})

describe('whoever must have one and has none', () => {
  /** Who may be refused for it: calls of accounts that need something else than what enrolling takes. */
  const guarded = (Object.values(operations) as readonly Operation[]).filter(
    // Those of sessions alone refuse the token of this test for what it is.
    ({ needs }) => needs.caller !== 'anyone' && !takesSessionOnly(needs),
  )
  const served = new Set([
    'getOwnAccount',
    'listEmergencyNotices',
    'stepUpByProvider',
    'stepUp',
    'signOut',
    'enrollTotp',
    'confirmTotp',
  ])

  test.each(guarded.map((operation) => [operation.id, operation] as const))('%s', async (id, operation) => {
    await demandOf('ALL')
    const { token } = await plantToken(own, who.operator, {
      scopes: ['workspace:read', 'workspace:write', 'workspace:admin', 'admin:tenants'],
    })
    const ids = Object.fromEntries(
      [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, crypto.randomUUID()]),
    )
    const answer = await request(who.daemon.url, operation, { ...ids, ...(operation.body ? { body: {} } : {}) }, token)
    const { code } = (answer.body ?? {}) as { code?: string }
    expect(code === 'auth.second_factor_demanded').toBe(!served.has(id))
  })

  test('signs in, enrols, and is served from the next call on; the switch holds at once, both ways', async () => {
    const ada = await joinedWorkspace(own)
    const asAda = who.as(ada.session.access_token)
    await asAda.call(operations.listSessions, {})
    await demandOf('ALL')
    await expect(asAda.call(operations.listSessions, {})).rejects.toMatchObject(demanded)
    expect(await asAda.call(operations.getOwnAccount)).toMatchObject({
      second_factor: null,
      second_factor_demanded: true,
    })
    const again = await who.as().call(operations.signIn, { body: { workspace: ada.slug, email: ada.email, password } })
    await expect(who.as(again.access_token).call(operations.listSessions, {})).rejects.toMatchObject(demanded)
    await enroll(who, ada)
    await asAda.call(operations.listSessions, {})
  })

  test('does not remove its own, an administrator may, and then it has to enrol anew', async () => {
    const ada = await joinedWorkspace(own)
    const asAda = who.as(ada.session.access_token)
    const { secret } = await enroll(who, ada)
    await demandOf('ADMINS')
    await forget(own)
    const { step_up_token } = await asAda.call(operations.stepUp, { body: { password, totp: codeAt(secret) } })
    await expect(asAda.call(operations.disableSecondFactor, { body: {}, stepUp: step_up_token })).rejects.toMatchObject(
      demanded,
    )
    await own.asRecovery(operations.disableSecondFactor, { body: { account_id: ada.accountId } })
    await expect(asAda.call(operations.listSessions, {})).rejects.toMatchObject(demanded)
  })

  test('a service account is served, and so is a person who is not meant', async () => {
    await demandOf('ADMINS')
    const { tenantId } = who.operator
    const robot = await plantAccount(own, tenantId, 'ADMIN', 'SERVICE')
    const member = await plantAccount(own, tenantId, 'MEMBER')
    for (const [account, kind] of [
      [robot, 'service'],
      [member, 'personal'],
    ] as const) {
      const { token } = await plantToken(own, account, { scopes: ['workspace:read'], kind })
      await who.as(token).call(operations.listContainers)
    }
    const admin = await plantAccount(own, tenantId, 'ADMIN')
    const { token } = await plantToken(own, admin, { scopes: ['workspace:read'] })
    await who.as(token).call(operations.listContainers) // it holds no password: its provider has a second factor
    await own.oracle`update account set password_hash = 'x' where id = ${admin.accountId}`
    await expect(who.as(token).call(operations.listContainers)).rejects.toMatchObject(demanded)
  })
})

test('an invited person joins, although a second factor is demanded, and is asked to enrol next', async () => {
  await demandOf('ALL')
  const ada: Person = await joinedWorkspace(own)
  await expect(who.as(ada.session.access_token).call(operations.listContainers)).rejects.toMatchObject(demanded)
})
