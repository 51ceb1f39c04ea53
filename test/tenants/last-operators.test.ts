/** Nobody suspends or deletes away the last operators who can act. Spec: Admin, rule 3; docs/decisions/0132. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, modes, type Person, plantToken } from '../kit/accounts.ts'
import { freshSlug, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { plantProof } from '../kit/proofs.ts'

const { deleteTenant, resumeTenant, suspendTenant } = operations

let own: TestInstallation
let who: Callers
let home: string
let credentialId: string
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  home = who.operator.tenantId
  const rows = await own.oracle`select id from credential where tenant_id = ${home} and name = 'planted'`
  credentialId = rows[0]?.['id']
})
afterAll(async () => {
  await who.close()
  await own.close()
})
beforeEach(async () => {
  await own.oracle`update tenant set state = 'ACTIVE', suspended_at = null, deletion_requested_at = null, purge_after = null, state_before_deletion = null`
  await own.oracle`delete from operator where workspace_id <> ${home}`
})

const last = { code: 'admin.operator_last', status: 409 }
const stateOf = async (id: string) => (await own.oracle`select state from tenant where id = ${id}`)[0]?.['state']

/** An operator of another workspace, in full. */
async function another(): Promise<Person> {
  const other = await joinedWorkspace(own, freshSlug('other'))
  await own.oracle`insert into operator (account_id, workspace_id) values (${other.accountId}, ${other.tenantId})`
  return other
}

/** What keeps somebody in the register from acting; each leaves the workspace's operators the last. */
const hindrances: readonly (readonly [string, (other: Person) => Promise<unknown>])[] = [
  ['nobody else is in the register', (other) => own.oracle`delete from operator where account_id = ${other.accountId}`],
  [
    'the other is on probation',
    (other) =>
      own.oracle`update operator set probation_until = now() + interval '1 hour' where account_id = ${other.accountId}`,
  ],
  [
    "the other's workspace is suspended",
    (other) => own.oracle`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${other.tenantId}`,
  ],
  [
    "the other's workspace is leaving",
    (other) =>
      own.oracle`update tenant set state = 'PENDING_DELETION', purge_after = now() + interval '1 day' where id = ${other.tenantId}`,
  ],
  [
    'the other has no role in its workspace',
    (other) => own.oracle`delete from membership where account_id = ${other.accountId}`,
  ],
  [
    "the other's account is disabled",
    (other) => own.oracle`update account set state = 'DISABLED' where id = ${other.accountId}`,
  ],
]

describe.each(modes)('by %s', (mode) => {
  const suspend = (tenantId = home) => who[mode].call(suspendTenant, { tenantId })
  const remove = async () =>
    who[mode].call(deleteTenant, {
      tenantId: home,
      body: { confirmation: 'First' },
      stepUp: await plantProof(own.oracle, { ...who.operator, credentialId }),
    })

  test.each(hindrances)(
    'where %s, the workspace is not deleted, and suspended at the database alone',
    async (_, hinder) => {
      await hinder(await another())
      await expect(remove()).rejects.toMatchObject(last)
      if (mode === 'api') await expect(suspend()).rejects.toMatchObject(last)
      expect(await stateOf(home)).toBe('ACTIVE')
      if (mode === 'api') return

      await suspend()
      await expect(who.api.call(resumeTenant, { tenantId: home })).rejects.toMatchObject({ code: 'tenant_suspended' })
      await who.recovery.call(resumeTenant, { tenantId: home })
      expect(await stateOf(home)).toBe('ACTIVE')
    },
  )

  test('where another can act, it is; and a second call changes nothing', async () => {
    const other = await another()
    await suspend()
    expect(await stateOf(home)).toBe('SUSPENDED')
    await who.recovery.call(suspendTenant, { tenantId: home })
    // And now the other is the last.
    const { token } = await plantToken(own, other, { scopes: ['admin:tenants'] })
    await expect(who.as(token).call(suspendTenant, { tenantId: other.tenantId })).rejects.toMatchObject(last)
    await who.as(token).call(resumeTenant, { tenantId: home })
  })

  test('a workspace without operators is suspended whoever is left', async () => {
    const { tenant } = await own.provision()
    await suspend(tenant.id)
    expect(await stateOf(tenant.id)).toBe('SUSPENDED')
  })
})

test('two suspensions at once leave somebody who can act: 50 times', async () => {
  const other = await another()
  const { token } = await plantToken(own, other, { scopes: ['admin:tenants'] })
  for (let round = 0; round < 50; round += 1) {
    const outcomes = await Promise.allSettled([
      who.api.call(suspendTenant, { tenantId: home }),
      who.as(token).call(suspendTenant, { tenantId: other.tenantId }),
    ])
    const states = [await stateOf(home), await stateOf(other.tenantId)]
    expect(states.sort(), JSON.stringify(outcomes)).toEqual(['ACTIVE', 'SUSPENDED'])
    await own.oracle`update tenant set state = 'ACTIVE', suspended_at = null`
  }
})

test('entering an account and suspending its workspace at once are both served, or the one refused: 50 times', async () => {
  await another()
  const other = await joinedWorkspace(own)
  for (let round = 0; round < 50; round += 1) {
    const codes = await Promise.allSettled([
      who.recovery.call(operations.addOperator, { body: { account_id: other.accountId } }),
      who.api.call(suspendTenant, { tenantId: other.tenantId }),
    ])
    for (const outcome of codes) expect(outcome, 'no deadlock').toMatchObject({ status: 'fulfilled' })
    await own.oracle`delete from operator where account_id = ${other.accountId}`
    await own.oracle`update tenant set state = 'ACTIVE', suspended_at = null where id = ${other.tenantId}`
  }
})
