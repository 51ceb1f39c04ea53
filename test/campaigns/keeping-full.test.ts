/**
 * The disk under what is kept is full, or its target is away: no backup that is whole goes, nothing is half erased or half rewound, and all
 * goes on by itself once there is room. Keeping 9.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { restoreJob } from '../../src/core/areas/restores/restore-job.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import type { BackupSchedule } from '../../src/core/contract/backup/schedules.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { readLedger } from '../../src/core/kernel/ledger/ledger.ts'
import { type ScheduleDesk, scheduleDesk } from '../backup/schedule-desk.ts'
import { mountDisk } from '../kit/disk.ts'
import type { Person } from '../kit/people.ts'
import { entriesOf, fetchPackage } from '../privacy/package-reader.ts'
import { grantErasure, type PrivacyHouse, privacyHouse } from '../privacy/privacy-kit.ts'

/** Of the daemon's own files, and of the target. */
const own = mountDisk(16)
const disk = mountDisk(16)
const canMount = own !== undefined && disk !== undefined
const folder = join(disk?.folder ?? '', 'backups', 'disk')
const ledgerFile = join(own?.folder ?? '', 'data', 'ledger.jsonl')
/** Only the newest stays. */
const keep = { last: 1, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0, min_days: 0 }

let house: PrivacyHouse
let runs: ScheduleDesk
let schedule: BackupSchedule

beforeAll(async () => {
  if (!canMount) return
  const dataDir = join(own.folder, 'data')
  mkdirSync(dataDir)
  house = await privacyHouse({ dataDir, ledgerFile, backupDir: join(disk.folder, 'backups') })
  const body = { name: 'disk', kind: 'LOCAL', config: { path: 'disk' } } as const
  const target = await house.two.call('recovery', ops.createBackupTarget, { body })
  runs = scheduleDesk({ both: house.two, targetId: target.id })
  schedule = await runs.made({ tenants: [house.tenantId], keep })
  await house.two.call('recovery', ops.changeTenantQuotas, { tenantId: house.tenantId, body: { export_jobs: 0 } })
})
beforeEach(async () => {
  if (canMount) await runs.whole(schedule)
})
afterAll(async () => {
  if (canMount) await house.close()
  own?.remove()
  disk?.remove()
})

/** While the target is away: nothing can be made in its place. */
async function away(work: () => Promise<void>): Promise<void> {
  renameSync(folder, `${folder}.away`)
  writeFileSync(folder, '')
  try {
    await work()
  } finally {
    rmSync(folder)
    renameSync(`${folder}.away`, folder)
  }
}

const named = async (state: Backup['state']) =>
  (await runs.backupsOf(schedule)).filter((backup) => backup.state === state)
