/** A quota that counts rows: of two who spend at once, the second counts what the first writes. Spec: Quota semantics. */
import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { spend } from '../../src/core/areas/settings/quotas.ts'
import { webhookQuotas } from '../../src/core/areas/webhooks/subscription.ts'
import type { Ctx } from '../../src/core/kernel/transaction/context.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let tenantId: string
beforeAll(async () => {
  own = await testInstallation()
  tenantId = (await own.provision()).tenant.id
  await own.oracle`insert into tenant_quota values (${tenantId}, 'webhook_targets', 1)`
})
afterAll(() => own.close())

/** Spends, and then writes the row when it is let. */
const spending = (written: Promise<unknown>, spent: () => void) =>
  own.installation.transaction(recoveryActor(), { tenantId }, async (ctx: Ctx) => {
    await spend(ctx, webhookQuotas, 'webhook_targets', { tenantId })
    spent()
    await written
    await ctx.tx`
      insert into webhook (tenant_id, id, target_url, host, event_types)
      values (${tenantId}, ${randomUUIDv7()}, 'https://example.org', 'example.org', '[]')`
  })

test('the second waits for the first, and is refused', async () => {
  const [spent, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = spending(written.promise, spent.resolve)
  await spent.promise
  let hasSpent = false
  const second = spending(Promise.resolve(), () => {
    hasSpent = true
  }).catch((error: unknown) => error)
  await pause(200)
  expect(hasSpent).toBe(false)
  written.resolve()
  await first
  expect(await second).toMatchObject({ code: 'quota.exceeded', params: { limit: 1, used: 1 } })
  expect(await own.oracle`select 1 from webhook where tenant_id = ${tenantId}`).toHaveLength(1)
})
