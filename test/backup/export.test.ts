/** `:export` (T-25, F-25): whole, one moment's, only its own, nothing sealed; importable from the page alone. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import type postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import { testDatabase } from '../kit/database.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { importArchive, readArchive } from './importer.ts'

let one: TestInstallation
let targetId: string

beforeAll(async () => {
  one = await testInstallation()
  targetId = (
    await one.asRecovery(operations.createBackupTarget, {
      body: { name: 'disk', kind: 'LOCAL', config: { path: 'archives' } },
    })
  ).id
})
afterAll(() => one.close())

const folderOf = (path: string) => join(one.installation.config.backupDir, 'archives', path)

/** Asks for an export and works it off. */
async function exported(tenantId: string, target = targetId) {
  const { job_id } = await one.asRecovery(operations.exportTenant, { tenantId, body: { target_id: target } })
  await exportTenantJob.run(one.installation, { tenantId, jobId: job_id })
  return one.asRecovery(operations.getJob, { jobId: job_id })
}

const entityTables = Object.entries(workspaceTables).filter(([, { export: entity }]) => typeof entity === 'string')

/** What an importer must bring back: every exported table's rows, without the columns that are withheld. */
async function contents(sql: postgres.Sql, tenantId: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  const read = async (table: string, owner: string, withheld: readonly string[]) => {
    const rows = await sql.unsafe<{ row: string }[]>(
      `select (to_jsonb(t) - string_to_array($2, ','))::text as row from ${table} t where ${owner} = $1 order by 1`,
      [tenantId, withheld.join(',')],
    )
    found[table] = rows.map(({ row }) => row)
  }
  await read('tenant', 'id', [])
  for (const [table, { withheld = [] }] of entityTables) await read(table, 'tenant_id', withheld)
  return found
}

const hostile = [
  '../../x',
  'a/b',
  '..',
  '.',
  '/etc/passwd',
  'con\u0001trol',
  '"quoted"\\',
  "it's",
  'line\nbreak\r\n',
  '\u2028\u2029',
  '😀'.repeat(60),
  'é'.repeat(100),
  '\u001b[31mred',
  '$(rm -rf)',
  '\\u0000',
]

async function furnish(tenantId: string): Promise<void> {
  const { oracle } = one
  for (const [at, name] of hostile.entries()) {
    const id = crypto.randomUUID()
    await oracle`insert into container (tenant_id, id, kind, name, description, rank) values (${tenantId}, ${id}, 'HUB', ${name}, ${name}, ${String(at)})`
    await oracle`insert into label (tenant_id, id, container_id, name, name_fold, color_token) values (${tenantId}, ${crypto.randomUUID()}, ${id}, ${name}, ${name}, 'red')`
  }
  await oracle`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'items', 9223372036854775807), (${tenantId}, 'media_bytes', 9007199254740993)`
}

