/** Backups that are restored for a try: what is good comes out as it went in, what is not is said by its code, and nothing stays. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { sweepScratchJob, verifyBackupJob } from '../../src/core/areas/backup/backups/verification.ts'
import { membersOf } from '../../src/core/areas/backup/loading/raw-line.ts'
import { RowsDigest } from '../../src/core/areas/backup/loading/rows-digest.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type TwoWays, ways } from '../kit/two-ways.ts'
import { type BackupDesk, backupDesk, refusal } from './backup-desk.ts'
import { fileOf } from './workspace-files.ts'

let desk: BackupDesk
let both: TwoWays
beforeAll(async () => {
  desk = await backupDesk()
  both = desk.both
})
afterAll(() => both.close())

const ask = { depth: 'RESTORE' as const }
/** Queued at the database, and done by this installation. */
async function tried({ id, tenant_id: tenantId }: Backup, by: Installation = both.installation) {
  const { job_id } = await both.call('recovery', ops.verifyBackup, { backupId: id, body: ask })
  await verifyBackupJob.run(by, { tenantId, jobId: job_id })
  return both.call('recovery', ops.getJob, { jobId: job_id })
}
const with_ = (more: Partial<Installation>): Installation =>
  Object.create(both.installation, Object.fromEntries(Object.entries(more).map(([name, value]) => [name, { value }])))
const schemas = async () =>
  (await both.sql<{ name: string }[]>`select nspname as name from pg_namespace where nspname like 'scratch%'`).map(
    ({ name }) => name,
  )

describe.each(ways)('a try by %s', (way) => {
  test('of what is good has every row and every file, and leaves nothing', async () => {
    const mine = await desk.workspace()
    await fileOf(
      { installation: both.installation, oracle: both.sql },
      { tenant: { id: mine.id }, owner: { account_id: mine.ownerId } },
      Buffer.alloc(50_000, 3),
    )
    await both.sql`
      update label set description = ${'a "quoted" \\ back\tslash\nand\u0001 a line\u2028 end'}
      where tenant_id = ${mine.id} and id = (select id from label where tenant_id = ${mine.id} limit 1)`
    await both.sql`update tenant_quota set ceiling = 9223372036854775807 where tenant_id = ${mine.id}`
    const backup = await desk.backedUp(mine.id)
    const { job_id } = await both.call(way, ops.verifyBackup, { backupId: backup.id, body: ask })
    await verifyBackupJob.run(both.installation, { tenantId: mine.id, jobId: job_id })
    const job = await both.call(way, ops.getJob, { jobId: job_id })
    expect(job).toMatchObject({ kind: 'BACKUP_VERIFY', state: 'SUCCEEDED', failure: null })
    expect(Number(job.progress.done)).toBeGreaterThan(50_000)
    expect((await desk.show(backup.id)).verified).toMatchObject([{ depth: 'RESTORE', ok: true, failure: null }])
    expect(await schemas()).toEqual([])
  })
})

test('many rows go and come through buffers of any size', async () => {
  const mine = await desk.workspace()
  await both.sql`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token, description)
    select ${mine.id}, gen_random_uuid(), ${mine.collectionId}, 'n', 'many' || n, 'red', repeat(md5(n::text), n % 40) from generate_series(1, 20000) n`
  const backup = await desk.backedUp(mine.id)
  expect((await tried(backup)).state).toBe('SUCCEEDED')
  await both.sql`delete from label where tenant_id = ${mine.id} and name_fold like 'many%'`
}, 60_000)

describe('a try finds', () => {
  test('a row whose reference is missing, and one that is there twice', async () => {
    const mine = await desk.workspace()
    const { sql } = both
    const [{ definition, name } = { definition: '', name: '' }] = await sql<{ name: string; definition: string }[]>`
      select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
      where conrelid = 'item_label'::regclass and contype = 'f' and confrelid = 'label'::regclass`
    await sql.unsafe(`alter table item_label drop constraint "${name}"`)
    await sql`
      insert into item_label (tenant_id, item_id, label_id) select tenant_id, id, gen_random_uuid() from item where tenant_id = ${mine.id} limit 1`
    const backup = await desk.backedUp(mine.id)
    await sql`
      delete from item_label i where tenant_id = ${mine.id} and not exists (select from label l where l.tenant_id = i.tenant_id and l.id = i.label_id)`
    await sql.unsafe(`alter table item_label add constraint "${name}" ${definition}`)
    expect((await tried(backup)).failure).toBe('archive.keys')
    expect(await desk.show(backup.id)).toMatchObject({
      failure: 'archive.keys',
      verified: [{ depth: 'RESTORE', ok: false, failure: 'archive.keys' }],
    })
    // Every byte is as it was written, all the same.
    expect((await desk.verify(backup)).state).toBe('SUCCEEDED')
    const told = await sql`
      select from audit_entry where tenant_id = ${mine.id} and action = 'tenant.backup_verification_failed'`
    expect(told).toHaveLength(1)
  })

  test('a value that its column does not take, and one that comes out otherwise', async () => {
    const mine = await desk.workspace()
    const { sql } = both
    await sql`update label set description = 'four' where tenant_id = ${mine.id}`
    const backup = await desk.backedUp(mine.id)
    const failureWith = async (type: string) => {
      await sql.unsafe(`alter table label alter column description type ${type} using null`)
      try {
        return (await tried(backup)).failure
      } finally {
        await sql.unsafe('alter table label alter column description type text')
      }
    }
    expect(await failureWith('integer')).toBe('archive.value')
    expect(await failureWith('bytea')).toBe('archive.differs')
    expect((await tried(backup)).state).toBe('SUCCEEDED')
  })

  test('nothing in columns and tables that are new, or gone since', async () => {
    const mine = await desk.workspace()
    const { sql } = both
    await sql`alter table label add column gone_since text default 'x'`
    const backup = await desk.backedUp(mine.id)
    await sql`alter table label drop column gone_since`
    await sql`alter table label add column new_since text not null default 'y'`
    try {
      expect(await tried(backup)).toMatchObject({ state: 'SUCCEEDED', failure: null })
    } finally {
      await sql`alter table label drop column new_since`
    }
  })
})

