/**
 * T-25: a worker that is killed anywhere leaves no archive that looks whole and is not; the
 * job is taken up again and ends. `SVC_FAULTS=full` runs 20 kills. Targets that fail:
 * failing-targets.test.ts.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { resumeJobs } from '../../src/core/areas/backup/resume-jobs.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { readArchive } from '../backup/importer.ts'
import { fileOf } from '../backup/workspace-files.ts'
import { spawnDaemon } from '../kit/daemon.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { someBytes } from '../kit/some-bytes.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const kills = isFull ? 21 : 7
/** Enough that a kill finds them half read and half sent. */
const labels = isFull ? 60_000 : 20_000
/** That each of them has more than the one before. */
const files = 40

let one: TestInstallation
let workspace: Awaited<ReturnType<TestInstallation['provision']>>
let tenantId: string
let sentBefore = 0
let targetId: string
let archives: string

beforeAll(async () => {
  one = await testInstallation()
  workspace = await one.provision()
  tenantId = workspace.tenant.id
  targetId = (
    await one.asRecovery(operations.createBackupTarget, {
      body: { name: 'disk', kind: 'LOCAL', config: { path: 'archives' } },
    })
  ).id
  archives = join(one.installation.config.backupDir, 'archives', 'tenants', tenantId)
  await one.asRecovery(operations.changeTenantQuotas, { tenantId, body: { export_jobs: 0 } })
  const [hub] = await one.oracle`select id from container where tenant_id = ${tenantId} limit 1`
  await one.oracle`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token, description)
    select ${tenantId}, gen_random_uuid(), ${hub?.['id']}, 'n', 'many' || n, 'red', md5(n::text) || md5((n + 1)::text) from generate_series(1, ${labels}::integer) n`
  for (const name of ['../../x', 'a/b', '/etc/passwd', 'x'.repeat(255), '\u0001\u001b[2J', '..'])
    await one.oracle`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token)
      values (${tenantId}, gen_random_uuid(), ${hub?.['id']}, ${name}, ${name}, 'red')`
})
afterAll(() => one.close())

const filesIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
const ask = (target = targetId) => one.asRecovery(operations.exportTenant, { tenantId, body: { target_id: target } })
const jobOf = (jobId: string) => one.asRecovery(operations.getJob, { jobId })

/** Moments to kill at, each seen from outside. */
const moments: readonly [string, (jobId: string) => Promise<boolean> | boolean][] = [
  ['as soon as it runs', async (jobId) => (await jobOf(jobId)).state === 'RUNNING'],
  [
    'while it reads',
    (jobId) =>
      filesIn(join(one.installation.config.dataDir, 'spool')).some(
        (name) => name.includes(jobId) && name.endsWith('labels.jsonl.zst'),
      ),
  ],
  ['once the target has its folder', (jobId) => filesIn(archives).some((name) => name.includes(jobId))],
  [
    'in the middle of sending',
    (jobId) => filesIn(archives).filter((name) => name.includes(jobId) && name.endsWith('.zst')).length >= 3,
  ],
  ['with its first file', () => sentFiles() > sentBefore],
  ['between two files', () => sentFiles() > sentBefore + files / 2],
  [
    'near the manifest',
    (jobId) => filesIn(archives).filter((name) => name.includes(jobId) && name.endsWith('.zst')).length >= 8,
  ],
]

/** Files whose bytes have arrived. */
const sentFiles = () => filesIn(archives).filter((name) => name.startsWith('media/')).length

/** Every archive that has a manifest has all its files, to the byte. */
function expectWholeArchives(): number {
  const whole = readdirSync(archives).filter((name) => existsSync(join(archives, name, 'manifest.json')))
  // Whatever people call things, every file has a name of ours.
  for (const name of filesIn(archives).filter((one) => one.includes('/')))
    expect(name).toMatch(
      /^(\d{8}T\d{6}Z-[0-9a-f-]{36}-\d+\/([a-z_]+\.(jsonl\.zst|json)(\.partial)?|media-\d\.partial)|media\/[0-9a-f]{64})$/,
    )
  for (const name of whole) {
    const { entities, bytes } = readArchive(join(archives, name))
    expect(entities.get('labels')?.length).toBeGreaterThan(labels)
    expect(bytes.size % files).toBe(0)
  }
  return whole.length
}

test(`${kills} kills at ${moments.length} moments leave nothing that looks whole and is not, and every job ends`, async () => {
  for (let kill = 0; kill < kills; kill += 1) {
    // New ones each time: what is at the target is not sent again.
    for (let made = 0; made < files; made += 1) await fileOf(one, workspace, someBytes(300_000))
    sentBefore = sentFiles()
    const [, isReached] = moments[kill % moments.length] ?? moments[0]!
    const { job_id } = await ask()
    const daemon = await spawnDaemon({ ...one.env, SVC_PORT: '0' })
    try {
      const ended = async () => ['SUCCEEDED', 'FAILED'].includes((await jobOf(job_id)).state)
      while (!(await isReached(job_id)) && !(await ended())) await new Promise((resolve) => setTimeout(resolve, 2))
    } finally {
      daemon.process.kill('SIGKILL')
      await daemon.ended
    }
    if (existsSync(archives)) expectWholeArchives()

    // A minute of silence, told to the row instead of waited for.
    await one.oracle`update job set beat_at = now() - interval '2 minutes' where id = ${job_id} and state = 'RUNNING'`
    await resumeJobs.run(one.installation, {})
    await exportTenantJob.run(one.installation, { tenantId, jobId: job_id })
    const job = await jobOf(job_id)
    expect([kill, job.state, job.failure]).toEqual([kill, 'SUCCEEDED', null])
    expect(
      readArchive(join(one.installation.config.backupDir, 'archives', job.result?.path ?? '')).manifest.job_id,
    ).toBe(job_id)
    // What the killed attempt left at the target is gone.
    expect(readdirSync(archives).filter((name) => name.includes(job_id))).toHaveLength(1)
    expect(expectWholeArchives()).toBe(kill + 1)
  }
}, 300_000)

test('a job whose workers all die ends as lost, and one that never reached the queue is queued again', async () => {
  const { job_id } = await ask()
  await one.oracle`update job set state = 'RUNNING', attempt = 3, started_at = now(), beat_at = now() - interval '2 minutes' where id = ${job_id}`
  await resumeJobs.run(one.installation, {})
  expect(await jobOf(job_id)).toMatchObject({ state: 'FAILED', failure: 'worker.lost' })

  const { job_id: second } = await ask()
  await one.oracle`delete from pgboss.job where data->>'jobId' = ${second}`
  await one.oracle`update job set beat_at = now() - interval '11 minutes' where id = ${second}`
  await resumeJobs.run(one.installation, {})
  expect(await one.oracle`select from pgboss.job where data->>'jobId' = ${second}`).toHaveLength(1)
  // One that beats is left alone.
  await one.oracle`update job set state = 'RUNNING', attempt = 1, started_at = now(), beat_at = now() - interval '20 seconds' where id = ${second}`
  await resumeJobs.run(one.installation, {})
  expect((await jobOf(second)).state).toBe('RUNNING')
})
