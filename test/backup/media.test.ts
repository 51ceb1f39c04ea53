/** Files in an archive (items 8): their bytes once, whole or the export fails, and back again by the importer. */
import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { sweepWorkspace } from '../../src/core/areas/media/sweep.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { testDatabase } from '../kit/database.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { importArchive, readArchive } from './importer.ts'
import { examine, fileOf, storedAt, uploaded } from './workspace-files.ts'

let one: TestInstallation
let targetId: string
beforeAll(async () => {
  one = await testInstallation()
  const body = { name: 'disk', kind: 'LOCAL' as const, config: { path: 'archives' } }
  targetId = (await one.asRecovery(operations.createBackupTarget, { body })).id
})
afterAll(() => one.close())

const root = () => join(one.installation.config.backupDir, 'archives')
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
/** The names of the bytes that a target has of a workspace. */
const sentOf = (tenantId: string) => {
  const folder = join(root(), 'tenants', tenantId, 'media')
  return existsSync(folder) ? readdirSync(folder).sort() : []
}

/** Exports, with `between` after the snapshot and before any bytes are read. */
async function exported(tenantId: string, between?: () => Promise<unknown>) {
  const { job_id: jobId } = await one.asRecovery(operations.exportTenant, { tenantId, body: { target_id: targetId } })
  const { installation } = one
  const halting: Installation = {
    ...installation,
    async snapshot(id, work) {
      const read = await installation.snapshot(id, work)
      await between?.()
      return read
    },
  }
  const said = await exportTenantJob.run(halting, { tenantId, jobId }).catch((error: Error) => error)
  return { job: await one.asRecovery(operations.getJob, { jobId }), said }
}
const archiveOf = (path: string | undefined) => readArchive(join(root(), path ?? 'none'))

describe('files of a workspace', () => {
  test('go once for each content, and come back into another installation', async () => {
    const workspace = await one.provision()
    const { tenant, owner, collection_id: collectionId } = workspace
    const [large, small, waiting] = [someBytes(3_000_000), Buffer.from('Hello'), Buffer.from('not examined')]
    const files = [await fileOf(one, workspace, large), await fileOf(one, workspace, small)]
    const twin = await fileOf(one, workspace, small)
    const scanning = await uploaded(one, workspace, waiting)
    const refused = await fileOf(one, workspace, readFileSync('/bin/true'))
    const [begun, item] = [randomUUIDv7(), randomUUIDv7()]
    await one.oracle`
      insert into media (tenant_id, id, filename, size_bytes, received_bytes, writer, writer_until, created_by)
      values (${tenant.id}, ${begun}, 'begun', 9000000, 8388608, ${randomUUIDv7()}, now(), ${owner.account_id})`
    await one.oracle`
      insert into item (tenant_id, id, container_id, type, title, rank, created_by)
      values (${tenant.id}, ${item}, ${collectionId}, 'TASK', 'An item', 'a0', ${owner.account_id})`
    await one.oracle`
      insert into media_reference (tenant_id, item_id, media_id, name, added_by)
      values (${tenant.id}, ${item}, ${files[0]!}, 'minutes', ${owner.account_id})`

    const { job } = await exported(tenant.id)
    expect([job.state, job.failure]).toEqual(['SUCCEEDED', null])
    const archive = archiveOf(job.result?.path)
    expect(archive.manifest.media).toEqual({
      count: 2,
      bytes: large.length + small.length,
      unexamined: [{ media_id: scanning, bytes: waiting.length, sha256: sha256Of(waiting) }],
    })
    expect(sentOf(tenant.id)).toEqual([large, small, waiting].map(sha256Of).sort())
    expect(Number(job.progress.done)).toBeGreaterThan(large.length)
    expect(job.progress.done).toBe(job.progress.total)
    expect(
      archive.entities
        .get('media')
        ?.map(({ id, state }) => `${id} ${state}`)
        .sort(),
    ).toEqual(
      [
        ...[...files, twin].map((id) => `${id} READY`),
        `${scanning} SCANNING`,
        `${refused} REFUSED`,
        `${begun} UPLOADING`,
      ].sort(),
    )

    const other = await testDatabase()
    const dir = mkdtempSync(join(tmpdir(), 'svc-imported-'))
    try {
      await importArchive(other.sql, archive, dir)
      const imported = await other.sql`select name from media_reference where tenant_id = ${tenant.id}`
      expect(imported).toEqual([{ name: 'minutes' }])
      const bytesOf = (id: string) => readFileSync(join(dir, 'tenants', tenant.id, id))
      expect(bytesOf(files[0]!).equals(large)).toBe(true)
      for (const id of [files[1]!, twin]) expect(bytesOf(id)).toEqual(small)
      expect(bytesOf(scanning)).toEqual(waiting)
      expect(readdirSync(join(dir, 'tenants', tenant.id))).toHaveLength(4)
    } finally {
      rmSync(dir, { recursive: true, force: true })
      await other.drop()
    }
  })

  test('that are at the target are not sent again, and an unfinished one is', async () => {
    const workspace = await one.provision()
    const { id: tenantId } = workspace.tenant
    const [first, second] = [someBytes(5000), someBytes(6000)]
    await fileOf(one, workspace, first)
    await fileOf(one, workspace, second)
    await exported(tenantId)
    const at = (bytes: Buffer) => join(root(), 'tenants', tenantId, 'media', sha256Of(bytes))
    const inode = statSync(at(first)).ino
    writeFileSync(at(second), second.subarray(0, 100))
    const { job } = await exported(tenantId)
    expect(statSync(at(first)).ino).toBe(inode)
    expect(readFileSync(at(second)).equals(second)).toBe(true)
    expect(archiveOf(job.result?.path).manifest.media.count).toBe(2)
  })

  test('of two exports at once are whole', async () => {
    const workspace = await one.provision()
    const contents = Array.from({ length: 12 }, () => someBytes(400_000))
    for (const bytes of contents) await fileOf(one, workspace, bytes)
    const both = await Promise.all([exported(workspace.tenant.id), exported(workspace.tenant.id)])
    for (const { job } of both) expect(archiveOf(job.result?.path).manifest.media.count).toBe(contents.length)
  })

  test('are no archives in the list of them', async () => {
    const workspace = await one.provision()
    await fileOf(one, workspace, someBytes(300_000))
    const { job } = await exported(workspace.tenant.id)
    const { data } = await one.asRecovery(operations.listArchives, { targetId })
    const mine = data.filter(({ tenant_id }) => tenant_id === workspace.tenant.id)
    expect(mine).toMatchObject([{ path: job.result?.path, complete: true }])
    expect(Number(mine[0]?.size_bytes)).toBeLessThan(300_000)
  })
})

