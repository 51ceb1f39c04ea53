/** Which backups of a schedule are kept, and that nothing else goes: by its rules alone, and with rows, archives, holds and clocks. */
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ruledBy } from '../../src/core/areas/backup/keeping/rules.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import type { Keep } from '../../src/core/contract/backup/schedules.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import type { TwoWays } from '../kit/two-ways.ts'
import { type BackupDesk, backupDesk } from './backup-desk.ts'
import { type ScheduleDesk, scheduleDesk } from './schedule-desk.ts'

const nothing: Keep = { last: 0, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0, min_days: 0 }
const at = (moment: string) => Date.parse(`${moment}Z`)
/** The rules that keep backups of these moments; what is named twice is told apart by its place. */
const kept = (moments: readonly string[], keep: Partial<Keep>, { zone = 'UTC', now = '2026-12-01T00:00' } = {}) => {
  const candidates = moments.map((moment, n) => ({
    id: String(n).padStart(4, '0'),
    at: at(moment),
    isGood: true,
    isProven: true,
  }))
  const rules = ruledBy(candidates, { ...nothing, ...keep }, zone, at(now))
  return candidates.map(({ id }) => rules.get(id)?.join(' '))
}

describe('rules of keeping', () => {
  test('count from the newest on', () => {
    expect(kept(['2026-01-01T00:00', '2026-03-01T00:00', '2026-02-01T00:00'], { last: 2 })).toEqual([
      '',
      'LAST',
      'LAST',
    ])
    expect(kept(['2026-01-01T00:00'], { last: 1000 })).toEqual(['LAST'])
    expect(kept([], { last: 1 })).toEqual([])
  })

  test('keep the newest of each period that has one, however many have none between', () => {
    const moments = ['2026-11-20T01:00', '2026-11-20T23:00', '2026-11-25T02:00', '2026-11-29T02:00', '2026-11-29T03:00']
    expect(kept(moments, { daily: 2 })).toEqual(['', '', 'DAILY', '', 'DAILY'])
    expect(kept(moments, { daily: 3 })).toEqual(['', 'DAILY', 'DAILY', '', 'DAILY'])
    expect(kept(moments, { hourly: 4 })).toEqual(['', 'HOURLY', 'HOURLY', 'HOURLY', 'HOURLY'])
    // 29 November is a Sunday, 30 November the Monday of another week.
    expect(kept(['2026-11-22T09:00', '2026-11-29T09:00', '2026-11-30T09:00'], { weekly: 2 })).toEqual([
      '',
      'WEEKLY',
      'WEEKLY',
    ])
    expect(kept(['2025-12-31T09:00', '2026-01-01T09:00', '2026-01-02T09:00'], { monthly: 5, yearly: 1 })).toEqual([
      'MONTHLY',
      '',
      'MONTHLY YEARLY',
    ])
  })

  test('go by the clocks of the zone', () => {
    const moments = ['2026-11-28T22:30', '2026-11-28T23:30', '2026-11-29T00:30']
    expect(kept(moments, { daily: 5 })).toEqual(['', 'DAILY', 'DAILY'])
    expect(kept(moments, { daily: 5 }, { zone: 'Europe/Berlin' })).toEqual(['DAILY', '', 'DAILY'])
    // 02:30 comes twice: one hour of the clocks.
    expect(kept(['2026-10-25T00:30', '2026-10-25T01:30'], { hourly: 5 }, { zone: 'Europe/Berlin' })).toEqual([
      '',
      'HOURLY',
    ])
  })

  test('keep what is younger than so many days, by a time that may destroy', () => {
    const moments = ['2026-11-01T00:00', '2026-11-29T00:00', '2026-11-30T12:00']
    expect(kept(moments, { min_days: 1 })).toEqual(['', '', 'MIN_DAYS'])
    expect(kept(moments, { min_days: 3 })).toEqual(['', 'MIN_DAYS', 'MIN_DAYS'])
    expect(kept(moments, { min_days: 1 }, { now: '2026-11-29T12:00' })).toEqual(['', 'MIN_DAYS', 'MIN_DAYS'])
  })

  test('give no place of what was read back to what was not, and none to what failed', () => {
    const candidates = [
      { id: 'a', at: 1, isGood: true, isProven: true },
      { id: 'b', at: 2, isGood: true, isProven: true },
      { id: 'c', at: 3, isGood: true, isProven: false },
      { id: 'd', at: 4, isGood: false, isProven: false },
    ]
    const rules = ruledBy(candidates, { ...nothing, last: 1 }, 'UTC', 1e12)
    expect([...rules]).toEqual([
      ['d', []],
      ['c', ['LAST']],
      ['b', ['LAST']],
      ['a', []],
    ])
  })
})

let desk: BackupDesk
let both: TwoWays
let runs: ScheduleDesk
beforeAll(async () => {
  desk = await backupDesk()
  both = desk.both
  runs = scheduleDesk(desk)
})
afterAll(() => both.close())

const isThere = ({ path }: Backup) => path !== null && existsSync(desk.at(path))
const hold = (tenantId: string) =>
  both.call('recovery', ops.placeHold, { body: { tenant_id: tenantId, scope: { kind: 'TENANT' }, reason: 'case' } })

