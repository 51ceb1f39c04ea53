/** Password opening, every row of its table, by both ways. Spec: Password opening; T-42. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endForgottenOpenings, endPasswordOpening } from '../../src/core/areas/tenants/jobs.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { workspace } from '../kit/people.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

let counter = 0
const fresh = (state?: 'ACTIVE' | 'SUSPENDED' | 'PENDING_DELETION') => {
  counter += 1
  return workspace(ways.daemon, `opening-${counter}`, state)
}

describe.each(everyWay)('password opening, by %s', (way: Way) => {
  const request = { requester: 'Ada', reason: 'their provider is down' }
  const open = (tenantId: string, body: object = request) =>
    ways.call(way, tenantOperations.openPassword, { tenantId, body: body as typeof request })
  const close = (tenantId: string) => ways.call(way, tenantOperations.closePassword, { tenantId })
  const opening = async (tenantId: string) => {
    const { data } = await ways.call(way, tenantOperations.listTenants, {})
    return data.find(({ id }) => id === tenantId)?.password_opening
  }
  const entries = async (tenantId: string) => {
    const trail = await ways.sql<
      { action: string }[]
    >`select action from audit_entry where tenant_id = ${tenantId} order by id`
    const journal = await ways.sql<
      { action: string }[]
    >`select action from journal where workspace_id = ${tenantId} order by id`
    return { trail: trail.map(({ action }) => action), journal: journal.map(({ action }) => action) }
  }
  const hoursOf = ({ until, opened_at }: { until: string; opened_at: string }) =>
    (Date.parse(until) - Date.parse(opened_at)) / 3_600_000

  test('opens for 24 hours where nothing is said, and says so in trail, journal and event', async () => {
    const id = await fresh()
    const { password_opening, version } = await open(id)
    expect(password_opening).toMatchObject({ ...request, opened_by: way === 'api' ? ways.operator.accountId : null })
    expect(hoursOf(password_opening!)).toBe(24)
    expect(version).toBe(2)
    expect(await opening(id)).toEqual(password_opening)
    expect(await entries(id)).toEqual({ trail: ['tenant.password_opened'], journal: ['tenant.password_opened'] })
    const [{ params }] = await ways.sql<[{ params: object }]>`select params from journal where workspace_id = ${id}`
    expect(JSON.stringify(params)).not.toContain('provider is down')
    expect(await ways.sql`select type from outbox_event where tenant_id = ${id}`).toEqual([
      { type: 'svc.work.tenant.password_opened.v1' },
    ])
  })

  test.each([[1], [168]])('%i hours are taken', async (hours) => {
    const id = await fresh()
    expect(hoursOf((await open(id, { ...request, hours })).password_opening!)).toBe(hours)
  })

  test.each([
    [{ ...request, hours: 0 }, '/hours'],
    [{ ...request, hours: 169 }, '/hours'],
    [{ ...request, hours: 1.5 }, '/hours'],
    [{ requester: '', reason: 'r' }, '/requester'],
    [{ requester: 'x'.repeat(201), reason: 'r' }, '/requester'],
    [{ requester: 'r', reason: 'x'.repeat(501) }, '/reason'],
    [{ requester: 'r' }, '/reason'],
    [{ ...request, until: '2030-01-01T00:00:00Z' }, '/until'],
  ])('%j is refused', async (body, pointer) => {
    const id = await fresh()
    await expect(open(id, body)).rejects.toMatchObject({ code: 'request.invalid', status: 422, errors: [{ pointer }] })
    expect(await opening(id)).toBeNull()
  })

  test('is replaced by a second one', async () => {
    const id = await fresh()
    await open(id, { ...request, hours: 100 })
    const second = await open(id, { requester: 'Bob', reason: 'again', hours: 2 })
    expect(second.password_opening).toMatchObject({ requester: 'Bob' })
    expect(hoursOf(second.password_opening!)).toBe(2)
    expect((await entries(id)).journal).toEqual(['tenant.password_opened', 'tenant.password_opened'])
  })

  test('is closed once; a second close changes and records nothing', async () => {
    const id = await fresh()
    expect((await close(id)).password_opening).toBeNull()
    expect(await entries(id)).toEqual({ trail: [], journal: [] })
    await open(id)
    const closed = await close(id)
    expect(closed.password_opening).toBeNull()
    expect(await close(id)).toEqual(closed)
    const actions = ['tenant.password_opened', 'tenant.password_closed']
    expect(await entries(id)).toEqual({ trail: actions, journal: actions })
  })

  test('ends by itself, and a clock that falls back does not reopen it', async () => {
    const id = await fresh()
    await open(id)
    await ways.sql`update password_opening set opened_at = now() - interval '2 hours', until = now() - interval '1 second' where tenant_id = ${id}`
    expect(await opening(id)).toBeNull()
    const before = await entries(id)
    expect((await close(id)).password_opening, 'what has ended is not closed once more').toBeNull()
    expect(await entries(id)).toEqual(before)

    await open(id)
    await ways.sql`update password_opening set opened_at = now() + interval '1 hour', until = now() + interval '25 hours' where tenant_id = ${id}`
    expect(await opening(id), 'before the moment it was opened').toBeNull()

    await ways.sql`update password_opening set opened_at = now() - interval '2 hours', until = now() where tenant_id = ${id}`
    await endPasswordOpening.run(ways.installation, { tenantId: id })
    expect(
      await ways.sql`select 1 from password_opening where tenant_id = ${id}`,
      'nothing is left to reopen',
    ).toHaveLength(0)
  })

  test('the job leaves an opening that is in force, also one that replaced the job’s own; the hourly look ends what a lost job left', async () => {
    const id = await fresh()
    await open(id)
    await endPasswordOpening.run(ways.installation, { tenantId: id })
    expect(await opening(id)).not.toBeNull()
    expect(
      await ways.sql`select 1 from pgboss.job where name = 'end_password_opening' and data ->> 'tenantId' = ${id} and start_after > now() + interval '23 hours'`,
    ).toHaveLength(1)
    await ways.sql`update password_opening set opened_at = now() - interval '2 days', until = now() - interval '25 hours' where tenant_id = ${id}`
    await endForgottenOpenings.run(ways.installation, undefined)
    expect(await ways.sql`select 1 from password_opening where tenant_id = ${id}`).toHaveLength(0)
  })

  test('an opening that cannot be ended does not keep the others from their end', async () => {
    const ids = [await fresh(), await fresh()].toSorted()
    for (const id of ids) await open(id)
    await ways.sql`update password_opening set opened_at = now() - interval '2 days', until = now() - interval '25 hours' where tenant_id in ${ways.sql(ids)}`
    await ways.sql.unsafe(`
      create function keep() returns trigger language plpgsql as $$ begin
        if old.tenant_id = '${ids[0]}' then raise exception 'it stays'; end if;
        return old;
      end $$;
      create trigger keep before delete on password_opening for each row execute function keep()`)
    try {
      await expect(endForgottenOpenings.run(ways.installation, undefined)).rejects.toThrow('it stays')
      expect(await ways.sql`select tenant_id from password_opening where tenant_id in ${ways.sql(ids)}`).toEqual([
        { tenant_id: ids[0] },
      ])
      await open(ids[1]!)
      await ways.sql`update password_opening set opened_at = now() - interval '2 days', until = now() - interval '25 hours' where tenant_id = ${ids[1]!}`
      await ways.sql.unsafe(`
        create or replace function keep() returns trigger language plpgsql as $$ begin raise exception 'all stay'; end $$`)
      await expect(endForgottenOpenings.run(ways.installation, undefined)).rejects.toThrow(
        expect.objectContaining({
          message: '2 of 2 workspaces failed',
          cause: expect.objectContaining({ message: 'all stay' }),
        }),
      )
    } finally {
      await ways.sql.unsafe('drop trigger keep on password_opening; drop function keep()')
    }
  })

  test('a suspended workspace and a leaving one are refused, each with its code; closing is not', async () => {
    const [suspended, leaving] = [await fresh('SUSPENDED'), await fresh('PENDING_DELETION')]
    await expect(open(suspended)).rejects.toMatchObject({ code: 'admin.password_opening_suspended', status: 409 })
    await expect(open(leaving)).rejects.toMatchObject({ code: 'admin.tenant_leaving', status: 409 })
    expect((await close(suspended)).password_opening).toBeNull()
    expect((await close(leaving)).password_opening).toBeNull()
    await expect(open('0190c9d2-7a3b-7cde-8f01-23456789abcd')).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('over the API opening wants a step-up, closing none', async () => {
  const id = await fresh()
  const call = (verb: string, body?: object) =>
    ways.daemon.call('POST', `/api/v1/admin/tenants/${id}:${verb}`, {
      token: ways.operator.token,
      ...(body ? { body } : {}),
    })
  expect((await call('open-password', { requester: 'a', reason: 'b' })).json.code).toBe('auth.step_up_required')
  expect((await call('close-password')).status).toBe(200)
})