describe('between the snapshot and the reading', () => {
  test('a deleted file is still there', async () => {
    const workspace = await one.provision()
    const { id: tenantId } = workspace.tenant
    const bytes = someBytes(2000)
    const id = await fileOf(one, workspace, bytes)
    const { job } = await exported(tenantId, async () => {
      await one.oracle`update media set loose_since = now() - interval '90 days' where id = ${id}`
      await sweepWorkspace(one.installation, tenantId, new Date())
      await sweepWorkspace(one.installation, tenantId, new Date())
      expect(await one.oracle`select from media where id = ${id}`).toHaveLength(0)
    })
    const { manifest, entities } = archiveOf(job.result?.path)
    expect(manifest.media).toEqual({ count: 1, bytes: bytes.length })
    expect(entities.get('media')).toMatchObject([{ id, sha256: sha256Of(bytes) }])
  })

  test('a file may be examined, and refused', async () => {
    const workspace = await one.provision()
    const { id: tenantId } = workspace.tenant
    const good = Buffer.from('a text')
    const ids = [await uploaded(one, workspace, good), await uploaded(one, workspace, readFileSync('/bin/true'))]
    const { job } = await exported(tenantId, async () => {
      for (const id of ids) await examine(one, workspace, id)
    })
    expect(job.state).toBe('SUCCEEDED')
    const told = { media_id: ids[0], bytes: good.length, sha256: sha256Of(good) }
    expect(archiveOf(job.result?.path).manifest.media).toEqual({ count: 0, bytes: 0, unexamined: [told] })
  })
})

test('files that are missing or differ fail the job, which names all of them and puts no other bytes there', async () => {
  const workspace = await one.provision()
  const { id: tenantId } = workspace.tenant
  const good = someBytes(1000)
  await fileOf(one, workspace, good)
  const damaged = []
  for (let made = 0; made < 4; made += 1) damaged.push(await fileOf(one, workspace, someBytes(1000)))
  const [missing, other, shorter, waiting] = damaged.map((id) => storedAt(one, tenantId, id))
  rmSync(missing!)
  writeFileSync(other!, randomBytes(1000))
  writeFileSync(shorter!, randomBytes(10))
  await one.oracle`update media set state = 'SCANNING', sha256 = null where id = ${damaged[3]!}`
  rmSync(waiting!)

  const { job, said } = await exported(tenantId)
  expect(job).toMatchObject({ state: 'FAILED', failure: 'media.damaged' })
  expect([...(job.result?.damaged_media_ids ?? [])].sort()).toEqual([...damaged].sort())
  const text = String(said)
  for (const [at, id] of damaged.entries())
    expect(text).toContain(`${id} ${[0, 3].includes(at) ? 'is missing' : 'differs'}`)
  expect(sentOf(tenantId)).toEqual([sha256Of(good)])
  const archives = readdirSync(join(root(), 'tenants', tenantId)).filter((name) => name !== 'media')
  expect(archives).toEqual([])
  expect(readdirSync(join(one.installation.config.dataDir, 'spool'))).toEqual([])

  // What its message says to do.
  await one.oracle`delete from media where id in ${one.oracle(damaged)}`
  expect((await exported(tenantId)).job.state).toBe('SUCCEEDED')
})