describe('a schedule', () => {
  test('keeps what its rules say, and its rows say which; the row goes first, and the archive with it', async () => {
    const { id: tenantId } = await desk.workspace()
    const schedule = await runs.made({ tenants: [tenantId], keep: { ...nothing, last: 2, min_days: 1 } })
    for (let day = 0; day < 3; day += 1) await runs.whole(schedule)
    const made = await runs.backupsOf(schedule)
    expect(made.map(({ kept_by }) => kept_by)).toEqual([['NEWEST_GOOD'], [], []])
    await runs.settled()
    expect((await runs.backupsOf(schedule)).map(({ kept_by }) => kept_by)).toEqual([
      ['LAST', 'MIN_DAYS', 'NEWEST_GOOD'],
      ['LAST', 'MIN_DAYS'], // a time that may destroy is behind the clocks
    ])
    expect(made.map(isThere)).toEqual([true, true, false])
    const trail = await both.sql`
      select subject_id as id from audit_entry where tenant_id = ${tenantId} and action = 'tenant.backup_removed'`
    expect([...trail]).toEqual([{ id: made[2]!.id }])
    await runs.removed(schedule)
  })

  test('removes nothing while both clocks have not seen the time twice, and nothing a clock set forward alone would', async () => {
    const { id: tenantId } = await desk.workspace()
    const schedule = await runs.made({ tenants: [tenantId], keep: { ...nothing, last: 1, min_days: 30 } })
    for (let day = 0; day < 3; day += 1) await runs.whole(schedule)
    both.clock.jump(31 * 86_400)
    await expect(runs.settled()).rejects.toThrow('clock')
    both.clock.jump(-31 * 86_400)
    await runs.settled()
    expect(await runs.backupsOf(schedule)).toHaveLength(3)
    await runs.dayPassed(schedule, 40)
    await runs.whole(schedule)
    await runs.settled()
    expect(await runs.backupsOf(schedule)).toHaveLength(1)
    await runs.removed(schedule)
  })

  test('removes nothing after a run that failed, and never the newest good one', async () => {
    const { id: tenantId } = await desk.workspace()
    const schedule = await runs.made({ tenants: [tenantId], keep: { ...nothing, last: 1 } })
    await runs.whole(schedule)
    await runs.settled()
    const [first] = await runs.backupsOf(schedule)
    await both.sql`update backup_schedule set target_id = gen_random_uuid() where id = ${schedule.id}`
    await runs.dayPassed(schedule, 400)
    await runs.whole(schedule)
    // And backups that fail.
    for (let day = 0; day < 3; day += 1) {
      await runs.dayPassed(schedule)
      await both.sql`
        insert into backup (tenant_id, id, target_id, job_id, schedule_id, due_at, state, failure, run_ok)
        values (${tenantId}, gen_random_uuid(), ${desk.targetId}, gen_random_uuid(), ${schedule.id}, date_trunc('day', now()) - interval '1 hour', 'FAILED', 'target.full', false)`
    }
    await runs.settled()
    expect((await runs.backupsOf(schedule)).filter(({ state }) => state === 'COMPLETE')).toMatchObject([
      { id: first!.id, kept_by: ['LAST', 'NEWEST_GOOD'] },
    ])
    expect(isThere(first!)).toBe(true)
    await runs.removed(schedule)
  })

  test('removes nothing while a hold is in force, and goes on when it is released', async () => {
    const { id: tenantId } = await desk.workspace()
    const schedule = await runs.made({ tenants: [tenantId], keep: { ...nothing, last: 1 } })
    await runs.whole(schedule)
    const placed = await hold(tenantId)
    await runs.whole(schedule)
    await runs.settled()
    expect((await runs.backupsOf(schedule)).map(({ kept_by }) => kept_by)).toEqual([['NEWEST_GOOD', 'HOLD'], ['HOLD']])
    await both.call('recovery', ops.releaseHold, { holdId: placed.id })
    await runs.settled()
    expect((await runs.backupsOf(schedule)).map(({ kept_by }) => kept_by)).toEqual([['LAST', 'NEWEST_GOOD']])
    await runs.removed(schedule)
  })

  test('leaves alone what was made by hand, what another schedule made, and what a removed schedule has left', async () => {
    const { id: tenantId } = await desk.workspace()
    await both.call('recovery', ops.changeTenantQuotas, { tenantId, body: { export_jobs: 0 } })
    const byHand = await desk.backedUp(tenantId)
    const [gone, other, schedule] = [
      await runs.made({ tenants: [tenantId] }),
      await runs.made({ tenants: [tenantId] }),
      await runs.made({ tenants: [tenantId], keep: { ...nothing, last: 1 } }),
    ]
    for (const one of [gone, other, schedule, schedule]) await runs.whole(one)
    await runs.removed(gone)
    await runs.settled()
    const all = (await both.call('recovery', ops.listBackups, { tenant_id: tenantId, size: 50 })).data
    expect(all.map(({ schedule_id, kept_by }) => [schedule_id, kept_by])).toEqual([
      [schedule.id, ['LAST', 'NEWEST_GOOD']],
      [other.id, ['LAST', 'DAILY', 'WEEKLY', 'MONTHLY', 'MIN_DAYS']],
      [gone.id, ['HAND']],
      [null, ['HAND']],
    ])
    expect(all.at(-1)?.id).toBe(byHand.id)
    for (const one of [other, schedule]) await runs.removed(one)
  })
})
