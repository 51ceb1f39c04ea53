/** Nightly runs of the rules, and the brake. Spec: Keeping, 4; decision 0471. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dueDay } from '../../src/core/areas/retention-runs/due.ts'
import type { RetentionRun } from '../../src/core/contract/retention/rules.ts'
import { type RuleDesk, ruleDesk } from './rule-desk.ts'

let desk: RuleDesk
beforeAll(async () => {
  desk = await ruleDesk()
})
afterAll(() => desk.close())
beforeEach(() => desk.clear())

const records = async (): Promise<RetentionRun | undefined> =>
  (await desk.runs()).find(({ kind }) => kind === 'RECORDS')
const isThere = async (id: string) => (await desk.sql`select 1 from credential where id = ${id}`).length === 1

describe('a night', () => {
  test('removes tokens and sessions that were revoked long ago, once a day, and says so', async () => {
    const [old, young] = [await desk.revoked(91), await desk.revoked(89)]
    const session = randomUUIDv7()
    await desk.sql`
      insert into session (tenant_id, id, account_id, revoked_at)
      values (${desk.tenantId}, ${session}, ${desk.people.VIEWER.accountId}, now() - interval '91 days')`
    await desk.night()
    expect([await isThere(old), await isThere(young)]).toEqual([false, true])
    expect(await desk.sql`select 1 from session where id = ${session}`).toHaveLength(0)
    expect(await records()).toMatchObject({ removed: 2, held: 0, stopped: false })
    expect(await desk.trail('retention.run')).toEqual([{ kind: 'RECORDS', removed: 2, held: 0 }])
    const later = await desk.revoked(91)
    await desk.night()
    expect(await isThere(later)).toBe(true)
    expect(await desk.trail('retention.run')).toHaveLength(1)
  })

  test('that two daemons see is one, and one that was left is taken up', async () => {
    await desk.revoked(91)
    await Promise.all([desk.night(), desk.night()])
    const rows = await desk.sql`select removed, ended_at is not null as ended from retention_run where kind = 'RECORDS'`
    expect([...rows]).toEqual([{ removed: 1, ended: true }])
    const left = await desk.revoked(91)
    await desk.sql`update retention_run set ended_at = null where kind = 'RECORDS'`
    await desk.night()
    expect([await isThere(left), (await records())?.removed]).toEqual([false, 2])
  })

  test('lets alone what a hold covers, and takes nothing while one covers the workspace', async () => {
    const { accountId } = desk.people.MEMBER
    let [held, free] = [await desk.revoked(91, accountId), await desk.revoked(91)]
    const hold = (kind: 'TENANT' | 'ACCOUNT', id: string | null) => desk.sql`
      insert into legal_hold (tenant_id, id, scope_kind, scope_id, reason, placed_by)
      values (${desk.tenantId}, ${randomUUIDv7()}, ${kind}, ${id}, 'case', ${accountId})`
    await hold('TENANT', null)
    await desk.night()
    expect([await isThere(held), await isThere(free)]).toEqual([true, true])
    expect(await records()).toMatchObject({ removed: 0, held: 2 })
    await desk.clear()
    ;[held, free] = [await desk.revoked(91, accountId), await desk.revoked(91)]
    await hold('ACCOUNT', accountId)
    await desk.night()
    expect([await isThere(held), await isThere(free)]).toEqual([true, false])
    expect(await records()).toMatchObject({ removed: 1, held: 1 })
  })

  test('narrows the window of events', async () => {
    const at = Date.now() - 5 * 86_400_000
    const old = `${at
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-')}-7000-8000-000000000001`
    await desk.sql`
      update outbox_event set id = ${old}, occurred_at = now() - interval '5 days'
      where id = (select id from outbox_event where tenant_id = ${desk.tenantId} order by tx, seq limit 1)`
    await desk.sql`insert into retention_rule (tenant_id, kind, days) values (${desk.tenantId}, 'EVENTS', 4)`
    await desk.night()
    expect(await desk.sql`select 1 from outbox_event where id = ${old}`).toHaveLength(0)
    expect((await desk.runs()).find(({ kind }) => kind === 'EVENTS')).toMatchObject({ removed: 1 })
  })

  test('erases accounts that were disabled long ago, but for those that are held, restricted or asked something', async () => {
    await desk.sql`insert into retention_rule (tenant_id, kind, days) values (${desk.tenantId}, 'ACCOUNTS', 30)`
    const [gone, young, held, restricted, asked] = [
      await desk.disabled(31),
      await desk.disabled(29),
      await desk.disabled(31),
      await desk.disabled(31),
      await desk.disabled(31),
    ]
    await desk.sql`
      insert into legal_hold (tenant_id, id, scope_kind, scope_id, reason, placed_by)
      values (${desk.tenantId}, ${randomUUIDv7()}, 'ACCOUNT', ${held}, 'case', ${desk.people.OWNER.accountId})`
    await desk.sql`
      insert into account_restriction (tenant_id, account_id, ground) values (${desk.tenantId}, ${restricted}, 'ACCURACY')`
    await desk.sql`
      insert into privacy_request (tenant_id, id, kind, account_id, channel, received_at, time_zone, due_at)
      values (${desk.tenantId}, ${randomUUIDv7()}, 'ACCESS', ${asked}, 'ENTERED', now(), 'UTC', now())`
    await desk.night()
    const states = await desk.sql<{ id: string; state: string }[]>`
      select id, state from account where id in ${desk.sql([gone, young, held, restricted, asked])}`
    expect(Object.fromEntries(states.map(({ id, state }) => [id, state]))).toEqual({
      [gone]: 'ERASED',
      [young]: 'DISABLED',
      [held]: 'DISABLED',
      [restricted]: 'DISABLED',
      [asked]: 'DISABLED',
    })
    expect((await desk.runs()).find(({ kind }) => kind === 'ACCOUNTS')).toMatchObject({ removed: 1, held: 1 })
    const [erasure] = await desk.sql`select choices from erasure where account_id = ${gone}`
    expect(erasure?.['choices']).toMatchObject({ texts: 'KEEP', files: 'KEEP' })
  })

  test('shrinks requests that were closed long ago to what was decided, but for those of who is held', async () => {
    const { MEMBER, VIEWER, OWNER } = desk.people
    const closed = async (accountId: string, days: number) => {
      const id = randomUUIDv7()
      await desk.sql`
        insert into privacy_request (tenant_id, id, kind, state, account_id, details, channel, received_at, time_zone, due_at,
          identity_state, identity_how, identity_by, handler_id, decision, refusal_ground, closed_at)
        values (${desk.tenantId}, ${id}, 'RECTIFICATION', 'REFUSED', ${accountId}, 'words', 'ENTERED', now(), 'UTC', now(),
          'VERIFIED', 'by letter', ${OWNER.accountId}, ${OWNER.accountId}, 'REFUSED', 'LAW', now() - make_interval(days => ${days}))`
      return id
    }
    const [old, young, held] = [
      await closed(MEMBER.accountId, 1096),
      await closed(MEMBER.accountId, 1094),
      await closed(VIEWER.accountId, 1096),
    ]
    await desk.sql`
      insert into legal_hold (tenant_id, id, scope_kind, scope_id, reason, placed_by)
      values (${desk.tenantId}, ${randomUUIDv7()}, 'ACCOUNT', ${VIEWER.accountId}, 'case', ${OWNER.accountId})`
    await desk.night()
    const shown = async (id: string) => (await desk.ask(`GET /privacy/requests/${id}`)).json
    expect(await shown(old)).toMatchObject({
      ...{ kind: 'RECTIFICATION', state: 'REFUSED', decision: 'REFUSED', refusal_ground: 'LAW', details: null },
      ...{ subject: { account_id: null, name: null, contact: null }, handler_id: null },
      identity: { state: 'VERIFIED', how: null, by: null },
    })
    for (const id of [young, held]) expect((await shown(id)).details).toBe('words')
    expect((await desk.runs()).find(({ kind }) => kind === 'REQUESTS')).toMatchObject({ removed: 1, held: 1 })
  })

  test('that took nothing is remembered for a day, and nothing for ever', async () => {
    for (const [days, removed] of [
      [1, 0],
      [2, 3],
      [401, 3],
    ] as const)
      await desk.sql`
        insert into retention_run (tenant_id, id, kind, due_on, at, removed, ended_at)
        values (${desk.tenantId}, uuidv7(), 'RECORDS', now() - make_interval(days => ${days + 1}), now() - make_interval(days => ${days}), ${removed}, now())`
    await desk.night()
    const ofRecords = (await desk.runs()).filter(({ kind }) => kind === 'RECORDS')
    expect(ofRecords.map(({ removed }) => removed)).toEqual([0, 3])
  })
})

describe('the brake', () => {
  const many = (count: number) => desk.sql`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, revoked_at)
    select ${desk.tenantId}, uuidv7(), ${desk.people.VIEWER.accountId}, 'PERSONAL', sha256((${randomUUIDv7()} || n)::bytea), 'xxxx', 'old', '', now() - interval '100 days'
    from generate_series(1, ${count}) n`
  const left = async () => {
    const [row] =
      await desk.sql`select count(*)::int as count from credential where name = 'old' and revoked_at < now() - interval '90 days'`
    return row?.['count']
  }
  /** By way of a time that none of them has: rows are unique one by one. */
  const nextDay = async () => {
    await desk.sql`update retention_run set due_on = due_on - 36500`
    await desk.sql`update retention_run set due_on = due_on + 36499`
  }

  test('stops a run that would take more than 1,000 and a fifth, mails OWNERs, and waits for one who has seen it', async () => {
    await desk.sql`delete from credential where name = 'old'`
    await many(1001)
    await desk.night()
    expect(await left()).toBe(1001)
    expect(await records()).toMatchObject({ removed: 0, stopped: true })
    expect(await desk.trail('retention.stopped')).toEqual([{ kind: 'RECORDS', would_go: 1001 }])
    const mails =
      await desk.sql`select data ->> 'accountId' as to from pgboss.job where data ->> 'name' = 'retention_stopped'`
    const [owners] = await desk.sql`
      select count(*)::int as count from membership where tenant_id = ${desk.tenantId} and role = 'OWNER' and container_id is null`
    expect(mails.length).toBe(owners?.['count'])
    const [shown] = await desk.sql`select told from notification_pending where event_type = 'retention_stopped'`
    const to = mails.map(({ to: accountId }) => accountId as string)
    expect(shown?.['told']).toEqual([{ category: 'ADMINISTRATION', accounts: to, has_own_mail: true }])
    await nextDay()
    await desk.night()
    expect(await left()).toBe(1001)
    expect(await desk.mails('retention_stopped')).toBe(1)

    expect((await desk.put('RECORDS', 90)).status).toBe(200)
    await nextDay()
    await desk.night()
    expect(await left()).toBe(1001)
    expect((await desk.put('RECORDS', 90, { plan_hash: 'old' })).json.code).toBe('plan.stale')
    await desk.set('RECORDS', 90, { plan_hash: await desk.hashOf('RECORDS', 90) })
    await nextDay()
    await desk.night()
    expect([await left(), (await records())?.removed]).toEqual([0, 1001])
    await many(1001)
    await nextDay()
    await desk.night()
    expect([await left(), await desk.mails('retention_stopped')]).toEqual([1001, 2])
  })

  test('lets a thousand go, and a large run that is a small part', async () => {
    await desk.sql`delete from credential where name = 'old'`
    await many(1000)
    await desk.night()
    expect(await left()).toBe(0)
    await many(1001)
    await desk.sql`
      insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes)
      select ${desk.tenantId}, uuidv7(), ${desk.people.VIEWER.accountId}, 'PERSONAL', sha256(('live' || n)::bytea), 'xxxx', 'live', '' from generate_series(1, 5000) n`
    await nextDay()
    await desk.night()
    expect(await left()).toBe(0)
    await desk.sql`delete from credential where name = 'live'`
  })

  test('goes for the trash and for what is done, too', async () => {
    const shelf = await desk.items(1)
    await desk.sql`
      insert into item (tenant_id, id, container_id, type, title, rank, created_by, deleted_at, kept_since)
      select ${desk.tenantId}, uuidv7(), ${shelf.collectionId}, 'TASK', 'x', 'b' || lpad(n::text, 5, '0'), ${desk.people.OWNER.accountId}, now() - interval '40 days', now() - interval '1 year'
      from generate_series(1, 1100) n`
    await desk.sweep()
    const purged = async () =>
      (await desk.sql`select 1 from item where container_id = ${shelf.collectionId} and purged_at is not null`).length
    expect([await purged(), (await desk.runs()).map(({ kind, stopped }) => [kind, stopped])]).toEqual([
      0,
      [['TRASH', true]],
    ])
    await desk.set('TRASH', 30, { plan_hash: await desk.hashOf('TRASH', 30) })
    await desk.sweep()
    expect(await purged()).toBe(0)
    expect(
      await desk.sql`select 1 from item where container_id = ${shelf.collectionId} and deleted_at is not null`,
    ).toHaveLength(0)
    await desk.sql`
      insert into item (tenant_id, id, container_id, type, title, rank, created_by, state, completed_at, updated_at)
      select ${desk.tenantId}, uuidv7(), ${shelf.collectionId}, 'TASK', 'x', 'c' || lpad(n::text, 5, '0'), ${desk.people.OWNER.accountId}, 'DONE', now() - interval '40 days', now() - interval '40 days'
      from generate_series(1, 1100) n`
    await desk.sql`insert into retention_rule (tenant_id, kind, days) values (${desk.tenantId}, 'DONE_ITEMS', 30)`
    await desk.sweep()
    expect(
      await desk.sql`select 1 from item where container_id = ${shelf.collectionId} and archived_at is not null`,
    ).toHaveLength(0)
    await desk.sql`update item set state = 'OPEN', completed_at = null where container_id = ${shelf.collectionId}`
  })
})

test.each([
  ['2027-03-01T03:30:00Z', 'UTC', '00000000', '2027-03-01'],
  ['2027-03-01T02:59:59Z', 'UTC', '00000000', '2027-02-28'],
  ['2027-03-01T03:30:00Z', 'UTC', '00000e0f', '2027-02-28'],
  ['2027-03-01T03:30:00Z', 'Asia/Tokyo', '00000000', '2027-03-01'],
  ['2027-03-01T17:59:00Z', 'Asia/Tokyo', '00000000', '2027-03-01'],
  ['2027-03-01T18:00:00Z', 'Asia/Tokyo', '00000000', '2027-03-02'],
  ['2027-03-28T00:59:00Z', 'Europe/Berlin', '00000000', '2027-03-27'],
  ['2027-03-28T01:00:00Z', 'Europe/Berlin', '00000000', '2027-03-28'],
])('at %s in %s the night of %s is that of %s', (at, zone, end, day) => {
  expect(dueDay(`0199c0de-0000-7000-8000-0000${end}`, zone, Date.parse(at))).toBe(day)
})
