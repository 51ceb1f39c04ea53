/** A rewind (Keeping, 3): what people made is as it was, what is kept stays, and it can be taken back. */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { undoEnded } from '../../src/core/areas/erasure/undo.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { refusal } from '../backup/backup-desk.ts'
import { fileOf, storedAt } from '../backup/workspace-files.ts'
import { fingerprintOf } from '../kit/leaving-workspace.ts'
import { person } from '../kit/people.ts'
import { type TwoWays, ways } from '../kit/two-ways.ts'
import { contentRows } from './comparison.ts'
import { type Board, board, type RestoreDesk, restoreDesk } from './restore-desk.ts'

let desk: RestoreDesk
let both: TwoWays
beforeAll(async () => {
  desk = await restoreDesk()
  both = desk.both
})
afterAll(() => both.close())

const content = (tenantId: string) => contentRows(desk, tenantId)
const workspace = async (): Promise<Board> => board(desk, await desk.workspace())

/** Changes, removes and adds something of every kind. */
async function damage({ id, ownerId, collectionId, buckets, items }: Board): Promise<void> {
  const { sql } = both
  const [first = '', second = '', third = '', fourth = ''] = items
  const [left = '', right = ''] = buckets
  // Two change places, one moves, one loses its description, one goes.
  await sql`update item set rank = 'x' where id = ${first}`
  await sql`update item set rank = (select rank from item where id = ${third}), version = version + 1 where id = ${third}`
  await sql`update item set rank = 'b00', version = version + 3 where id = ${third}`
  await sql`update item set rank = 'b20', title = 'renamed', version = version + 1 where id = ${first}`
  await sql`update item set bucket_id = ${left}, version = version + 1 where id = ${second}`
  await sql`delete from item_label where item_id = ${fourth}`
  await sql`delete from item where id = ${fourth}`
  // Names change hands.
  await sql`update bucket set name = 'aside', name_fold = 'aside' where id = ${left}`
  await sql`
    update bucket set name = b.name, name_fold = b.name_fold, version = bucket.version + 1
    from (select 'To do, once' as name, 'to do, once' as name_fold) b where bucket.id = ${right}`
  await sql`delete from comment where tenant_id = ${id} and body = 'first'`
  const [container, item] = [randomUUIDv7(), randomUUIDv7()]
  await sql`
    insert into container (tenant_id, id, kind, parent_id, name, rank)
    select tenant_id, ${container}, 'COLLECTION', parent_id, 'new since', 'z0' from container where id = ${collectionId}`
  await sql`
    insert into item (tenant_id, id, container_id, type, title, rank, created_by) values (${id}, ${item}, ${container}, 'TASK', 'new since', 'a0', ${ownerId})`
  await sql`
    insert into comment (tenant_id, id, item_id, body, created_by) values (${id}, ${randomUUIDv7()}, ${item}, 'new since', ${ownerId})`
  await sql`
    insert into item_field_value (tenant_id, item_id, field_id, value) select ${id}, ${first}, f.id, '7' from custom_field f where f.tenant_id = ${id}`
  await sql`update automation_rule set name = 'renamed' where tenant_id = ${id} and name = 'off'`
}