describe('a database for tries', () => {
  test('that is missing refuses the try, and one that fails says nothing of the backup', async () => {
    const mine = await desk.workspace()
    const backup = await desk.backedUp(mine.id)
    const without = with_({ owner: undefined })
    const asked = { backupId: backup.id, body: ask }
    expect(await refusal(performForAnswer(without, ops.verifyBackup, recoveryActor(), asked))).toEqual([
      'backup.no_scratch',
      {},
    ])
    // The daemon's login may make no schema.
    const asDaemon = with_({ owner: both.installation.address })
    expect(await refusal(performForAnswer(asDaemon, ops.verifyBackup, recoveryActor(), asked))).toEqual([
      'backup.no_scratch',
      {},
    ])
    const nobody = { ...both.installation.address, port: 1 }
    expect(await refusal(performForAnswer(with_({ owner: nobody }), ops.verifyBackup, recoveryActor(), asked))).toEqual(
      ['backup.no_scratch', {}],
    )
    const body = {
      name: 'x',
      target_id: desk.targetId,
      cron: '0 2 * * *',
      tenants: 'ALL' as const,
      verify: 'RESTORE' as const,
    }
    expect(await refusal(performForAnswer(without, ops.createBackupSchedule, recoveryActor(), { body }))).toEqual([
      'backup.no_scratch',
      {},
    ])
    const schedule = await both.call('recovery', ops.createBackupSchedule, { body })
    const change = { scheduleId: schedule.id, body: { verify: 'RESTORE' as const } }
    expect(await refusal(performForAnswer(without, ops.changeBackupSchedule, recoveryActor(), change))).toEqual([
      'backup.no_scratch',
      {},
    ])
    await both.call('recovery', ops.deleteBackupSchedule, { scheduleId: schedule.id })
    expect((await tried(backup, with_({ owner: nobody }))).failure).toBe('scratch.failed')
    expect(await desk.show(backup.id)).toMatchObject({
      state: 'COMPLETE',
      failure: null,
      kept_by: ['NEWEST_GOOD', 'HAND'],
    })
  })

  test('may be another one', async () => {
    const mine = await desk.workspace()
    const backup = await desk.backedUp(mine.id)
    const { owner, config } = both.installation
    const database = `test_scratch_${Date.now()}`
    await both.sql.unsafe(`create database ${database} owner "${owner!.user}"`)
    try {
      const elsewhere = with_({ owner: undefined, config: { ...config, scratch: { ...owner!, database } } })
      expect(await tried(backup, elsewhere)).toMatchObject({ state: 'SUCCEEDED', failure: null })
    } finally {
      await both.sql.unsafe(`drop database ${database} with (force)`)
    }
  })

  test('is swept of tries that are over, and of no others', async () => {
    const mine = await desk.workspace()
    const { sql, installation } = both
    const [over, running] = [crypto.randomUUID(), crypto.randomUUID()]
    await sql`insert into job (tenant_id, id, kind, state, attempt, started_at, beat_at) values (${mine.id}, ${running}, 'BACKUP_VERIFY', 'RUNNING', 1, now(), now())`
    const made: string[] = []
    for (const [jobId, whose] of [
      [over, `svc ${installation.identity.id}`],
      [running, `svc ${installation.identity.id}`],
      [over, 'svc another'],
    ] as const) {
      const name = `scratch_${jobId.replaceAll('-', '')}_${made.length}`
      await sql.unsafe(`create schema "${name}" authorization "${installation.owner!.user}"`)
      await sql.unsafe(`comment on schema "${name}" is '${whose}'`)
      made.push(name)
    }
    await sweepScratchJob.run(installation, {})
    expect(await schemas()).toEqual(expect.arrayContaining(made.slice(1)))
    expect(await schemas()).not.toContain(made[0])
    for (const name of made.slice(1)) await sql.unsafe(`drop schema "${name}"`)
  })
})

test('a line is taken apart without reading its values, and what is none is refused', async () => {
  expect(membersOf('{"a":"x,\\"}","b":{"c":[1,{"d":"]"}]},"e":12345678901234567890.5,"f":null}')).toEqual([
    ['a', '"x,\\"}"'],
    ['b', '{"c":[1,{"d":"]"}]}'],
    ['e', '12345678901234567890.5'],
    ['f', 'null'],
  ])
  for (const line of ['', '{', '[]', '{}', '{"a"}', '{"a":1', '{"a":1}x', '{"a":"x', '{"a":1 "b":2}', '{a:1}'])
    expect([line, await refusal(Promise.resolve().then(() => membersOf(line)))]).toEqual([
      line,
      ['archive.invalid', { reason: 'line' }],
    ])
  const [one, other, fewer] = [new RowsDigest(), new RowsDigest(), new RowsDigest()]
  one.addLines(Buffer.from('a\nb\nb\n'))
  other.addLines(Buffer.from('b\na\nb\n'))
  fewer.addLines(Buffer.from('a\nb\n'))
  expect([one.equals(other), one.equals(fewer)]).toEqual([true, false])
})
