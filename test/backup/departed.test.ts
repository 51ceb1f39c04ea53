/** What a purged workspace has left at the targets of the installation: it stays some days, and then nothing of it does. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeBackupsJob } from '../../src/core/areas/backup/backups/removal.ts'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { repeatPurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { overdue } from '../kit/leaving-workspace.ts'
import type { TwoWays } from '../kit/two-ways.ts'
import { type BackupDesk, backupDesk } from './backup-desk.ts'
import { scheduleDesk } from './schedule-desk.ts'

let desk: BackupDesk
let both: TwoWays
beforeAll(async () => {
  desk = await backupDesk()
  both = desk.both
})
afterAll(() => both.close())

const folderOf = (tenantId: string) => desk.at(`tenants/${tenantId}`)
const settled = () => scheduleDesk(desk).settled()
const entered = (tenantId: string) =>
  both.sql`select workspace_slug as slug from departed_archive where workspace_id = ${tenantId}`
const aged = (tenantId: string, days: number) =>
  both.sql`update departed_archive set purged_at = now() - make_interval(days => ${days}, mins => 2) where workspace_id = ${tenantId}`

/** A workspace with a backup and an export, purged. */
async function purged() {
  const mine = await desk.workspace()
  await desk.backedUp(mine.id)
  const { job_id } = await both.call('recovery', ops.exportTenant, {
    tenantId: mine.id,
    body: { target_id: desk.targetId },
  })
  await exportTenantJob.run(both.installation, { tenantId: mine.id, jobId: job_id })
  await overdue(both, mine)
  expect(await repeatPurge(both.installation, mine.id)).toBe('purged')
  return mine
}

test('archives stay for their days, and then all of them go, with an entry in the journal', async () => {
  const mine = await purged()
  const neighbour = await desk.workspace()
  await desk.backedUp(neighbour.id)
  expect([...(await entered(mine.id))]).toEqual([{ slug: mine.slug }])
  await aged(mine.id, 29)
  await settled()
  expect(existsSync(folderOf(mine.id))).toBe(true)
  await aged(mine.id, 30)
  // A clock that is wrong removes nothing.
  both.clock.jump(3600)
  await expect(removeBackupsJob.run(both.installation, {})).rejects.toThrow('clock')
  both.clock.jump(-3600)
  expect(existsSync(folderOf(mine.id))).toBe(true)
  await settled()
  expect([existsSync(folderOf(mine.id)), existsSync(folderOf(neighbour.id))]).toEqual([false, true])
  expect(await entered(mine.id)).toHaveLength(0)
  const journal = await both.sql`
    select workspace_slug as slug, params from journal where workspace_id = ${mine.id} and action = 'tenant.backups_removed'`
  expect([...journal]).toEqual([{ slug: mine.slug, params: { targets: 1 } }])
})

test('a target that is away is asked again, and the journal waits for it', async () => {
  const mine = await purged()
  await aged(mine.id, 31)
  const folder = desk.at('')
  renameSync(folder, `${folder}-away`)
  writeFileSync(folder, 'no folder')
  try {
    await settled()
    expect(await entered(mine.id)).toHaveLength(1)
  } finally {
    rmSync(folder)
    renameSync(`${folder}-away`, folder)
  }
  await settled()
  expect([existsSync(folderOf(mine.id)), (await entered(mine.id)).length]).toEqual([false, 0])
})

test('a workspace that is there again keeps its archives', async () => {
  const back = await desk.workspace()
  const folder = folderOf(back.id)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'an archive'), 'x')
  await both.sql`insert into departed_archive (workspace_id, workspace_slug) values (${back.id}, ${back.slug})`
  await aged(back.id, 31)
  await settled()
  expect([existsSync(folder), (await entered(back.id)).length]).toEqual([true, 0])
})
