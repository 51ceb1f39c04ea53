/**
 * `:verify`: a backup is read to its last byte, by a job, and the row says how it was found.
 *
 *    every byte is as it was written ──▶ good; a MISSING one is COMPLETE again
 *    it has no manifest any more     ──▶ MISSING
 *    anything else differs           ──▶ damaged: no newest good one, so it keeps no other from staying
 *    the target cannot be read       ──▶ nothing is known: the row stays as it is
 *
 * Whatever fails is mailed to the workspace's administrators, and to the operators where the target is the installation's.
 * Spec: Keeping, 3, N18.
 */
import { z } from 'zod'
import type { workspaceBackupOperations as ops, Verification } from '../../../contract/backup/backups.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { Problem, refuse } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import { DatabaseUnavailable } from '../../../kernel/database/unavailable.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { type Actor, accountIdOf } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { resumeLost } from '../../jobs/resume.ts'
import { claimJob, type JobRun, Superseded } from '../../jobs/run.ts'
import { readJob } from '../../jobs/show.ts'
import { tellAdministrators } from '../../mail/jobs.ts'
import { tellOperators } from '../../mail/operators.ts'
import { spend } from '../../settings/quotas.ts'
import { mostAttempts } from '../archive-attempt.ts'
import { verifyArchive } from '../archive-verification.ts'
import { exportQuotas } from '../export-quota.ts'
import { tryRestore } from '../loading/restore-check.ts'
import { hasScratch, ScratchFailure, sweepScratch } from '../loading/scratch.ts'
import { withStore } from '../open-store.ts'
import { StoreFailure } from '../store.ts'
import { targetServing } from '../target.ts'
import { record } from './evidence.ts'
import { lockBackups, workspaceOfBackup } from './row.ts'

const work = { kind: 'BACKUP_VERIFY', job: 'verify_backup' } as const

/** Looks for the database that a try needs, with no transaction open. Refuses backup.no_scratch. */
export async function vetVerification(
  installation: Installation,
  _actor: Actor,
  { body: { depth } }: Received<typeof ops.verifyBackup>,
): Promise<void> {
  if (depth === 'RESTORE' && !(await hasScratch(installation))) refuse('backup.no_scratch')
}

/** Refuses not_found, backup.state, quota.exceeded. */
export async function verifyBackup(
  ctx: Ctx,
  { backupId, body: { depth } }: Received<typeof ops.verifyBackup>,
): Promise<Answer<typeof ops.verifyBackup>> {
  const { tx } = ctx
  const { id: tenantId, slug } = await workspaceOfBackup(ctx, backupId)
  const [backup] = await tx<{ target_id: string; state: string }[]>`
    select target_id, state from backup where tenant_id = ${tenantId} and id = ${backupId}`
  if (!backup) refuse('not_found')
  const { state } = backup
  if (state !== 'COMPLETE' && state !== 'MISSING') refuse('backup.state', { state })
  await spend(ctx, exportQuotas, 'export_jobs', { tenantId })

  const requested_by = accountIdOf(ctx.actor)
  const jobId = await queueVerification(ctx, tenantId, { backup_id: backupId, depth, requested_by })
  const queued = readJob(tx, tx.part`tenant_id = ${tenantId} and id = ${jobId}`)
  const about = { id: backupId, targetId: backup.target_id }
  await record(ctx, { id: tenantId, slug }, 'tenant.backup_verification_requested', about)

  return (await queued) ?? refuse('not_found')
}

export const verifyBackupJob = defineJob({
  name: 'verify_backup',
  payload: z.object({ tenantId: z.guid(), jobId: z.guid() }),
  retryLimit: 0,
  atOnce: 2,
  takesLong: true,
  longestSeconds: 23 * 3600,
  async run(installation, place) {
    const job = await claimJob(installation, work, place)
    if (!job) return
    job.begin()
    try {
      await verified(installation, job)
    } catch (error) {
      if (error instanceof Superseded || error instanceof DatabaseUnavailable) return
      await job.failed('internal', null)
      throw error
    } finally {
      job.rest()
    }
  },
})

/** Schemas of tries whose worker died, or lost its connection. A job that runs on keeps its own. */
export const sweepScratchJob = defineJob({
  name: 'sweep_scratch',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '17 * * * *',
  run: (installation) => sweepScratch(installation, (jobId) => isTryOver(installation, jobId)),
})

function isTryOver(installation: Installation, jobId: string): Promise<boolean> {
  return installation.transaction({ kind: 'SYSTEM', job: 'sweep_scratch' }, { readOnly: true }, async ({ tx }) => {
    const found = await tx.last`
      select from job where id = ${jobId}::uuid and kind = ${work.kind} and state = 'RUNNING'`
    return found.length === 0
  })
}

export const resumeVerifications = (ctx: Ctx) => resumeLost(ctx, work.kind, verifyBackupJob, mostAttempts)

/** Queues a verification, in the workspace's transaction; answers its job. */
export async function queueVerification(
  ctx: Ctx,
  tenantId: string,
  params: { readonly backup_id: string; readonly depth: Verification['depth']; readonly requested_by?: string | null },
): Promise<string> {
  const { tx } = ctx
  const jobId = newId()
  void tx`insert into job (tenant_id, id, kind, params) values (${tenantId}, ${jobId}, ${work.kind}, ${tx.json(params)})`
  await ctx.enqueue(verifyBackupJob, { tenantId, jobId })
  return jobId
}

