/**
 * Schedules whose worker is killed with SIGKILL at each step of a run, of the rules and of a removal, and two workers at once: each due
 * moment is run once, nothing is made twice, what has to stay stays, and what has to go is gone in the end.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { runSchedulesJob } from '../../src/core/areas/backup/schedules/job.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { type BackupDesk, backupDesk } from '../backup/backup-desk.ts'
import { type ScheduleDesk, scheduleDesk } from '../backup/schedule-desk.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { databaseEnv } from '../kit/svc.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = isFull ? 20 : 1

let desk: BackupDesk
let runs: ScheduleDesk
beforeAll(async () => {
  desk = await backupDesk()
  runs = scheduleDesk(desk)
})
afterAll(() => desk.both.close())

const runner = join(import.meta.dirname, '../kit/backup-runner.ts')

/** One worker's minute, in a process that the failpoint ends. */
async function killedAt(failpoint: string, what: 'schedules' | 'removals') {
  const env = {
    ...bareEnvironment(),
    ...databaseEnv(desk.both.daemon.config),
    ...{ SVC_PURGE_SETTLE_SECONDS: '1', SVC_TEST: '1', SVC_FAILPOINTS: `${failpoint}=exit` },
  }
  const child = spawn(process.execPath, [runner, what, ''], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const signal = await new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, by) => resolve(by)))
  // Until PostgreSQL has noticed, the sessions keep their rows, which a worker leaves out.
  await expect.poll(sessionsOfRunner).toBe(0)
  return signal
}

async function sessionsOfRunner(): Promise<number> {
  const rows = await desk.both.sql`
    select from pg_stat_activity where application_name like 'svc backup runner%' and datname = current_database()`
  return rows.length
}

const keep = { last: 1, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0, min_days: 0 }

test('killed at each step, a run goes on and is one', async () => {
  for (let round = 0; round < rounds; round += 1)
    for (const step of ['schedule.marked', 'schedule.begun', 'schedule.spread', 'schedule.started']) {
      // More than one portion, so that there is a step between.
      const tenants = [await desk.workspace(), await desk.workspace()].map(({ id }) => id)
      const schedule = await runs.made({ tenants, keep })
      if (step === 'schedule.spread')
        await desk.both.sql`update backup_schedule set tenants = '"ALL"' where id = ${schedule.id}`
      if (step === 'schedule.spread') await manyWorkspaces()
      await runs.due(schedule)
      expect([step, await killedAt(step, 'schedules')]).toEqual([step, 'SIGKILL'])
      await runs.tick()
      await runs.tick()
      const backups = await runs.backupsOf(schedule)
      const workspaces = backups.map(({ tenant_id }) => tenant_id)
      expect([step, new Set(workspaces).size]).toEqual([step, workspaces.length])
      for (const id of tenants) expect(workspaces).toContain(id)
      expect(await runs.runsOf(schedule)).toHaveLength(1)
      if (step !== 'schedule.spread') {
        await runs.work()
        await runs.tick()
        expect((await runs.show(schedule)).last_run).toMatchObject({ complete: 2, failed: 0 })
      }
      await runs.removed(schedule)
      await desk.both.sql`delete from backup where schedule_id = ${schedule.id} and state in ('QUEUED', 'RUNNING')`
    }
}, 1_800_000)

/** Rows alone: what a run is spread over. */
const manyWorkspaces = () => desk.both.sql`
  insert into tenant (id, slug, display_name, state, default_locale, default_time_zone)
  select gen_random_uuid(), 'many-' || n, 'many', 'ACTIVE', 'en', 'UTC' from generate_series(1, 120) n on conflict do nothing`

test('killed while rules are applied or an archive goes, what stays stays, and what goes is gone', async () => {
  for (let round = 0; round < rounds; round += 1)
    for (const step of ['keeping.marked', 'keeping.applied', 'backup.removed']) {
      const { id: tenantId } = await desk.workspace()
      const schedule = await runs.made({ tenants: [tenantId], keep })
      await runs.whole(schedule)
      await runs.whole(schedule)
      const [newest, old] = await runs.backupsOf(schedule)
      expect([step, await killedAt(step, 'removals')]).toEqual([step, 'SIGKILL'])
      expect(existsSync(join(desk.at(newest!.path), 'manifest.json'))).toBe(true)
      await runs.settled()
      expect((await runs.backupsOf(schedule)).map(({ id }) => id)).toEqual([newest!.id])
      expect([existsSync(desk.at(old!.path)), readdirSync(desk.at(newest!.path)).length > 10]).toEqual([false, true])
      expect((await desk.verify(newest!)).state).toBe('SUCCEEDED')
      await runs.removed(schedule)
    }
}, 1_800_000)

test('killed while archives of a purged workspace go, they are gone in the end, and the journal says it once', async () => {
  const { sql } = desk.both
  for (const step of Array.from({ length: rounds }, () => ['departed.removed', 'departed.recorded']).flat()) {
    const { id, slug } = await desk.workspace()
    const backup = await desk.backedUp(id)
    await sql`delete from backup where tenant_id = ${id}`
    // As if it had been purged: its row of the register is not asked for by its id.
    const gone = crypto.randomUUID()
    const { cpSync } = await import('node:fs')
    cpSync(desk.at(`tenants/${id}`), desk.at(`tenants/${gone}`), { recursive: true })
    await sql`insert into departed_archive (workspace_id, workspace_slug, purged_at) values (${gone}, ${slug}, now() - interval '40 days')`
    expect([step, await killedAt(step, 'removals')]).toEqual([step, 'SIGKILL'])
    await runs.settled()
    expect([existsSync(desk.at(`tenants/${gone}`)), existsSync(desk.at(backup.path))]).toEqual([false, true])
    expect(
      await sql`select from journal where workspace_id = ${gone} and action = 'tenant.backups_removed'`,
    ).toHaveLength(1)
  }
}, 1_800_000)

test('two workers run each due moment once', async () => {
  const other = await bootInstallation(desk.both.daemon.config, { works: false, applicationName: 'svc another' })
  try {
    const tenants = [await desk.workspace(), await desk.workspace()].map(({ id }) => id)
    for (const tenantId of tenants)
      await desk.both.call('recovery', ops.changeTenantQuotas, { tenantId, body: { export_jobs: 0 } })
    const schedule = await runs.made({ tenants })
    const moments = isFull ? 50 : 8
    for (let moment = 0; moment < moments; moment += 1) {
      await runs.dayPassed(schedule)
      await desk.both
        .sql`update backup set state = 'FAILED' where schedule_id = ${schedule.id} and state in ('QUEUED', 'RUNNING')`
      await runs.due(schedule)
      await Promise.all([runSchedulesJob.run(desk.both.installation, {}), runSchedulesJob.run(other.installation, {})])
    }
    await runs.tick()
    const made = await desk.both.sql<{ count: number; moments: number }[]>`
      select count(*)::int as count, count(distinct due_at)::int as moments from backup where schedule_id = ${schedule.id}`
    expect([await runs.runsOf(schedule), made[0]]).toMatchObject([{ length: moments }, { count: moments * 2, moments }])
    await runs.removed(schedule)
  } finally {
    await other.close()
  }
}, 1_800_000)
