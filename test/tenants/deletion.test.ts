/** Deletion and its cancellation, by both ways. Spec: Workspace states, rows 3 and 4; rules 1 to 3; Plans before destruction. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identityOperations } from '../../src/core/contract/identity/operations.ts'
import { purgeOperations, retentionOperations } from '../../src/core/contract/retention/operations.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { type Furnished, furnished } from '../kit/leaving-workspace.ts'
import { person, workspace } from '../kit/people.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

const unknownId = '0190c9d2-7a3b-7cde-8f01-23456789abcd'
const day = 86_400_000

describe.each(everyWay)('deletion, by %s', (way: Way) => {
  const remove = ({ id, displayName }: Furnished, confirmation = displayName) =>
    ways.call(way, tenantOperations.deleteTenant, { tenantId: id, body: { confirmation } })
  const cancel = (id: string) => ways.call(way, tenantOperations.cancelTenantDeletion, { tenantId: id })
  const read = async ({ slug }: Furnished) => {
    const { data } = await ways.call(way, tenantOperations.listTenants, { slug })
    return data[0]!
  }
  const rules = (id: string) =>
    ways.sql`select name, enabled, disabled_by_deletion from automation_rule where tenant_id = ${id} order by name`
  const journal = async (id: string) =>
    (await ways.sql<{ action: string }[]>`select action from journal where workspace_id = ${id} order by id`).map(
      ({ action }) => action,
    )

  test('an active workspace leaves: deadline, access, automations, entries, event and job', async () => {
    const leaving = await furnished(ways)
    const theirs = await person(ways.daemon, leaving.id)

    const tenant = await remove(leaving)

    expect(tenant).toMatchObject({
      state: 'PENDING_DELETION',
      state_before_deletion: 'ACTIVE',
      purge_started_at: null,
      version: 2,
    })
    const asked = Date.parse(tenant.deletion_requested_at!)
    expect(Date.parse(tenant.purge_after!) - asked).toBeGreaterThanOrEqual(30 * day)
    expect(Date.parse(tenant.purge_after!) - asked).toBeLessThan(30 * day + 60_000)
    expect(await read(leaving)).toEqual(tenant)
    const refused = await ways.daemon.call('GET', '/api/v1/accounts/me', { token: theirs.token })
    expect([refused.status, refused.json.code]).toEqual([403, 'tenant_suspended'])
    expect(await rules(leaving.id)).toEqual([
      { name: 'off', enabled: false, disabled_by_deletion: false },
      { name: 'on', enabled: false, disabled_by_deletion: true },
    ])
    expect(await journal(leaving.id)).toEqual(['tenant.provisioned', 'tenant.deletion_requested'])
    expect(
      await ways.sql`select params ->> 'automations' as automations from audit_entry where tenant_id = ${leaving.id} and action = 'tenant.deletion_requested'`,
    ).toEqual([{ automations: '1' }])
    expect(
      await ways.sql`select 1 from outbox_event where tenant_id = ${leaving.id} and type = 'svc.work.tenant.deletion_requested.v1'`,
    ).toHaveLength(1)
    expect(
      await ways.sql`select state from pgboss.job where name = 'purge_tenant' and data ->> 'tenantId' = ${leaving.id}`,
    ).toEqual([{ state: 'created' }])
  })

  test('a second request changes nothing, the deadline least of all', async () => {
    const leaving = await furnished(ways)
    const first = await remove(leaving)
    expect(await remove(leaving)).toEqual(first)
    expect(await journal(leaving.id)).toEqual(['tenant.provisioned', 'tenant.deletion_requested'])
  })

  test('a wrong confirmation changes nothing, and the refusal does not echo the name', async () => {
    const leaving = await furnished(ways)
    for (const wrong of [leaving.displayName.toUpperCase(), `${leaving.displayName} `, leaving.slug]) {
      const refusal = await remove(leaving, wrong).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ code: 'admin.confirmation_mismatch', status: 422, params: {} })
    }
    expect(await read(leaving)).toMatchObject({ state: 'ACTIVE', version: 1 })
  })

  test('cancelled from ACTIVE it is active, with its automations as they were', async () => {
    const leaving = await furnished(ways)
    await remove(leaving)
    await cancel(leaving.id)
    expect(await read(leaving)).toMatchObject({
      state: 'ACTIVE',
      state_before_deletion: null,
      deletion_requested_at: null,
      purge_after: null,
      suspended_at: null,
      version: 3,
    })
    expect(await rules(leaving.id)).toEqual([
      { name: 'off', enabled: false, disabled_by_deletion: false },
      { name: 'on', enabled: true, disabled_by_deletion: false },
    ])
    expect(await journal(leaving.id)).toEqual([
      'tenant.provisioned',
      'tenant.deletion_requested',
      'tenant.deletion_cancelled',
    ])
  })

  test('cancelled from SUSPENDED it is suspended since when it was', async () => {
    const leaving = await furnished(ways)
    await ways.call(way, tenantOperations.suspendTenant, { tenantId: leaving.id })
    const { suspended_at } = await read(leaving)
    expect(await remove(leaving)).toMatchObject({ state_before_deletion: 'SUSPENDED' })
    await cancel(leaving.id)
    expect(await read(leaving)).toMatchObject({ state: 'SUSPENDED', suspended_at })
  })

  test('cancelled where the state before is unknown it is suspended', async () => {
    const slug = `unknown-${way}`
    const id = await workspace(ways.daemon, slug, 'PENDING_DELETION')
    await cancel(id)
    const { data } = await ways.call(way, tenantOperations.listTenants, { slug })
    expect(data).toMatchObject([{ state: 'SUSPENDED', purge_after: null, suspended_at: expect.any(String) }])
  })

  test('past the deadline, under a hold, it can still be cancelled, and the hold stays', async () => {
    const leaving = await furnished(ways)
    await remove(leaving)
    await ways.call(way, retentionOperations.placeHold, {
      body: { tenant_id: leaving.id, scope: { kind: 'TENANT' }, reason: 'r' },
    })
    await ways.sql`update tenant set purge_after = now() - interval '40 days' where id = ${leaving.id}`
    await cancel(leaving.id)
    expect(await read(leaving)).toMatchObject({ state: 'ACTIVE', hold_count: 1 })
  })

  test('cancelling what is not leaving changes nothing; what is being purged cannot be cancelled', async () => {
    const other = await furnished(ways)
    await cancel(other.id)
    expect(await journal(other.id)).toEqual(['tenant.provisioned'])
    await remove(other)
    await ways.sql`update tenant set purge_started_at = now() where id = ${other.id}`
    await expect(cancel(other.id)).rejects.toMatchObject({ code: 'admin.tenant_deletion_underway', status: 409 })
    expect(await read(other)).toMatchObject({ state: 'PENDING_DELETION' })
  })

  test('a leaving workspace is neither suspended nor resumed; nobody knows an unknown one', async () => {
    const leaving = await furnished(ways)
    await remove(leaving)
    const tenantId = leaving.id
    await expect(ways.call(way, tenantOperations.suspendTenant, { tenantId })).rejects.toMatchObject({
      code: 'admin.tenant_leaving',
    })
    await expect(ways.call(way, tenantOperations.resumeTenant, { tenantId })).rejects.toMatchObject({
      code: 'admin.tenant_leaving',
    })
    await expect(cancel(unknownId)).rejects.toMatchObject({ code: 'not_found' })
    await expect(
      ways.call(way, tenantOperations.deleteTenant, { tenantId: unknownId, body: { confirmation: 'x' } }),
    ).rejects.toMatchObject({ code: 'not_found' })
  })

  test('the workspace that all operators belong to stays', async () => {
    await expect(
      ways.call(way, tenantOperations.deleteTenant, { tenantId: ways.home.tenantId, body: { confirmation: 'Home' } }),
    ).rejects.toMatchObject({ code: 'admin.operator_last', status: 409 })
  })

  test('a clock that fell back does not shorten the grace; one that was ahead stretches it by 30 days at most', async () => {
    const leaving = await furnished(ways)
    const graceOf = async (ahead: string) => {
      const [{ id }] = await ways.sql<[{ id: string }]>`
        insert into journal (id, at, action, actor_kind, via) values ('ffffffff-ffff-7fff-8fff-ffffffffffff', now() + ${ahead}::interval, 'test', 'SYSTEM', 'JOB') returning id`
      const { purge_after, deletion_requested_at } = await remove(leaving)
      await ways.sql`delete from journal where id = ${id}`
      await cancel(leaving.id)
      return Math.floor((Date.parse(purge_after!) - Date.parse(deletion_requested_at!)) / day + 0.001)
    }
    expect(await graceOf('20 days')).toBe(50)
    expect(await graceOf('70 years')).toBe(60)
    expect(await graceOf('-70 years')).toBe(30)
  })

  test('the plan says what would go; its hash moves with what people made, and with nothing else', async () => {
    const leaving = await furnished(ways)
    const plan = () => ways.call(way, purgeOperations.getDeletionPlan, { tenantId: leaving.id })
    const first = await plan()
    expect(first).toMatchObject({
      slug: leaving.slug,
      display_name: leaving.displayName,
      state: 'ACTIVE',
      grace_days: 30,
      operators: 0,
      holds_in_force: [],
      slug_blocked_days: 90,
      counts: {
        accounts: 1,
        containers: 2,
        buckets: 3,
        labels: 4,
        automation_rules: 2,
        legal_holds: 1,
        credential: 1,
        sealed_value: 1,
      },
    })
    expect(first.queued_jobs).toBeGreaterThan(0)
    await ways.sql`insert into audit_entry (tenant_id, id, action, actor_kind, via) values (${leaving.id}, gen_random_uuid(), 'x', 'SYSTEM', 'JOB')`
    await ways.sql`delete from session where false`
    expect((await plan()).hash).toBe(first.hash)
    const { id } = await ways.call(way, retentionOperations.placeHold, {
      body: { tenant_id: leaving.id, scope: { kind: 'TENANT' }, reason: 'r' },
    })
    const held = await plan()
    expect(held.holds_in_force).toEqual([id])
    await ways.sql`update label set name = name || '!' where tenant_id = ${leaving.id}`
    expect((await plan()).hash).toBe(held.hash)
    await ways.sql`delete from item_label where tenant_id = ${leaving.id}`
    await ways.sql`delete from label where tenant_id = ${leaving.id} and id in (select id from label where tenant_id = ${leaving.id} limit 1)`
    expect(new Set([first.hash, held.hash, (await plan()).hash]).size).toBe(3)
    await expect(ways.call(way, purgeOperations.getDeletionPlan, { tenantId: unknownId })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

test('over the API a deletion wants a step-up, and spends it also when it is refused', async () => {
  const leaving = await furnished(ways)
  const path = `/api/v1/admin/tenants/${leaving.id}:delete`
  const body = { confirmation: leaving.displayName }
  const bare = await ways.daemon.call('POST', path, { token: ways.operator.token, body })
  expect([bare.status, bare.json.code]).toEqual([401, 'auth.step_up_required'])
  const unused = () => ways.sql`select 1 from step_up where account_id = ${ways.operator.accountId} and used_at is null`
  expect(
    (await ways.ask(tenantOperations.deleteTenant, { tenantId: leaving.id, body: { confirmation: 'no' } })).status,
  ).toBe(422)
  expect(await unused()).toHaveLength(0)
})

test('people who are at it when the deletion comes are let finish or refused: nothing of theirs commits afterwards', async () => {
  const leaving = await furnished(ways)
  const theirs = await person(ways.daemon, leaving.id)
  await ways.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${leaving.id}, 'api_requests_per_minute', 0) on conflict do nothing`
  const write = () =>
    ways.daemon.call('POST', '/api/v1/auth/tokens', {
      token: theirs.token,
      body: { name: 't', scopes: ['workspace:read'] },
    })
  const racing = Array.from({ length: 20 }, write)
  await ways.call('api', tenantOperations.deleteTenant, {
    tenantId: leaving.id,
    body: { confirmation: leaving.displayName },
  })
  const [{ made }] = await ways.sql<
    [{ made: number }]
  >`select count(*)::int as made from credential where tenant_id = ${leaving.id} and name = 't'`
  const answers = await Promise.all(racing)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(made)
  expect(answers.every(({ status, json }) => status === 201 || json.code === 'tenant_suspended')).toBe(true)
  expect(
    (await ways.daemon.call('GET', `/api/v1${identityOperations.getOwnAccount.path}`, { token: theirs.token })).status,
  ).toBe(403)
})

test('single mode deletes nothing', async () => {
  const single = await twoWays({ mode: 'single' })
  try {
    const answer = await single.ask(tenantOperations.deleteTenant, {
      tenantId: single.home.tenantId,
      body: { confirmation: 'Home' },
    })
    expect([answer.status, answer.json.code]).toEqual([409, 'admin.multi_mode_required'])
  } finally {
    await single.close()
  }
})