describe('an archive', () => {
  test('is put at the target with its manifest, and the job says so', async () => {
    const { tenant } = await one.provision()
    const job = await exported(tenant.id)
    expect(job).toMatchObject({
      kind: 'TENANT_EXPORT',
      state: 'SUCCEEDED',
      failure: null,
      result: { target_id: targetId },
      progress: { phase: 'DONE' },
    })
    const { manifest, entities } = readArchive(folderOf(job.result?.path ?? ''))
    expect(manifest.tenant).toEqual({ id: tenant.id, slug: tenant.slug })
    expect(entities.get('workspace')).toMatchObject([{ id: tenant.id, slug: tenant.slug, state: 'ACTIVE' }])
    expect(entities.get('buckets')?.length).toBeGreaterThan(0)
    const { data } = await one.asRecovery(operations.listArchives, { targetId })
    expect(data.find(({ path }) => path === job.result?.path)).toMatchObject({
      tenant_id: tenant.id,
      complete: true,
      product_version: '0.1.0',
    })
  })

  test('imports into another installation, entity by entity the same, by an importer that knows the page only', async () => {
    const other = await testDatabase()
    try {
      for (let round = 0; round < 3; round += 1) {
        const { tenant } = await one.provision()
        await furnish(tenant.id)
        const job = await exported(tenant.id)
        await importArchive(other.sql, readArchive(folderOf(job.result?.path ?? '')))
        const before = await contents(one.oracle, tenant.id)
        expect(before['label']?.length).toBeGreaterThan(hostile.length)
        expect(await contents(other.sql, tenant.id)).toEqual(before)
      }
    } finally {
      await other.drop()
    }
  })

  test('holds nothing of another workspace, nothing sealed, no hash and no token', async () => {
    const [mine, theirs] = [await one.provision(), await one.provision()]
    const canary = `canary-${crypto.randomUUID()}`
    await one.oracle`update container set name = ${canary} where tenant_id = ${theirs.tenant.id}`
    await one.oracle`update account set password_hash = ${`argon2id-${canary}`} where tenant_id = ${mine.tenant.id}`
    const job = await exported(mine.tenant.id)
    const folder = folderOf(job.result?.path ?? '')
    const everything = readdirSync(folder)
      .map((name) =>
        (name.endsWith('.zst')
          ? zstdDecompressSync(readFileSync(join(folder, name)))
          : readFileSync(join(folder, name))
        ).toString('utf8'),
      )
      .join('\n')
    expect(everything).toContain(mine.tenant.id)
    for (const secret of [canary, theirs.tenant.id, theirs.tenant.slug, mine.redemption_token, 'password_hash'])
      expect(everything).not.toContain(secret)
    const hashes = await one.oracle<{ hash: Buffer }[]>`select hash from invitation where tenant_id = ${mine.tenant.id}`
    for (const { hash } of hashes) expect(everything).not.toContain(hash.toString('hex'))
  })

  test('no exported column is of a kind that secrets are kept in', async () => {
    const columns = await one.oracle<{ table_name: string; column_name: string; data_type: string }[]>`
      select table_name, column_name, data_type from information_schema.columns where table_schema = 'public'`
    const suspicious = columns.filter(
      ({ table_name, column_name, data_type }) =>
        typeof workspaceTables[table_name]?.export === 'string' &&
        (data_type === 'bytea' || /hash|secret|token|password/.test(column_name)) &&
        !data_type.startsWith('timestamp') &&
        !/^color_token$/.test(column_name) &&
        !workspaceTables[table_name]?.withheld?.includes(column_name),
    )
    expect(columns.length).toBeGreaterThan(50)
    expect(suspicious).toEqual([])
  })

  test('is one moment, whatever is written meanwhile', async () => {
    const { tenant } = await one.provision()
    const { oracle } = one
    // Two rows that every transaction keeps equal, far apart in the archive.
    await oracle`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenant.id}, 'items', 0)`
    await oracle`update account set display_name = '0' where tenant_id = ${tenant.id}`
    let stop = false
    let count = 0
    const writing = (async () => {
      while (!stop) {
        count += 1
        await oracle.begin(async (tx) => {
          await tx`update account set display_name = ${String(count)} where tenant_id = ${tenant.id}`
          await tx`update tenant_quota set ceiling = ${count} where tenant_id = ${tenant.id}`
        })
      }
    })()
    try {
      for (let round = 0; round < 10; round += 1) {
        await expect.poll(() => count).toBeGreaterThan(round * 3)
        const job = await exported(tenant.id)
        const { entities } = readArchive(folderOf(job.result?.path ?? ''))
        expect(entities.get('accounts')?.[0]?.['display_name']).toBe(String(entities.get('quotas')?.[0]?.['ceiling']))
      }
    } finally {
      stop = true
      await writing
    }
  })

  test('holds rows past many pages, each once, in memory that does not grow with them', async () => {
    const { tenant } = await one.provision()
    const [hub] = await one.oracle`select id from container where tenant_id = ${tenant.id} limit 1`
    await one.oracle`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token)
      select ${tenant.id}, gen_random_uuid(), ${hub?.['id']}, 'n' || n, 'many' || n, 'red' from generate_series(1, 9001) n`
    // 20 MB in rows that no page could hold together.
    await one.oracle`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token, description)
      select ${tenant.id}, gen_random_uuid(), ${hub?.['id']}, 'big', 'big' || n, 'red', repeat(md5(n::text), 32768) from generate_series(1, 20) n`
    const job = await exported(tenant.id)
    const { entities } = readArchive(folderOf(job.result?.path ?? ''))
    const ids = entities.get('labels')?.map(({ id }) => id) ?? []
    const [{ count } = { count: 0 }] = await one.oracle<
      { count: number }[]
    >`select count(*)::int as count from label where tenant_id = ${tenant.id}`
    expect(count).toBeGreaterThan(9021)
    expect([ids.length, new Set(ids).size]).toEqual([count, count])
  })

  test('is made for suspended and leaving workspaces, and not once a purge has begun', async () => {
    const { tenant } = await one.provision()
    await one.asRecovery(operations.suspendTenant, { tenantId: tenant.id })
    expect((await exported(tenant.id)).state).toBe('SUCCEEDED')
    await one.oracle`update tenant set state = 'PENDING_DELETION', purge_after = now() + interval '30 days' where id = ${tenant.id}`
    expect((await exported(tenant.id)).state).toBe('SUCCEEDED')
    await one.oracle`update tenant set purge_started_at = now() where id = ${tenant.id}`
    await expect(exported(tenant.id)).rejects.toThrow('admin.tenant_deletion_underway')
  })
})

