/**
 * `POST /backups` (Keeping, 3): encrypted for the ring and for whoever the owner names, all that a workspace needs to go on,
 * readable with `age` and docs/archive-format.md alone; and nothing of it in clear.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import type postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backupTenantJob } from '../../src/core/areas/backup/backups/job.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import { testDatabase } from '../kit/database.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { furnish } from '../kit/leaving-workspace.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { identityOfRing, readBackupArchive } from './age-reader.ts'
import { importArchive } from './importer.ts'
import { fileOf, uploaded } from './workspace-files.ts'

let one: TestInstallation
let targetId: string
let identity: string
let recipient: string

beforeAll(async () => {
  one = await testInstallation()
  targetId = (
    await one.asRecovery(operations.createBackupTarget, {
      body: { name: 'disk', kind: 'LOCAL', config: { path: 'archives' } },
    })
  ).id
  identity = await generateX25519Identity()
  recipient = await identityToRecipient(identity)
})
afterAll(() => one.close())

const folderOf = (path: string | null) => join(one.installation.config.backupDir, 'archives', path ?? '')
const mediaOf = (tenantId: string) => join(one.installation.config.backupDir, 'archives', 'tenants', tenantId, 'media')

async function backedUp(tenantId: string, recipients: string[] = [recipient]) {
  const asked = await one.asRecovery(operations.createBackup, {
    body: { tenant_id: tenantId, target_id: targetId, recipients },
  })
  await backupTenantJob.run(one.installation, { tenantId, jobId: asked.job_id })
  return one.asRecovery(operations.getBackup, { backupId: asked.id })
}

/** A workspace with a row in every table, and files. */
async function workspace() {
  const provisioned = await one.provision()
  const { tenant, owner, collection_id } = provisioned
  await furnish(
    { sql: one.oracle, installation: one.installation },
    { id: tenant.id, ownerId: owner.account_id, collectionId: collection_id },
  )
  await one.oracle`delete from media_reference where tenant_id = ${tenant.id}`
  await one.oracle`delete from media where tenant_id = ${tenant.id}`
  await one.oracle`update account set password_hash = 'argon2id-of-ada' where tenant_id = ${tenant.id}`
  return provisioned
}

/** Every row that a backup holds, as the database has it. */
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
  for (const [table, { export: entity, backup, withheld = [], backupHolds = [] }] of Object.entries(workspaceTables))
    if (typeof entity === 'string' || backup !== undefined)
      await read(
        table,
        'tenant_id',
        withheld.filter((column) => !backupHolds.includes(column)),
      )
  return found
}

