/**
 * A round trip through everything (Keeping 3): workspaces with boards, comments, files, fields and groups are backed up by a
 * schedule. One is removed by hand in the database and comes back as itself, one is rewound by an hour and that is undone, one
 * stands beside itself as another workspace; the others notice nothing. Every table is named, with what differs by design.
 */
import { randomUUIDv7 } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import { scheduleDesk } from '../backup/schedule-desk.ts'
import { fileOf, storedAt } from '../backup/workspace-files.ts'
import { contentRows, differs, everyRow } from '../restores/comparison.ts'
import {
  type Board,
  board,
  contentNames,
  type RestoreDesk,
  removeByHand,
  restoreDesk,
} from '../restores/restore-desk.ts'

const count = 20

let desk: RestoreDesk
let houses: (Board & { readonly file: string })[]
let backups: Map<string, Backup>
beforeAll(async () => {
  desk = await restoreDesk()
  houses = []
  for (let n = 0; n < count; n += 1) houses.push(await furnishedHouse())
  const runs = scheduleDesk(desk)
  const schedule = await runs.made({ tenants: houses.map(({ id }) => id), verify: 'HASHES' })
  await runs.due(schedule)
  await runs.tick()
  await runs.work()
  await runs.tick()
  expect((await runs.show(schedule)).last_run).toMatchObject({ complete: count, failed: 0 })
  backups = new Map((await runs.backupsOf(schedule)).map((backup) => [backup.tenant_id, backup]))
}, 300_000)
afterAll(() => desk.both.close())

const placed = () => ({ installation: desk.both.installation, oracle: desk.both.sql })
const backupOf = ({ id }: { readonly id: string }): Backup => {
  const backup = backups.get(id)
  if (!backup) throw new Error('the schedule has backed up each of them')
  return backup
}

/** A board with items, labels, comments and values, a group of two, and a file on an item. */
async function furnishedHouse() {
  const { sql } = desk.both
  const made = await board(desk, await desk.workspace())
  const group = randomUUIDv7()
  await sql`insert into account_group (tenant_id, id, name, name_fold) values (${made.id}, ${group}, 'Team', 'team')`
  await sql`insert into group_member (tenant_id, group_id, account_id) values (${made.id}, ${group}, ${made.ownerId})`
  await sql`delete from sealed_value where tenant_id = ${made.id} and kind = 'idempotency.answer'`
  const owner = { tenant: { id: made.id }, owner: { account_id: made.ownerId } }
  const file = await fileOf(placed(), owner, Buffer.alloc(4096, made.id))
  await sql`
    insert into media_reference (tenant_id, item_id, media_id, added_by) values (${made.id}, ${made.items[0]!}, ${file}, ${made.ownerId})`
  return { ...made, file }
}

const lineOf = (says: string, all: readonly string[], byDesign: (name: string) => string | undefined) => {
  const told = all.map((name) => (byDesign(name) ? `${name} (${byDesign(name)})` : name))
  process.stdout.write(`  ${says}: ${told.join(', ')}\n`)
}

test('a workspace that was removed by hand is itself again, row by row, with its files', async () => {
  const [gone, ...others] = houses
  const before = await everyRow(desk, gone!.id)
  const beside = await Promise.all(others.map(({ id }) => everyRow(desk, id)))
  await removeByHand(desk.both.sql, gone!.id)
  rmSync(storedAt(placed(), gone!.id, gone!.file))
  const source = { target_id: desk.targetId, path: backupOf(gone!).path ?? '' }
  const done = await desk.apply(await desk.plan({ into: 'ITSELF', source }))
  expect(done).toMatchObject({ state: 'DONE', tenant: { id: gone!.id }, result: { media: 1 } })
  const after = await everyRow(desk, gone!.id)
  for (const name of Object.keys(before)) expect([name, after[name]]).toEqual([name, before[name]])
  expect(existsSync(storedAt(placed(), gone!.id, gone!.file))).toBe(true)
  expect(await Promise.all(others.map(({ id }) => everyRow(desk, id)))).toEqual(beside)
  lineOf('as itself, compared', Object.keys(workspaceTables), (name) => {
    const what = differs[name]
    return typeof what === 'string' ? what : what && `but for ${what.join(', ')}`
  })
}, 120_000)

test('a workspace that is rewound by an hour is as it was, and is as it became once that is undone', async () => {
  const { sql } = desk.both
  const [, mine, ...others] = houses
  const backup = backupOf(mine!)
  const then = await contentRows(desk, mine!.id)
  const { items, buckets, id } = mine!
  await sql`update item set title = 'an hour later', version = version + 1 where id = ${items[1]!}`
  await sql`update item set bucket_id = ${buckets[1]!}, rank = 'z9', version = version + 1 where id = ${items[2]!}`
  await sql`delete from comment where tenant_id = ${id} and body = 'first'`
  await sql`
    insert into comment (tenant_id, id, item_id, body, created_by) values (${id}, ${randomUUIDv7()}, ${items[3]!}, 'later', ${mine!.ownerId})`
  const later = await contentRows(desk, id)
  const beside = await Promise.all(others.map((one) => everyRow(desk, one.id)))
  const moment = new Date(Date.parse(backup.snapshot_at ?? '') + 1000).toISOString()
  const done = await desk.apply(await desk.plan({ into: 'REPLACE', tenant_id: id, to: moment }))
  expect(done).toMatchObject({ state: 'DONE', source: { backup_id: backup.id } })
  expect(await contentRows(desk, id)).toEqual(then)
  expect((await desk.undo(done)).state).toBe('UNDONE')
  expect(await contentRows(desk, id)).toEqual(later)
  expect(await Promise.all(others.map((one) => everyRow(desk, one.id)))).toEqual(beside)
  lineOf('rewound and undone, compared', contentNames, () => undefined)
}, 120_000)

test('a workspace stands beside itself: as many rows of each table that is taken, under ids of its own', async () => {
  const [, , mine, ...others] = houses
  const { id } = mine!
  const before = await everyRow(desk, id)
  const beside = await Promise.all(others.map((one) => everyRow(desk, one.id)))
  const fresh = { slug: 'beside-itself', display_name: 'Beside', owner_email: 'ada@beside.example' }
  const done = await desk.apply(await desk.plan({ into: 'NEW', source: { backup_id: backupOf(mine!).id }, new: fresh }))
  expect(done).toMatchObject({ state: 'DONE', result: { media: 1 } })
  const copyId = done.tenant?.id ?? ''
  const grown: Readonly<Record<string, number>> = { membership: 1 }
  for (const name of contentNames) {
    const [was, is] = [await desk.rows(id, name), await desk.rows(copyId, name)]
    expect([name, is.length]).toEqual([name, was.length + (grown[name] ?? 0)])
    expect([name, is.filter((row) => was.includes(row))]).toEqual([name, []])
  }
  const copied = await desk.both.sql<
    { id: string }[]
  >`select id from media where tenant_id = ${copyId} and id <> ${mine!.file}`
  expect(copied.some((one) => existsSync(storedAt(placed(), copyId, one.id)))).toBe(true)
  const after = await everyRow(desk, id)
  for (const name of Object.keys(before)) expect([name, after[name]]).toEqual([name, before[name]])
  expect(await Promise.all(others.map((one) => everyRow(desk, one.id)))).toEqual(beside)
  lineOf('beside itself, counted', contentNames, (name) => (grown[name] ? 'and its new OWNER' : undefined))
}, 120_000)
