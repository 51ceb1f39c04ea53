/** What was shown is what is done, or nothing: `plan_hash` of :delete and :withdraw. Spec: Plans before destruction; decisions 7, Plans. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { identityProviderOperations, withdrawalPlanOperations } from '../../src/core/contract/providers/offered.ts'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { installationScope } from '../../src/core/contract/vocabulary.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { type HostileProvider, hostileClient, hostileProvider } from '../kit/hostile-provider.ts'
import { type Furnished, furnished } from '../kit/leaving-workspace.ts'
import { meeting } from '../kit/meeting.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
let issuer: HostileProvider
beforeAll(async () => {
  issuer = await hostileProvider()
  ways = await twoWays({ egress: readRelease(new URL(issuer.issuer).host) as Release })
})
afterAll(async () => {
  await ways.close()
  await issuer.close()
})

const stale = (hash: string) => ({ code: 'plan.stale', status: 409, params: { hash } })

describe.each(everyWay)('a deletion, by %s', (way: Way) => {
  let acme: Furnished
  beforeEach(async () => {
    acme = await furnished(ways)
  })
  const plan = () => ways.call(way, purgeOperations.getDeletionPlan, { tenantId: acme.id })
  const remove = (plan_hash?: string) =>
    ways.call(way, tenantOperations.deleteTenant, {
      tenantId: acme.id,
      body: { confirmation: acme.displayName, ...(plan_hash === undefined ? {} : { plan_hash }) },
    })
  const everything = () => ways.sql`
    select (select to_jsonb(t) from tenant t where id = ${acme.id}) as tenant,
           (select count(*) from journal)::int as journal, (select count(*) from audit_entry)::int as trail,
           (select count(*) from outbox_event)::int as events`
  const hold = (sql: Pick<TwoWays, 'sql'>['sql'] = ways.sql) => sql`
    insert into legal_hold (tenant_id, id, scope_kind, reason, placed_by)
    values (${acme.id}, ${randomUUIDv7()}, 'TENANT', 'since the plan', ${acme.ownerId})`

  test('of the plan that was shown, and a second call after a lost answer, are served', async () => {
    const { hash } = await plan()
    expect(await remove(hash)).toMatchObject({ state: 'PENDING_DELETION' })
    expect(await remove(hash), 'nothing is done, so nothing is stale').toMatchObject({ state: 'PENDING_DELETION' })
  })

  test('of a plan that holds no more is refused with the one that holds, and changes nothing', async () => {
    const shown = await plan()
    await hold()
    const now = await plan()
    expect(now.hash).not.toBe(shown.hash)
    const before = await everything()
    await expect(remove(shown.hash)).rejects.toMatchObject(stale(now.hash))
    await expect(remove('no plan of anything')).rejects.toMatchObject(stale(now.hash))
    expect(await everything()).toEqual(before)
    expect(await remove(now.hash)).toMatchObject({ state: 'PENDING_DELETION' })
  })

  test('without a plan goes on as before', async () => {
    await plan()
    await hold()
    expect(await remove()).toMatchObject({ state: 'PENDING_DELETION' })
  })

  test('compares under the lock: what commits while it waits counts', async () => {
    const { hash } = await plan()
    const outcome = meeting(
      ways.sql,
      async (sql) => {
        await sql`select from tenant where id = ${acme.id} for update`
        await hold(sql as never)
      },
      1,
      () => remove(hash).catch((error: unknown) => error),
    )
    expect(await outcome).toMatchObject({ code: 'plan.stale' })
    expect((await ways.sql`select state from tenant where id = ${acme.id}`)[0]).toEqual({ state: 'ACTIVE' })
  })
})

describe.each(everyWay)('a withdrawal, by %s', (way: Way) => {
  let providerId: string
  beforeEach(async () => {
    const body = { issuer: issuer.issuer, client_id: hostileClient }
    providerId = (await ways.call('recovery', identityProviderOperations.createIdentityProvider, { body })).id
  })
  const plan = () => ways.call(way, withdrawalPlanOperations.getWithdrawalPlan, { providerId })
  const withdraw = (plan_hash?: string) =>
    ways.call(way, identityProviderOperations.withdrawIdentityProvider, {
      providerId,
      body: plan_hash === undefined ? {} : { plan_hash },
    })
  const switchOn = async (sql = ways.sql) => {
    const { id } = await furnished(ways)
    await sql`insert into provider_switch (tenant_id, provider_scope, provider_id) values (${id}, ${installationScope}, ${providerId})`
  }
  const everything = () => ways.sql`
    select (select to_jsonb(p) from identity_provider p where id = ${providerId}) as provider,
           (select count(*) from journal)::int as journal`

  test('of a plan that holds no more is refused with the one that holds, and changes nothing', async () => {
    const shown = await plan()
    await switchOn()
    const now = await plan()
    const before = await everything()
    await expect(withdraw(shown.hash)).rejects.toMatchObject(stale(now.hash))
    expect(await everything()).toEqual(before)
    expect(await withdraw(now.hash)).toMatchObject({ state: 'WITHDRAWAL_ANNOUNCED' })
  })

  test('without a plan goes on as before', async () => {
    await plan()
    await switchOn()
    expect(await withdraw()).toMatchObject({ state: 'WITHDRAWAL_ANNOUNCED' })
  })

  test('compares under the lock: what commits while it waits counts', async () => {
    const { hash } = await plan()
    const { id } = await furnished(ways)
    const outcome = meeting(
      ways.sql,
      async (sql) => {
        await sql`select from identity_provider where id = ${providerId} for update`
        await sql`insert into provider_switch (tenant_id, provider_scope, provider_id) values (${id}, ${installationScope}, ${providerId})`
      },
      1,
      () => withdraw(hash).catch((error: unknown) => error),
    )
    expect(await outcome).toMatchObject({ code: 'plan.stale' })
  })
})
