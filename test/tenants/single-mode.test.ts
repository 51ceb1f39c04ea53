/** Single mode: one workspace, never suspended, unlimited. Spec: Workspace states, rule 1; decisions 4. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, modes } from '../kit/accounts.ts'
import { freshSlug, password, provisionBody, type TestInstallation, testInstallation } from '../kit/installation.ts'

describe('an installation that has its one workspace', () => {
  let own: TestInstallation
  let who: Callers
  beforeAll(async () => {
    own = await testInstallation({ mode: 'single' })
    who = await callers(own)
  })
  afterAll(async () => {
    await who.close()
    await own.close()
  })

  describe.each(modes)('by %s', (mode) => {
    test('a second workspace is refused', async () => {
      await expect(who[mode].call(operations.provisionTenant, { body: provisionBody() })).rejects.toMatchObject({
        code: 'admin.multi_mode_required',
        status: 409,
      })
    })

    test('suspension is refused, resumption changes nothing', async () => {
      const { tenantId } = who.operator
      await expect(who[mode].call(operations.suspendTenant, { tenantId })).rejects.toMatchObject({
        code: 'admin.multi_mode_required',
      })
      await who[mode].call(operations.resumeTenant, { tenantId })
      expect(await who[mode].call(operations.getOverview)).toMatchObject({
        mode: 'single',
        tenants: { ACTIVE: 1, SUSPENDED: 0 },
      })
    })

    test('every ceiling is unlimited unless the workspace has its own', async () => {
      const quotas = await who[mode].call(operations.changeTenantQuotas, { tenantId: who.operator.tenantId, body: {} })
      for (const [name, { value, source }] of Object.entries(quotas)) {
        // The one that a test's own rate needs is an override of 0.
        expect({ name, value, source }).toEqual({
          name,
          value: 0,
          source: name === 'api_requests_per_minute' ? 'WORKSPACE' : 'PRODUCT',
        })
      }
    })
  })
})

test('of 8 at once that provision an empty single-mode installation, one succeeds', async () => {
  const own = await testInstallation({ mode: 'single' })
  try {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => own.provision(freshSlug('only'))))
    expect(await own.oracle`select slug from tenant`).toHaveLength(1)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'admin.multi_mode_required' })
  } finally {
    await own.close()
  }
})

test('set-up beside a workspace that was provisioned first is refused, and says so beforehand', async () => {
  const own = await testInstallation({ mode: 'single' })
  try {
    await own.provision()
    const body = {
      set_up_token: 'not asked for',
      workspace: { slug: freshSlug(), display_name: 'Second' },
      owner: { email: 'ops@second.example', display_name: 'Olive', password },
    }
    const code = 'admin.multi_mode_required'
    await expect(own.asRecovery(operations.setUpInstallation, { body })).rejects.toMatchObject({ code })
    expect(operations.setUpInstallation.refuses).toContain(code)
  } finally {
    await own.close()
  }
})
