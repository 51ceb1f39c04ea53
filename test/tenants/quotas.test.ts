/** Ceilings of one workspace. Spec: Admin: workspaces, rule 5; Quota semantics; decisions 4. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { quotas as declared, quotaNames } from '../../src/core/contract/quotas.ts'
import { readJson } from '../../src/core/kernel/values/json.ts'
import { type Callers, callers, modes } from '../kit/accounts.ts'
import { differences, dump } from '../kit/dump.ts'
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

const { changeTenantQuotas } = operations

const exact = (digits: string) => (Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits))

describe.each(modes)('by %s', (mode) => {
  let tenantId: string
  beforeEach(async () => {
    tenantId = (await own.provision()).tenant.id
  })
  const change = (body: object) => who[mode].call(changeTenantQuotas, { tenantId, body })
  const entries = () => own.oracle`
    select params from journal where workspace_id = ${tenantId} and action = 'tenant.quotas_changed'`

  test('a new workspace has the product’s ceilings, and an empty patch reads them and writes nothing', async () => {
    const before = await dump(own.oracle)
    const quotas = await change({})
    expect(Object.keys(quotas)).toEqual([...quotaNames])
    for (const name of quotaNames)
      expect(quotas[name]).toEqual({ value: declared[name].ceiling, source: 'PRODUCT', used: 0 })
    expect(
      Object.keys(differences(before, await dump(own.oracle))).filter((name) => name !== 'public.credential'),
    ).toEqual([])
  })

  test('what is named is set, what is absent stays, null clears', async () => {
    expect(await change({ items: 5, export_jobs: 7 })).toMatchObject({
      items: { value: 5, source: 'WORKSPACE' },
      export_jobs: { value: 7, source: 'WORKSPACE' },
      media_bytes: { source: 'PRODUCT' },
    })
    expect(await change({ items: 6 })).toMatchObject({ items: { value: 6 }, export_jobs: { value: 7 } })
    expect(await change({ items: null })).toMatchObject({
      items: { value: declared.items.ceiling, source: 'PRODUCT' },
      export_jobs: { value: 7, source: 'WORKSPACE' },
    })
  })

  test('0 is a decision of its own: unlimited, not absent', async () => {
    expect(await change({ webhook_targets: 0 })).toMatchObject({ webhook_targets: { value: 0, source: 'WORKSPACE' } })
  })

  test.each(['9007199254740991', '9007199254740993', '1000000000000000000', '9223372036854775807'])(
    '%s is kept exactly',
    async (digits) => {
      const value = exact(digits)
      expect((await change({ media_bytes: value })).media_bytes.value).toBe(value)
      expect((await change({})).media_bytes.value).toBe(value)
      expect(await own.oracle`select ceiling::text from tenant_quota where tenant_id = ${tenantId}`).toMatchObject([
        { ceiling: digits },
      ])
    },
  )

  test.each([
    '-1',
    '1.5',
    '9223372036854775808',
    '1000000000000000000000000000000',
    '"7"',
    '""',
    'true',
    'false',
    '[7]',
    '{}',
  ])('%s is no ceiling', async (text) => {
    await expect(change({ items: readJson(text) })).rejects.toMatchObject({
      code: 'request.invalid',
      status: 422,
      errors: [{ pointer: '/items' }],
    })
    expect(await own.oracle`select 1 from tenant_quota where tenant_id = ${tenantId}`).toHaveLength(0)
  })

  test('a member nobody knows is refused and nothing of the patch is written', async () => {
    await expect(change({ items: 9, tenant_id: randomUUID() })).rejects.toMatchObject({
      errors: [{ pointer: '/tenant_id', code: 'member.unknown' }],
    })
    expect((await change({})).items.source).toBe('PRODUCT')
  })

  test('a change is in the journal, in the trail and among the events, naming what moved only', async () => {
    await change({ items: 5, export_jobs: 7 })
    await change({ items: 5, export_jobs: null })
    await change({ items: 5 }) // already so
    expect((await entries()).map(({ params }) => (params as { quotas: unknown }).quotas)).toEqual([
      { items: '5', export_jobs: '7' },
      { export_jobs: null },
    ])
    expect(
      await own.oracle`select 1 from audit_entry where tenant_id = ${tenantId} and action = 'tenant.quotas_changed'`,
    ).toHaveLength(2)
    const events = await own.oracle<{ body: string }[]>`
      select body from outbox_event where tenant_id = ${tenantId} and type = 'svc.work.tenant.quotas_changed.v1' order by tx, seq`
    expect(events.map(({ body }) => (JSON.parse(body) as { data: { quotas: unknown } }).data.quotas)).toEqual([
      { items: 5, export_jobs: 7 },
      { export_jobs: null },
    ])
  })

  test('of the minute’s calls as many are used as are paid for', async () => {
    await own.oracle`insert into request_rate (tenant_id, paid_until) values (${tenantId}, now() + interval '30 seconds')`
    const { api_requests_per_minute: rate } = await change({})
    // 30 of 60 seconds are paid for, so about half of 600 are gone.
    expect(rate.used).toBeGreaterThan(250)
    expect(rate.used).toBeLessThanOrEqual(300)
    expect((await change({ api_requests_per_minute: 60 })).api_requests_per_minute.used).toBeLessThanOrEqual(30)
    expect((await change({ api_requests_per_minute: 0 })).api_requests_per_minute.used).toBe(0)
  })

  test('use of the largest ceiling is an integer of 64 bits still', async () => {
    await own.oracle`insert into request_rate (tenant_id, paid_until) values (${tenantId}, now() + interval '70 seconds')`
    const largest = 9223372036854775807n
    const { api_requests_per_minute: rate } = await change({ api_requests_per_minute: largest })
    expect(rate).toEqual({ value: largest, source: 'WORKSPACE', used: largest })
    await own.oracle`update request_rate set paid_until = now() + interval '30 seconds' where tenant_id = ${tenantId}`
    const { used } = (await change({})).api_requests_per_minute
    expect(BigInt(used)).toBeGreaterThan(largest / 3n)
    expect(BigInt(used)).toBeLessThanOrEqual(largest / 2n + 1n)
  })

  test('a workspace nobody knows is not_found', async () => {
    await expect(
      who[mode].call(changeTenantQuotas, { tenantId: randomUUID(), body: { items: 1 } }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  test('20 at once that move different ceilings all succeed', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => change({ [quotaNames[n % quotaNames.length]!]: n + 1 })))
    expect(await own.oracle`select 1 from tenant_quota where tenant_id = ${tenantId}`).toHaveLength(quotaNames.length)
    expect(await entries()).toHaveLength(20)
  })
})
