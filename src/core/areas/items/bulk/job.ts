/**
 * Actions on all items that a filter finds: found at once, done by a job.
 *
 *    QUEUED ──claim──▶ RUNNING ──portion──▶ … ──nothing left──▶ SUCCEEDED
 *       ▲                 │  └─whoever asked is not active any more, or the workspace is closed─▶ FAILED
 *       └──no beat for a minute (a worker that was killed): goes on behind the last portion that was committed
 *
 * The items are kept by their ids when they are asked for: what matches later stays, and what matches no longer is done all the
 * same. A portion does its items, counts them and moves the place in one transaction, so that a job that is killed anywhere
 * has done each item once. It acts as whoever asked, with the rights of that moment. Spec: items 1, N6; docs/decisions/0345.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { type BulkAction, type BulkResult, mostRefusals, mostSteps } from '../../../contract/items/bulk.ts'
import type { Filter } from '../../../contract/items/filter.ts'
import type { JobProgress, JobRef } from '../../../contract/jobs/operations.ts'
import { Problem, refuse } from '../../../contract/problem.ts'
import type { Role } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import type { AccountActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { newId } from '../../../kernel/values/id.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'
import { resumeLost } from '../../jobs/resume.ts'
import { readJob } from '../../jobs/show.ts'
import { asked } from '../query/asked.ts'
import { sourceOf } from '../query/candidates.ts'
import { allMatches } from '../query/gather.ts'
import { exactSource } from '../query/unkeyed.ts'
import { doEach } from './each.ts'

const kind = 'ITEM_BULK'
const worker = { kind: 'SYSTEM', job: 'bulk_items' } as const
/** Items of one portion, and rows of one statement. */
const portion = 100
const rowsAtOnce = 2_000
const mostAttempts = 100

/** Refuses request.invalid, query.too_broad. */
export async function queueBulk(ctx: Ctx, filter: Filter, actions: readonly BulkAction[]): Promise<JobRef> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const about = await asked(ctx, { filter, archived: 'EXCLUDE', include: [], count: false, size: 1 })
  const ids = await allMatches(ctx, await exactSource(ctx, about, sourceOf(ctx, about)))
  const jobId = newId()

  const params = { requested_by: accountId, total: ids.length }
  void tx`insert into job (tenant_id, id, kind, params) values (${tenantId}, ${jobId}, ${kind}, ${tx.json(params)})`
  void tx`insert into bulk_run (tenant_id, job_id, actions) values (${tenantId}, ${jobId}, ${tx.json(actions)})`
  const targets = ids.map((item_id, n) => ({ tenant_id: tenantId, job_id: jobId, n, item_id }))
  for (let at = 0; at < targets.length; at += rowsAtOnce)
    void tx`insert into bulk_target ${tx.rows(targets.slice(at, at + rowsAtOnce), 'tenant_id', 'job_id', 'n', 'item_id')}`
  const queued = readJob(tx, tx.part`tenant_id = ${tenantId} and id = ${jobId}`)
  await ctx.audit('item.bulk_requested', { subject: { kind: 'job', id: jobId }, params: { items: ids.length } })
  await ctx.enqueue(bulkItemsJob, { tenantId, jobId })
  return (await queued) ?? refuse('not_found')
}

interface Claim {
  readonly tenantId: string
  readonly jobId: string
  readonly attempt: number
  readonly params: { readonly requested_by: string; readonly total: number }
}

export const bulkItemsJob = defineJob({
  name: 'bulk_items',
  payload: z.object({ tenantId: z.guid(), jobId: z.guid() }),
  // The row decides what is run again, not the queue.
  retryLimit: 0,
  takesLong: true,
  longestSeconds: 23 * 3600,
  async run(installation, { tenantId, jobId }) {
    const claim = await claimJob(installation, tenantId, jobId)
    if (!claim) return
    if (claim.attempt > mostAttempts) return fail(installation, claim, 'worker.lost')
    for (;;) {
      const began = performance.now()
      const outcome = await doPortion(installation, claim).catch((error: unknown) => {
        // What the database is too busy for is done by another attempt.
        if (error instanceof Problem && error.code !== 'service.unavailable') return error.code
        throw error
      })
      if (outcome === 'over') return
      if (outcome !== 'more') return fail(installation, claim, outcome)
      failpoint('bulk.portion')
      await pause(Math.min(performance.now() - began, 100))
    }
  },
})

/** Resumes jobs whose worker was killed, once a minute. The last attempt ends the job: its rows are the workspace's to empty. */
export const resumeBulk = defineJob({
  name: 'resume_bulk',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '* * * * *',
  run: (installation) =>
    installation.transaction({ kind: 'SYSTEM', job: 'resume_bulk' }, {}, (ctx) => resumeLost(ctx, kind, bulkItemsJob)),
})

