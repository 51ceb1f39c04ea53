/** Schedules of backups, by both ways and by the people of a workspace: what is asked of them, and how they run. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BackupSchedule, usualKeep } from '../../src/core/contract/backup/schedules.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { installationScope } from '../../src/core/contract/vocabulary.ts'
import { person } from '../kit/people.ts'
import { type TwoWays, ways } from '../kit/two-ways.ts'
import { type BackupDesk, backupDesk, refusal } from './backup-desk.ts'
import { type ScheduleDesk, scheduleDesk } from './schedule-desk.ts'

let desk: BackupDesk
let both: TwoWays
let runs: ScheduleDesk
beforeAll(async () => {
  desk = await backupDesk()
  both = desk.both
  runs = scheduleDesk(desk)
})
afterAll(() => both.close())

const invalid = (pointer: string, code: string, params = {}) => ['request.invalid', [{ pointer, code, params }]]

describe.each(ways)('a schedule by %s', (way) => {
  const clear = async () => {
    for (const { id } of (await both.call(way, ops.listBackupSchedules, {})).data)
      await both.call(way, ops.deleteBackupSchedule, { scheduleId: id })
  }

  test('has its usual values, and the next time of its expression, up to ten minutes later', async () => {
    const made = await both.call(way, ops.createBackupSchedule, {
      body: { name: 'nightly', target_id: desk.targetId, cron: '30 2 * * *', tenants: 'ALL' },
    })
    expect(made).toMatchObject({
      ...{ name: 'nightly', time_zone: 'UTC', tenants: 'ALL', keep: usualKeep, verify: 'HASHES', recipients: [] },
      ...{ is_enabled: true, paused_reason: null, last_run: null, consecutive_failures: 0, version: 1 },
    })
    const at = new Date(made.next_run_at!)
    const minutes = at.getUTCHours() * 60 + at.getUTCMinutes() - 150
    expect([minutes >= 0, minutes < 10]).toEqual([true, true])
    expect(Date.parse(made.next_run_at!) - Date.now()).toBeLessThan(86_400_000 + 600_000)
    expect((await both.call(way, ops.listBackupSchedules, {})).data).toEqual([made])
    await clear()
    expect((await both.call(way, ops.listBackupSchedules, {})).data).toEqual([])
  })

  test('refuses what it cannot do', async () => {
    const [{ id: tenantId }, recipient] = [
      await desk.workspace(),
      await identityToRecipient(await generateX25519Identity()),
    ]
    const unknown = crypto.randomUUID()
    const body = { name: 'x', target_id: desk.targetId, cron: '0 2 * * *', tenants: 'ALL' as const }
    const none = Object.fromEntries(Object.keys(usualKeep).map((name) => [name, 0]))
    const cases: [object, unknown][] = [
      [{ cron: '*/5 * * * *' }, invalid('/cron', 'value.format', { format: 'cron' })],
      [{ cron: '0 2 31 2 *' }, invalid('/cron', 'value.format', { format: 'cron' })],
      [{ time_zone: 'Mars/Olympus' }, invalid('/time_zone', 'time_zone.unknown')],
      [{ target_id: unknown }, invalid('/target_id', 'reference.unknown')],
      [{ tenants: undefined }, invalid('/tenants', 'member.required')],
      [{ tenants: [tenantId, unknown] }, invalid('/tenants/1', 'reference.unknown')],
      [{ tenants: [tenantId, tenantId] }, invalid('/tenants', 'list.unique')],
      [{ keep: none }, invalid('/keep', 'value.minimum', { minimum: 1 })],
      [{ recipients: [recipient, recipient] }, invalid('/recipients', 'list.unique')],
      [
        { recipients: [`${recipient.slice(0, -1)}${recipient.endsWith('q') ? 'p' : 'q'}`] },
        invalid('/recipients/0', 'value.format', { format: 'age-recipient' }),
      ],
    ]
    for (const [more, expected] of cases)
      expect([more, await refusal(both.call(way, ops.createBackupSchedule, { body: { ...body, ...more } }))]).toEqual([
        more,
        expected,
      ])
    const scheduleId = unknown
    expect(await refusal(both.call(way, ops.deleteBackupSchedule, { scheduleId }))).toEqual(['not_found', {}])
    expect(await refusal(both.call(way, ops.changeBackupSchedule, { scheduleId, body: {} }))).toEqual(['not_found', {}])

    for (let n = 0; n < 20; n += 1) await both.call(way, ops.createBackupSchedule, { body })
    expect(await refusal(both.call(way, ops.createBackupSchedule, { body }))).toEqual(['structure.full', { limit: 20 }])
    await clear()
  })

  test('is changed member by member, and each act is in the journal', async () => {
    const { id: tenantId } = await desk.workspace()
    const made = await both.call(way, ops.createBackupSchedule, {
      body: { name: 'x', target_id: desk.targetId, cron: '0 2 * * *', tenants: 'ALL', keep: { last: 3 } },
    })
    const change = (body: object) => both.call(way, ops.changeBackupSchedule, { scheduleId: made.id, body })
    expect(made.keep).toEqual({ ...usualKeep, last: 3 })
    expect(await change({ name: 'x' })).toEqual(made)
    const zoned = await change({ time_zone: 'Asia/Tokyo', keep: { yearly: 2 }, tenants: [tenantId] })
    expect(zoned).toMatchObject({ version: 2, keep: { ...usualKeep, last: 3, yearly: 2 }, tenants: [tenantId] })
    expect(new Date(zoned.next_run_at!).getUTCHours()).toBe(17)
    expect(await change({ is_enabled: false })).toMatchObject({ is_enabled: false, next_run_at: null })
    expect((await change({ is_enabled: true, name: 'y' })).next_run_at).toBe(zoned.next_run_at)
    expect(await refusal(change({ cron: '* * * * *' }))).toEqual(invalid('/cron', 'value.format', { format: 'cron' }))
    expect(await refusal(change({ target_id: crypto.randomUUID() }))).toEqual(
      invalid('/target_id', 'reference.unknown'),
    )
    await clear()
    const journal = await both.sql<{ action: string; members: string[] | null }[]>`
      select action, params->'members' as members from journal where subject_id = ${made.id} order by id`
    expect([...journal]).toEqual([
      { action: 'backup_schedule.created', members: null },
      { action: 'backup_schedule.changed', members: ['time_zone', 'tenants', 'keep'] },
      { action: 'backup_schedule.changed', members: ['is_enabled'] },
      { action: 'backup_schedule.changed', members: ['name', 'is_enabled'] },
      { action: 'backup_schedule.removed', members: null },
    ])
  })
})