interface Verified {
  readonly id: string
  readonly target_id: string
  readonly path: string
}

async function verified(installation: Installation, job: JobRun): Promise<void> {
  const { tenantId, params } = job.claim
  const backupId = String(params['backup_id'])
  const backup = await installation.transaction(job.actor, { tenantId, readOnly: true }, async ({ tx }) => {
    const [row] = await tx.last<Verified[]>`
      select id, target_id, path from backup
      where tenant_id = ${tenantId} and id = ${backupId} and path is not null and state in ('COMPLETE', 'MISSING')`
    return row
  })
  if (!backup) {
    await job.failed('backup.gone', null)
    return
  }
  let bytes = 0
  const failure = await read(installation, job, backup).then(
    (read) => {
      bytes = read
      return null
    },
    (error: unknown) => {
      if (job.signal.aborted) throw job.signal.reason
      return failureOf(error)
    },
  )
  const also = (ctx: Ctx) => note(ctx, job, backup, failure)
  await (failure === null
    ? job.succeeded({ target_id: backup.target_id, path: backup.path }, bytes, also)
    : job.failed(failure, null, also))
}

async function read(installation: Installation, job: JobRun, { target_id, path }: Verified): Promise<number> {
  const { tenantId } = job.claim
  const target = await targetServing(installation, job.actor, tenantId, target_id)
  if (!target) throw new StoreFailure('missing')
  const onBytes = (done: number, total: number) => {
    job.progress = { phase: 'READING_BACK', done, total }
  }
  const { keyring } = installation
  const { jobId, attempt, params } = job.claim
  return withStore(installation, target, (store) => {
    const asked = { store, path, tenantId, keyring, signal: job.signal, onBytes }
    return params['depth'] === 'RESTORE'
      ? tryRestore({ ...asked, installation, actor: job.actor, jobId, attempt })
      : verifyArchive(asked)
  })
}

function failureOf(error: unknown): string {
  if (error instanceof StoreFailure) return `target.${error.reason}`
  if (error instanceof ScratchFailure) return 'scratch.failed'
  if (error instanceof Problem && error.code === 'backup.target_failed') return `target.${error.params['reason']}`
  if (error instanceof Problem && error.code === 'archive.invalid') return `archive.${error.params['reason']}`
  if (error instanceof Problem) return error.code
  throw error
}

/** How many verifications a row remembers. */
const remembered = 20

/** Says in the row how it was found; with the lock of backups, because it decides which is the newest good one. */
async function note(ctx: Ctx, job: JobRun, { id, target_id }: Verified, failure: string | null): Promise<void> {
  const { tx } = ctx
  const { tenantId, params } = job.claim
  void lockBackups(ctx, tenantId)
  const [row] = await tx<NotedRow[]>`
    select state, verified, is_damaged, proven_at, failure, now() as at from backup
    where tenant_id = ${tenantId} and id = ${id} and state in ('COMPLETE', 'MISSING') for update`
  if (row) {
    const { at } = row
    const one: Verification = { depth: params['depth'] as Verification['depth'], at, ok: failure === null, failure }
    const found = foundAs(row, failure)
    await tx`
      update backup set verified = ${tx.json([...row.verified, one].slice(-remembered))}, is_damaged = ${found.is_damaged},
        proven_at = ${failure === null ? at : row.proven_at}, state = ${found.state}, failure = ${found.failure},
        run_ok = case when due_at is not null then coalesce(run_ok, ${failure === null}) end,
        keeping_due = keeping_due or (${failure === null} and due_at is not null and run_ok is null and not is_orphaned),
        version = version + 1
      where tenant_id = ${tenantId} and id = ${id}`
  }
  if (failure !== null) await tell(ctx, tenantId, { id, target_id }, failure)
}

interface NotedRow {
  readonly state: string
  readonly verified: readonly Verification[]
  readonly is_damaged: boolean
  readonly proven_at: string | null
  readonly failure: string | null
  readonly at: string
}

/** What is known of the backup now. A target that is away, or a key that is missing here, says nothing of it. */
function foundAs(before: NotedRow, failure: string | null): Pick<NotedRow, 'state' | 'is_damaged' | 'failure'> {
  if (failure === null) return { state: 'COMPLETE', is_damaged: false, failure }
  if (!failure.startsWith('archive.') || failure === 'archive.no_key') return before
  return { state: failure === 'archive.incomplete' ? 'MISSING' : 'COMPLETE', is_damaged: true, failure }
}

async function tell(
  ctx: Ctx,
  tenantId: string,
  { id, target_id }: { readonly id: string; readonly target_id: string },
  failure: string,
): Promise<void> {
  const { tx } = ctx
  const [tenant] = await tx<{ id: string; slug: string }[]>`select id, slug from tenant where id = ${tenantId}`
  if (!tenant) return
  const action = 'tenant.backup_verification_failed'
  const evidence = { subject: { kind: 'backup', id }, params: { target_id, failure } }
  const noticeId = await ctx.audit(action, evidence)
  await ctx.enqueue(tellAdministrators, { tenantId, noticeId, name: 'backup_damaged', at: await ctx.now() })
  await ctx.asInstallation(async () => {
    const journalled = await ctx.journal(action, tenant, evidence)
    const [shared] = await tx`select from backup_target where tenant_id = ${installationScope} and id = ${target_id}`
    if (shared) await tellOperators(ctx, 'backup_damaged_told', journalled)
  })
}