describe('a backup', () => {
  test('comes back with age and the page, by the owner’s key and by the ring’s: every row, factor, hash, sealed value and file', async () => {
    const mine = await workspace()
    const { tenant } = mine
    const files = [someBytes(200_000), Buffer.from('short'), someBytes(65_536)]
    for (const bytes of files) await fileOf(one, mine, bytes)
    const unexamined = someBytes(70_000)
    const unexaminedId = await uploaded(one, mine, unexamined)
    const asked = await one.asRecovery(operations.createBackup, {
      body: { tenant_id: tenant.id, target_id: targetId, recipients: [recipient] },
    })
    expect(asked).toMatchObject({ state: 'QUEUED', path: null, recipients: [{ kind: 'OUTSIDE', id: recipient }] })
    await backupTenantJob.run(one.installation, { tenantId: tenant.id, jobId: asked.job_id })
    const backup = await one.asRecovery(operations.getBackup, { backupId: asked.id })
    const keyId = one.installation.keyring.current
    expect(backup).toMatchObject({
      state: 'COMPLETE',
      failure: null,
      tenant_id: tenant.id,
      recipients: [
        { kind: 'RING', id: keyId },
        { kind: 'OUTSIDE', id: recipient },
      ],
      kept_by: ['NEWEST_GOOD', 'HAND'],
    })
    const folder = folderOf(backup.path)
    expect(Number(backup.size_bytes)).toBe(
      readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0),
    )

    const read = await readBackupArchive(folder, identity)
    expect(read.manifest).toMatchObject({
      kind: 'TENANT_BACKUP',
      tenant: { id: tenant.id, slug: tenant.slug },
      sealed_under: [keyId],
    })
    expect(read.manifest.files.reduce((sum, { rows }) => sum + rows, 0)).toBe(Number(backup.rows))
    for (const bytes of [...files, unexamined])
      expect([...read.contents.values()].some((found) => found.equals(bytes))).toBe(true)
    expect(read.entities.get('media_files')?.filter(({ media_id }) => media_id !== null)).toMatchObject([
      { media_id: unexaminedId },
    ])

    const other = await testDatabase()
    try {
      await importArchive(other.sql, { ...read, bytes: new Map() })
      const before = await contents(one.oracle, tenant.id)
      // Its own row moved on when it was complete.
      const own = (rows: Record<string, string[]>) => ({
        ...rows,
        backup: rows['backup']?.filter((row) => !row.includes(backup.id)),
      })
      expect(own(await contents(other.sql, tenant.id))).toEqual(own(before))
      for (const table of [
        'second_factor',
        'recovery_code',
        'password_history',
        'connected_identity',
        'identity_provider',
        'sealed_value',
        'backup_target',
        'backup',
      ])
        expect(before[table]?.length, table).toBeGreaterThan(0)
      expect(before['account']?.join()).toContain('argon2id-of-ada')
    } finally {
      await other.drop()
    }

    const ofRing = await readBackupArchive(folder, identityOfRing(one.env['SVC_KEYRING_FILE']!, keyId))
    expect([...ofRing.entities]).toEqual([...read.entities])
    await expect(readBackupArchive(folder, await generateX25519Identity())).rejects.toThrow()
  })

  test('has nothing in clear but ids, the slug, counts and hashes of what is encrypted', async () => {
    const mine = await workspace()
    const { tenant } = mine
    const canary = `canary-${crypto.randomUUID()}`
    await one.oracle`update container set name = ${canary} where tenant_id = ${tenant.id}`
    await one.oracle`update account set display_name = ${canary}, password_hash = ${canary} where tenant_id = ${tenant.id}`
    await fileOf(one, mine, Buffer.from(canary))
    const backup = await backedUp(tenant.id)
    const stored = [folderOf(backup.path), mediaOf(tenant.id)].flatMap((folder) =>
      readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name)).toString('latin1') })),
    )
    expect(stored.some(({ text }) => text.includes(tenant.id))).toBe(true)
    for (const { name, text } of stored) {
      expect(text, name).not.toContain(canary)
      if (name.endsWith('.age')) expect(text.startsWith('age-encryption.org/v1\n'), name).toBe(true)
      else expect(['manifest.json', 'manifest.sig']).toContain(name)
    }
    // Nobody without the ring can say which file it is: a hash of its content is nowhere.
    const { manifest, entities } = await readBackupArchive(folderOf(backup.path), identity)
    const hashes = (entities.get('media') ?? []).map(({ sha256 }) => String(sha256))
    expect(hashes).toHaveLength(1)
    const clear = stored.map(({ name, text }) => (name.startsWith('manifest') ? text : name)).join('\n')
    for (const hash of hashes) expect(clear).not.toContain(hash)
    expect(Object.keys(manifest).toSorted()).toEqual([
      'files',
      'format',
      'format_version',
      'job_id',
      'kind',
      'media',
      'omitted',
      'product_version',
      'recipients',
      'schema_version',
      'sealed_under',
      'snapshot_at',
      'tenant',
    ])
  })

  test('sends the bytes of a file once per target and recipients, and again for others, who could not read them', async () => {
    const mine = await one.provision()
    const { tenant } = mine
    const bytes = someBytes(100_000)
    await fileOf(one, mine, bytes)
    await backedUp(tenant.id)
    const [first] = readdirSync(mediaOf(tenant.id))
    const { mtimeMs, ino } = statSync(join(mediaOf(tenant.id), first!))
    await backedUp(tenant.id)
    expect(readdirSync(mediaOf(tenant.id))).toEqual([first])
    expect(statSync(join(mediaOf(tenant.id), first!))).toMatchObject({ mtimeMs, ino })

    const otherIdentity = await generateX25519Identity()
    const other = await backedUp(tenant.id, [await identityToRecipient(otherIdentity)])
    expect(readdirSync(mediaOf(tenant.id))).toHaveLength(2)
    const { contents: found } = await readBackupArchive(folderOf(other.path), otherIdentity)
    expect([...found.values()]).toEqual([bytes])
  })

  test('is encrypted for the ring alone where nobody is named', async () => {
    const { tenant } = await one.provision()
    const backup = await backedUp(tenant.id, [])
    expect(backup.recipients).toEqual([{ kind: 'RING', id: one.installation.keyring.current }])
    await expect(readBackupArchive(folderOf(backup.path), identity)).rejects.toThrow()
  })

  test('leaves nothing in the spool, which holds nothing in clear either', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-look-'))
    try {
      const { tenant } = await one.provision()
      await backedUp(tenant.id)
      expect(readdirSync(join(one.installation.config.dataDir, 'spool'))).toEqual([])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