describe('asking for one', () => {
  test('is audited and journalled with the target, and nothing of the content', async () => {
    const { tenant } = await one.provision()
    const job = await exported(tenant.id)
    const [entry] =
      await one.oracle`select action, subject_id, params from audit_entry where tenant_id = ${tenant.id} and action like '%export%'`
    expect(entry).toEqual({
      action: 'tenant.export_requested',
      subject_id: job.job_id,
      params: { target_id: targetId },
    })
    const [noted] =
      await one.oracle`select workspace_slug, params - 'os_user' - 'host' as params from journal where subject_id = ${job.job_id}`
    expect(noted).toEqual({ workspace_slug: tenant.slug, params: { target_id: targetId } })
  })

  test('stops at the quota, which counts what is under way and is exact among many at once', async () => {
    const { tenant } = await one.provision()
    const ask = () => one.asRecovery(operations.exportTenant, { tenantId: tenant.id, body: { target_id: targetId } })
    const asked = await Promise.allSettled(Array.from({ length: 10 }, ask))
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    expect(asked.filter((one) => one.status === 'rejected').map(({ reason }) => [reason.code, reason.params])).toEqual(
      Array.from({ length: 8 }, () => ['quota.exceeded', { quota: 'export_jobs', limit: 2, used: 2 }]),
    )
    const { export_jobs } = await one.asRecovery(operations.changeTenantQuotas, { tenantId: tenant.id, body: {} })
    expect(export_jobs).toMatchObject({ value: 2, used: 2 })
    await one.asRecovery(operations.changeTenantQuotas, { tenantId: tenant.id, body: { export_jobs: 3 } })
    expect((await ask()).state).toBe('QUEUED')
    await expect(ask()).rejects.toThrow('quota.exceeded')
  })

  test("a target of another workspace, or nobody's, is 422", async () => {
    const [mine, theirs] = [await one.provision(), await one.provision()]
    const foreign = crypto.randomUUID()
    await one.oracle`insert into backup_target (tenant_id, id, name, kind, config) values (${theirs.tenant.id}, ${foreign}, 'theirs', 'S3', '{}')`
    for (const target of [foreign, crypto.randomUUID()]) {
      const refused = await exported(mine.tenant.id, target).catch((error: unknown) => error)
      expect(refused).toMatchObject({
        code: 'request.invalid',
        errors: [{ pointer: '/target_id', code: 'reference.unknown' }],
      })
    }
  })
})

