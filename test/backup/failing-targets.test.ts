/**
 * F-08: exports to a target that is full, read-only or vanishes, and onto a spool that is
 * full. Each job ends FAILED and says why, no manifest is there without all its files, and
 * once the target is well the next job succeeds. 4 rounds, one of each; 20 with SVC_FAULTS=full.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { mounting } from '../kit/disk.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { shows } from '../kit/needs.ts'
import { readArchive } from './importer.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 20 : 4

let one: TestInstallation
let tenantId: string
let targetId: string
let folder: string
/** Of 4 KiB, that a whole archive's files take without its manifest. */
let pagesOfFiles = 0

beforeAll(async () => {
  one = await testInstallation()
  tenantId = (await one.provision()).tenant.id
  targetId = (
    await one.asRecovery(operations.createBackupTarget, {
      body: { name: 'weak', kind: 'LOCAL', config: { path: 'weak' } },
    })
  ).id
  folder = join(one.installation.config.backupDir, 'weak')
  await one.asRecovery(operations.changeTenantQuotas, { tenantId, body: { export_jobs: 0 } })
  const [hub] = await one.oracle`select id from container where tenant_id = ${tenantId} limit 1`
  // About 1 MiB when compressed, in two files.
  for (const prefix of ['a', 'b'])
    await one.oracle`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token, description)
      select ${tenantId}, gen_random_uuid(), ${hub?.['id']}, 'n', ${prefix} || n, 'red', md5(n::text) from generate_series(1, 5000) n`
  await one.oracle`
    insert into audit_entry (tenant_id, id, action, actor_kind, via)
    select ${tenantId}, gen_random_uuid(), 'filler', 'SYSTEM', 'JOB' from generate_series(1, 10000)`
  await exported()
  for (const name of filesIn(folder).filter((name) => name.endsWith('.zst')))
    pagesOfFiles += Math.ceil(statSync(join(folder, name)).size / 4096)
  rmSync(folder, { recursive: true, force: true })
})
afterAll(() => one.close())

const filesIn = (path: string) => (existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : [])

/** Asks for an export and works it off, while `meanwhile` looks on. */
async function exported(meanwhile?: (jobId: string) => Promise<void>) {
  const { job_id } = await one.asRecovery(operations.exportTenant, { tenantId, body: { target_id: targetId } })
  const working = exportTenantJob.run(one.installation, { tenantId, jobId: job_id }).catch(() => {})
  await Promise.all([working, meanwhile?.(job_id)])
  return one.asRecovery(operations.getJob, { jobId: job_id })
}

const mounted = (path: string, options: string) => {
  mkdirSync(path, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
  return () => execFileSync('umount', ['-l', path])
}

/** Whatever has a manifest is whole. */
function expectWhole(): void {
  const manifests = filesIn(folder).filter((name) => name.endsWith('manifest.json'))
  for (const name of manifests)
    expect(readArchive(join(folder, name, '..')).entities.get('labels')).toHaveLength(10_004)
}

const canMount = (() => {
  try {
    mounted(join('/tmp', `svc-mount-${process.pid}`), 'size=64k')()
    return true
  } catch {
    return shows('a full and a read-only target', mounting, false)
  } finally {
    rmSync(join('/tmp', `svc-mount-${process.pid}`), { recursive: true, force: true })
  }
})()

/** What goes wrong in a round, and as what the job says that it failed. */
const faults: readonly { name: string; needsMount: boolean; fails: RegExp; run(round: number): Promise<unknown> }[] = [
  {
    name: 'full',
    needsMount: true,
    fails: /^target\.full$/,
    async run(round) {
      // Full in the first file, in a later one, within the last bytes, and with room for all but the manifest.
      const share = [0.02, 0.3, 0.6, 0.9, 1][round % 5]!
      const unmount = mounted(folder, `size=${Math.max(4, Math.floor(share * pagesOfFiles) * 4)}k`)
      try {
        const job = await exported()
        expectWhole()
        expect(filesIn(folder).filter((name) => /\.(zst|json|partial)$/.test(name))).toEqual([])
        return job
      } finally {
        unmount()
      }
    },
  },
  {
    name: 'read-only',
    needsMount: true,
    fails: /^target\.read_only$/,
    async run() {
      const unmount = mounted(folder, 'size=64m,ro')
      try {
        return await exported()
      } finally {
        unmount()
      }
    },
  },
  {
    name: 'vanishing',
    needsMount: false,
    fails: /^target\.(missing|failed)$/,
    async run(round) {
      return exported(async (jobId) => {
        // As soon as so many files have arrived, the folder is gone and something else in its place.
        const seen = () => filesIn(folder).filter((name) => name.includes(jobId) && name.endsWith('.zst')).length
        while (seen() <= round % 3) await new Promise((resolve) => setImmediate(resolve))
        renameSync(folder, `${folder}-gone`)
        rmSync(`${folder}-gone`, { recursive: true, force: true })
        writeFileSync(folder, 'somebody put a file here')
      })
    },
  },
  {
    name: 'a full spool',
    needsMount: true,
    fails: /^spool\.full$/,
    async run() {
      const unmount = mounted(join(one.installation.config.dataDir, 'spool'), 'size=64k')
      try {
        return await exported()
      } finally {
        unmount()
      }
    },
  },
]

test(`${rounds} exports that meet a fault fail whole, and the next of each succeeds`, async () => {
  for (let round = 0; round < rounds; round += 1) {
    const fault = faults[round % faults.length]!
    if (fault.needsMount && !canMount) continue
    expect([fault.name, await fault.run(Math.floor(round / faults.length))]).toMatchObject([
      fault.name,
      { state: 'FAILED', failure: expect.stringMatching(fault.fails), result: null },
    ])
    rmSync(folder, { recursive: true, force: true })
    expect(filesIn(join(one.installation.config.dataDir, 'spool'))).toEqual([])

    const again = await exported()
    expect([fault.name, again.state, again.failure]).toEqual([fault.name, 'SUCCEEDED', null])
    expectWhole()
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
