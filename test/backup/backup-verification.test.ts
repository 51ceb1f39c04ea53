/** `:verify` (Keeping, 3, N18): every change of an archive is found, and the row, the mail and the keeping follow. */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations as ops } from '../../src/core/contract/operations.ts'
import type { TwoWays } from '../kit/two-ways.ts'
import { type BackupDesk, backupDesk, refusal } from './backup-desk.ts'
import { fileOf } from './workspace-files.ts'

let desk: BackupDesk
let both: TwoWays
let targetId: string
beforeAll(async () => {
  desk = await backupDesk()
  both = desk.both
  targetId = desk.targetId
})
afterAll(() => both.close())

const at = (path: string | null) => desk.at(path)
const workspace = () => desk.workspace()
const ask: BackupDesk['ask'] = (...asked) => desk.ask(...asked)
const backedUp: BackupDesk['backedUp'] = (...asked) => desk.backedUp(...asked)
const show: BackupDesk['show'] = (...asked) => desk.show(...asked)
const verify: BackupDesk['verify'] = (...asked) => desk.verify(...asked)

describe('a verification', () => {
  /** Changes a stored file; answers how to put it back. */
  function spoilt(path: string, change: (bytes: Buffer) => Buffer): () => void {
    const before = readFileSync(path)
    writeFileSync(path, change(Buffer.from(before)))
    return () => writeFileSync(path, before)
  }
  const flip = (bytes: Buffer) => {
    bytes[bytes.length - 1]! ^= 1
    return bytes
  }

  test('reads every byte, files of people too, and the row says so', async () => {
    const mine = await workspace()
    await fileOf(
      { installation: both.installation, oracle: both.sql },
      { tenant: { id: mine.id }, owner: { account_id: mine.ownerId } },
      Buffer.alloc(100_000, 7),
    )
    const backup = await backedUp(mine.id)
    const job = await verify(backup, 'api')
    expect(job).toMatchObject({
      kind: 'BACKUP_VERIFY',
      state: 'SUCCEEDED',
      result: { target_id: targetId, path: backup.path },
    })
    expect(Number(job.progress.done)).toBeGreaterThan(100_000)
    const { verified } = await show(backup.id)
    expect(verified).toMatchObject([{ depth: 'HASHES', ok: true, failure: null }])

    const media = at(`tenants/${mine.id}/media`)
    const [name] = readdirSync(media)
    for (const [change, failure] of [
      [flip, 'archive.checksum'],
      [(bytes: Buffer) => bytes.subarray(0, -20), 'archive.checksum'],
      [() => Buffer.alloc(0), 'archive.checksum'],
    ] as const) {
      const back = spoilt(join(media, name!), change)
      expect((await verify(backup)).failure).toBe(failure)
      back()
    }
    renameSync(join(media, name!), join(media, 'gone'))
    expect((await verify(backup)).failure).toBe('archive.media_missing')
    renameSync(join(media, 'gone'), join(media, name!))
    expect((await verify(backup)).state).toBe('SUCCEEDED')
    expect((await show(backup.id)).verified.map(({ ok }) => ok)).toEqual([true, false, false, false, false, true])
  })

  test('finds each change of an archive, and one that is damaged keeps an older one from going', async () => {
    const mine = await workspace()
    const old = await backedUp(mine.id)
    const backup = await backedUp(mine.id)
    const file = join(at(backup.path), 'labels.jsonl.zst.age')
    for (const [path, change, failure] of [
      [file, flip, 'archive.checksum'],
      [file, (bytes: Buffer) => Buffer.concat([bytes, bytes]), 'archive.too_long'],
      [join(at(backup.path), 'manifest.sig'), () => Buffer.from('{}'), 'archive.unsigned'],
      [
        join(at(backup.path), 'manifest.json'),
        (bytes: Buffer) => Buffer.from(bytes.toString().replace('"slug": "', '"slug": "x')),
        'archive.unsigned',
      ],
    ] as const) {
      const back = spoilt(path, change)
      expect((await verify(backup)).failure).toBe(failure)
      back()
      const [newer, older] = [await show(backup.id), await show(old.id)]
      expect([newer.kept_by, older.kept_by, newer.failure]).toEqual([['HAND'], ['NEWEST_GOOD', 'HAND'], failure])
      expect(await refusal(both.call('recovery', ops.removeBackup, { backupId: old.id }))).toEqual([
        'backup.kept',
        { reason: 'NEWEST_GOOD' },
      ])
    }
    expect((await verify(backup)).state).toBe('SUCCEEDED')
    expect((await show(backup.id)).kept_by).toEqual(['NEWEST_GOOD', 'HAND'])
  })

  test('says MISSING where the archive is gone, and COMPLETE when it is back', async () => {
    const mine = await workspace()
    const backup = await backedUp(mine.id)
    renameSync(at(backup.path), at('aside'))
    expect((await verify(backup)).failure).toBe('archive.incomplete')
    expect(await show(backup.id)).toMatchObject({ state: 'MISSING', failure: 'archive.incomplete', kept_by: ['HAND'] })
    renameSync(at('aside'), at(backup.path))
    expect((await verify(backup)).state).toBe('SUCCEEDED')
    expect(await show(backup.id)).toMatchObject({ state: 'COMPLETE', failure: null, kept_by: ['NEWEST_GOOD', 'HAND'] })
  })

  test('refuses what a stranger wrote: encrypted for our own recipient, but not signed by us; and another’s archive', async () => {
    const [mine, theirs] = [await workspace(), await workspace()]
    const [backup, foreign] = [await backedUp(mine.id), await backedUp(theirs.id)]
    // Their whole archive in the place of ours.
    renameSync(at(backup.path), at('aside'))
    renameSync(at(foreign.path), at(backup.path))
    expect((await verify(backup)).failure).toBe('archive.other_workspace')
    renameSync(at(backup.path), at(foreign.path))
    renameSync(at('aside'), at(backup.path))
    // One file of theirs among ours, with a manifest that says so.
    const name = 'labels.jsonl.zst.age'
    const theirManifest = JSON.parse(readFileSync(join(at(foreign.path), 'manifest.json'), 'utf8'))
    const manifest = JSON.parse(readFileSync(join(at(backup.path), 'manifest.json'), 'utf8'))
    const of = (entity: string, { files }: { files: { entity: string }[] }) =>
      files.findIndex((one) => one.entity === entity)
    manifest.files[of('labels', manifest)] = theirManifest.files[of('labels', theirManifest)]
    writeFileSync(join(at(backup.path), name), readFileSync(join(at(foreign.path), name)))
    writeFileSync(join(at(backup.path), 'manifest.json'), JSON.stringify(manifest))
    expect((await verify(backup)).failure).toBe('archive.unsigned')
  })

  test('of a target that is away says nothing of the backup, and a backup that is not whole is refused', async () => {
    const mine = await workspace()
    const backup = await backedUp(mine.id)
    const folder = at('')
    renameSync(folder, `${folder}-away`)
    writeFileSync(folder, 'no folder')
    try {
      expect((await verify(backup)).failure).toMatch(/^target\./)
      expect(await show(backup.id)).toMatchObject({
        state: 'COMPLETE',
        failure: null,
        kept_by: ['NEWEST_GOOD', 'HAND'],
      })
    } finally {
      rmSync(folder)
      renameSync(`${folder}-away`, folder)
    }
    const asked = await ask('recovery', mine.id)
    expect(await refusal(verify(asked))).toEqual(['backup.state', { state: 'QUEUED' }])
  })

  test('that fails is mailed to the administrators, and to the operators where the target is theirs', async () => {
    const mine = await workspace()
    const backup = await backedUp(mine.id)
    rmSync(at(backup.path), { recursive: true })
    await verify(backup)
    const told = await both.sql<{ name: string; data: { name: string } }[]>`
      select name, data from pgboss.job where data->>'name' in ('backup_damaged', 'backup_damaged_told') and created_on > now() - interval '1 minute'
      and (data->>'tenantId' = ${mine.id} or data->>'name' = 'backup_damaged_told') order by data->>'name'`
    expect(told.map(({ name, data }) => [name, data.name])).toContainEqual(['tell_administrators', 'backup_damaged'])
    const entries = await both.sql`
      select params->>'failure' as failure from audit_entry where tenant_id = ${mine.id} and action = 'tenant.backup_verification_failed'`
    expect([...entries]).toEqual([{ failure: 'archive.incomplete' }])
    expect(
      await both.sql`select from journal where workspace_id = ${mine.id} and action = 'tenant.backup_verification_failed'`,
    ).toHaveLength(1)
  })
})