test('an administrator has the schedules of the workspace, and sees no others', async () => {
  const { daemon, home } = both
  const admin = await person(daemon, home.tenantId, { role: 'ADMIN', scopes: ['workspace:admin', 'workspace:read'] })
  await both.sql`update tenant set default_time_zone = 'Europe/Berlin' where id = ${home.tenantId}`
  const ofOperators = await runs.made({ tenants: 'ALL' })
  const call = (method: string, path: string, body?: object) =>
    daemon.call(method, `/api/v1/backup-schedules${path}`, { token: admin.token, ...(body ? { body } : {}) })
  const body = { name: 'mine', target_id: desk.targetId, cron: '0 2 * * *' }
  expect((await call('POST', '', { ...body, tenants: 'ALL' })).json).toMatchObject({
    code: 'request.invalid',
    errors: [{ pointer: '/tenants', code: 'member.unknown' }],
  })
  const { status, json } = await call('POST', '', body)
  expect([status, json]).toMatchObject([201, { time_zone: 'Europe/Berlin', tenants: null }])
  expect((await call('GET', '')).json.data).toEqual([json])
  for (const method of ['PATCH', 'DELETE'])
    expect((await call(method, `/${ofOperators.id}`, method === 'PATCH' ? {} : undefined)).status).toBe(404)
  expect((await call('PATCH', `/${json.id}`, { verify: 'HASHES', name: 'ours' })).json).toMatchObject({ name: 'ours' })
  expect((await call('DELETE', `/${json.id}`)).status).toBe(204)
  await runs.removed(ofOperators)
  const trail = await both.sql`
    select action from audit_entry where tenant_id = ${home.tenantId} and subject_id = ${json.id} order by id`
  expect(trail.map(({ action }) => action)).toEqual(
    ['created', 'changed', 'removed'].map((act) => `backup_schedule.${act}`),
  )
})