describe.each(ways)('a rewind by %s', (way) => {
  test('brings every row back, says so once, and is taken back row by row', async () => {
    const mine = await workspace()
    const neighbour = await workspace()
    const before = await content(mine.id)
    const backup = await desk.backedUp(mine.id)
    await damage(mine)
    const damaged = await content(mine.id)
    const others = await fingerprintOf(both.sql, neighbour.id, ['job'])
    const versions = await both.sql<{ id: string; version: number }[]>`
      select id, version from item where tenant_id = ${mine.id}`

    const planned = await desk.rewindTo(backup, way)
    expect(planned).toMatchObject({
      into: 'REPLACE',
      state: 'PLANNED',
      source: { backup_id: backup.id, origin: 'OWN' },
      tenant: { id: mine.id, slug: mine.slug },
      plan: {
        by_entity: {
          items: { comes_back: 1, changes_back: 3, goes_away: 1 },
          containers: { comes_back: 0, changes_back: 0, goes_away: 1 },
          buckets: { comes_back: 0, changes_back: 2, goes_away: 0 },
          comments: { comes_back: 1, changes_back: 0, goes_away: 1 },
          automation_rules: { comes_back: 0, changes_back: 1, goes_away: 0 },
        },
        kept: { holds: 0, erasures_repeated: 0, restrictions: 1 },
      },
    })
    expect(await content(mine.id)).toEqual(damaged)

    const done = await desk.apply(planned, way)
    expect(done).toMatchObject({ state: 'DONE', failure: null })
    expect(done.undo_until).not.toBeNull()
    expect(await content(mine.id)).toEqual(before)
    expect(await desk.staged()).toEqual([])

    // No entity tag of the time between matches.
    const now = await both.sql<
      { id: string; version: number }[]
    >`select id, version from item where tenant_id = ${mine.id}`
    const was = new Map(versions.map(({ id, version }) => [id, version]))
    for (const id of mine.items.slice(0, 3))
      expect(now.find((row) => row.id === id)?.version).toBeGreaterThan(was.get(id) ?? 0)
    expect(now.find(({ id }) => id === mine.items[3])?.version).toBeGreaterThan(1_000_000)

    const told = await both.sql`
      select from outbox_event where tenant_id = ${mine.id} and type like '%work.tenant.restored.v1'`
    expect(told).toHaveLength(1)
    const trail = await both.sql`select from audit_entry where tenant_id = ${mine.id} and action = 'tenant.rewound'`
    expect(trail).toHaveLength(1)
    const [tally] = await both.sql<{ kept: number; counted: number }[]>`
      select items::int as kept, (select count(*)::int from item where tenant_id = ${mine.id} and deleted_at is null) as counted
      from item_tally where tenant_id = ${mine.id}`
    expect(tally?.kept).toBe(tally?.counted)
    const rules = await both.sql`select from automation_rule where tenant_id = ${mine.id} and enabled`
    expect(rules).toHaveLength(0)
    expect(await fingerprintOf(both.sql, neighbour.id, ['job'])).toBe(others)

    const undone = await desk.undo(done, 'KEEP', way)
    expect(undone).toMatchObject({ state: 'UNDONE', failure: null, result: { kept_edits: 0 } })
    expect(await content(mine.id)).toEqual(damaged)
    const back = await both.sql`select from automation_rule where tenant_id = ${mine.id} and enabled`
    expect(back).toHaveLength(1)
    expect(await desk.staged()).toEqual([])
  })
})

