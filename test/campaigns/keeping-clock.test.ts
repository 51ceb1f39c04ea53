/**
 * The clocks of PostgreSQL and of two daemons jump by a month to and fro, while jobs of backups, restores, trash, files and privacy
 * run: each moment of a schedule is run once and on one daemon, no backup goes, nothing is erased early, nobody loses what is in the
 * trash or was just uploaded, and what was restored can still be taken back.
 *
 *     SVC_FAULTS=full vitest run test/campaigns/keeping-clock.test.ts    30 s each, instead of moments
 */
import { randomUUIDv7 } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeBackupsJob } from '../../src/core/areas/backup/backups/removal.ts'
import { runSchedulesJob } from '../../src/core/areas/backup/schedules/job.ts'
import { sweepTrash } from '../../src/core/areas/items/trash/sweep.ts'
import { sweepMedia } from '../../src/core/areas/media/sweep.ts'
import { runPrivacy } from '../../src/core/areas/privacy/jobs.ts'
import { restoreJob } from '../../src/core/areas/restores/restore-job.ts'
import { sweepRestoresJob } from '../../src/core/areas/restores/sweep.ts'
import { runRulesJob } from '../../src/core/areas/retention-runs/nightly.ts'
import type { BackupSchedule } from '../../src/core/contract/backup/schedules.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import type { BackupDesk } from '../backup/backup-desk.ts'
import { type ScheduleDesk, scheduleDesk } from '../backup/schedule-desk.ts'
import { type ClockedInstallation, clockedInstallation } from '../kit/clocked-installation.ts'
import type { SpawnedDaemon } from '../kit/daemon.ts'
import { hasFakeTime } from '../kit/fake-time.ts'

const eachMs = process.env['SVC_FAULTS'] === 'full' ? 30_000 : 3_000
const jobs = [runSchedulesJob, removeBackupsJob, runPrivacy, sweepTrash, sweepMedia, runRulesJob, sweepRestoresJob]
/** One stays by number; the others as long as they are no week old. */
const keep = { last: 1, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0, min_days: 7 }

let clocked: ClockedInstallation
let runs: ScheduleDesk
let schedule: BackupSchedule
let tenantId: string
let ownerId: string
let itemId: string
let requestId: string
let restoreId: string
/** Rows that the rewind replaced. */
let replaced: number
let daemons: SpawnedDaemon[]

beforeAll(async () => {
  if (!hasFakeTime) return
  clocked = await clockedInstallation()
  const { own, sql } = clocked
  const target = await own.asRecovery(ops.createBackupTarget, {
    body: { name: 'disk', kind: 'LOCAL', config: { path: 'disk' } },
  })
  const made = await own.provision('kept')
  tenantId = made.tenant.id
  ownerId = made.owner.account_id
  const call = (_way: string, operation: never, sent: never) => own.asRecovery(operation, sent)
  const both = { sql, installation: own.installation, call } as unknown as BackupDesk['both']
  runs = scheduleDesk({ both, targetId: target.id })
  schedule = await runs.made({ tenants: [tenantId], cron: '0 3 * * *', keep })
  for (let day = 0; day < 3; day += 1) await runs.whole(schedule)
  itemId = await trashed()
  requestId = await granted()
  restoreId = await rewound()
  replaced = (await sql`select from restore_undo where restore_id = ${restoreId}`).length
  expect(replaced).toBeGreaterThan(0)
  await begun()
  daemons = [await clocked.daemon(), await clocked.daemon()]
}, 120_000)

afterAll(async () => {
  if (hasFakeTime) await clocked.close()
})

async function trashed(): Promise<string> {
  const id = randomUUIDv7()
  await clocked.sql`
    insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by, deleted_at)
    select b.tenant_id, ${id}, b.container_id, b.id, 'TASK', 'thrown away', 'b0', ${ownerId}, now()
    from bucket b where b.tenant_id = ${tenantId} order by b.rank limit 1`
  return id
}

/** An upload that was begun just now, and is removed a day later. */
async function begun(): Promise<void> {
  await clocked.sql`
    insert into media (tenant_id, id, filename, size_bytes, created_by) values (${tenantId}, ${randomUUIDv7()}, 'begun', 100, ${ownerId})`
  await clocked.sql`
    insert into media_tally (tenant_id, bytes) values (${tenantId}, 100) on conflict (tenant_id) do update set bytes = media_tally.bytes + 100`
}

/** An erasure that was granted just now, and waits for three days. */
async function granted(): Promise<string> {
  const [id, accountId] = [randomUUIDv7(), randomUUIDv7()]
  const { sql } = clocked
  await sql`
    insert into account (tenant_id, id, kind, state, email, email_fold, display_name)
    values (${tenantId}, ${accountId}, 'PERSON', 'ACTIVE', 'quokka@kept.example', 'quokka@kept.example', 'Quokka')`
  await sql`
    insert into privacy_request (tenant_id, id, kind, state, account_id, channel, received_at, time_zone, due_at, identity_state,
      identity_verified_at, decision, choices, executes_at)
    values (${tenantId}, ${id}, 'ERASURE', 'GRANTED', ${accountId}, 'SELF', now(), 'UTC', now() + interval '1 month', 'VERIFIED', now(),
      'GRANTED', '{}', now() + interval '72 hours')`
  return id
}

