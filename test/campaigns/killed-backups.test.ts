/**
 * A backup whose worker is killed with SIGKILL at each of its steps, and at moments that are seen from outside: nothing looks
 * whole and is not, the job is taken up again and ends, the bytes of files are sent once, and what comes back is what was there.
 * A removal that is killed between its archive and its row goes on. 9 kills; with SVC_FAULTS=full 20 at each step.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backupTenantJob } from '../../src/core/areas/backup/backups/job.ts'
import { removeBackupsJob } from '../../src/core/areas/backup/backups/removal.ts'
import { resumeJobs } from '../../src/core/areas/backup/resume-jobs.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { readBackupArchive } from '../backup/age-reader.ts'
import { fileOf } from '../backup/workspace-files.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { someBytes } from '../kit/some-bytes.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = isFull ? 20 : 1
const labels = isFull ? 20_000 : 10_000
const files = 5

let one: TestInstallation
let workspace: Awaited<ReturnType<TestInstallation['provision']>>
let tenantId: string
let targetId: string
let archives: string
let identity: string
let recipients: string[]

beforeAll(async () => {
  one = await testInstallation()
  targetId = (
    await one.asRecovery(ops.createBackupTarget, {
      body: { name: 'disk', kind: 'LOCAL', config: { path: 'archives' } },
    })
  ).id
  identity = await generateX25519Identity()
  recipients = [await identityToRecipient(identity)]
})
afterAll(() => one.close())

/** A workspace that has no archive yet. */
async function another(): Promise<void> {
  workspace = await one.provision()
  tenantId = workspace.tenant.id
  archives = join(one.installation.config.backupDir, 'archives', 'tenants', tenantId)
  whole.clear()
  await one.asRecovery(ops.changeTenantQuotas, { tenantId, body: { export_jobs: 0 } })
  const [hub] = await one.oracle`select id from container where tenant_id = ${tenantId} limit 1`
  await one.oracle`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token, description)
    select ${tenantId}, gen_random_uuid(), ${hub?.['id']}, 'n', 'many' || n, 'red', md5(n::text) || md5((n + 1)::text) from generate_series(1, ${labels}::integer) n`
}

const runner = join(import.meta.dirname, '../kit/backup-runner.ts')

/** Works in a process of its own, until the failpoint or `isReached` ends it with SIGKILL. */
async function killed(jobId: string, failpoint: string | undefined, isReached: () => boolean = () => false) {
  const env = {
    ...bareEnvironment(),
    ...one.env,
    ...(failpoint === undefined ? {} : { SVC_TEST: '1', SVC_FAILPOINTS: failpoint }),
  }
  const child = spawn(process.execPath, [runner, tenantId, jobId], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, signal) => resolve(signal)))
  const watch = setInterval(() => isReached() && child.kill('SIGKILL'), 2)
  const signal = await ended
  clearInterval(watch)
  return { said, signal }
}

const filesIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
const show = (backupId: string) => one.asRecovery(ops.getBackup, { backupId })

const deaths: readonly [string, string | undefined, ((jobId: string) => boolean)?][] = [
  ['archive.read', 'archive.read=exit'],
  ['the first file', 'export.media_sent=exit'],
  ['the third file', 'export.media_sent=exit@3'],
  ['archive.sent', 'archive.sent=exit'],
  ['archive.whole', 'archive.whole=exit'],
  [
    'while it reads',
    undefined,
    (jobId) =>
      filesIn(join(one.installation.config.dataDir, 'spool')).some(
        (name) => name.includes(jobId) && name.endsWith('labels.jsonl.zst.age'),
      ),
  ],
  ['once the target has its folder', undefined, (jobId) => filesIn(archives).some((name) => name.includes(jobId))],
  [
    'in the middle of sending',
    undefined,
    (jobId) => filesIn(archives).filter((name) => name.includes(jobId) && name.endsWith('.age')).length >= 3,
  ],
]

/** What the folder of an archive holds, for each that was read whole. */
const whole = new Map<string, string>()
const inside = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name))
      return `${name} ${size} ${mtimeMs}`
    })
    .join('\n')

