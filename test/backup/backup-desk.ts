/** An installation, reached in both ways, whose workspaces are backed up to a disk: what the tests of backups share. */
import { join } from 'node:path'
import { backupTenantJob } from '../../src/core/areas/backup/backups/job.ts'
import { verifyBackupJob } from '../../src/core/areas/backup/backups/verification.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import type { JobRef } from '../../src/core/contract/jobs/operations.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { type Furnished, furnished } from '../kit/leaving-workspace.ts'
import { type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

export interface BackupDesk {
  readonly both: TwoWays
  readonly targetId: string
  /** Where a path of the target is. */
  at(path: string | null): string
  /** A workspace without backups, jobs and files. */
  workspace(): Promise<Furnished>
  ask(way: Way, tenantId: string, more?: object): Promise<Backup>
  backedUp(tenantId: string, more?: object): Promise<Backup>
  show(backupId: string, way?: Way): Promise<Backup>
  verify(backup: Backup, way?: Way): Promise<JobRef>
}

export async function backupDesk(): Promise<BackupDesk> {
  // Less than clocks may differ by: a test that lets that much pass moves no clock.
  const both = await twoWays({ purgeSettleSeconds: 30 })
  const { id: targetId } = await both.call('recovery', ops.createBackupTarget, {
    body: { name: 'disk', kind: 'LOCAL', config: { path: 'disk' } },
  })
  const ask: BackupDesk['ask'] = (way, tenantId, more = {}) =>
    both.call(way, ops.createBackup, { body: { tenant_id: tenantId, target_id: targetId, ...more } })
  const show: BackupDesk['show'] = (backupId, way = 'recovery') => both.call(way, ops.getBackup, { backupId })
  return {
    both,
    targetId,
    ask,
    show,
    at: (path) => join(both.installation.config.backupDir, 'disk', path ?? ''),
    async workspace() {
      const { sql } = both
      const made = await furnished(both)
      // Its own rows alone: those of the kit stand for what a purge removes.
      await sql`delete from backup where tenant_id = ${made.id}`
      await sql`update job set state = 'FAILED', finished_at = now() where tenant_id = ${made.id} and finished_at is null`
      await sql`delete from media_reference where tenant_id = ${made.id}`
      await sql`delete from media where tenant_id = ${made.id}`
      return made
    },
    async backedUp(tenantId, more = {}) {
      const { id, job_id } = await ask('recovery', tenantId, more)
      await backupTenantJob.run(both.installation, { tenantId, jobId: job_id })
      return show(id)
    },
    async verify({ id, tenant_id: tenantId }, way = 'recovery') {
      const asked = { backupId: id, body: { depth: 'HASHES' as const } }
      const { job_id } = await both.call(way, ops.verifyBackup, asked)
      await verifyBackupJob.run(both.installation, { tenantId, jobId: job_id })
      return both.call(way, ops.getJob, { jobId: job_id })
    },
  }
}

export const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'served',
    (error: { code: string; params: unknown; errors?: unknown }) => [error.code, error.errors ?? error.params],
  )
