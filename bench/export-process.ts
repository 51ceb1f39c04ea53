/**
 * The process whose exports are measured (exporting.ts). On the message `export`, `backup` or `copy` from its
 * parent, it does that once and answers how fast it was. Settings are the first argument.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import postgres from 'postgres'
import { bootInstallation } from '../src/core/app/boot.ts'
import { performForAnswer } from '../src/core/app/perform.ts'
import { backupTenantJob } from '../src/core/areas/backup/backups/job.ts'
import { readEntities } from '../src/core/areas/backup/entities.ts'
import { exportTenantJob } from '../src/core/areas/backup/export-job.ts'
import { workspaceBackupOperations } from '../src/core/contract/backup/backups.ts'
import { backupOperations } from '../src/core/contract/backup/operations.ts'
import { jobOperations } from '../src/core/contract/jobs/operations.ts'
import { tenantOperations } from '../src/core/contract/tenants/operations.ts'
import { readConfig } from '../src/core/kernel/config/config.ts'
import { type DatabaseAddress, postgresOptions } from '../src/core/kernel/database/address.ts'
import { recoveryActor } from '../src/core/kernel/values/actor.ts'
import { keepHeapSmall } from '../src/daemon/small-heap.ts'

export interface ExportSettings {
  readonly tenantId: string
  readonly superuser: DatabaseAddress
}

export interface ExportFigures {
  readonly rowsPerSecond: number
  /** The highest resident memory since the process was ready. */
  readonly megabytesGrown: number
}

const { tenantId, superuser } = JSON.parse(process.argv[2]!) as ExportSettings
keepHeapSmall()
const config = readConfig()
const booted = await bootInstallation(config, { works: false, applicationName: 'svc bench export' })
const { installation } = booted
const actor = recoveryActor()
const target = await performForAnswer(installation, backupOperations.createBackupTarget, actor, {
  body: { name: 'disk', kind: 'LOCAL', config: { path: 'archives' } },
})
const bare = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
const entities = (await installation.snapshot(tenantId, (tx) => readEntities(tx, 'TENANT_EXPORT'))).map(
  ({ table, owner, columns }) => {
    const from = `from ${table} where ${owner} = '${tenantId}'`
    const names = columns.map(({ name }) => name).join(', ')
    return { copy: `copy (select ${names} ${from}) to stdout`, count: `select count(*)::int as count ${from}` }
  },
)
let rowsThere = 0
for (const { count } of entities) rowsThere += (await bare.unsafe<{ count: number }[]>(count))[0]!.count

/** Asks for an archive and writes it; answers how many rows it holds. */
async function exportOnce(): Promise<number> {
  const { job_id } = await performForAnswer(installation, tenantOperations.exportTenant, actor, {
    tenantId,
    body: { target_id: target.id },
  })
  await exportTenantJob.run(installation, { tenantId, jobId: job_id })
  const job = await performForAnswer(installation, jobOperations.getJob, actor, { jobId: job_id })
  if (job.result?.path === undefined) throw new Error(`the export ended as ${job.state}: ${job.failure}`)
  const manifest = join(config.backupDir, 'archives', job.result.path, 'manifest.json')
  const { files } = JSON.parse(await readFile(manifest, 'utf8')) as { files: { rows: number }[] }
  return files.reduce((sum, file) => sum + file.rows, 0)
}

/** Asks for a backup and writes it; answers how many rows it holds. */
async function backUpOnce(): Promise<number> {
  const { id, job_id } = await performForAnswer(installation, workspaceBackupOperations.createBackup, actor, {
    body: { tenant_id: tenantId, target_id: target.id },
  })
  await backupTenantJob.run(installation, { tenantId, jobId: job_id })
  const { state, rows, failure } = await performForAnswer(installation, workspaceBackupOperations.getBackup, actor, {
    backupId: id,
  })
  if (rows === null) throw new Error(`the backup ended as ${state}: ${failure}`)
  return Number(rows)
}

/** Copies the same rows out, and drops them. */
async function copyOnce(): Promise<number> {
  for (const { copy } of entities) for await (const _ of await bare.unsafe(copy).readable());
  return rowsThere
}

/** Memory of this process in MB: now, or the highest since the mark was reset. */
async function resident(mark: 'VmRSS' | 'VmHWM'): Promise<number> {
  const [, kilobytes] = new RegExp(`^${mark}:\\s+(\\d+)`, 'm').exec(await readFile('/proc/self/status', 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

const atFirst = await resident('VmRSS')

const work = { export: exportOnce, backup: backUpOnce, copy: copyOnce }

process.on('message', async (what: keyof typeof work) => {
  await writeFile('/proc/self/clear_refs', '5') // resets the highest mark
  const began = performance.now()
  const rows = await work[what]()
  const seconds = (performance.now() - began) / 1000
  await rm(join(config.backupDir, 'archives'), { recursive: true, force: true })
  process.send!({
    rowsPerSecond: rows / seconds,
    megabytesGrown: (await resident('VmHWM')) - atFirst,
  } satisfies ExportFigures)
})
process.once('disconnect', async () => {
  await bare.end()
  await booted.close()
})
