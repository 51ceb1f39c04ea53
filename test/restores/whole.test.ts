/** Whole workspaces (Keeping, 3): one that is gone comes back as itself, and one becomes another beside it, row by row. */
import { existsSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { fileOf, storedAt } from '../backup/workspace-files.ts'
import type { TwoWays } from '../kit/two-ways.ts'
import { everyRow } from './comparison.ts'
import { type Board, board, type RestoreDesk, removeByHand, restoreDesk } from './restore-desk.ts'

let desk: RestoreDesk
let both: TwoWays
beforeAll(async () => {
  desk = await restoreDesk()
  both = desk.both
})
afterAll(() => both.close())

const workspace = async (): Promise<Board> => board(desk, await desk.workspace())

const everything = (tenantId: string) => everyRow(desk, tenantId)

test('a workspace that was removed by hand comes back as itself, row by row', async () => {
  const mine = await workspace()
  const neighbour = await workspace()
  const { sql, installation } = both
  const placed = { installation, oracle: sql }
  const file = await fileOf(
    placed,
    { tenant: { id: mine.id }, owner: { account_id: mine.ownerId } },
    Buffer.alloc(5000, 9),
  )
  await sql`
    insert into media_reference (tenant_id, item_id, media_id, added_by) values (${mine.id}, ${mine.items[0]!}, ${file}, ${mine.ownerId})`
  await sql`update account set password_hash = 'a hash' where id = ${mine.ownerId}`
  await sql`delete from sealed_value where tenant_id = ${mine.id} and kind = 'idempotency.answer'`
  const trail = await desk.rows(mine.id, 'audit_entry')
  const backup = await desk.backedUp(mine.id)
  const before = await everything(mine.id)
  const others = await everything(neighbour.id)
  await removeByHand(sql, mine.id)
  rmSync(storedAt(placed, mine.id, file))

  const planned = await desk.plan({ into: 'ITSELF', source: { target_id: desk.targetId, path: backup.path! } })
  expect(planned).toMatchObject({
    state: 'PLANNED',
    tenant: null,
    plan: { by_entity: { items: { comes_back: 8 } }, dropped: [] },
  })
  const done = await desk.apply(planned)
  expect(done).toMatchObject({ state: 'DONE', tenant: { id: mine.id, slug: mine.slug }, result: { media: 1 } })

  const after = await everything(mine.id)
  for (const name of Object.keys(before)) expect([name, after[name]]).toEqual([name, before[name]])
  expect(await desk.rows(mine.id, 'audit_entry')).toEqual(expect.arrayContaining(trail))
  expect(existsSync(storedAt(placed, mine.id, file))).toBe(true)
  const [tenant] = await sql`select state, restoring_at, display_name from tenant where id = ${mine.id}`
  expect(tenant).toEqual({ state: 'ACTIVE', restoring_at: null, display_name: mine.displayName })
  expect(await sql`select from session where tenant_id = ${mine.id}`).toHaveLength(0)
  expect(await sql`select from credential where tenant_id = ${mine.id}`).toHaveLength(0)
  const states = await sql<{ state: string }[]>`select distinct state from webhook where tenant_id = ${mine.id}`
  expect(states.map(({ state }) => state)).toEqual(['PAUSED'])
  const [own] = await sql<
    { state: string; path: string }[]
  >`select state, path from backup where tenant_id = ${mine.id} and id = ${backup.id}`
  expect(own).toEqual({ state: 'COMPLETE', path: backup.path })
  expect(await everything(neighbour.id)).toEqual(others)
  expect(await desk.staged()).toEqual([])
}, 60_000)

describe('as another workspace', () => {
  const asNew = (backupId: string, slug: string) =>
    desk.plan({
      into: 'NEW',
      source: { backup_id: backupId },
      new: { slug, display_name: 'A copy', owner_email: `ada@${slug}.example` },
    })

  test('one stands beside itself, under new ids that lead where the old ones led', async () => {
    const mine = await workspace()
    const { sql, installation } = both
    const placed = { installation, oracle: sql }
    const file = await fileOf(
      placed,
      { tenant: { id: mine.id }, owner: { account_id: mine.ownerId } },
      Buffer.alloc(3000, 4),
    )
    await sql`
      insert into media_reference (tenant_id, item_id, media_id, added_by) values (${mine.id}, ${mine.items[0]!}, ${file}, ${mine.ownerId})`
    const [first = '', second = ''] = mine.items
    await sql`update item set assignee_id = ${mine.ownerId}, cover = ${sql.json({ media_id: file })} where id = ${first}`
    await sql`
      update comment set body = ${`<@${mine.ownerId}> see /media/${file} and ${mine.ownerId}`} where tenant_id = ${mine.id} and body = 'first'`
    await sql`update item set description = ${`stays: ${second}`} where id = ${second}`
    const backup = await desk.backedUp(mine.id)
    const before = await everything(mine.id)

    const planned = await asNew(backup.id, 'beside')
    expect(planned).toMatchObject({ state: 'PLANNED', into: 'NEW', tenant: null })
    const done = await desk.apply(planned)
    expect(done).toMatchObject({ state: 'DONE', tenant: { slug: 'beside' }, result: { media: 1 } })
    const copyId = done.tenant?.id ?? ''
    expect(copyId).not.toBe(mine.id)
    expect(await everything(mine.id)).toEqual({ ...before, notification_pending: before['notification_pending'] })

    // The same rows, but for ids: read by what people see.
    const seen = async (tenantId: string) => sql`
      select i.title, i.description, i.rank, b.name as bucket, c.name as container, h.name as hub, a.email as assignee,
             (select array_agg(l.name order by l.name) from item_label x join label l on l.tenant_id = x.tenant_id and l.id = x.label_id
              where x.tenant_id = i.tenant_id and x.item_id = i.id) as labels,
             (select count(*)::int from comment k where k.tenant_id = i.tenant_id and k.item_id = i.id) as comments,
             (select count(*)::int from item_field_value v join custom_field f on f.tenant_id = v.tenant_id and f.id = v.field_id
              where v.tenant_id = i.tenant_id and v.item_id = i.id) as values
      from item i join container c on c.tenant_id = i.tenant_id and c.id = i.container_id
      left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
      left join bucket b on b.tenant_id = i.tenant_id and b.id = i.bucket_id
      left join account a on a.tenant_id = i.tenant_id and a.id = i.assignee_id
      where i.tenant_id = ${tenantId} order by i.id`
    expect(await seen(copyId)).toEqual(await seen(mine.id))
    const ids = await sql<{ id: string }[]>`select id from item where tenant_id = ${copyId}`
    for (const { id } of ids) expect(mine.items).not.toContain(id)

    const [copied] = await sql<{ id: string; media_id: string; account_id: string; body: string }[]>`
      select i.id, r.media_id, i.assignee_id as account_id, k.body from item i
      join media_reference r on r.tenant_id = i.tenant_id and r.item_id = i.id
      join comment k on k.tenant_id = i.tenant_id and k.item_id = i.id
      where i.tenant_id = ${copyId} and i.cover ->> 'media_id' = r.media_id::text and k.body like '<@%'`
    expect(copied?.body).toBe(`<@${copied?.account_id}> see /media/${copied?.media_id} and ${mine.ownerId}`)
    expect(existsSync(storedAt(placed, copyId, copied?.media_id ?? ''))).toBe(true)

    const owners = await sql<{ email: string; state: string }[]>`
      select a.email, a.state from membership m join account a on a.tenant_id = m.tenant_id and a.id = m.account_id
      where m.tenant_id = ${copyId} and m.container_id is null and m.role = 'OWNER'`
    expect(owners).toEqual([{ email: 'ada@beside.example', state: 'INVITED' }])
    expect(await sql`select from invitation where tenant_id = ${copyId} and is_mailed`).toHaveLength(1)
    expect(await sql`select from account where tenant_id = ${copyId} and password_hash is not null`).toHaveLength(0)
    for (const name of [
      'second_factor',
      'connected_identity',
      'sealed_value',
      'webhook_secret',
      'legal_hold',
      'backup',
    ])
      expect([name, await desk.rows(copyId, name)]).toEqual([name, []])
    const [marked] = await sql<{ count: number }[]>`
      select count(*)::int as count from audit_entry where tenant_id = ${copyId} and params ->> 'imported_from' = ${mine.id}`
    expect(marked?.count).toBeGreaterThan(0)
    expect(await sql`select from automation_rule where tenant_id = ${copyId} and enabled`).toHaveLength(0)
    expect(await sql`select from audit_entry where tenant_id = ${mine.id} and action = 'tenant.copied'`).toHaveLength(1)
  }, 60_000)

  test('an archive that nobody here signed brings no trail, holds and ways in, and only where that is wanted', async () => {
    const mine = await workspace()
    const { sql } = both
    await sql`update account set password_hash = 'a hash' where id = ${mine.ownerId}`
    const backup = await desk.backedUp(mine.id)
    rmSync(`${desk.at(backup.path)}/manifest.sig`)
    const body = {
      into: 'NEW' as const,
      source: { backup_id: backup.id },
      new: { slug: 'foreign', display_name: 'A copy', owner_email: 'ada@foreign.example' },
      accept_foreign: true,
    }
    const done = await desk.apply(await desk.plan(body))
    expect(done).toMatchObject({ state: 'DONE', source: { origin: 'FOREIGN' } })
    const copyId = done.tenant?.id ?? ''
    const imported = await sql`select from audit_entry where tenant_id = ${copyId} and params ? 'imported_from'`
    expect(imported).toHaveLength(0)
    expect(await sql`select from legal_hold where tenant_id = ${copyId}`).toHaveLength(0)
    expect(await sql`select from account where tenant_id = ${copyId} and password_hash is not null`).toHaveLength(0)
    const body2 = { into: 'REPLACE' as const, tenant_id: mine.id, source: { backup_id: backup.id } }
    const { json } = await both.ask(ops.createRestore, { body: body2 })
    expect([json.code, json.params]).toEqual(['archive.invalid', { reason: 'unsigned' }])
  })
})
