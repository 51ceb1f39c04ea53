/** Legal holds: placed, read, released. Spec: Legal holds. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HoldScope, retentionOperations } from '../../src/core/contract/retention/operations.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { type Furnished, furnished } from '../kit/leaving-workspace.ts'
import { person } from '../kit/people.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
let acme: Furnished
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

const nil = '00000000-0000-0000-0000-000000000000'

describe.each(everyWay)('legal holds, by %s', (way: Way) => {
  beforeAll(async () => {
    acme = await furnished(ways)
  })
  const place = (scope: HoldScope, tenant_id = acme.id) =>
    ways.call(way, retentionOperations.placeHold, { body: { tenant_id, scope, reason: 'case 4711' } })

  test('each scope that names something is placed, read and counted', async () => {
    const countOfHolds = async () =>
      (await ways.call(way, tenantOperations.listTenants, { slug: acme.slug })).data[0]?.hold_count ?? -1
    const before = await countOfHolds()
    const scopes: HoldScope[] = [
      { kind: 'TENANT' },
      { kind: 'CONTAINER', id: acme.collectionId },
      { kind: 'ACCOUNT', id: acme.ownerId },
    ]
    for (const scope of scopes) {
      const hold = await place(scope)
      expect(hold).toMatchObject({
        tenant_id: acme.id,
        scope: { kind: scope.kind, id: scope.id ?? null },
        reason: 'case 4711',
        released_at: null,
        released_by: null,
        version: 1,
        placed_by: way === 'api' ? ways.operator.accountId : nil,
      })
      expect(await ways.call(way, retentionOperations.getHold, { holdId: hold.id })).toEqual(hold)
    }
    expect((await place({ kind: 'TENANT', id: acme.id })).scope).toEqual({ kind: 'TENANT', id: null })
    expect(await countOfHolds()).toBe(before + 4)
  })

  test.each<[HoldScope, string]>([
    [{ kind: 'CONTAINER' }, 'member.required'],
    [{ kind: 'ACCOUNT', id: null }, 'member.required'],
    [{ kind: 'CONTAINER', id: randomUUID() }, 'reference.unknown'],
    [{ kind: 'ACCOUNT', id: randomUUID() }, 'reference.unknown'],
    [{ kind: 'ITEM', id: randomUUID() }, 'reference.unknown'],
    [{ kind: 'TENANT', id: randomUUID() }, 'reference.unknown'],
  ])('%j names nothing and is refused', async (scope, code) => {
    await expect(place(scope)).rejects.toMatchObject({
      code: 'request.invalid',
      errors: [{ pointer: '/scope/id', code }],
    })
  })

  test("another workspace's container is as unknown as none", async () => {
    const other = await furnished(ways)
    await expect(place({ kind: 'CONTAINER', id: other.collectionId })).rejects.toMatchObject({
      errors: [{ code: 'reference.unknown' }],
    })
    await expect(place({ kind: 'TENANT' }, randomUUID())).rejects.toMatchObject({ code: 'not_found' })
  })

  test('released once; a second release changes and records nothing', async () => {
    const { id } = await place({ kind: 'TENANT' })
    const release = () => ways.call(way, retentionOperations.releaseHold, { holdId: id })
    const released = await release()
    expect(released).toMatchObject({
      version: 2,
      released_at: expect.any(String),
      released_by: way === 'api' ? ways.operator.accountId : nil,
    })
    expect(await release()).toEqual(released)
    const trail =
      await ways.sql`select action from audit_entry where tenant_id = ${acme.id} and subject_id = ${id} order by id`
    expect(trail).toEqual([{ action: 'lifecycle.hold_placed' }, { action: 'lifecycle.hold_released' }])
    const journal = await ways.sql<
      { action: string; params: object }[]
    >`select action, params from journal where subject_id = ${id} order by id`
    expect(journal.map(({ action }) => action)).toEqual(['hold.placed', 'hold.released'])
    expect(JSON.stringify(journal), 'why is the workspace’s own').not.toContain('4711')
    await expect(ways.call(way, retentionOperations.releaseHold, { holdId: randomUUID() })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('tell their workspace id and scope alone, in its trail, its events and its deliveries', async () => {
    const mine = await furnished(ways)
    const scope = { kind: 'CONTAINER', id: mine.collectionId } as const
    const reason = `case ${randomUUID()}`
    const { id } = await ways.call(way, retentionOperations.placeHold, {
      body: { tenant_id: mine.id, scope, reason },
    })
    await ways.call(way, retentionOperations.releaseHold, { holdId: id })
    const replaced = { id: randomUUID(), scope, reason, placed_by: randomUUID(), placed_at: '2026-02-01T08:30:00.000Z' }
    await ways.call(way, tenantOperations.replaceLegalHolds, {
      tenantId: mine.id,
      body: { recovery_point: '2026-03-01T00:00:00.000Z', holds: [replaced] },
    })

    const trail = await ways.sql<{ subject_id: string; params: object }[]>`
      select subject_id, params from audit_entry where tenant_id = ${mine.id} and action like 'lifecycle.hold%' order by id`
    expect([...trail]).toEqual([id, id, replaced.id].map((subject_id) => ({ subject_id, params: { scope } })))
    const { json: pulled } = await ways.daemon.call(
      'GET',
      '/api/v1/integrations/triggers/svc.lifecycle.hold.placed.v1',
      {
        token: (await person(ways.daemon, mine.id)).token,
      },
    )
    expect(pulled.data.map(({ data }: { data: unknown }) => data)).toEqual([{ id, scope }])
    const events = await ways.sql<{ body: string }[]>`
      select body from outbox_event where tenant_id = ${mine.id} and type like '%.lifecycle.hold.%' order by tx, seq`
    expect(events.map(({ body }) => JSON.parse(body).data)).toEqual([
      { id, scope },
      { id, scope },
      { id: replaced.id, scope },
    ])
    const dumped = await ways.sql`
      select (select json_agg(a) from audit_entry a where tenant_id = ${mine.id})::text as trail,
             (select json_agg(e) from outbox_event e where tenant_id = ${mine.id})::text as events`
    expect(JSON.stringify(dumped)).not.toContain(reason)
    expect((await ways.call(way, retentionOperations.getHold, { holdId: id })).reason, "the operators' own").toBe(
      reason,
    )
  })

  test('are listed oldest first, in pages, of one workspace and by state', async () => {
    const mine = await furnished(ways)
    await ways.sql`delete from legal_hold where tenant_id = ${mine.id}`
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) ids.push((await place({ kind: 'TENANT' }, mine.id)).id)
    ids.sort()
    await ways.call(way, retentionOperations.releaseHold, { holdId: ids[2]! })
    const list = (more: object) => ways.call(way, retentionOperations.listHolds, { tenant_id: mine.id, ...more })
    const first = await list({ size: 2 })
    const second = await list({ size: 2, cursor: first.next_cursor! })
    const third = await list({ size: 2, cursor: second.next_cursor! })
    expect([first, second, third].flatMap(({ data }) => data.map(({ id }) => id))).toEqual(ids)
    expect(third.next_cursor).toBeNull()
    expect((await list({ state: 'RELEASED' })).data.map(({ id }) => id)).toEqual([ids[2]])
    expect((await list({ state: 'IN_FORCE' })).data).toHaveLength(4)
    await expect(list({ size: 2, state: 'IN_FORCE', cursor: first.next_cursor! })).rejects.toMatchObject({
      code: 'cursor.invalid',
    })
    await expect(ways.call(way, retentionOperations.listHolds, { tenant_id: randomUUID() })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

test('an Idempotency-Key places one hold', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const body = { tenant_id: acme.id, scope: { kind: 'TENANT' }, reason: 'once' }
  const send = () => ways.daemon.call('POST', '/api/v1/retention/holds', { token: ways.operator.token, body, headers })
  const [first, second] = [await send(), await send()]
  expect([first.status, second.status, second.json.id]).toEqual([201, 201, first.json.id])
  expect(first.headers.location).toBe(`/api/v1/retention/holds/${first.json.id}`)
})

test('a release wants a step-up', async () => {
  const hold = await ways.call('api', retentionOperations.placeHold, {
    body: { tenant_id: acme.id, scope: { kind: 'TENANT' }, reason: 'r' },
  })
  const answer = await ways.daemon.call('POST', `/api/v1/retention/holds/${hold.id}:release`, {
    token: ways.operator.token,
  })
  expect(answer.json.code).toBe('auth.step_up_required')
})

test('an installation transaction cannot read what a hold is about', async () => {
  await ways.sql.begin(async (tx) => {
    await tx.unsafe('set local role svc_installation')
    expect((await tx`select tenant_id, id, released_at from legal_hold limit 1`).length).toBe(1)
    await expect(tx.savepoint((inner) => inner`select reason from legal_hold`)).rejects.toThrow('permission denied')
  })
})