function claimJob(installation: Installation, tenantId: string, jobId: string): Promise<Claim | undefined> {
  return installation.transaction(worker, { tenantId }, async ({ tx }) => {
    const [row] = await tx<Pick<Claim, 'attempt' | 'params'>[]>`
      update job set state = 'RUNNING', attempt = attempt + 1, started_at = least(started_at, now()), beat_at = now()
      where tenant_id = ${tenantId} and id = ${jobId} and state = 'QUEUED' returning attempt, params`
    return row && { tenantId, jobId, ...row }
  })
}

interface RunRow {
  readonly actions: readonly BulkAction[]
  readonly counts: Readonly<Record<string, number>>
  readonly refusals: readonly Refusal[]
}
type Refusal = Pick<BulkResult, 'id' | 'status' | 'code'>

/** One portion, counted. `over`: the job has ended, or another attempt has it. Refuses auth.role_required, tenant_suspended. */
async function doPortion(installation: Installation, claim: Claim): Promise<'more' | 'over'> {
  const { tenantId, jobId, attempt, params } = claim
  const actor = await actorNow(installation, tenantId, params.requested_by)
  return installation.transaction(actor, { tenantId, admits: true }, async (ctx) => {
    const { tx } = ctx
    const [job] = await tx<{ progress: Partial<JobProgress> }[]>`
      select progress from job
      where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING' for update`
    const [run] = await tx<RunRow[]>`
      select actions, counts, refusals from bulk_run where tenant_id = ${tenantId} and job_id = ${jobId}`
    if (!job || !run) return 'over'
    const done = Number(job.progress.done ?? 0)
    const most = Math.min(portion, Math.floor(mostSteps / run.actions.length))
    const targets = await tx<{ item_id: string }[]>`
      select item_id from bulk_target where tenant_id = ${tenantId} and job_id = ${jobId} and n >= ${done} order by n limit ${most}`
    if (targets.length === 0) return finish(ctx, claim, run, done)

    const results = await doEach(
      ctx,
      targets.map(({ item_id: id }) => ({ id })),
      run.actions,
    )
    const { counts, refusals } = counted(run, results)
    const progress = { phase: 'WORKING', done: done + targets.length, total: params.total }
    void tx`
      update bulk_run set counts = ${tx.json(counts)}, refusals = ${tx.json(refusals)}
      where tenant_id = ${tenantId} and job_id = ${jobId}`
    await tx`
      update job set beat_at = now(), progress = ${tx.json(progress)} where tenant_id = ${tenantId} and id = ${jobId}`
    failpoint('bulk.done')
    return 'more'
  })
}

function counted(run: RunRow, results: readonly BulkResult[]): Pick<RunRow, 'counts' | 'refusals'> {
  const counts: Record<string, number> = { ...run.counts }
  for (const { code } of results) counts[code ?? 'done'] = (counts[code ?? 'done'] ?? 0) + 1
  const more = results.flatMap(({ id, status, code }) => (code === null ? [] : [{ id, status, code }]))
  return { counts, refusals: [...run.refusals, ...more].slice(0, mostRefusals) }
}

async function finish({ tx }: Ctx, { tenantId, jobId }: Claim, run: RunRow, done: number): Promise<'over'> {
  const progress = { phase: 'DONE', done, total: done }
  const result = { counts: run.counts, refusals: run.refusals }
  void tx`delete from bulk_target where tenant_id = ${tenantId} and job_id = ${jobId}`
  void tx`delete from bulk_run where tenant_id = ${tenantId} and job_id = ${jobId}`
  await tx`
    update job set state = 'SUCCEEDED', finished_at = now(), beat_at = now(), progress = ${tx.json(progress)}, result = ${tx.json(result)}
    where tenant_id = ${tenantId} and id = ${jobId}`
  return 'over'
}

/** Whoever asked, with the role of now. Refuses auth.role_required. */
function actorNow(installation: Installation, tenantId: string, accountId: string): Promise<AccountActor> {
  return installation.transaction(worker, { tenantId }, async ({ tx }) => {
    const [row] = await tx<{ kind: 'PERSON' | 'SERVICE'; role: Role | null }[]>`
      select a.kind, ${roleOnWorkspace(tx)} as role
      from account a where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state = 'ACTIVE'`
    if (!row) refuse('auth.role_required', { role: 'MEMBER' })
    return {
      kind: row.kind === 'SERVICE' ? 'SERVICE' : 'ACCOUNT',
      tenantId,
      accountId,
      credentialId: accountId,
      bearerId: accountId,
      sessionId: null,
      scopes: ['workspace:read', 'workspace:write'],
      role: row.role ?? 'VIEWER',
      isGuest: row.role === null,
      isOperator: false,
    }
  })
}

async function fail(installation: Installation, { tenantId, jobId, attempt }: Claim, code: string): Promise<void> {
  await installation.transaction(worker, { tenantId }, async ({ tx }) => {
    const { count } = await tx`
      update job set state = 'FAILED', finished_at = now(), failure = ${code}
      where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`
    if (count === 0) return
    await tx`delete from bulk_target where tenant_id = ${tenantId} and job_id = ${jobId}`
    await tx`delete from bulk_run where tenant_id = ${tenantId} and job_id = ${jobId}`
  })
}