/** Every archive with a manifest comes back whole, and none that came back once has changed; answers how many there are. */
async function expectWhole(): Promise<number> {
  const manifests = filesIn(archives).filter((name) => name.endsWith('/manifest.json'))
  for (const name of manifests) {
    const folder = join(archives, name, '..')
    const known = whole.get(folder)
    whole.set(folder, inside(folder))
    if (known !== undefined) {
      expect(whole.get(folder)).toBe(known)
      continue
    }
    const { entities, contents } = await readBackupArchive(folder, identity)
    expect(entities.get('labels')?.length).toBeGreaterThan(labels)
    expect(contents.size % files).toBe(0)
  }
  return manifests.length
}

test('killed anywhere, a backup goes on and is what was there; its files are sent once', async () => {
  for (let round = 0; round < rounds; round += 1) {
    await another()
    let made = 0
    let sent = 0
    for (const [name, failpoint, isReached] of deaths) {
      sent += files
      for (let file = 0; file < files; file += 1) await fileOf(one, workspace, someBytes(200_000))
      const { asked, early } = await killedBackup(name, failpoint, isReached)
      made += early
      const jobId = asked.job_id
      // What has a manifest is whole: that of a worker killed behind its manifest counts, too.
      expect(await expectWhole()).toBe(made + (name === 'archive.whole' ? 1 : 0))
      const sentBefore = filesIn(join(archives, 'media')).length

      await one.oracle`update job set beat_at = now() - interval '2 minutes' where id = ${jobId}`
      await resumeJobs.run(one.installation, {})
      await backupTenantJob.run(one.installation, { tenantId, jobId })
      made += 1
      const backup = await show(asked.id)
      expect([name, backup.state, backup.failure]).toEqual([name, 'COMPLETE', null])
      expect(await expectWhole()).toBe(made)
      expect(readdirSync(archives).filter((folder) => folder.includes(jobId))).toHaveLength(1)
      expect(filesIn(join(archives, 'media'))).toHaveLength(sent)
      expect(sentBefore).toBeLessThanOrEqual(sent)
      const jobs = await one.oracle`select state from job where tenant_id = ${tenantId} and kind = 'BACKUP'`
      expect(jobs.every(({ state }) => state === 'SUCCEEDED')).toBe(true)
    }
  }
}, 3_600_000)

/** A backup whose worker was killed; answers how many ended before anybody saw the moment, as on a busy machine. */
async function killedBackup(...[name, failpoint, isReached]: (typeof deaths)[number]) {
  for (let early = 0; ; early += 1) {
    const asked = await one.asRecovery(ops.createBackup, {
      body: { tenant_id: tenantId, target_id: targetId, recipients },
    })
    const { said, signal } = await killed(asked.job_id, failpoint, isReached && (() => isReached(asked.job_id)))
    if (isReached && said === 'at work done' && early < 5) continue
    expect([name, said, signal]).toEqual([name, 'at work ', 'SIGKILL'])
    return { asked, early }
  }
}

test('killed between the archive and its row, a removal goes on', async () => {
  for (let round = 0; round < rounds; round += 1) {
    await another()
    const [old, newest] = [await backedUp(), await backedUp()]
    await one.asRecovery(ops.removeBackup, { backupId: old.id })
    expect((await killed('', 'backup.removed=exit')).signal).toBe('SIGKILL')
    expect([existsSync(join(archives, '..', '..', old.path!)), (await show(old.id)).state]).toEqual([false, 'REMOVING'])
    await removeBackupsJob.run(one.installation, {})
    await expect(show(old.id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await show(newest.id)).state).toBe('COMPLETE')
  }
}, 1_800_000)

async function backedUp(): Promise<Backup> {
  const { id, job_id: jobId } = await one.asRecovery(ops.createBackup, {
    body: { tenant_id: tenantId, target_id: targetId, recipients },
  })
  await backupTenantJob.run(one.installation, { tenantId, jobId })
  return show(id)
}