describe("a deletion's plan", () => {
  test('names the archives that will still hold the data, and does not hold once there is another', async () => {
    const { tenant } = await one.provision()
    const plan = () => one.asRecovery(operations.getDeletionPlan, { tenantId: tenant.id })
    const before = await plan()
    expect(before.backups).toEqual([])
    const first = await exported(tenant.id)
    await one.asRecovery(operations.exportTenant, { tenantId: tenant.id, body: { target_id: targetId } }) // not made yet
    const own = crypto.randomUUID()
    await one.oracle`
      insert into job (tenant_id, id, kind, state, finished_at, result)
      values (${tenant.id}, ${crypto.randomUUID()}, 'TENANT_EXPORT', 'SUCCEEDED', '2020-01-01T00:00:00Z', ${one.oracle.json({ target_id: own, path: 'older' })}),
             (${tenant.id}, ${crypto.randomUUID()}, 'TENANT_EXPORT', 'FAILED', now(), null)`
    const after = await plan()
    expect(after.backups).toEqual([
      { target_id: targetId, target_name: 'disk', path: first.result?.path, created_at: first.finished_at },
      { target_id: own, target_name: null, path: 'older', created_at: '2020-01-01T00:00:00.000Z' },
    ])
    expect(after.hash).not.toBe(before.hash)
    expect((await plan()).hash).toBe(after.hash)
  })
})

describe('what goes wrong', () => {
  test('an attempt that is not the current one cannot finish, and leaves no manifest', async () => {
    const { tenant } = await one.provision()
    const { job_id } = await one.asRecovery(operations.exportTenant, {
      tenantId: tenant.id,
      body: { target_id: targetId },
    })
    let running: Promise<void> | undefined
    await one.oracle.begin(async (tx) => {
      // The worker waits here, while somebody gives it up and counts on.
      await tx`lock table audit_entry in access exclusive mode`
      running = exportTenantJob.run(one.installation, { tenantId: tenant.id, jobId: job_id })
      await expect
        .poll(async () => (await tx`select from job where id = ${job_id} and state = 'RUNNING'`).count)
        .toBe(1)
      await tx`update job set attempt = attempt + 1 where id = ${job_id}`
    })
    await running
    expect((await one.asRecovery(operations.getJob, { jobId: job_id })).state).toBe('RUNNING')
    const path = join(one.installation.config.backupDir, 'archives', 'tenants', tenant.id)
    const archives = existsSync(path) ? readdirSync(path) : []
    expect(archives.filter((name) => existsSync(join(path, name, 'manifest.json')))).toEqual([])
  })

  test('a link out of the folder is not followed, and the job is FAILED', async () => {
    const outside = join(one.installation.config.dataDir, 'outside')
    mkdirSync(outside)
    const target = await one.asRecovery(operations.createBackupTarget, {
      body: { name: 'trap', kind: 'LOCAL', config: { path: 'trap' } },
    })
    mkdirSync(join(one.installation.config.backupDir, 'trap'))
    symlinkSync(outside, join(one.installation.config.backupDir, 'trap', 'tenants'))
    const { tenant } = await one.provision()
    expect(await exported(tenant.id, target.id)).toMatchObject({
      state: 'FAILED',
      failure: expect.stringMatching(/^target\./),
      result: null,
    })
    expect(readdirSync(outside)).toEqual([])
  })

  test('a target that is a file, and one that is gone, fail the job and nothing else', async () => {
    const { tenant } = await one.provision()
    writeFileSync(join(one.installation.config.backupDir, 'plain'), 'x')
    const target = await one.asRecovery(operations.createBackupTarget, {
      body: { name: 'file', kind: 'LOCAL', config: { path: 'plain' } },
    })
    expect(await exported(tenant.id, target.id)).toMatchObject({ state: 'FAILED', failure: 'target.missing' })
    const { job_id } = await one.asRecovery(operations.exportTenant, {
      tenantId: tenant.id,
      body: { target_id: target.id },
    })
    await one.asRecovery(operations.deleteBackupTarget, { targetId: target.id })
    await exportTenantJob.run(one.installation, { tenantId: tenant.id, jobId: job_id })
    expect(await one.asRecovery(operations.getJob, { jobId: job_id })).toMatchObject({
      state: 'FAILED',
      failure: 'target.missing',
    })
    // The same again, to a target that works.
    expect((await exported(tenant.id)).state).toBe('SUCCEEDED')
  })
})

