/**
 * Random histories of a schedule's backups against a plain model of what has to stay: runs that are good, that fail, that are damaged
 * or not read back, holds, backups by hand, days that pass. After each step exactly the model's backups are there, the newest good
 * one among them. 20 histories; 200 with SVC_FAULTS=full. And every backup fails for two months, for a year with SVC_FAULTS=full.
 */
import { randomUUIDv7 } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { applyKeepRules } from '../../src/core/areas/backup/keeping/application.ts'
import type { Keep } from '../../src/core/contract/backup/schedules.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { newId } from '../../src/core/kernel/values/id.ts'
import { type BackupDesk, backupDesk } from '../backup/backup-desk.ts'
import { scheduleDesk } from '../backup/schedule-desk.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const histories = isFull ? 200 : 20
const steps = 40
const dayMs = 86_400_000

let desk: BackupDesk
beforeAll(async () => {
  desk = await backupDesk()
})
afterAll(() => desk.both.close())

/** Numbers that come again with the same seed (mulberry32). */
function dice(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return { below: (most: number) => Math.floor(next() * most), chance: (of: number) => next() < of }
}

interface Known {
  readonly id: string
  readonly at: number
  readonly kind: 'good' | 'unread' | 'damaged' | 'failed' | 'hand'
}

/** The periods of a moment as people write them, and nothing that the product works out with. */
function writtenPeriods(at: number, zone: string) {
  const written = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' },
  }).format(at)
  const day = written.slice(0, 10)
  const noon = new Date(`${day}T12:00:00Z`)
  noon.setUTCDate(noon.getUTCDate() - ((noon.getUTCDay() + 6) % 7))
  return {
    hourly: written,
    daily: day,
    weekly: noon.toISOString().slice(0, 10),
    monthly: day.slice(0, 7),
    yearly: day.slice(0, 4),
  }
}

/** What has to stay of the schedule's, from the page: one rule after the other, over all that are there. */
function staying(known: readonly Known[], keep: Keep, zone: string, now: number): Set<string> {
  const stays = new Set<string>()
  const newest = known.toReversed()
  for (const kinds of [['good'], ['good', 'unread']]) {
    const some = newest.filter(({ kind }) => kinds.includes(kind))
    for (const { id } of some.slice(0, keep.last)) stays.add(id)
    for (const period of ['hourly', 'daily', 'weekly', 'monthly', 'yearly'] as const) {
      const first = new Map<string, string>()
      for (const { id, at } of some) {
        const name = writtenPeriods(at, zone)[period]
        if (!first.has(name)) first.set(name, id)
      }
      for (const id of [...first.values()].slice(0, keep[period])) stays.add(id)
    }
  }
  for (const { id, at, kind } of known) if (kind === 'hand' || now - at < keep.min_days * dayMs) stays.add(id)
  const newestGood = newest.find(({ kind }) => kind !== 'damaged' && kind !== 'failed')
  if (newestGood) stays.add(newestGood.id)
  return stays
}

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Apia', 'Australia/Lord_Howe']

