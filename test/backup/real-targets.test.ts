/**
 * S3 against OpenStack Swift, SFTP against OpenSSH: real servers on loopback, as Debian
 * packages them. Where they are not installed the tests say so and show nothing.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { S3mini } from 's3mini'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLegalHoldsAt } from '../../src/core/areas/backup/archive-holds.ts'
import { openArchive } from '../../src/core/areas/backup/archive-reader.ts'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { withStore } from '../../src/core/areas/backup/open-store.ts'
import type { Store } from '../../src/core/areas/backup/store.ts'
import { targetServing } from '../../src/core/areas/backup/target.ts'
import type { NewTargetConfig, TargetKind } from '../../src/core/contract/backup/operations.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { freePorts } from '../kit/outside-server.ts'
import { type Person, person, setUp } from '../kit/people.ts'
import { plantProof } from '../kit/proofs.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { hasSshd, type Sshd, startSshd } from '../kit/sshd.ts'
import { hasSwift, type Swift, startSwift } from '../kit/swift.ts'
import { fileOf } from './workspace-files.ts'

const missing = (what: string, packages: string) =>
  process.stderr.write(`\nNot shown: ${what} is not installed (apt-get install ${packages}).\n`)

let one: TestInstallation
beforeAll(async () => {
  one = await testInstallation({ env: { SVC_EGRESS_ALLOW: '127.0.0.1' } })
})
afterAll(() => one.close())

const add = async (kind: TargetKind, config: NewTargetConfig) =>
  (await one.asRecovery(operations.createBackupTarget, { body: { name: kind, kind, config } })).id

async function probe(daemon: TestDaemon, operator: Person, kind: TargetKind, config: NewTargetConfig) {
  const { token } = operator
  const headers = { 'x-service-step-up': await plantProof(daemon.db.sql, operator) }
  const body = { name: kind, kind, config }
  const made = await daemon.call('POST', '/api/v1/backup-targets', { token, headers, body })
  expect(made.status).toBe(201)
  return (await daemon.call('POST', `/api/v1/backup-targets/${made.json.id}:test`, { token })).json
}

/** Exports a workspace with more than one part of content, reads it back and verifies it. */
async function roundTrip(targetId: string): Promise<void> {
  const workspace = await one.provision()
  const { tenant } = workspace
  const files = [Buffer.from('a small file'), someBytes(17 * 1024 * 1024)]
  for (const bytes of files) await fileOf(one, workspace, bytes)
  const { job_id } = await one.asRecovery(operations.exportTenant, {
    tenantId: tenant.id,
    body: { target_id: targetId },
  })
  await exportTenantJob.run(one.installation, { tenantId: tenant.id, jobId: job_id })
  const job = await one.asRecovery(operations.getJob, { jobId: job_id })
  expect(job).toMatchObject({ state: 'SUCCEEDED', failure: null })
  const path = job.result?.path ?? ''

  const { data } = await one.asRecovery(operations.listArchives, { targetId })
  expect(data).toMatchObject([{ path, tenant_id: tenant.id, complete: true }])
  const target = await targetServing(one.installation, recoveryActor(), tenant.id, targetId)
  await withStore(one.installation, target!, async (store) => {
    const archive = await openArchive(store, path, tenant.id, one.installation.keyring)
    await archive.verify()
    expect(archive.manifest.files.length).toBeGreaterThan(5)
    expect(archive.manifest.media.count).toBe(files.length)
    for (const bytes of files) await expectSent(store, tenant.id, bytes)
    expect(await store.sizeOf(`tenants/${tenant.id}/media/${'0'.repeat(64)}`)).toBeUndefined()
    await big(store)
    await store.remove(path)
    await store.remove(path) // what is gone is removed
  })
  expect((await one.asRecovery(operations.listArchives, { targetId })).data).toEqual([])
}

/** The bytes of a file are at the target under their hash. */
async function expectSent(store: Store, tenantId: string, bytes: Buffer): Promise<void> {
  const path = `tenants/${tenantId}/media/${createHash('sha256').update(bytes).digest('hex')}`
  expect(await store.sizeOf(path)).toBe(bytes.length)
  const chunks: Buffer[] = []
  for await (const chunk of await store.get(path)) chunks.push(chunk as Buffer)
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
}