describe('a run', () => {
  test('makes a backup for each workspace, verifies it, and says how it went', async () => {
    const [one, other] = [await desk.workspace(), await desk.workspace()]
    const schedule = await runs.made({ tenants: [one.id, other.id] })
    await runs.due(schedule)
    await runs.tick()
    expect(await runs.backupsOf(schedule)).toMatchObject([
      { state: 'QUEUED', schedule_id: schedule.id, kept_by: [], version: 2 },
      { state: 'QUEUED' },
    ])
    await runs.work()
    await runs.tick()
    const backups = await runs.backupsOf(schedule)
    expect(backups.map(({ tenant_id }) => tenant_id).sort()).toEqual([one.id, other.id].sort())
    for (const backup of backups) {
      expect(backup).toMatchObject({ state: 'COMPLETE', verified: [{ depth: 'HASHES', ok: true }] })
      expect(existsSync(join(desk.at(backup.path), 'manifest.json'))).toBe(true)
    }
    const shown = await runs.show(schedule)
    expect(shown).toMatchObject({ last_run: { complete: 2, failed: 0 }, consecutive_failures: 0, paused_reason: null })
    expect(Date.parse(shown.next_run_at!)).toBeGreaterThan(Date.now())
    const trail = await both.sql`
      select action, actor_kind from audit_entry where tenant_id = ${one.id} and action like 'tenant.backup%'`
    expect([...trail]).toEqual([{ action: 'tenant.backup_requested', actor_kind: 'SYSTEM' }])
    await runs.removed(schedule)
    // They stay, as if they had been made by hand.
    expect((await runs.backupsOf(schedule)).map(({ kept_by }) => kept_by)).toEqual([
      ['NEWEST_GOOD', 'HAND'],
      ['NEWEST_GOOD', 'HAND'],
    ])
  })

  test('is one, however many moments were missed, and however often it is looked at', async () => {
    const { id } = await desk.workspace()
    const schedule = await runs.made({ tenants: [id], cron: '0 * * * *' })
    await both.sql`update backup_schedule set next_run_at = now() - interval '40 days', created_at = now() - interval '50 days' where id = ${schedule.id}`
    await Promise.all([runs.tick(), runs.tick()])
    await runs.tick()
    expect(await runs.backupsOf(schedule)).toHaveLength(1)
    const [run] = await runs.runsOf(schedule)
    expect(Date.now() - Date.parse(run!.due_at)).toBeLessThan(2 * 3_600_000)
    // Looked at again as if it were due: the moment has its row.
    await both.sql`update backup_schedule set next_run_at = now() where id = ${schedule.id}`
    await runs.tick()
    expect([await runs.backupsOf(schedule), await runs.runsOf(schedule)]).toMatchObject([{ length: 1 }, { length: 1 }])
    await runs.removed(schedule)
  })

  test('comes at its time again after a clock that was set forward by a month is set back', async () => {
    const { id } = await desk.workspace()
    const schedule = await runs.made({ tenants: [id], cron: '0 2 * * *' })
    const before = schedule.next_run_at
    await both.sql`
      update backup_schedule set next_run_at = next_run_at + interval '31 days', planned_at = now() + interval '31 days' where id = ${schedule.id}`
    await runs.tick()
    expect([(await runs.show(schedule)).next_run_at, await runs.backupsOf(schedule)]).toEqual([before, []])
    await runs.removed(schedule)
  })

  test('leaves out a workspace whose deletion was asked for, and goes on for one that is suspended', async () => {
    const [leaving, suspended, later] = [await desk.workspace(), await desk.workspace(), await desk.workspace()]
    const leave = (tenantId: string) =>
      both.sql`update tenant set state = 'PENDING_DELETION', state_before_deletion = 'ACTIVE', deletion_requested_at = now(), purge_after = now() + interval '30 days' where id = ${tenantId}`
    await leave(leaving.id)
    await both.call('recovery', ops.suspendTenant, { tenantId: suspended.id })
    await both.call('recovery', ops.changeTenantQuotas, { tenantId: later.id, body: { export_jobs: 1 } })
    await desk.ask('recovery', later.id) // no room for another
    const schedule = await runs.made({ tenants: [leaving.id, suspended.id, later.id] })
    await runs.due(schedule)
    await runs.tick()
    expect((await runs.backupsOf(schedule)).map(({ tenant_id }) => tenant_id)).toEqual(
      [later.id, suspended.id].sort().reverse(),
    )
    // The third one waits for its turn, and then for nothing any more.
    await leave(later.id)
    await runs.tick()
    expect((await runs.backupsOf(schedule)).map(({ tenant_id }) => tenant_id)).toEqual([suspended.id])
    await runs.removed(schedule)
  })

  test('waits for room in export_jobs, and does not count there meanwhile', async () => {
    const { id: tenantId } = await desk.workspace()
    await both.call('recovery', ops.changeTenantQuotas, { tenantId, body: { export_jobs: 1 } })
    const byHand = await desk.ask('recovery', tenantId)
    const schedule = await runs.made({ tenants: [tenantId] })
    await runs.due(schedule)
    await runs.tick()
    const jobs = () => both.sql`select kind, state from job where tenant_id = ${tenantId} and state = 'QUEUED'`
    expect([await runs.backupsOf(schedule), [...(await jobs())]]).toMatchObject([
      [{ state: 'QUEUED', version: 1 }],
      [{ kind: 'BACKUP' }],
    ])
    // The next moment makes no second one.
    await runs.dayPassed(schedule)
    await runs.due(schedule)
    await runs.tick()
    expect(await runs.backupsOf(schedule)).toHaveLength(1)
    await both.sql`update job set state = 'FAILED', finished_at = now() where id = ${byHand.job_id}`
    await runs.tick()
    expect(await runs.backupsOf(schedule)).toMatchObject([{ state: 'QUEUED', version: 2 }])
    await runs.removed(schedule)
  })

  test('that fails three times is mailed, and then once a week; a good one ends that', async () => {
    const { id: tenantId } = await desk.workspace()
    const schedule = await runs.made({ tenants: [tenantId] })
    const folder = desk.at('')
    renameSync(folder, `${folder}-away`)
    writeFileSync(folder, 'no folder')
    const mails = () => runs.mailsOf('backups_failing_told')
    const before = await mails()
    try {
      for (const [failures, mailed] of [
        [1, 0],
        [2, 0],
        [3, 1],
        [4, 1],
        [5, 1],
      ] as const) {
        await runs.whole(schedule)
        expect([(await runs.show(schedule)).consecutive_failures, (await mails()) - before]).toEqual([failures, mailed])
      }
      expect((await runs.backupsOf(schedule)).map(({ failure }) => failure)).toEqual(Array(5).fill('target.missing'))
      await both.sql`update backup_schedule set mailed_at = mailed_at - interval '7 days' where id = ${schedule.id}`
      await runs.whole(schedule)
      expect((await mails()) - before).toBe(2)
    } finally {
      rmSync(folder)
      renameSync(`${folder}-away`, folder)
    }
    await runs.whole(schedule)
    expect(await runs.show(schedule)).toMatchObject({ consecutive_failures: 0, last_run: { complete: 1, failed: 0 } })
    await runs.removed(schedule)
  })

  test('of a workspace that fails is told to its administrators', async () => {
    const { id: tenantId } = await desk.workspace()
    const schedule = await runs.madeIn(tenantId, {})
    await both.sql`update backup_schedule set consecutive_failures = 2 where id = ${schedule.id}`
    await both.sql`update backup_schedule set target_id = gen_random_uuid() where id = ${schedule.id}`
    const before = await runs.mailsOf('backups_failing')
    await runs.whole(schedule)
    expect((await runs.mailsOf('backups_failing')) - before).toBe(1)
    const entries = await both.sql`
      select params->>'failures' as failures from audit_entry where tenant_id = ${tenantId} and action = 'backup_schedule.failing'`
    expect([...entries]).toEqual([{ failures: '3' }])
  })

  test('of a schedule whose target was removed makes nothing, and another target sets it going', async () => {
    const { id: tenantId } = await desk.workspace()
    const other = await both.call('recovery', ops.createBackupTarget, {
      body: { name: 'other', kind: 'LOCAL', config: { path: 'other' } },
    })
    const schedule = await runs.made({ tenants: [tenantId], target_id: other.id })
    await both.call('recovery', ops.deleteBackupTarget, { targetId: other.id })
    expect(await runs.show(schedule)).toMatchObject({ paused_reason: 'TARGET_REMOVED', consecutive_failures: 0 })
    await runs.whole(schedule)
    expect([await runs.show(schedule), await runs.backupsOf(schedule)]).toMatchObject([
      { paused_reason: 'TARGET_REMOVED', consecutive_failures: 1, last_run: null },
      [],
    ])
    await both.call('recovery', ops.changeBackupSchedule, {
      scheduleId: schedule.id,
      body: { target_id: desk.targetId },
    })
    expect(await runs.show(schedule)).toMatchObject({ paused_reason: null, consecutive_failures: 0 })
    await runs.whole(schedule)
    expect(await runs.show(schedule)).toMatchObject({ last_run: { complete: 1, failed: 0 } })
    await runs.removed(schedule)
  })

  test('of a schedule whose target has secrets that cannot be opened goes on when they can', async () => {
    const { id: tenantId } = await desk.workspace()
    const targetId = crypto.randomUUID()
    await both.sql`
      insert into backup_target (tenant_id, id, name, kind, config)
      values (${installationScope}, ${targetId}, 'bucket', 'S3', ${both.sql.json({ endpoint: 'http://127.0.0.1:9', region: 'eu', bucket: 'backups', access_key_id: 'A' })})`
    const schedule = await runs.made({ tenants: [tenantId] })
    await both.sql`update backup_schedule set target_id = ${targetId} where id = ${schedule.id}`
    await runs.whole(schedule)
    expect(await runs.show(schedule)).toMatchObject({ paused_reason: 'SECRET_UNAVAILABLE', consecutive_failures: 1 })
    await both.sql`update backup_target set kind = 'LOCAL', config = '{"path":"disk"}' where id = ${targetId}`
    await runs.whole(schedule)
    expect(await runs.show(schedule)).toMatchObject({ paused_reason: null, consecutive_failures: 0 })
    await runs.removed(schedule)
    await both.sql`delete from backup_target where id = ${targetId}`
  })

  test('verifies as its schedule asks: by a restore for a try', async () => {
    const { id: tenantId } = await desk.workspace()
    const schedule = await runs.made({ tenants: [tenantId], verify: 'RESTORE' })
    await runs.whole(schedule)
    expect(await runs.backupsOf(schedule)).toMatchObject([{ verified: [{ depth: 'RESTORE', ok: true }] }])
    await runs.removed(schedule)
  })

  test('whose verification is lost has failed', async () => {
    const { id: tenantId } = await desk.workspace()
    const schedule: BackupSchedule = await runs.made({ tenants: [tenantId] })
    await runs.due(schedule)
    await runs.tick()
    await runs.work({ verifies: false })
    await both.sql`update job set state = 'FAILED', failure = 'worker.lost', finished_at = now() where tenant_id = ${tenantId} and kind = 'BACKUP_VERIFY'`
    await runs.tick()
    expect(await runs.show(schedule)).toMatchObject({ last_run: { complete: 0, failed: 1 }, consecutive_failures: 1 })
    await runs.removed(schedule)
  })
})