/** A workspace that was rewound just now, which can be undone for a week. */
async function rewound(): Promise<string> {
  const { own } = clocked
  const run = ({ job_id: jobId }: { readonly job_id: string }) => restoreJob.run(own.installation, { tenantId, jobId })
  const [newest] = await runs.backupsOf(schedule)
  const planned = await own.asRecovery(ops.createRestore, {
    body: { into: 'REPLACE', tenant_id: tenantId, source: { backup_id: newest?.id ?? '' } },
  })
  await run(planned)
  const { plan } = await own.asRecovery(ops.getRestore, { restoreId: planned.id })
  await run(
    await own.asRecovery(ops.applyRestore, { restoreId: planned.id, body: { plan_hash: plan?.hash ?? 'none' } }),
  )
  // What the plan took away is in the trash again, as somebody would do behind a rewind.
  await clocked.sql`delete from item where id = ${itemId}`
  itemId = await trashed()
  return planned.id
}

const ended = async () => {
  const rows = await clocked.sql<{ name: string; count: number }[]>`
    select name, count(*)::int as count from pgboss.job
    where name in ${clocked.sql(jobs.map(({ name }) => name))} and state in ('completed', 'failed') group by name`
  return new Map(rows.map(({ name, count }) => [name, count]))
}

const askForAll = () =>
  clocked.own.installation.transaction({ kind: 'SYSTEM', job: 'test' }, {}, async (ctx) => {
    for (const job of jobs) await ctx.enqueue(job, {})
  })

/** For so long, and until each job has ended twice: jobs are asked for, while `tick` sets the clocks. */
async function under(tick: (turn: number) => void): Promise<void> {
  const before = await ended()
  const until = performance.now() + eachMs
  const isShown = async () => {
    const now = await ended()
    return jobs.every(({ name }) => (now.get(name) ?? 0) >= (before.get(name) ?? 0) + 2)
  }
  for (let turn = 0; performance.now() < until || !(await isShown()); turn += 1) {
    tick(turn)
    if (turn % 10 === 0) await askForAll()
    await pause(100)
  }
}

const folder = (path: string | null) => join(clocked.own.installation.config.backupDir, 'disk', path ?? '')

/** Backups that are there and whole, each of another moment. */
async function expectKept(phase: string): Promise<number> {
  const { sql } = clocked
  const backups = await sql<{ state: string; path: string | null; due_at: Date }[]>`
    select state, path, due_at from backup where tenant_id = ${tenantId}`
  const gone = backups.filter(
    ({ state, path }) => state === 'COMPLETE' && !existsSync(join(folder(path), 'manifest.json')),
  )
  const moments = new Set(backups.map(({ due_at }) => due_at.toISOString()))
  const states = new Set(backups.map(({ state }) => state))
  for (const one of ['QUEUED', 'RUNNING', 'COMPLETE']) states.delete(one)
  const [left] = await sql`
    select (select count(*)::int from item where id = ${itemId}) as items,
      (select count(*)::int from account where tenant_id = ${tenantId} and display_name = 'Quokka') as people,
      (select count(*)::int from media where tenant_id = ${tenantId} and filename = 'begun') as files,
      (select count(*)::int from erasure) as erasures,
      (select count(*)::int from restore_undo where restore_id = ${restoreId}) as replaced,
      (select state from privacy_request where id = ${requestId}) as request,
      (select undo_until is not null from restore where id = ${restoreId}) as undoable`
  expect({ phase, gone, states: [...states], each: moments.size, ...left }).toEqual({
    ...{ phase, gone: [], states: [], each: backups.length },
    ...{ items: 1, people: 1, files: 1, erasures: 0, replaced, request: 'GRANTED', undoable: true },
  })
  return backups.length
}

test.runIf(hasFakeTime)(
  'a month ahead, a day back, a month back, a month to and fro, sixty times as fast: nothing goes, and each moment is run once',
  { timeout: 600_000 },
  async () => {
    const { time } = clocked
    expect(await expectKept('at first')).toBe(3)
    const phases: readonly [name: string, made: number, tick: (turn: number) => void][] = [
      ['a month ahead', 1, (turn) => turn === 0 && time.set('+31d')],
      ['a day back', 1, (turn) => turn === 0 && time.set('-1d')],
      ['a month back', 1, (turn) => turn === 0 && time.set('-31d')],
      ['to and fro', 2, (turn) => time.set(turn % 2 === 0 ? '+31d' : '-31d')],
      ['sixty times as fast', 3, (turn) => turn === 0 && time.set('+0 x60')],
      ['as it should be', 3, (turn) => turn === 0 && time.set('+0')],
    ]
    for (const [name, most, tick] of phases) {
      await under(tick)
      const made = (await expectKept(name)) - 3
      process.stderr.write(`  ${name}: ${made} backup(s) made since the beginning\n`)
      // Midnight may pass meanwhile, and with it a moment.
      expect(made, name).toBeLessThanOrEqual(most + 1)
    }
    expect((await runs.show(schedule)).next_run_at ?? '', 'it is due within a day').toSatisfy(
      (at: string) => Date.parse(at) < Date.now() + 25 * 3_600_000,
    )
    for (const { process: one, stderr } of daemons) expect(one.exitCode, stderr()).toBeNull()
  },
)

test.runIf(hasFakeTime)('behind all that, the rewind is taken back', { timeout: 60_000 }, async () => {
  const { own } = clocked
  await own.asRecovery(ops.undoRestore, { restoreId, body: { edited_since: 'REPLACE' } })
  const state = async () => (await own.asRecovery(ops.getRestore, { restoreId })).state
  await expect.poll(state, { timeout: 50_000, interval: 200 }).toBe('UNDONE')
})