describe('a rewind', () => {
  test('to a moment takes the newest backup that is not after it', async () => {
    const mine = await workspace()
    const old = await desk.backedUp(mine.id)
    await both.sql`update item set title = 'second' where id = ${mine.items[0]!}`
    const newer = await desk.backedUp(mine.id)
    const to = (moment: string) => desk.plan({ into: 'REPLACE', tenant_id: mine.id, to: moment })
    expect((await to(newer.snapshot_at!)).source.backup_id).toBe(newer.id)
    const between = await to(new Date(Date.parse(newer.snapshot_at!) - 1).toISOString())
    expect(between.source.backup_id).toBe(old.id)
    expect(between.plan?.by_entity['items']).toEqual({ comes_back: 0, changes_back: 1, goes_away: 0 })
    expect(await refusal(to(new Date(Date.parse(old.snapshot_at!) - 1000).toISOString()))).toEqual([
      'request.invalid',
      [{ pointer: '/to', code: 'reference.unknown', params: {} }],
    ])
  })

  test('undoes no revocation, suspension, hold or entry, and no role', async () => {
    const mine = await workspace()
    const { sql } = both
    const backup = await desk.backedUp(mine.id)
    await sql`update credential set revoked_at = now() where tenant_id = ${mine.id}`
    await both.call('recovery', ops.suspendTenant, { tenantId: mine.id })
    await both.call('recovery', ops.placeHold, {
      body: { tenant_id: mine.id, scope: { kind: 'ITEM', id: mine.items[1]! }, reason: 'a case' },
    })
    await sql`update membership set role = 'ADMIN' where tenant_id = ${mine.id} and container_id is null`
    const kept = ['credential', 'legal_hold', 'account', 'session']
    const before = await Promise.all(kept.map((name) => desk.rows(mine.id, name)))
    const trail = await desk.rows(mine.id, 'audit_entry')

    const done = await desk.apply(await desk.rewindTo(backup))
    expect(done.state).toBe('DONE')
    expect(await Promise.all(kept.map((name) => desk.rows(mine.id, name)))).toEqual(before)
    expect(await desk.rows(mine.id, 'audit_entry')).toEqual(expect.arrayContaining(trail))
    const [tenant] = await sql`select state, restoring_at from tenant where id = ${mine.id}`
    expect(tenant).toEqual({ state: 'SUSPENDED', restoring_at: null })
    const [owner] = await sql`select role from membership where tenant_id = ${mine.id} and container_id is null`
    expect(owner?.['role']).toBe('ADMIN')
  })

  test('leaves what a legal hold covers, and makes room beside it', async () => {
    const mine = await workspace()
    const { sql } = both
    const [first = '', second = ''] = mine.items
    const backup = await desk.backedUp(mine.id)
    const held = randomUUIDv7()
    await sql`update item set rank = 'q' where id = ${first}`
    await sql`
      insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by)
      select tenant_id, ${held}, container_id, bucket_id, 'TASK', 'held and new', 'b00', created_by from item where id = ${first}`
    await sql`update item set title = 'held and changed' where id = ${second}`
    for (const id of [held, second])
      await both.call('recovery', ops.placeHold, {
        body: { tenant_id: mine.id, scope: { kind: 'ITEM', id }, reason: 'a case' },
      })
    const planned = await desk.rewindTo(backup)
    expect(planned.plan).toMatchObject({
      kept: { holds: 2 },
      by_entity: { items: { comes_back: 0, changes_back: 1, goes_away: 0 } },
    })
    expect((await desk.apply(planned)).state).toBe('DONE')
    const rows = await sql<{ id: string; title: string; rank: string }[]>`
      select id, title, rank from item where tenant_id = ${mine.id}`
    const of = (id: string) => rows.find((row) => row.id === id)
    expect(of(held)).toMatchObject({ title: 'held and new', rank: 'b00' })
    expect(of(second)?.title).toBe('held and changed')
    expect(of(first)?.rank).toMatch(/^b00h[0-9a-f]{8}$/)
  })

  test('brings bytes of files back, keeps those that go, and an undo has both', async () => {
    const mine = await workspace()
    const { sql, installation } = both
    const placed = { installation, oracle: sql }
    const where = { tenant: { id: mine.id }, owner: { account_id: mine.ownerId } }
    const file = await fileOf(placed, where, Buffer.alloc(70_000, 5))
    await sql`
      insert into media_reference (tenant_id, item_id, media_id, added_by) values (${mine.id}, ${mine.items[0]!}, ${file}, ${mine.ownerId})`
    const backup = await desk.backedUp(mine.id)
    await sql`delete from media_reference where media_id = ${file}`
    await sql`delete from media where id = ${file}`
    rmSync(storedAt(placed, mine.id, file))
    const newer = await fileOf(placed, where, Buffer.alloc(10, 6))

    const done = await desk.apply(await desk.rewindTo(backup))
    expect(done).toMatchObject({ state: 'DONE', result: { media: 1 } })
    expect(existsSync(storedAt(placed, mine.id, file))).toBe(true)
    const [removal] = await sql<{ days: number }[]>`
      select extract(day from due_at - now())::int as days from media_removal where media_id = ${newer}`
    expect(removal?.days).toBeGreaterThanOrEqual(installation.config.restoreUndoDays)
    expect(await sql`select from media_removal where media_id = ${file}`).toHaveLength(0)

    await desk.undo(done)
    expect(await sql`select from media where id = ${newer}`).toHaveLength(1)
    expect(await sql`select from media_removal where media_id = ${newer}`).toHaveLength(0)
    expect(await sql`select from media where id = ${file}`).toHaveLength(0)
  })

  test('drops the assignments of people who left, and keeps roles in containers from them', async () => {
    const mine = await workspace()
    const { sql } = both
    const gone = randomUUIDv7()
    await sql`
      insert into account (tenant_id, id, kind, state, email, email_fold) values (${mine.id}, ${gone}, 'PERSON', 'ACTIVE', ${`${gone}@x.example`}, ${`${gone}@x.example`})`
    await sql`
      insert into membership (tenant_id, id, account_id, role) values (${mine.id}, ${randomUUIDv7()}, ${gone}, 'MEMBER')`
    await sql`
      insert into membership (tenant_id, id, account_id, role, container_id) values (${mine.id}, ${randomUUIDv7()}, ${gone}, 'ADMIN', ${mine.collectionId})`
    await sql`insert into item_member (tenant_id, item_id, account_id) values (${mine.id}, ${mine.items[0]!}, ${gone})`
    await sql`update item set assignee_id = ${gone} where id = ${mine.items[1]!}`
    const backup = await desk.backedUp(mine.id)
    await sql`delete from item_member where account_id = ${gone}`
    await sql`update item set assignee_id = null where assignee_id = ${gone}`
    await sql`delete from membership where account_id = ${gone}`
    const planned = await desk.rewindTo(backup)
    expect(planned.plan?.dropped).toEqual([
      { what: 'item_members', count: 1, why: 'account.left' },
      { what: 'assignees', count: 1, why: 'account.left' },
      { what: 'memberships', count: 1, why: 'account.left' },
    ])
    await desk.apply(planned)
    expect(await sql`select from membership where account_id = ${gone}`).toHaveLength(0)
    expect(await sql`select from item_member where account_id = ${gone}`).toHaveLength(0)
  })

  test('ends the cursors of pulls, and closes the workspace for its people alone', async () => {
    const mine = await workspace()
    const { sql, installation } = both
    const [tally] = await sql<{ last: string }[]>`select last::text from outbox_counter where tenant_id = ${mine.id}`
    const done = await desk.apply(await desk.rewindTo(await desk.backedUp(mine.id)))
    expect(done.state).toBe('DONE')
    const [mark] = await sql<{ seq: string }[]>`select seq::text from outbox_watermark where tenant_id = ${mine.id}`
    expect(BigInt(mark?.seq ?? 0)).toBeGreaterThan(BigInt(tally?.last ?? 0))
    const [event] = await sql<{ seq: string }[]>`
      select seq::text from outbox_event where tenant_id = ${mine.id} and type like '%work.tenant.restored.v1'`
    expect(BigInt(event?.seq ?? 0)).toBeGreaterThan(BigInt(mark?.seq ?? 0))
    await sql`update tenant set restoring_at = now() where id = ${mine.id}`
    const change = installation.transaction(
      { kind: 'SYSTEM', job: 'x' },
      { tenantId: mine.id, admits: true },
      async () => 1,
    )
    expect(await refusal(change)).toEqual(['workspace.restoring', {}])
    await sql`update tenant set restoring_at = null where id = ${mine.id}`
  })
})

