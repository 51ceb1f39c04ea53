/**
 * A rewind and its undo whose worker is killed with SIGKILL at each of their steps: the workspace stays closed, another worker goes
 * on, and what is there in the end is what would have been there without the kill, once told; the neighbour is as it was. A NEW
 * that is killed goes on in the same way, and so does a workspace that comes back as itself. 7 kills; with SVC_FAULTS=full 20 at each step.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepRestoresJob } from '../../src/core/areas/restores/sweep.ts'
import type { Restore } from '../../src/core/contract/backup/restores.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { fingerprintOf } from '../kit/leaving-workspace.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { databaseEnv } from '../kit/svc.ts'
import type { TwoWays } from '../kit/two-ways.ts'
import { contentRows } from '../restores/comparison.ts'
import { type Board, board, type RestoreDesk, removeByHand, restoreDesk } from '../restores/restore-desk.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = isFull ? 20 : 1
const rows = 3_000
const all = [
  'restore.ready=exit',
  'restore.closed=exit',
  'restore.aside=exit',
  'restore.batch=exit',
  'restore.batch=exit@3',
  'restore.back=exit',
  'restore.removed=exit',
  'restore.written=exit',
]
const ofRewinds = isFull ? all : ['restore.closed=exit', 'restore.batch=exit@2', 'restore.written=exit']
const ofUndos = isFull ? all : ['restore.batch=exit@2']

let desk: RestoreDesk
let both: TwoWays
let mine: Board
let neighbour: Board
beforeAll(async () => {
  desk = await restoreDesk()
  both = desk.both
  mine = await board(desk, await desk.workspace())
  neighbour = await board(desk, await desk.workspace())
  await both.sql`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token)
    select ${mine.id}, gen_random_uuid(), ${mine.collectionId}, 'n', 'many' || n, 'red' from generate_series(1, ${rows}::integer) n`
})
afterAll(() => both.close())

const runner = join(import.meta.dirname, '../kit/backup-runner.ts')

/** Runs the job in a process of its own, until the failpoint ends it. */
async function killed({ job_id }: Restore, tenantId: string, failpoint: string): Promise<void> {
  const env = { ...bareEnvironment(), ...databaseEnv(both.daemon.config), SVC_TEST: '1', SVC_FAILPOINTS: failpoint }
  const child = spawn(process.execPath, [runner, tenantId, job_id], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const signal = await new Promise((resolve) => child.once('close', (_, how) => resolve(how)))
  expect([failpoint, signal]).toEqual([failpoint, 'SIGKILL'])
}

/** What a minute of silence brings: the job is queued again, and run. */
async function goOn(restore: Restore): Promise<Restore> {
  await both.sql`update job set beat_at = now() - interval '2 minutes' where id = ${restore.job_id}`
  await sweepRestoresJob.run(both.installation, {})
  await desk.run(restore)
  return desk.look(restore.id)
}

const content = (tenantId: string) => contentRows(desk, tenantId)
const isClosed = async () =>
  (await both.sql`select from tenant where id = ${mine.id} and restoring_at is not null`).length === 1
const told = async () =>
  (await both.sql`select from outbox_event where tenant_id = ${mine.id} and type like '%work.tenant.restored.v1'`)
    .length

async function damage(): Promise<void> {
  const { sql } = both
  await sql`update label set name = 'other', name_fold = name_fold || 'x' where tenant_id = ${mine.id} and name_fold like 'many%' and get_byte(uuid_send(id), 15) % 3 = 0`
  await sql`
    delete from label l where tenant_id = ${mine.id} and name_fold like 'many%' and get_byte(uuid_send(id), 15) % 3 = 1
      and not exists (select from item_label i where i.tenant_id = l.tenant_id and i.label_id = l.id)`
  await sql`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token)
    select ${mine.id}, gen_random_uuid(), ${mine.collectionId}, 'n', 'since' || n, 'red' from generate_series(1, ${rows / 4}::integer) n`
}

test('killed anywhere, a rewind goes on and is what it would have been, and so is its undo', async () => {
  const before = await content(mine.id)
  const backup = await desk.backedUp(mine.id)
  await damage()
  const damaged = await content(mine.id)
  const others = await fingerprintOf(both.sql, neighbour.id)
  for (const [at, failpoint] of Array.from({ length: rounds }, () => [...ofRewinds.entries()]).flat()) {
    const planned = await desk.rewindTo(backup)
    const acts = await told()
    const body = { plan_hash: planned.plan?.hash ?? '' }
    const applying = await both.call('recovery', ops.applyRestore, { restoreId: planned.id, body })
    await killed(applying, mine.id, failpoint)
    expect([failpoint, await isClosed()]).toEqual([failpoint, failpoint !== 'restore.ready=exit'])
    const done = await goOn(applying)
    expect([failpoint, done.state, done.failure]).toEqual([failpoint, 'DONE', null])
    expect(await content(mine.id)).toEqual(before)
    expect([await isClosed(), (await told()) - acts]).toEqual([false, 1])

    const kill = ofUndos[at]
    const undoing = await both.call('recovery', ops.undoRestore, { restoreId: done.id, body: {} })
    if (kill === undefined) await desk.run(undoing)
    else await killed(undoing, mine.id, kill)
    const undone = kill === undefined ? await desk.look(done.id) : await goOn(undoing)
    expect([kill, undone.state, undone.result?.kept_edits]).toEqual([kill, 'UNDONE', 0])
    expect(await content(mine.id)).toEqual(damaged)
    expect(await isClosed()).toBe(false)
  }
  expect(await fingerprintOf(both.sql, neighbour.id)).toBe(others)
  expect(await desk.staged()).toEqual([])
}, 3_600_000)

/** All of a restore that fills a workspace. */
const ofFilling = isFull
  ? ['restore.ready=exit', 'restore.closed=exit', 'restore.batch=exit', 'restore.batch=exit@8', 'restore.written=exit']
  : ['restore.batch=exit@8']

async function killedAndDone(planned: Restore, failpoint: string): Promise<Restore> {
  const body = { plan_hash: planned.plan?.hash ?? '' }
  const applying = await both.call('recovery', ops.applyRestore, { restoreId: planned.id, body })
  const [job] = await both.sql<{ tenant_id: string }[]>`select tenant_id from job where id = ${applying.job_id}`
  await killed(applying, job?.tenant_id ?? '', failpoint)
  return goOn(applying)
}

const filled = ['label', 'item', 'item_label', 'comment', 'bucket', 'container']
const countsOf = (tenantId: string) =>
  Promise.all(filled.map(async (name) => [name, (await desk.rows(tenantId, name)).length]))

test('a new workspace that is killed while it fills is there once, and whole', async () => {
  const backup = await desk.backedUp(mine.id)
  const counts = await countsOf(mine.id)
  for (let round = 0; round < rounds; round += 1)
    for (const [at, failpoint] of ofFilling.entries()) {
      const slug = `killed-copy-${round}-${at}`
      const planned = await desk.plan({
        into: 'NEW',
        source: { backup_id: backup.id },
        new: { slug, display_name: 'A copy', owner_email: 'ada@copy.example' },
      })
      const done = await killedAndDone(planned, failpoint)
      expect(done).toMatchObject({ state: 'DONE', tenant: { slug } })
      expect([failpoint, await countsOf(done.tenant?.id ?? '')]).toEqual([failpoint, counts])
      expect(await both.sql`select from tenant where slug = ${slug}`).toHaveLength(1)
      await removeByHand(both.sql, done.tenant?.id ?? '')
    }
}, 3_600_000)

test('a workspace that is killed while it comes back as itself is what it was', async () => {
  const backup = await desk.backedUp(mine.id)
  const before = await content(mine.id)
  const others = await fingerprintOf(both.sql, neighbour.id)
  for (let round = 0; round < rounds; round += 1)
    for (const failpoint of ofFilling) {
      await removeByHand(both.sql, mine.id)
      const planned = await desk.plan({
        into: 'ITSELF',
        source: { target_id: desk.targetId, path: backup.path ?? '' },
      })
      const done = await killedAndDone(planned, failpoint)
      expect([failpoint, done.state, done.tenant?.id]).toEqual([failpoint, 'DONE', mine.id])
      expect(await content(mine.id)).toEqual(before)
    }
  expect(await fingerprintOf(both.sql, neighbour.id)).toBe(others)
  expect(await desk.staged()).toEqual([])
}, 3_600_000)
