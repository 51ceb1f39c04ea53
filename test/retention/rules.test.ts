/** How long a workspace keeps what it has: rules, their preview, their notice. Spec: Keeping, 4; decisions 0470, 0472. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RetentionPreview, RetentionRule, RuleKind } from '../../src/core/contract/retention/rules.ts'
import { plantProof } from '../kit/proofs.ts'
import { type RuleDesk, ruleDesk } from './rule-desk.ts'

let desk: RuleDesk
beforeAll(async () => {
  desk = await ruleDesk()
})
afterAll(() => desk.close())
beforeEach(() => desk.clear())

describe('the rules', () => {
  test('are the product’s, until the workspace decides', async () => {
    const product = { source: 'PRODUCT', takes_effect_at: null, next_days: null, last_run_at: null, version: 1 }
    expect(await desk.rules()).toEqual(
      Object.entries({ DONE_ITEMS: 0, TRASH: 30, TRAIL: 0, EVENTS: 30, RECORDS: 90, ACCOUNTS: 0, REQUESTS: 1095 }).map(
        ([kind, days]) => ({ kind, days, ...product }),
      ),
    )
  })

  test('are lengthened at once, and nothing is mailed', async () => {
    expect(await desk.set('TRASH', 90)).toMatchObject({ days: 90, source: 'WORKSPACE', next_days: null, version: 2 })
    expect(await desk.set('TRASH', 0)).toMatchObject({ days: 0, source: 'WORKSPACE', version: 3 })
    expect(await desk.mails('retention_shortened')).toBe(0)
    const [entry] = await desk.trail('retention_rule.changed')
    expect(entry).toEqual({ kind: 'TRASH', days: 90, next_days: null })
    const [event] = await desk.events('work.retention_rule.changed')
    expect(event).toMatchObject({ tenant_id: desk.tenantId, kind: 'TRASH', days: 90, source: 'WORKSPACE' })
  })

  test('are shortened seven days later, and the administrators are mailed', async () => {
    const hash = await desk.hashOf('TRASH', 7)
    const rule = await desk.set('TRASH', 7, { plan_hash: hash })
    expect(rule).toMatchObject({ days: 30, source: 'PRODUCT', next_days: 7, version: 2 })
    expect(Date.parse(rule.takes_effect_at!) - Date.now()).toBeGreaterThan(6.99 * 86_400_000)
    expect(await desk.mails('retention_shortened')).toBe(1)
    // Once more is no new decision.
    expect(await desk.set('TRASH', 7)).toEqual(rule)
    expect(await desk.set('TRASH', 30)).toMatchObject({ days: 30, source: 'PRODUCT', next_days: null, version: 3 })
  })

  test('take effect when both clocks have seen the days of notice past, not before', async () => {
    await desk.set('TRASH', 7, { plan_hash: await desk.hashOf('TRASH', 7) })
    await desk.night()
    expect(await desk.rule('TRASH')).toMatchObject({ days: 30, next_days: 7 })
    await desk.sql`update retention_rule set takes_effect_at = now() - interval '2 hours'`
    desk.clock.jump(31 * 86_400)
    await expect(desk.night()).rejects.toThrow('differ by more than a minute')
    desk.clock.jump(-31 * 86_400)
    expect(await desk.rule('TRASH')).toMatchObject({ days: 30, next_days: 7 })
    await desk.night()
    expect(await desk.rule('TRASH')).toMatchObject({ days: 7, source: 'WORKSPACE', next_days: null, version: 3 })
    expect((await desk.events('work.retention_rule.changed')).at(-1)).toMatchObject({ days: 7, next_days: null })
  })

  test.each<[RuleKind, number, string, object]>([
    ['DONE_ITEMS', 3651, 'value.maximum', { maximum: 3650 }],
    ['TRAIL', 364, 'value.minimum', { minimum: 365 }],
    ['EVENTS', 0, 'value.minimum', { minimum: 1 }],
    ['EVENTS', 31, 'value.maximum', { maximum: 30 }],
    ['RECORDS', 6, 'value.minimum', { minimum: 7 }],
    ['RECORDS', 366, 'value.maximum', { maximum: 365 }],
    ['ACCOUNTS', 29, 'value.minimum', { minimum: 30 }],
    ['REQUESTS', 0, 'value.minimum', { minimum: 365 }],
  ])('of %s refuse %i days', async (kind, days, code, params) => {
    const { status, json } = await desk.ask(`PUT /retention/rules/${kind}`, { days })
    expect([status, json.errors]).toEqual([422, [{ pointer: '/days', code, params }]])
  })

  test('need their version, a kind that there is, and an OWNER but for DONE_ITEMS', async () => {
    const { status, json } = await desk.ask(
      'PUT /retention/rules/TRASH',
      { days: 60 },
      { headers: { 'if-match': '"9"' } },
    )
    expect([status, json.params]).toEqual([412, { current_etag: '"1"' }])
    expect((await desk.ask('PUT /retention/rules/BREAD', { days: 60 })).status).toBe(404)
    expect((await desk.ask('GET /retention/rules/BREAD/preview')).status).toBe(404)
    const as = desk.people.ADMIN
    const refused = await desk.ask('PUT /retention/rules/TRASH', { days: 60 }, { as })
    expect([refused.status, refused.json]).toMatchObject([
      403,
      { code: 'auth.role_required', params: { role: 'OWNER' } },
    ])
    const done = await desk.ask('PUT /retention/rules/DONE_ITEMS', { days: 0 }, { as })
    expect([done.status, done.headers['etag']]).toEqual([200, '"1"'])
  })
})

describe('Abuse 16: the trail is shortened with a token that was stolen', () => {
  const put = (body: object, headers: Record<string, string> = {}) =>
    desk.ask('PUT /retention/rules/TRAIL', body, { headers })

  test('the hash of what was shown is missing, or is old, or is of other days', async () => {
    const { json: shown } = await put({ days: 400 })
    expect(shown).toMatchObject({ code: 'plan.stale', params: { hash: expect.stringContaining('.') } })
    const proven = async (plan_hash: string) =>
      (await put({ days: 400, plan_hash }, { 'x-service-step-up': await plantProof(desk.sql, desk.people.OWNER) })).json
        .code
    expect(await proven(await desk.hashOf('TRAIL', 500))).toBe('plan.stale')
    const [, hash = ''] = shown.params.hash.split('.')
    expect(await proven(`${(Date.now() - 16 * 60_000).toString(36)}.${hash}`)).toBe('plan.stale')
    expect(await proven(`${(Date.now() + 60_000).toString(36)}.${hash}`)).toBe('plan.stale')
    expect(await proven('nonsense')).toBe('plan.stale')
    expect(await desk.rule('TRAIL')).toMatchObject({ days: 0, source: 'PRODUCT', next_days: null })
  })

  test('the proof is missing', async () => {
    const refused = await put({ days: 400, plan_hash: await desk.hashOf('TRAIL', 400) })
    expect([refused.status, refused.json.code]).toEqual([401, 'auth.step_up_required'])
  })

  test('with both, everybody who administers has seven days to take it back', async () => {
    expect(await desk.set('TRAIL', 400, { plan_hash: await desk.hashOf('TRAIL', 400) })).toMatchObject({
      days: 0,
      next_days: 400,
    })
    expect(await desk.mails('retention_shortened')).toBe(1)
    await desk.sql`update audit_entry set at = at - interval '2 years' where tenant_id = ${desk.tenantId}`
    await desk.night()
    const [row] = await desk.sql`select count(*)::int as kept from audit_entry where at < now() - interval '1 year'`
    expect(row?.['kept']).toBeGreaterThan(0)
    await desk.sql`update audit_entry set at = at + interval '2 years' where at < now() - interval '1 year'`
    await desk.set('TRAIL', 0)
    expect(await desk.rule('TRAIL')).toMatchObject({ days: 0, next_days: null })
  })
})

describe('a preview', () => {
  const preview = async (kind: RuleKind, days: number): Promise<RetentionPreview> =>
    (await desk.ask(`GET /retention/rules/${kind}/preview?days=${days}`)).json

  test('of the trash: what is in containers that decide nothing themselves', async () => {
    const [own, other] = [await desk.items(3), await desk.items(2)]
    await desk.ask(`PUT /containers/${other.collectionId}/policies`, { trash_days: 90 })
    await desk.trashed(own, 10)
    await desk.trashed(other, 10)
    expect(await preview('TRASH', 11)).toMatchObject({ would_go: 0, oldest: null, per_container: [] })
    expect(await preview('TRASH', 9)).toMatchObject({
      ...{ would_go: 3, per_container: [{ container_id: own.collectionId, count: 3 }] },
    })
    expect(Date.now() - Date.parse((await preview('TRASH', 9)).oldest!)).toBeGreaterThan(9 * 86_400_000)
    expect(await preview('TRASH', 0)).toMatchObject({ would_go: 0 })
  })

  test('of the trash: a container counts with all that is in it', async () => {
    const { collectionId } = await desk.items(2)
    await desk.ask(`DELETE /containers/${collectionId}`)
    await desk.sql`update container set deleted_at = now() - interval '10 days', kept_since = now() - interval '1 year' where id = ${collectionId}`
    expect(await preview('TRASH', 9)).toMatchObject({
      would_go: 3,
      per_container: [{ container_id: collectionId, count: 3 }],
    })
  })

  test('is good while what it counted is so, whatever comes of age', async () => {
    const shelf = await desk.items(2)
    await desk.trashed(shelf, 10)
    const hash = await desk.hashOf('TRASH', 9)
    await desk.trashed(await desk.items(1), 8.9999)
    const [gone] = await desk.sql`select id from item where container_id = ${shelf.collectionId} limit 1`
    await desk.ask(`POST /items/${gone!['id']}:restore`)
    const refused = await desk.put('TRASH', 9, { plan_hash: hash })
    expect(refused.json).toMatchObject({ code: 'plan.stale' })
    expect(await desk.set('TRASH', 9, { plan_hash: refused.json.params.hash })).toMatchObject({ next_days: 9 })
  })

  test.each<[RuleKind, () => Promise<unknown>]>([
    ['DONE_ITEMS', async () => desk.done(await desk.items(1), 400)],
    [
      'TRAIL',
      () =>
        desk.sql`update audit_entry set at = now() - interval '400 days' where id = (select min(id::text)::uuid from audit_entry where tenant_id = ${desk.tenantId})`,
    ],
    ['RECORDS', () => desk.revoked(400)],
    ['ACCOUNTS', () => desk.disabled(400)],
  ])('of %s counts what is older', async (kind, make) => {
    const before = (await preview(kind, 399)).would_go
    await make()
    expect((await preview(kind, 399)).would_go).toBe(before + 1)
    expect((await preview(kind, 401)).would_go).toBe(0)
  })

  test('of events, and of requests, of which there are none', async () => {
    const id = `${(Date.now() - 3 * 86_400_000)
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-')}-7000-8000-${randomUUIDv7().slice(-12)}`
    await desk.sql`
      update outbox_event set id = ${id}, occurred_at = now() - interval '3 days'
      where id = (select id from outbox_event where tenant_id = ${desk.tenantId} order by tx, seq limit 1)`
    expect((await preview('EVENTS', 2)).would_go).toBe(1)
    expect((await preview('EVENTS', 4)).would_go).toBe(0)
    expect((await preview('REQUESTS', 365)).would_go).toBe(0)
  })
})

describe('the workspace’s level of policies', () => {
  const days = async (id: string) =>
    (await desk.ask(`GET /containers/${id}`)).json.effective_policies as {
      trash_days: number
      archive_done_after_days: number
    }

  test('stands between the hub and the product', async () => {
    const { collectionId } = await desk.items(1)
    const { json: collection } = await desk.ask(`GET /containers/${collectionId}`)
    await desk.set('TRASH', 60)
    await desk.sql`insert into retention_rule (tenant_id, kind, days) values (${desk.tenantId}, 'DONE_ITEMS', 20)`
    expect(await days(collectionId)).toMatchObject({ trash_days: 60, archive_done_after_days: 20 })
    expect(await days(collection.parent_id)).toMatchObject({ trash_days: 60, archive_done_after_days: 20 })
    const listed = (await desk.ask('GET /containers?size=200')).json.data.find(
      ({ id }: { id: string }) => id === collectionId,
    )
    expect(listed.effective_policies).toMatchObject({ trash_days: 60, archive_done_after_days: 20 })
    await desk.ask(`PUT /containers/${collection.parent_id}/policies`, { trash_days: 5 })
    expect(await days(collectionId)).toMatchObject({ trash_days: 5, archive_done_after_days: 20 })
    await desk.ask(`PUT /containers/${collection.parent_id}/policies`, {})
  })

  test('purges the trash and archives what is done, and each day has a row and the trail an entry', async () => {
    const [old, done] = [await desk.items(2), await desk.items(2)]
    await desk.trashed(old, 10)
    await desk.done(done, 10)
    await desk.sql`
      insert into retention_rule (tenant_id, kind, days) values (${desk.tenantId}, 'DONE_ITEMS', 9), (${desk.tenantId}, 'TRASH', 9)`
    await desk.sweep()
    const [row] = await desk.sql`
      select (select count(*) from item where container_id = ${old.collectionId} and purged_at is null)::int as kept,
             (select count(*) from item where container_id = ${done.collectionId} and archived_at is not null)::int as archived`
    expect(row).toEqual({ kept: 0, archived: 2 })
    expect(await desk.runs()).toMatchObject([
      { kind: 'DONE_ITEMS', removed: 2, held: 0, stopped: false },
      { kind: 'TRASH', removed: 2, held: 0, stopped: false },
    ])
    expect(await desk.trail('retention.run')).toEqual([
      { kind: 'TRASH', removed: 2 },
      { kind: 'DONE_ITEMS', removed: 2 },
    ])
    expect((await desk.rule('TRASH')).last_run_at).not.toBeNull()
  })
})

test('a rule is answered by its kind alone', async () => {
  const { data } = (await desk.ask('GET /retention/rules')).json as { data: RetentionRule[] }
  expect(data.map(({ kind }) => kind)).toEqual([
    'DONE_ITEMS',
    'TRASH',
    'TRAIL',
    'EVENTS',
    'RECORDS',
    'ACCOUNTS',
    'REQUESTS',
  ])
})
