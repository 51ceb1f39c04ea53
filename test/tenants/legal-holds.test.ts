/** Holds put back after a recovery. Spec: Admin: workspaces, rule 3; decisions 4. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { retentionOperations } from '../../src/core/contract/retention/operations.ts'
import { type LegalHoldRecord, tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { type Furnished, furnished } from '../kit/leaving-workspace.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

const recoveryPoint = '2026-03-01T12:00:00.000Z'
const record = (more: Partial<LegalHoldRecord> = {}): LegalHoldRecord => ({
  id: randomUUID(),
  scope: { kind: 'TENANT' },
  reason: 'case 4711',
  placed_by: randomUUID(),
  placed_at: '2026-02-01T08:30:00.000Z',
  ...more,
})

describe.each(everyWay)('replacing legal holds, by %s', (way: Way) => {
  let acme: Furnished
  beforeAll(async () => {
    acme = await furnished(ways)
  })
  const replace = (holds: readonly LegalHoldRecord[], tenantId = acme.id) =>
    ways.call(way, tenantOperations.replaceLegalHolds, {
      tenantId,
      body: { recovery_point: recoveryPoint, holds: [...holds] },
    })
  const replacedEntries = () => ways.sql<{ subject_id: string; params: object }[]>`
    select subject_id, params from audit_entry where tenant_id = ${acme.id} and action = 'lifecycle.hold_replaced' order by id`
  const holdIds = async () =>
    (await ways.sql<{ id: string }[]>`select id from legal_hold where tenant_id = ${acme.id} order by id`).map(
      ({ id }) => id,
    )

  test('each keeps its id, scope, reason, placer and moment; a second run changes nothing', async () => {
    const holds = [
      record(),
      record({ scope: { kind: 'CONTAINER', id: acme.collectionId } }),
      record({ scope: { kind: 'ACCOUNT', id: acme.ownerId }, placed_at: '2026-02-01T09:30:00+01:00' }),
    ]
    const first = await replace(holds)
    expect(first).toEqual({
      recovery_point: recoveryPoint,
      placed: holds.map(({ id }) => ({ id, target_present: true, released_at: null })),
      already_present: [],
    })
    for (const hold of holds) {
      expect(await ways.call(way, retentionOperations.getHold, { holdId: hold.id })).toMatchObject({
        id: hold.id,
        scope: { kind: hold.scope.kind, id: hold.scope.id ?? null },
        reason: hold.reason,
        placed_by: hold.placed_by,
        placed_at: '2026-02-01T08:30:00.000Z',
        released_at: null,
      })
    }
    expect((await replacedEntries()).map(({ subject_id }) => subject_id).sort()).toEqual(
      holds.map(({ id }) => id).sort(),
    )
    const everything = () => ways.sql`
      select (select count(*) from audit_entry) as trail, (select count(*) from journal) as journal, (select count(*) from outbox_event) as events,
             (select md5(string_agg(h::text, '|' order by id)) from legal_hold h) as holds, (select version from tenant where id = ${acme.id}) as version`
    const before = await everything()
    expect(await replace(holds)).toEqual({
      recovery_point: recoveryPoint,
      placed: [],
      already_present: holds.map(({ id }) => id),
    })
    expect(await everything()).toEqual(before)
  })

  test('one that was released in the rewound period is in force all the same', async () => {
    const hold = record({ released_at: '2026-03-02T00:00:00.000Z' })
    expect((await replace([hold])).placed).toEqual([
      { id: hold.id, target_present: true, released_at: hold.released_at },
    ])
    expect(await ways.call(way, retentionOperations.getHold, { holdId: hold.id })).toMatchObject({ released_at: null })
    const [entry] = (await replacedEntries()).slice(-1)
    expect(entry?.params, 'the workspace learns what is held, and no more').toEqual({
      scope: { kind: 'TENANT', id: null },
    })
    const [journalled] = await ways.sql`
      select params from journal where workspace_id = ${acme.id} and action = 'tenant.legal_holds_replaced' order by id desc limit 1`
    expect(journalled?.['params']).toMatchObject({
      recovery_point: recoveryPoint,
      had_been_released: [{ id: hold.id, released_at: hold.released_at }],
    })
  })

  test('one that the workspace has is left as it is, released or not, whatever the record says', async () => {
    const hold = record()
    await replace([hold])
    await ways.call(way, retentionOperations.releaseHold, { holdId: hold.id })
    expect(await replace([{ ...hold, reason: 'another' }])).toMatchObject({ placed: [], already_present: [hold.id] })
    expect(await ways.call(way, retentionOperations.getHold, { holdId: hold.id })).toMatchObject({
      reason: hold.reason,
      released_at: expect.any(String),
    })
  })

  test('one whose target is gone is placed and reported', async () => {
    const gone = (['CONTAINER', 'ITEM', 'ACCOUNT'] as const).map((kind) =>
      record({ scope: { kind, id: randomUUID() } }),
    )
    expect((await replace(gone)).placed).toEqual(
      gone.map(({ id }) => ({ id, target_present: false, released_at: null })),
    )
    const [journal] = await ways.sql<
      { params: object }[]
    >`select params from journal where workspace_id = ${acme.id} and action = 'tenant.legal_holds_replaced' order by id desc limit 1`
    expect(journal?.params).toMatchObject({ placed: 3, targets_missing: 3, already_present: 0 })
  })

  test('the same id twice counts once with the same content, and is refused whole with another', async () => {
    const hold = record()
    const before = await holdIds()
    for (const other of [
      { reason: 'another' },
      { placed_by: randomUUID() },
      { placed_at: '2026-02-01T08:30:00.001Z' },
      { scope: { kind: 'ACCOUNT' as const, id: acme.ownerId } },
      { released_at: '2026-03-02T00:00:00Z' },
    ])
      await expect(replace([record(), hold, { ...hold, ...other }])).rejects.toMatchObject({
        code: 'retention.hold_differs',
        status: 422,
        params: { hold_id: hold.id },
      })
    expect(await holdIds()).toEqual(before)
    const sameInOtherWords = {
      ...hold,
      placed_at: '2026-02-01T09:30:00+01:00',
      scope: { kind: 'TENANT' as const, id: acme.id },
      released_at: null,
    }
    expect((await replace([hold, sameInOtherWords])).placed).toHaveLength(1)
  })

  test('an id of another workspace is refused whole', async () => {
    const other = await furnished(ways)
    const hold = record()
    await replace([hold], other.id)
    const before = await holdIds()
    await expect(replace([record(), hold])).rejects.toMatchObject({ code: 'retention.hold_elsewhere', status: 422 })
    expect(await holdIds()).toEqual(before)
  })

  test('a thousand are placed at once; one more is refused whole', async () => {
    const many = Array.from({ length: 1001 }, () => record())
    const before = await holdIds()
    await expect(replace(many)).rejects.toMatchObject({
      code: 'request.invalid',
      errors: [{ pointer: '/holds', code: 'list.maximum', params: { maximum: 1000 } }],
    })
    expect(await holdIds()).toEqual(before)
    expect((await replace(many.slice(0, 1000))).placed).toHaveLength(1000)
    expect(await holdIds()).toHaveLength(before.length + 1000)
  })

  test.each([
    [{ recovery_point: recoveryPoint, holds: [{ ...record(), surplus: 1 }] }, '/holds/0/surplus'],
    [{ recovery_point: recoveryPoint, holds: [record({ scope: { kind: 'ITEM' } })] }, '/holds/0/scope/id'],
    [
      { recovery_point: recoveryPoint, holds: [record({ scope: { kind: 'TENANT', id: randomUUID() } })] },
      '/holds/0/scope/id',
    ],
    [{ recovery_point: 'yesterday', holds: [] }, '/recovery_point'],
    [{ holds: [] }, '/recovery_point'],
  ])('bad input %# is refused at its member', async (body, pointer) => {
    await expect(
      ways.call(way, tenantOperations.replaceLegalHolds, { tenantId: acme.id, body: body as never }),
    ).rejects.toMatchObject({ code: 'request.invalid', errors: [{ pointer }] })
  })

  test('a leaving workspace and a suspended one are served; one that is gone is not_found', async () => {
    const leaving = await furnished(ways)
    await ways.call(way, tenantOperations.deleteTenant, {
      tenantId: leaving.id,
      body: { confirmation: leaving.displayName },
    })
    expect((await replace([record()], leaving.id)).placed).toHaveLength(1)
    await expect(replace([], randomUUID())).rejects.toMatchObject({ code: 'not_found' })
  })
})