/** A file of several parts comes back to the byte, replaces another, and is listed with its size. */
async function big(store: Store): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-big-'))
  try {
    const bytes = Buffer.alloc(40 * 1024 * 1024 + 7, 'abcdefg')
    writeFileSync(join(folder, 'big'), bytes)
    writeFileSync(join(folder, 'small'), 'small')
    await store.put('tests/one/file', join(folder, 'small'))
    await store.put('tests/one/file', join(folder, 'big'))
    const chunks: Buffer[] = []
    for await (const chunk of await store.get('tests/one/file')) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
    const listed = []
    for await (const file of store.list('tests')) listed.push(file)
    expect(listed).toEqual([{ path: 'tests/one/file', sizeBytes: bytes.length }])
    await expect(store.get('tests/one/other')).rejects.toMatchObject({ reason: 'missing' })
    await store.remove('tests')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const allWell = {
  ok: true,
  steps: ['connect', 'write', 'read', 'remove'].map((name) => ({ name, ok: true, error: null })),
}
const fails = (error: string, after: string[] = []) => ({
  ok: false,
  steps: [
    ...after.map((name) => ({ name, ok: true, error: null })),
    { name: ['connect', 'write', 'read', 'remove'][after.length], ok: false, error },
  ],
})

describe.runIf(hasSshd)('SFTP', () => {
  let sshd: Sshd
  let daemon: TestDaemon
  let operator: Person
  const config = (more: Partial<NewTargetConfig> = {}): NewTargetConfig => ({
    host: '127.0.0.1',
    port: sshd.port,
    username: sshd.username,
    private_key: sshd.privateKey,
    host_key: sshd.hostKey,
    path: sshd.folder,
    ...more,
  })
  beforeAll(async () => {
    sshd = await startSshd()
    daemon = await testDaemon({ config: { egress: one.installation.config.egress } })
    operator = await person(daemon, (await setUp(daemon)).tenantId, { operator: true })
  })
  afterAll(async () => {
    await daemon.close()
    await sshd.stop()
  })

  test('an archive goes there and comes back', async () => {
    await roundTrip(await add('SFTP', config()))
    expect(readdirSync(sshd.folder).every((name) => ['tenants', 'tests'].includes(name))).toBe(true)
  })

  test(':test says which step fails and why', async () => {
    expect(await probe(daemon, operator, 'SFTP', config())).toEqual(allWell)
    expect(await probe(daemon, operator, 'SFTP', config({ private_key: sshd.strangerKey }))).toEqual(
      fails('credentials'),
    )
    expect(await probe(daemon, operator, 'SFTP', config({ private_key: 'no key at all' }))).toEqual(
      fails('credentials'),
    )
    // The right kind of key, and another server's.
    const other = await startSshd()
    try {
      expect(await probe(daemon, operator, 'SFTP', config({ host_key: other.hostKey }))).toEqual(fails('host_key'))
    } finally {
      await other.stop()
    }
    expect(await probe(daemon, operator, 'SFTP', config({ port: other.port }))).toEqual(fails('unreachable'))
    expect(await probe(daemon, operator, 'SFTP', config({ path: '/proc/version' }))).toMatchObject({ ok: false })
    expect(existsSync(join(sshd.folder, 'probes'))).toBe(true)
  })
})

describe.runIf(hasSwift)('S3', () => {
  let swift: Swift
  let daemon: TestDaemon
  let operator: Person
  const config = (more: Partial<NewTargetConfig> = {}): NewTargetConfig => ({
    endpoint: swift.endpoint,
    region: 'us-east-1',
    bucket: 'archives',
    prefix: 'svc/backups',
    access_key_id: swift.accessKeyId,
    secret_access_key: swift.secretAccessKey,
    ...more,
  })
  beforeAll(async () => {
    swift = await startSwift()
    daemon = await testDaemon({ config: { egress: one.installation.config.egress } })
    operator = await person(daemon, (await setUp(daemon)).tenantId, { operator: true })
    const admin = new S3mini({
      endpoint: `${swift.endpoint}/archives`,
      region: 'us-east-1',
      accessKeyId: swift.accessKeyId,
      secretAccessKey: swift.secretAccessKey,
    })
    await admin.createBucket()
  })
  afterAll(async () => {
    await daemon.close()
    await swift.stop()
  })

  test('an archive goes there and comes back', async () => {
    await roundTrip(await add('S3', config()))
  })

  test(':test says which step fails and why', async () => {
    const [nobody] = await freePorts(1)
    expect(await probe(daemon, operator, 'S3', config())).toEqual(allWell)
    expect(await probe(daemon, operator, 'S3', config({ secret_access_key: 'wrong' }))).toEqual(fails('credentials'))
    expect(await probe(daemon, operator, 'S3', config({ access_key_id: 'nobody:here' }))).toEqual(fails('credentials'))
    expect(await probe(daemon, operator, 'S3', config({ bucket: 'no-such-bucket' }))).toEqual(fails('missing'))
    expect(await probe(daemon, operator, 'S3', config({ endpoint: `http://127.0.0.1:${nobody}` }))).toEqual(
      fails('unreachable'),
    )
  })

  test('legal holds of an unknown archive are refused', async () => {
    const targetId = await add('S3', config())
    const { tenant } = await one.provision()
    const path = `tenants/${tenant.id}/20261120T115522Z-${crypto.randomUUID()}-1`
    await expect(
      readLegalHoldsAt(one.installation, recoveryActor(), tenant.id, { target_id: targetId, path }),
    ).rejects.toMatchObject({ code: 'archive.invalid', params: { reason: 'incomplete' } })
  })

  test('a store that fails half-way fails the job, which leaves no manifest', async () => {
    const targetId = await add('S3', config({ prefix: 'broken' }))
    const { tenant } = await one.provision()
    await swift.stopObjects()
    const { job_id } = await one.asRecovery(operations.exportTenant, {
      tenantId: tenant.id,
      body: { target_id: targetId },
    })
    await exportTenantJob.run(one.installation, { tenantId: tenant.id, jobId: job_id })
    expect(await one.asRecovery(operations.getJob, { jobId: job_id })).toMatchObject({
      state: 'FAILED',
      failure: 'target.failed',
    })
    expect((await one.asRecovery(operations.listArchives, { targetId })).data).toEqual([])
  })
})

test('what is not installed is said', () => {
  if (!hasSshd) missing('OpenSSH', 'openssh-server')
  if (!hasSwift) missing('OpenStack Swift', 'swift-proxy swift-account swift-container swift-object memcached')
  expect(readFileSync(new URL(import.meta.url), 'utf8')).toContain('apt-get install')
})
