/**
 * Restoring a workspace of more than 1,000,000 rows:
 *  - NEW, from the archive to the workspace that is open, against the same rows copied into staging tables and inserted from
 *    them, with all indexes and foreign keys, and without row-level security;
 *  - a neighbour's reads through a daemon meanwhile;
 *  - a rewind where 1 % of the rows differ, and its undo: for how long the workspace is closed.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { performForAnswer } from '../src/core/app/perform.ts'
import { backupTenantJob } from '../src/core/areas/backup/backups/job.ts'
import { restoreJob } from '../src/core/areas/restores/restore-job.ts'
import { workspaceBackupOperations } from '../src/core/contract/backup/backups.ts'
import { backupOperations } from '../src/core/contract/backup/operations.ts'
import { type NewRestore, type Restore, restoreOperations } from '../src/core/contract/backup/restores.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { recoveryActor } from '../src/core/kernel/values/actor.ts'
import { fillBoards } from './board-filler.ts'
import { addWorkspace, type Ground } from './ground.ts'
import { p99, startNeighbour } from './neighbour.ts'
import { startDaemon } from './processes.ts'
import { elapsedMs } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const size = { boards: 40, buckets: 4, itemsEach: 18_000 }
const rounds = 2
const changed = 10_000
/** A p99 of fewer reads changes by a third from one minute to the next. */
const idleMs = 60_000
const actor = recoveryActor()

export async function restoring(ground: Ground): Promise<Line[]> {
  await fillBoards(ground, size)
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-rows-'))
  await chmod(folder, 0o777) // the server writes and reads its files, as another user
  const daemon = await startDaemon(ground.environment, '--role', 'api')
  const neighbour = await startNeighbour(daemon.address, { ...ground, ...(await addWorkspace(ground, 'neighbour')) })
  try {
    const backupId = await backedUp(ground)
    const files = await copiedOut(sql, ground.tenantId, folder)
    const rows = files.reduce((sum, file) => sum + file.rows, 0)
    const idle = await neighbour.askUntil(pause(idleMs))
    const ours: number[] = []
    const bare: number[] = []
    const meanwhile: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const made = elapsedMs(() => restoredAsNew(ground, backupId, `copy-${round}`))
      meanwhile.push(...(await neighbour.askUntil(made)))
      ours.push(await made)
      bare.push(await elapsedMs(() => copiedIn(sql, files, `bare-${round}`)))
    }
    const perSecond = (took: readonly number[]) => (rows / Math.min(...took)) * 1000
    return [
      ratioLine(
        `restoring ${rows} rows as another workspace, against copying and inserting them`,
        { ours: perSecond(ours), bare: perSecond(bare), unit: '/s' },
        'at least',
        0.7,
      ),
      ratioLine(
        `a neighbour's reads meanwhile, p99 of ${meanwhile.length}, against idle`,
        { ours: p99(meanwhile), bare: p99(idle), unit: 'ms' },
        'at most',
        1.5,
      ),
      ...(await rewound(ground, sql, backupId)),
    ]
  } finally {
    await neighbour.end()
    await daemon.stop()
    await sql.end()
    await rm(folder, { recursive: true, force: true })
  }
}

async function backedUp({ installation, tenantId }: Ground): Promise<string> {
  const target = await performForAnswer(installation, backupOperations.createBackupTarget, actor, {
    body: { name: 'disk', kind: 'LOCAL', config: { path: 'archives' } },
  })
  const { id, job_id } = await performForAnswer(installation, workspaceBackupOperations.createBackup, actor, {
    body: { tenant_id: tenantId, target_id: target.id },
  })
  await backupTenantJob.run(installation, { tenantId, jobId: job_id })
  return id
}

const run = ({ installation }: Ground, tenantId: string, jobId: string) =>
  restoreJob.run(installation, { tenantId, jobId })

async function planned(ground: Ground, body: NewRestore): Promise<Restore> {
  const { installation } = ground
  const asked = await performForAnswer(installation, restoreOperations.createRestore, actor, { body })
  await run(ground, await tenantOf(ground, asked.job_id), asked.job_id)
  return performForAnswer(installation, restoreOperations.getRestore, actor, { restoreId: asked.id })
}

/** The workspace that a job is of: of a NEW, one that is not there yet. */
async function tenantOf({ superuser }: Ground, jobId: string): Promise<string> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  const [job] = await sql<{ tenant_id: string }[]>`select tenant_id from job where id = ${jobId}`
  await sql.end()
  if (!job) throw new Error('a job that was asked for is there')
  return job.tenant_id
}