test('an entity tag from before a rewind matches nothing behind it, nor behind its undo', async () => {
  const mine = await workspace()
  const { token } = await person(both.daemon, mine.id)
  const path = `/api/v1/items/${mine.items[0]}`
  const change = (title: string, etag: unknown) =>
    both.daemon.call('PATCH', path, {
      token,
      body: { title },
      headers: { 'content-type': 'application/merge-patch+json', 'if-match': String(etag) },
    })
  const tag = async () => (await both.daemon.call('GET', path, { token })).headers['etag']
  const tags = [await tag()]
  const backup = await desk.backedUp(mine.id)
  expect((await change('changed since', tags[0])).status).toBe(200)
  tags.push(await tag())
  const done = await desk.apply(await desk.rewindTo(backup))
  for (const old of tags) expect((await change('lost', old)).status).toBe(412)
  tags.push(await tag())
  await desk.undo(done)
  for (const old of tags) expect((await change('lost', old)).status).toBe(412)
  expect((await both.daemon.call('GET', path, { token })).json.title).toBe('changed since')
  expect((await change('found', await tag())).status).toBe(200)
})

describe('an undo', () => {
  test('keeps what was edited since, or replaces it', async () => {
    for (const edited of ['KEEP', 'REPLACE'] as const) {
      const mine = await workspace()
      const { sql } = both
      const [first = '', second = ''] = mine.items
      const backup = await desk.backedUp(mine.id)
      await sql`update item set title = 'between', version = version + 1 where id in ${sql([first, second])}`
      const done = await desk.apply(await desk.rewindTo(backup))
      await sql`update item set title = 'edited since', version = version + 1 where id = ${second}`
      const undone = await desk.undo(done, edited)
      expect(undone.result?.kept_edits).toBe(edited === 'KEEP' ? 1 : 0)
      const rows = await sql<
        { id: string; title: string }[]
      >`select id, title from item where id in ${sql([first, second])}`
      const titles = [first, second].map((id) => rows.find((row) => row.id === id)?.title)
      expect(titles).toEqual(['between', edited === 'KEEP' ? 'edited since' : 'between'])
    }
  })

  test('is refused once its time is over, of one that was not applied, and of one that is not the latest', async () => {
    const mine = await workspace()
    const backup = await desk.backedUp(mine.id)
    const undo = (restoreId: string) => both.call('recovery', ops.undoRestore, { restoreId, body: {} })
    const planned = await desk.rewindTo(backup)
    expect(await refusal(undo(planned.id))).toEqual(['restore.state', { state: 'PLANNED' }])
    const first = await desk.apply(planned)
    await both.sql`update item set title = 'x' where id = ${mine.items[0]!}`
    const second = await desk.apply(await desk.rewindTo(backup))
    expect(await refusal(undo(first.id))).toEqual(['restore.state', { state: 'DONE' }])
    // As an erasure does.
    await both.installation.transaction(
      { kind: 'SYSTEM', job: 'x' },
      { tenantId: mine.id },
      ({ tx }) => tx`${undoEnded(tx, mine.id)}`,
    )
    expect(await refusal(undo(second.id))).toEqual(['restore.state', { state: 'DONE' }])
    expect(await refusal(undo(randomUUID()))).toEqual(['not_found', {}])
  })
})