test('what stays is what the rules say, whatever happened', async () => {
  const { sql, installation } = desk.both
  const runs = scheduleDesk(desk)
  for (let seed = 1; seed <= histories; seed += 1) {
    const { below, chance } = dice(seed)
    const { id: tenantId } = await desk.workspace()
    const some = () => (chance(0.5) ? 0 : below(4))
    const [last, minDays] = [chance(0.4) ? 0 : 1 + below(3), below(3)]
    const named = { hourly: some(), daily: some(), weekly: some(), monthly: some(), yearly: some() }
    const isNone = Object.values(named).every((count) => count === 0) && last + minDays === 0
    const keep: Keep = { ...named, last, min_days: isNone ? 1 : minDays }
    const zone = zones[below(zones.length)]!
    const schedule = await runs.made({ tenants: [tenantId], keep, time_zone: zone })
    let known: Known[] = []
    let now = Date.parse('2026-03-01T00:00:00Z') + below(300) * dayMs
    let hold: string | undefined
    const made = async (kind: Known['kind']) => {
      const id = newId() // in the order in which they are made, also within a millisecond
      const at = new Date(now).toISOString()
      await sql`
        insert into backup (tenant_id, id, target_id, job_id, schedule_id, due_at, state, path, snapshot_at, created_at, is_damaged, proven_at, keeping_due)
        values (${tenantId}, ${id}, ${desk.targetId}, ${randomUUIDv7()}, ${kind === 'hand' ? null : schedule.id}, ${kind === 'hand' ? null : at},
          ${kind === 'failed' ? 'FAILED' : 'COMPLETE'}, ${kind === 'failed' ? null : 'path'}, ${kind === 'failed' ? null : at}, ${at},
          ${kind === 'damaged'}, ${kind === 'good' ? at : null}, ${kind === 'good'})`
      known.push({ id, at: now, kind })
      return kind === 'good'
    }
    let isDue = false
    for (let step = 0; step < steps; step += 1) {
      now += below(60) * 3_600_000 + below(3_600_000)
      const roll = below(10)
      if (roll < 5) isDue = (await made('good')) || isDue
      else if (roll < 8) await made((['failed', 'damaged', 'unread'] as const)[below(3)]!)
      else if (roll < 9) await made('hand')
      else if (hold === undefined) {
        const body = { tenant_id: tenantId, scope: { kind: 'TENANT' as const }, reason: 'case' }
        hold = (await desk.both.call('recovery', ops.placeHold, { body })).id
      } else {
        await desk.both.call('recovery', ops.releaseHold, { holdId: hold })
        hold = undefined
      }
      await applyKeepRules(installation, { kind: 'SYSTEM', job: 'campaign' }, new Date(now))
      if (isDue && hold === undefined) {
        const stays = staying(known, keep, zone, now)
        known = known.filter(({ id }) => stays.has(id))
        isDue = false
      }
      const there = await sql<{ id: string }[]>`
        select id from backup where tenant_id = ${tenantId} and state <> 'REMOVING' order by id`
      expect([seed, step, there.map(({ id }) => id)]).toEqual([seed, step, known.map(({ id }) => id)])
    }
    if (hold !== undefined) await desk.both.call('recovery', ops.releaseHold, { holdId: hold })
    await sql`delete from backup where tenant_id = ${tenantId}`
    await runs.removed(schedule)
  }
}, 600_000)

test('every backup fails for long, and the newest good one is there', async () => {
  const runs = scheduleDesk(desk)
  const { id: tenantId } = await desk.workspace()
  const keep = { last: 1, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0, min_days: 0 }
  const schedule = await runs.made({ tenants: [tenantId], keep })
  await runs.whole(schedule)
  const [good] = await runs.backupsOf(schedule)
  // The target's disk is full, or something like it: nothing can be made there.
  const blocked = desk.at(`tenants/${tenantId}-blocked`)
  await desk.both
    .sql`update backup_target set config = ${desk.both.sql.json({ path: 'disk/blocked' })} where id = ${desk.targetId}`
  writeFileSync(desk.at('blocked'), 'no folder')
  const days = isFull ? 365 : 60
  const mails = await runs.mailsOf('backups_failing_told')
  for (let day = 0; day < days; day += 1) {
    await runs.whole(schedule)
    await desk.both.sql`update backup_schedule set mailed_at = mailed_at - interval '1 day' where id = ${schedule.id}`
    if (day % 30 === 0) await runs.settled()
  }
  await runs.settled()
  const there = await runs.backupsOf(schedule)
  expect(there.filter(({ state }) => state === 'COMPLETE')).toMatchObject([
    { id: good!.id, kept_by: ['LAST', 'NEWEST_GOOD'] },
  ])
  expect((await runs.show(schedule)).consecutive_failures).toBe(days)
  // The third one, and then one a week.
  expect((await runs.mailsOf('backups_failing_told')) - mails).toBe(1 + Math.floor((days - 3) / 7))
  rmSync(desk.at('blocked'))
  await desk.both.sql`update backup_target set config = '{"path":"disk"}' where id = ${desk.targetId}`
  expect((await desk.verify(good!)).state).toBe('SUCCEEDED')
  await runs.whole(schedule)
  // A minute removes so many.
  for (let minute = 0; minute < days / 100; minute += 1) await runs.settled()
  const after = await runs.backupsOf(schedule)
  expect(after.map(({ state }) => state)).toEqual(['COMPLETE'])
  expect(after[0]!.id).not.toBe(good!.id)
  rmSync(blocked, { force: true })
}, 600_000)