const isThere = ({ path }: Backup) => existsSync(join(folder, path?.replace(/^disk\//, '') ?? '', 'manifest.json'))

/** A night on which the target takes nothing; the rules of keeping run behind it, on clocks that agree. */
async function badNight(failure: RegExp): Promise<void> {
  await runs.whole(schedule)
  await runs.settled()
  const [newest] = await named('FAILED')
  expect(newest?.failure).toMatch(failure)
}

async function expectRecovered(whole: readonly Backup[]): Promise<void> {
  expect(whole.length).toBeGreaterThan(0)
  expect((await named('COMPLETE')).map(({ id }) => id)).toEqual(whole.map(({ id }) => id))
  await runs.whole(schedule)
  const [newest] = await named('COMPLETE')
  expect(whole.map(({ id }) => id)).not.toContain(newest?.id)
  await runs.settled()
  const left = await named('COMPLETE')
  expect([left.map(({ id }) => id), left.map(isThere)]).toEqual([[newest?.id], [true]])
}

test.runIf(canMount)('a target that is full: the newest good backup stays for as many nights as it takes', async () => {
  await runs.settled()
  const whole = await named('COMPLETE')
  disk?.fill()
  try {
    for (let night = 0; night < 3; night += 1) await badNight(/^target\.full$/)
    expect(whole.map(isThere)).toEqual(whole.map(() => true))
  } finally {
    disk?.makeRoom()
  }
  await expectRecovered(whole)
})

test.runIf(canMount)('a target that is away: no row and no archive goes, and nothing is called damaged', async () => {
  await runs.settled()
  const whole = await named('COMPLETE')
  await away(async () => {
    for (let night = 0; night < 3; night += 1) await badNight(/^target\./)
  })
  expect((await named('COMPLETE')).every(({ verified }) => verified.every(({ ok }) => ok))).toBe(true)
  await expectRecovered(whole)
})

const run = (jobId: string) => restoreJob.run(house.two.installation, { tenantId: house.tenantId, jobId })

test.runIf(canMount)('a rewind whose target goes away behind its plan changes nothing, or all of it', async () => {
  const { two, tenantId, sql, collectionId, owner } = house
  const [newest] = await named('COMPLETE')
  const made = await house.call(owner, 'POST', '/items', { container_id: collectionId, title: 'new since' })
  const asked = await two.call('recovery', ops.createRestore, {
    body: { into: 'REPLACE', tenant_id: tenantId, source: { backup_id: newest?.id ?? '' } },
  })
  await run(asked.job_id)
  const { plan } = await two.call('recovery', ops.getRestore, { restoreId: asked.id })
  await away(async () => {
    const body = { plan_hash: plan?.hash ?? '' }
    await run((await two.call('recovery', ops.applyRestore, { restoreId: asked.id, body })).job_id)
  })
  const { state } = await two.call('recovery', ops.getRestore, { restoreId: asked.id })
  const left = await sql`select from item where tenant_id = ${tenantId} and id = ${made.json.id}`
  expect([state, left.length]).toEqual(state === 'DONE' ? ['DONE', 0] : ['FAILED', 1])
  expect((await house.call(owner, 'GET', '/accounts/me')).status, 'the workspace is open').toBe(200)
})

async function isErased({ accountId }: Person): Promise<boolean> {
  const [row] = await house.sql<{ state: string }[]>`select state from account where id = ${accountId}`
  return row?.state === 'ERASED'
}

test.runIf(canMount)('an erasure that no ledger can take does not begin, and does once there is room', async () => {
  const who = await house.member()
  await house.call(who, 'POST', '/items', { container_id: house.collectionId, title: 'written before' })
  await grantErasure(house, who)
  const rows = () => house.sql`select to_jsonb(a) - 'last_used_at' from account a where id = ${who.accountId}`
  const before = await rows()
  own?.fill()
  try {
    await expect(house.runJobs()).rejects.toThrow()
    expect(await rows()).toEqual(before)
    expect((await house.call(who, 'GET', '/accounts/me')).status).toBe(200)
  } finally {
    own?.makeRoom()
  }
  await house.runJobs()
  expect(await isErased(who)).toBe(true)
  const { obligations, fault } = await readLedger(ledgerFile, house.two.installation.keyring)
  expect(fault).toBeUndefined()
  expect(
    obligations.filter(({ act }) => act.act === 'account.erased' && act.account_id === who.accountId),
  ).toHaveLength(1)
})

test.runIf(canMount)(
  'an erasure whose ledger no target copies does not begin, and is told to the target once it is back',
  async () => {
    const who = await house.member()
    await grantErasure(house, who)
    await away(async () => {
      await expect(house.runJobs()).rejects.toThrow('no backup target has taken the copy')
      expect(await isErased(who)).toBe(false)
    })
    await house.runJobs()
    expect([await isErased(who), await isListed(who)]).toEqual([true, true])
    expect(existsSync(join(folder, 'tenants', house.tenantId, 'erasures.json'))).toBe(true)
  },
)

test.runIf(canMount)(
  'where another target has the copy, the erasure is done, and told to the one that was away',
  async () => {
    const who = await house.member()
    await grantErasure(house, who)
    const body = { name: 'other', kind: 'LOCAL', config: { path: 'other' } } as const
    const other = await house.two.call('recovery', ops.createBackupTarget, { body })
    const list = join(folder, 'tenants', house.tenantId, 'erasures.json')
    const before = readFileSync(list, 'utf8')
    await away(async () => {
      await house.runJobs()
      expect([await isErased(who), await isListed(who)]).toEqual([true, false])
    })
    expect(readFileSync(list, 'utf8')).toBe(before)
    await house.runJobs()
    expect([await isListed(who), readFileSync(list, 'utf8') === before]).toEqual([true, false])
    await house.two.call('recovery', ops.deleteBackupTarget, { targetId: other.id })
  },
)

const isListed = async ({ accountId }: Person) =>
  (await house.sql`select from erasure where account_id = ${accountId} and listed_at is not null`).length === 1

test.runIf(canMount)('a package that has no room is made once there is some, and whole', async () => {
  const who = await house.member()
  await house.call(who, 'POST', '/items', { container_id: house.collectionId, title: 'mine alone' })
  const { json } = await house.proven(who, 'POST', '/privacy/requests', { kind: 'ACCESS' })
  await house.patch(house.owner, json.id, { decision: 'GRANTED' }, true)
  own?.fill()
  try {
    await expect(house.runJobs()).rejects.toThrow('ENOSPC')
    expect((await house.call(who, 'GET', `/privacy/requests/${json.id}`)).json.state).toBe('GRANTED')
  } finally {
    own?.makeRoom()
  }
  const [again] =
    await house.sql`select claimed_until <= now() + interval '1 minute' as is_soon from privacy_package where request_id = ${json.id}`
  expect(again?.['is_soon']).toBe(true)
  await house.sql`update privacy_package set claimed_until = now() - interval '1 second' where request_id = ${json.id}`
  await house.runJobs()
  const { status, bytes } = await fetchPackage(house, who, json.id)
  expect(status).toBe(200)
  expect([...entriesOf(bytes).values()].map(String).join('\n')).toContain('mine alone')
  const spool = join(house.two.installation.config.dataDir, 'spool')
  expect(existsSync(spool) ? readdirSync(spool) : []).toEqual([])
})

test.runIf(canMount)('a spool that is full fails the backup alone, and leaves nothing', async () => {
  await runs.settled()
  const whole = await named('COMPLETE')
  own?.fill()
  try {
    await badNight(/^spool\.full$/)
  } finally {
    own?.makeRoom()
  }
  expect(readdirSync(join(own?.folder ?? '', 'data', 'spool'))).toEqual([])
  await expectRecovered(whole)
})