async function applied(ground: Ground, { id, plan, failure }: Restore): Promise<Restore> {
  const { installation } = ground
  if (!plan) throw new Error(`the plan ended with ${failure}`)
  const body = { plan_hash: plan.hash }
  const { job_id } = await performForAnswer(installation, restoreOperations.applyRestore, actor, {
    restoreId: id,
    body,
  })
  await run(ground, await tenantOf(ground, job_id), job_id)
  return done(ground, id)
}

async function done({ installation }: Ground, restoreId: string): Promise<Restore> {
  const restore = await performForAnswer(installation, restoreOperations.getRestore, actor, { restoreId })
  if (restore.state !== 'DONE' && restore.state !== 'UNDONE') throw new Error(`${restore.state}: ${restore.failure}`)
  return restore
}

const restoredAsNew = async (ground: Ground, backupId: string, slug: string): Promise<unknown> =>
  applied(
    ground,
    await planned(ground, {
      into: 'NEW',
      source: { backup_id: backupId },
      new: { slug, display_name: slug, owner_email: `owner@${slug}.example.org` },
    }),
  )

/** Referenced ones first. */
const copied = ['account', 'container', 'bucket', 'label', 'custom_field', 'item', 'item_label', 'item_field_value']

interface Rows {
  readonly table: string
  readonly columns: string
  readonly file: string
  readonly rows: number
}

/** The rows of a workspace in files, as COPY writes them. */
async function copiedOut(sql: postgres.Sql, tenantId: string, folder: string): Promise<Rows[]> {
  const files: Rows[] = []
  for (const table of copied) {
    const [row] = await sql<{ columns: string }[]>`
      select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attname <> 'tenant_id'`
    const columns = row?.columns ?? ''
    const file = join(folder, table)
    await sql.unsafe(`copy (select ${columns} from ${table} where tenant_id = '${tenantId}') to '${file}'`)
    const [counted] = await sql<{ rows: number }[]>`
      select count(*)::int as rows from ${sql(table)} where tenant_id = ${tenantId}`
    files.push({ table, columns, file, rows: counted?.rows ?? 0 })
  }
  return files
}

/** The same rows by COPY and `insert … select`, into a workspace that is made with them. */
async function copiedIn(sql: postgres.Sql, files: readonly Rows[], slug: string): Promise<void> {
  const [tenant] = await sql<{ id: string }[]>`
    insert into tenant (id, slug, display_name, default_locale, default_time_zone)
    values (gen_random_uuid(), ${slug}, ${slug}, 'en', 'UTC') returning id`
  for (const { table, columns, file } of files) {
    await sql.unsafe(`drop table if exists bare_rows`)
    await sql.unsafe(`create unlogged table bare_rows as select ${columns} from ${table} limit 0`)
    await sql.unsafe(`copy bare_rows (${columns}) from '${file}'`)
    await sql.unsafe(`insert into ${table} (tenant_id, ${columns}) select '${tenant?.id}', ${columns} from bare_rows`)
  }
  await sql.unsafe('drop table bare_rows')
}

/** Ten thousand rows are others than in the backup; they come back, and go again. */
async function rewound(ground: Ground, sql: postgres.Sql, backupId: string): Promise<Line[]> {
  const { tenantId, installation } = ground
  const some = sql`(select id from item where tenant_id = ${tenantId} order by id limit ${changed / 2})`
  await sql`update item set title = title || ' changed', version = version + 1 where tenant_id = ${tenantId} and id in ${some}`
  await sql`
    insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by)
    select tenant_id, uuidv7(), container_id, bucket_id, 'TASK', 'new since', rank || 'h' || lpad('', 8, '1'), created_by
    from item where tenant_id = ${tenantId} and id in ${some}`
  const plan = await planned(ground, { into: 'REPLACE', tenant_id: tenantId, source: { backup_id: backupId } })
  const applying = await applied(ground, plan)
  const { id, result } = applying
  const body = { edited_since: 'REPLACE' as const }
  const { job_id } = await performForAnswer(installation, restoreOperations.undoRestore, actor, { restoreId: id, body })
  await run(ground, tenantId, job_id)
  const undone = await done(ground, id)
  const what = `with ${changed} rows that differ: closed for`
  return [
    ceilingLine(`a rewind ${what}`, result?.closed_seconds ?? Number.NaN, 's', 6),
    ceilingLine(`its undo, ${what}`, undone.result?.closed_seconds ?? Number.NaN, 's', 6),
  ]
}
