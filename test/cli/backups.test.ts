/** Backup targets, exports and jobs from a terminal, in both ways. */
import { spawnSync } from 'node:child_process'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { readArchive } from '../backup/importer.ts'
import { plantToken } from '../kit/accounts.ts'
import { furnished } from '../kit/leaving-workspace.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
let home: Home
let backups: string
let token: string
let passwordFile: string
beforeAll(async () => {
  home = temporaryHome()
  backups = mkdtempSync(join(tmpdir(), 'svc-backups-'))
  ways = await twoWays({ backupDir: backups })
  // An operator with a password, which making and removing a target takes.
  token = (await plantToken({ oracle: ways.sql }, ways.home, { scopes: ['admin:tenants', 'workspace:read'] })).token
  passwordFile = join(home.folder, 'me.password')
  writeFileSync(passwordFile, ways.home.password, { mode: 0o600 })
  await ways.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${ways.home.tenantId}, 'api_requests_per_minute', 0)`
})
afterAll(async () => {
  home.remove()
  await ways.close()
  rmSync(backups, { recursive: true, force: true })
})

describe.each(everyWay)('by %s', (way: Way) => {
  const flags = way === 'api' ? [] : ['--recovery', '--while-serving']
  const env = (): NodeJS.ProcessEnv => {
    const { address, config } = ways.daemon
    if (way === 'api') return { SVC_API_URL: address, SVC_TOKEN: token }
    return { ...databaseEnv(config), SVC_DATA_DIR: config.dataDir, SVC_BACKUP_DIR: backups }
  }
  const run = (args: readonly string[], input = ''): Promise<Ran> =>
    home.svc([...args, ...flags], { env: env(), input })
  const proof = () => (way === 'api' ? ['--password-file', passwordFile] : [])
  const disk = `disk-${way}`
  const targets = async (): Promise<{ id: string; name: string }[]> =>
    JSON.parse((await run(['backup-targets', 'list', '--json'])).stdout).data

  test('a folder is added, listed and tried', async () => {
    const added = await run(['backup-targets', 'add', disk, '--kind', 'local', '--path', disk, ...proof()])
    const [target] = (await targets()).filter(({ name }) => name === disk)
    expect([added.code, added.stdout]).toEqual([0, expect.stringContaining(disk)])
    expect(added.stderr).toContain(`svc backup-targets test ${target?.id}`)
    expect((await run(['backup-targets', 'list'])).stdout).toMatch(new RegExp(`${disk}.*LOCAL.*${target?.id}`))
    const tried = await run(['backup-targets', 'test', disk])
    expect([tried.code, tried.stdout]).toEqual([0, expect.stringMatching(/write[\s\S]*read[\s\S]*remove/)])
    expect(readdirSync(join(backups, disk, 'probes'))).toEqual([])
  })

  test('what breaks a rule is refused with its member, and nothing is added', async () => {
    const before = await targets()
    for (const [args, says] of [
      [['--kind', 'local', '--path', '../out'], 'path'],
      [['--kind', 'local'], 'path'],
      [['--kind', 'local', '--path', 'x', '--secret-stdin'], 'takes no secret'],
      [['--kind', 'tape', '--path', 'x'], 'tape'],
      [
        [
          '--kind',
          's3',
          '--endpoint',
          'https://169.254.169.254',
          '--region',
          'r',
          '--bucket',
          'backups',
          '--access-key-id',
          'a',
          '--secret-stdin',
        ],
        'may not call this host',
      ],
    ] as const) {
      const refused = await run(['backup-targets', 'add', 'wrong', ...args, ...proof()], 'a-secret-that-nobody-sees\n')
      expect([args, refused.code === 0, refused.stderr.includes(says)]).toEqual([args, false, true])
      expect(refused.stdout + refused.stderr).not.toContain('a-secret-that-nobody-sees')
    }
    expect(await targets()).toEqual(before)
  })

  test('one that fails its trial exits 8 and names the step', async () => {
    writeFileSync(join(backups, `plain-${way}`), 'a file')
    await run(['backup-targets', 'add', `plain-${way}`, '--kind', 'local', '--path', `plain-${way}`, ...proof()])
    const tried = await run(['backup-targets', 'test', `plain-${way}`])
    expect([tried.code, tried.stdout]).toEqual([8, expect.stringContaining('connect')])
  })

  test('an export is queued, shown as a job, waited for, and listed at its target', async () => {
    const acme = await furnished(ways)
    const queued = await run(['tenants', 'export', acme.slug, '--target', disk])
    const jobId = queued.stdout.trim()
    expect([queued.code, queued.stderr]).toEqual([0, expect.stringContaining(`svc jobs show ${jobId}`)])
    expect((await run(['jobs', 'show', jobId])).stdout).toMatch(/QUEUED[\s\S]*Waiting for a worker/)
    await exportTenantJob.run(ways.installation, { tenantId: acme.id, jobId })
    const shown = await run(['jobs', 'show', jobId])
    const { result } = JSON.parse((await run(['jobs', 'show', jobId, '--json'])).stdout)
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(result.path)])
    expect(shown.stdout).toContain('SUCCEEDED')
    expect(readArchive(join(backups, disk, result.path)).manifest.tenant.id).toBe(acme.id)

    const listed = await run(['backup-targets', 'backups', disk, '--json'])
    expect(JSON.parse(listed.stdout).data).toMatchObject([{ path: result.path, tenant_id: acme.id, complete: true }])
    expect((await run(['backup-targets', 'backups', disk])).stdout).toContain(result.path)
    const plan = await run(['tenants', 'delete', acme.slug, '--plan'])
    expect([plan.code, plan.stdout]).toEqual([0, expect.stringContaining(result.path)])

    // Somebody works while the command waits; at the database it is the command itself.
    const waiting = run(['tenants', 'export', acme.slug, '--target', disk, '--wait'])
    if (way === 'api') await workNext(acme.id)
    const waited = await waiting
    expect([waited.code, waited.stderr]).toEqual([0, expect.stringContaining('is complete')])
    expect(existsSync(join(backups, disk, waited.stdout.trim(), 'manifest.json'))).toBe(true)
  })

  test('an export that fails says so and what to look at', async () => {
    const acme = await furnished(ways)
    const waiting = run(['tenants', 'export', acme.slug, '--target', `plain-${way}`, '--wait'])
    if (way === 'api') await workNext(acme.id)
    const failed = await waiting
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringMatching(/target\.missing[\s\S]*backup-targets test/),
    ])
  })

  test('what is not there exits 3', async () => {
    for (const args of [
      ['jobs', 'show', randomUUID()],
      ['backup-targets', 'test', 'nowhere'],
      ['backup-targets', 'backups', randomUUIDv7()],
      ['backup-targets', 'remove', 'nowhere', '--confirm', 'nowhere'],
      ['tenants', 'export', 'nobody', '--target', disk],
    ])
      expect([args, (await run(args)).code]).toEqual([args, 3])
    expect((await run(['jobs', 'show', 'no-id'])).code).toBe(2)
  })

  test('a target is removed once its name is confirmed; its archives stay', async () => {
    mkdirSync(join(backups, disk, 'tenants'), { recursive: true })
    for (const confirm of [[], ['--confirm', 'another']]) {
      const refused = await run(['backup-targets', 'remove', disk, ...confirm])
      const ending = confirm.length === 0 ? 2 : 1
      expect([refused.code, refused.stderr]).toEqual([ending, expect.stringContaining('Nothing was done')])
    }
    const removed = await run(['backup-targets', 'remove', disk, '--confirm', disk, ...proof()])
    expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('still there')])
    expect((await targets()).map(({ name }) => name)).not.toContain(disk)
    expect(readdirSync(join(backups, disk, 'tenants'))).not.toEqual([])
    expect((await run(['backup-targets', 'remove', disk, '--confirm', disk])).code).toBe(3)
  })
})

/** Works the workspace's next export off, as a daemon's worker would. */
async function workNext(tenantId: string): Promise<void> {
  const queued = () => ways.sql<{ id: string }[]>`select id from job where tenant_id = ${tenantId} and state = 'QUEUED'`
  await expect.poll(async () => (await queued()).length, { timeout: 20_000 }).toBe(1)
  const [job] = await queued()
  await exportTenantJob.run(ways.installation, { tenantId, jobId: job!.id })
}

test('docs/runbooks/backup-targets.md: the commands of its blocks, in their order, as they stand', async () => {
  const page = readFileSync(new URL('../../docs/runbooks/backup-targets.md', import.meta.url), 'utf8')
  const lines = [...page.matchAll(/^```\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'))
  expect(lines.length).toBeGreaterThanOrEqual(8)
  await furnished(ways, 'acme')
  const { config } = ways.daemon
  const env = { ...databaseEnv(config), SVC_DATA_DIR: config.dataDir, SVC_BACKUP_DIR: backups }
  for (const line of lines) {
    const [program = '', ...words] = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    )
    const ran =
      program === 'svc'
        ? (await home.svc([...words, '--recovery', '--while-serving'], { env })).code
        : spawnSync('sh', ['-c', line], { cwd: home.folder, input: 'what-was-pasted\n' }).status
    expect([line, ran]).toEqual([line, 0])
  }
})
