/**
 * The backup: an encrypted archive that a workspace goes on from. The attempt is archive-attempt.ts; here is what it writes of
 * itself into the row, in the transactions that move its job. Spec: Keeping, 3.
 */
import { z } from 'zod'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { resumeLost } from '../../jobs/resume.ts'
import type { Claim } from '../../jobs/run.ts'
import { type ArchiveWork, attemptArchive, type MadeArchive, mostAttempts } from '../archive-attempt.ts'
import { underAge } from '../archive-form.ts'
import { findRules } from '../schedules/row.ts'
import { queueVerification } from './verification.ts'

const work: ArchiveWork = {
  kind: 'BACKUP',
  job: 'backup_tenant',
  async formOf(installation, { tenantId, jobId }) {
    const outside = await readRecipients(installation, tenantId, jobId)
    return underAge(installation.keyring, tenantId, outside)
  },
  async begun({ tx }, { tenantId, jobId }) {
    void tx`
      update backup set state = 'RUNNING', version = version + 1
      where tenant_id = ${tenantId} and job_id = ${jobId} and state in ('QUEUED', 'RUNNING')`
  },
  succeeded,
  async failed({ tx }, { tenantId, jobId }, failure) {
    void tx`
      update backup set state = 'FAILED', failure = ${failure}, run_ok = case when due_at is not null then false end, version = version + 1
      where tenant_id = ${tenantId} and job_id = ${jobId} and state = 'RUNNING'`
  },
}

export const backupTenantJob = defineJob({
  name: 'backup_tenant',
  payload: z.object({ tenantId: z.guid(), jobId: z.guid() }),
  // The row decides what is run again (resume-jobs.ts), not the queue.
  retryLimit: 0,
  atOnce: 2,
  takesLong: true,
  longestSeconds: 23 * 3600,
  run: (installation, payload) => attemptArchive(installation, work, payload),
})

function readRecipients(installation: Installation, tenantId: string, jobId: string): Promise<string[]> {
  return installation.transaction({ kind: 'SYSTEM', job: work.job }, { tenantId, readOnly: true }, async ({ tx }) => {
    const [row] = await tx.last<{ recipients: { kind: string; id: string }[] }[]>`
      select recipients from backup where tenant_id = ${tenantId} and job_id = ${jobId}`
    return (row?.recipients ?? []).filter(({ kind }) => kind === 'OUTSIDE').map(({ id }) => id)
  })
}

async function succeeded(ctx: Ctx, { tenantId, jobId }: Claim, made: MadeArchive): Promise<void> {
  const { tx } = ctx
  const { manifest } = made
  if (manifest.kind !== 'TENANT_BACKUP') throw new Error('a backup made another kind of archive')
  const rows = manifest.files.reduce((sum, file) => sum + file.rows, 0)
  const recipients = manifest.recipients.map(({ kind, id }) => ({ kind, id }))
  void tx`
    update backup set state = 'COMPLETE', path = ${made.path}, snapshot_at = ${manifest.snapshot_at}, row_count = ${rows},
      size_bytes = ${made.ownBytes}, recipients = ${tx.json(recipients)}, version = version + 1
    where tenant_id = ${tenantId} and job_id = ${jobId} and state = 'RUNNING'`
  await verifyAsScheduled(ctx, tenantId, jobId)
}

/** A backup of a schedule is verified at once, in the place of its job. */
async function verifyAsScheduled(ctx: Ctx, tenantId: string, jobId: string): Promise<void> {
  const { tx } = ctx
  const [backup] = await tx<{ id: string; schedule_id: string }[]>`
    select id, schedule_id from backup
    where tenant_id = ${tenantId} and job_id = ${jobId} and due_at is not null and state = 'COMPLETE'`
  if (!backup) return
  const { id: backup_id, schedule_id } = backup
  const schedule = await findRules(ctx, tenantId, schedule_id)
  const verifyJobId = await queueVerification(ctx, tenantId, { backup_id, depth: schedule?.verify ?? 'HASHES' })
  void tx`update backup set verify_job_id = ${verifyJobId} where tenant_id = ${tenantId} and id = ${backup_id}`
}

/** Resumes backups whose worker died; what is given up is FAILED, in its job and in its row. */
export async function resumeBackups(ctx: Ctx): Promise<void> {
  await resumeLost(ctx, 'BACKUP', backupTenantJob, mostAttempts)
  await ctx.tx`
    update backup b set state = 'FAILED', failure = j.failure, version = b.version + 1
    from job j
    where b.state in ('QUEUED', 'RUNNING') and j.tenant_id = b.tenant_id and j.id = b.job_id and j.state = 'FAILED'`
}
