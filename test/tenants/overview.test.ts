/** Counts and states only, never rows. Spec: Admin: overview; decisions 4. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, modes, plantAccount } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

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

describe.each(modes)('by %s', (mode) => {
  test('workspaces are counted by state, accounts of all of them together, and nothing else is told', async () => {
    const before = await who[mode].call(operations.getOverview)
    const made = await own.provision()
    const left = await own.provision()
    await own.asRecovery(operations.suspendTenant, { tenantId: made.tenant.id })
    await own.oracle`update tenant set state = 'PENDING_DELETION', purge_after = now() where id = ${left.tenant.id}`
    await own.provision()
    await plantAccount(own, made.tenant.id)

    expect(await who[mode].call(operations.getOverview)).toEqual({
      mode: 'multi',
      tenants: {
        ACTIVE: before.tenants.ACTIVE + 1,
        SUSPENDED: before.tenants.SUSPENDED + 1,
        PENDING_DELETION: before.tenants.PENDING_DELETION + 1,
      },
      accounts: before.accounts + 4,
    })
  })
})