describe('holds from an archive', () => {
  const point = '2026-03-01T12:00:00.000Z'
  const plant = (tenantId: string, id: string, releasedAt: string | null) => one.oracle`
    insert into legal_hold (tenant_id, id, scope_kind, reason, placed_by, placed_at, released_at, released_by)
    values (${tenantId}, ${id}, 'TENANT', 'case 4711', ${crypto.randomUUID()}, '2026-02-01T08:00:00Z', ${releasedAt}, ${releasedAt && crypto.randomUUID()})`

  test('are put back in force, once; with the same ones given beside it, and with others', async () => {
    const { tenant } = await one.provision()
    const [lost, rewound, over, other] = Array.from({ length: 4 }, () => crypto.randomUUID()) as [
      string,
      string,
      string,
      string,
    ]
    await plant(tenant.id, lost, null)
    await plant(tenant.id, rewound, '2026-03-02T00:00:00Z')
    await plant(tenant.id, over, '2026-02-20T00:00:00Z')
    await exported(tenant.id)
    const { data } = await one.asRecovery(operations.listArchives, { targetId })
    const { path } = data.find((backup) => backup.tenant_id === tenant.id)!
    const [kept] = await one.oracle<{ placed_by: string }[]>`select placed_by from legal_hold where id = ${lost}`
    await one.oracle`delete from legal_hold where tenant_id = ${tenant.id}`

    const scope = { kind: 'TENANT' as const }
    const hold = {
      id: lost,
      scope,
      reason: 'case 4711',
      placed_by: kept!.placed_by,
      placed_at: '2026-02-01T09:00:00+01:00',
    }
    const beside = { ...hold, id: other }
    const replace = (holds: (typeof hold)[] = []) =>
      one.asRecovery(operations.replaceLegalHolds, {
        tenantId: tenant.id,
        body: { recovery_point: point, holds, archive: { target_id: targetId, path } },
      })
    await expect(replace([{ ...hold, reason: 'another case' }])).rejects.toMatchObject({
      code: 'retention.hold_differs',
    })
    expect(await one.oracle`select 1 from legal_hold where tenant_id = ${tenant.id}`).toHaveLength(0)
    const first = await replace([hold, beside])
    expect(first.placed.map(({ id }) => id).sort()).toEqual([lost, rewound, other].sort())
    const inForce = await one.oracle`select 1 from legal_hold where tenant_id = ${tenant.id} and released_at is null`
    expect(inForce).toHaveLength(3)
    expect((await replace()).placed).toEqual([])
  })

  test("another workspace's archive, and one that is not there, place nothing", async () => {
    const { tenant } = await one.provision()
    const { tenant: stranger } = await one.provision()
    await plant(stranger.id, crypto.randomUUID(), null)
    await exported(stranger.id)
    const { data } = await one.asRecovery(operations.listArchives, { targetId })
    const { path } = data.find((backup) => backup.tenant_id === stranger.id)!
    for (const given of [path, `${path}x`, '../outside']) {
      const sent = {
        tenantId: tenant.id,
        body: { recovery_point: point, archive: { target_id: targetId, path: given } },
      }
      await expect(one.asRecovery(operations.replaceLegalHolds, sent)).rejects.toMatchObject({
        code: expect.stringMatching(/^archive\.|^backup\./),
      })
    }
    expect(await one.oracle`select 1 from legal_hold where tenant_id = ${tenant.id}`).toHaveLength(0)
  })
})
