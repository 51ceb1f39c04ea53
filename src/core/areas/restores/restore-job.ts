/**
 * The job of a restore: plans, applies or takes back, one step a job.
 *
 *    PLAN    fails ──▶ the restore is FAILED, staging goes; a lost worker is given up after three
 *    APPLY   fails before anything is closed ──▶ FAILED; behind that it is tried again, and after three failures goes back
 *    UNDO    is tried again until it is done
 *
 * A worker that was killed is found by its silence, and another one goes on. Spec: Keeping, 3; docs/decisions/0033.
 */
import { z } from 'zod'
import { Problem } from '../../contract/problem.ts'
import { DatabaseUnavailable } from '../../kernel/database/unavailable.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { dropStaged, inStaging } from '../backup/loading/staging.ts'
import { StoreFailure } from '../backup/store.ts'
import { resumeLost } from '../jobs/resume.ts'
import { claimJob, type JobRun, Superseded } from '../jobs/run.ts'
import { isClosed } from './closing.ts'
import { keptErased, LedgerFault, readFacts } from './erasures.ts'
import type { Step } from './job-row.ts'
import { readListed } from './listed.ts'
import { type PlanFacts, planRewind } from './planning.ts'
import { rewind } from './rewind.ts'
import { goBack, undo } from './undoing.ts'
import { fillWhole } from './whole/filling.ts'
import { planWhole } from './whole/planning.ts'
import { openWork, type RestoreWork, writeEnd } from './work.ts'

const work = { kind: 'RESTORE', job: 'restore_tenant' } as const

/** Attempts behind which a plan is given up, and a rewind that fails goes back. */
const mostAttempts = 3

export const restoreJob = defineJob({
  name: 'restore_tenant',
  payload: z.object({ tenantId: z.guid(), jobId: z.guid() }),
  // The row decides what is run again, not the queue.
  retryLimit: 0,
  atOnce: 2,
  takesLong: true,
  longestSeconds: 23 * 3600,
  async run(installation, place) {
    const job = await claimJob(installation, work, place)
    if (!job) return
    job.begin()
    try {
      await carryOut(installation, job)
    } catch (error) {
      // A lost database, or another worker: the job is resumed.
      if (error instanceof Superseded || error instanceof DatabaseUnavailable) return
      throw error
    } finally {
      job.rest()
    }
  },
})

export const resumeRestores = (ctx: Ctx) => resumeLost(ctx, work.kind, restoreJob)

async function carryOut(installation: Installation, job: JobRun): Promise<void> {
  const stepOf = job.claim.params['step'] as Step
  let opened: RestoreWork | undefined
  try {
    opened = await openWork(installation, job, await readFacts(installation, { isDemanded: stepOf !== 'UNDO' }))
    if (!opened) {
      await job.failed('restore.gone', null)
      return
    }
    if (stepOf === 'PLAN') opened = await withListed(opened)
    if (stepOf === 'PLAN') await plan(opened)
    else if (stepOf === 'UNDO') await undo(opened)
    else if (opened.row.mode === 'REPLACE') await rewind(opened)
    else await fillWhole(opened)
    if (stepOf !== 'PLAN') await clearUp(opened)
  } catch (error) {
    if (error instanceof Superseded || error instanceof DatabaseUnavailable) throw error
    if (job.signal.aborted) throw job.signal.reason
    await settle(job, stepOf, opened, error)
  }
}

/** The erasures that the target lists beside the archive; the row keeps them for the apply. */
async function withListed(restore: RestoreWork): Promise<RestoreWork> {
  const { installation, job, row, identity } = restore
  const place = { targetId: row.target_id, path: row.path, tenantId: row.source_tenant_id }
  const opening = { identity, acceptsForeign: row.origin === 'FOREIGN' }
  const listed = await readListed(installation, job.actor, place, opening)
  return { ...restore, row: { ...row, erased: listed.map(keptErased) } }
}

async function plan(restore: RestoreWork): Promise<void> {
  const { job, tenantId, restoreId, row } = restore
  if (job.claim.attempt > mostAttempts) throw new Problem('service.unavailable')
  const planned: PlanFacts = row.mode === 'REPLACE' ? await planRewind(restore) : await planWhole(restore)
  job.rest()
  await job.succeeded({}, 0, async ({ tx }) => {
    await tx`
      update restore set state = 'PLANNED', plan = ${tx.json(planned)}, erased = ${tx.json(row.erased)}, planned_at = now(), version = version + 1
      where tenant_id = ${tenantId} and id = ${restoreId} and state = 'PLANNING'`
  })
}

/** What becomes of a step that failed. Throws what a later attempt may do better. */
async function settle(job: JobRun, stepOf: Step, restore: RestoreWork | undefined, error: unknown): Promise<void> {
  const failure = failureOf(error)
  const hasBegun = restore !== undefined && stepOf !== 'PLAN' && (await isClosed(restore))
  if (hasBegun && stepOf === 'APPLY' && restore.row.mode === 'REPLACE' && job.claim.attempt >= mostAttempts)
    await goBack(restore, failure)
  else if (hasBegun || (stepOf === 'UNDO' && restore)) throw error
  else await end(job, failure)
  if (restore) await clearUp(restore)
  if (failure === 'internal') throw error
}

/** Before anything has changed. */
async function end(job: JobRun, failure: string): Promise<void> {
  const { tenantId, params } = job.claim
  const restoreId = String(params['restore_id'])
  job.rest()
  await job.failed(failure, null, async ({ tx }) => {
    await writeEnd(tx, { tenantId, restoreId }, { state: 'FAILED', more: tx.part`failure = ${failure}` })
  })
}

/** The restore has ended: what lies in staging goes. The sweep does it if this is killed. */
function clearUp({ installation, restoreId }: RestoreWork): Promise<void> {
  return inStaging(installation, (client) => dropStaged(client, restoreId))
}

function failureOf(error: unknown): string {
  if (error instanceof LedgerFault) return 'ledger.invalid'
  if (error instanceof StoreFailure) return `target.${error.reason}`
  if (error instanceof Problem && error.code === 'backup.target_failed') return `target.${error.params['reason']}`
  if (error instanceof Problem && error.code === 'archive.invalid') return `archive.${error.params['reason']}`
  if (error instanceof Problem && error.code === 'request.invalid') return 'target.missing'
  if (error instanceof Problem && error.code === 'service.unavailable') return 'worker.lost'
  if (error instanceof Problem) return error.code
  return 'internal'
}
