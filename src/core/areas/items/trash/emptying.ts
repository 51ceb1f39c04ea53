/**
 * Emptying the trash: asked for by a person, done by a job.
 *
 *    QUEUED ──claim──▶ RUNNING ──portion──▶ … ──nothing left──▶ SUCCEEDED
 *       ▲                 │  └─whoever asked may not any more, or the workspace is closed─▶ FAILED
 *       └──no beat for a minute (a worker that was killed): goes on with what is left
 *
 * The moment of the request bounds it: what is deleted later stays. A portion marks its rows and counts them in one
 * transaction, so that a job that is killed anywhere has counted what it has purged. Spec: items 3, N2.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { itemTrashOperations as ops } from '../../../contract/items/trash.ts'
import type { JobProgress } from '../../../contract/jobs/operations.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { Problem, refuse, refuseMember } from '../../../contract/problem.ts'
import { type Role, rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { newId } from '../../../kernel/values/id.ts'
import { findVisibleContainer, type Holder } from '../../access/access.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'
import { resumeLost } from '../../jobs/resume.ts'
import { readJob } from '../../jobs/show.ts'
import { wholeTrees } from './branch.ts'
import { type Trash, trashedContainers, trashedItems } from './content.ts'
import { markContainers, markItems, type PurgedContainer } from './purge.ts'
import { removePurged } from './removal.ts'

const kind = 'TRASH_EMPTY'
const worker = { kind: 'SYSTEM', job: 'empty_trash' } as const
/** Rows of the trash that one transaction purges. */
const portion = 100
/** Containers of one transaction: each has its items counted. */
const containersAtOnce = 20
const mostAttempts = 100

/** Refuses request.invalid, auth.role_required, trash.count_mismatch. */
export async function emptyTrash(
  ctx: Ctx,
  { body }: Received<typeof ops.emptyTrash>,
): Promise<Answer<typeof ops.emptyTrash>> {
  const { tenantId, accountId } = ctx.account
  const containerId = body.container_id ?? undefined
  if (containerId !== undefined) await demandAdmin(ctx, containerId)
  const before = await momentOf(ctx, body.deleted_before ?? undefined)
  const expected = await countRows(ctx, { holder: ctx.account, role: 'ADMIN', containerId, before })
  if (expected !== body.confirm_count) refuse('trash.count_mismatch', { expected })
  const jobId = newId()

  const params = { requested_by: accountId, container_id: containerId ?? null, before, total: expected }
  void ctx.tx`insert into job (tenant_id, id, kind, params) values (${tenantId}, ${jobId}, ${kind}, ${ctx.tx.json(params)})`
  const queued = readJob(ctx.tx, ctx.tx.part`tenant_id = ${tenantId} and id = ${jobId}`)
  await ctx.audit('trash.empty_requested', {
    subject: { kind: 'job', id: jobId },
    params: { container_id: containerId ?? null, rows: expected },
  })
  await ctx.enqueue(emptyTrashJob, { tenantId, jobId })
  return (await queued) ?? refuse('not_found')
}

async function demandAdmin(ctx: Ctx, containerId: string): Promise<void> {
  const container = await findVisibleContainer(ctx, containerId)
  if (!container) refuseMember('/container_id', 'reference.unknown')
  if (rankOf[container.role] < rankOf.ADMIN) refuse('auth.role_required', { role: 'ADMIN' })
}

/** The end of what is purged, to the microsecond: the given moment, at most now. */
async function momentOf({ tx }: Ctx, given: string | undefined): Promise<string> {
  const [row] = await tx<{ at: string }[]>`select least(now(), ${given ?? 'infinity'}::timestamptz)::text as at`
  return row?.at ?? refuse('not_found')
}

async function countRows({ tx }: Ctx, trash: Trash): Promise<number> {
  const [row] = await tx<{ rows: number }[]>`
    select ((select count(*) ${trashedItems(tx, trash)}) + (select count(*) ${trashedContainers(tx, trash)}))::int as rows`
  return row?.rows ?? 0
}

interface Claim {
  readonly tenantId: string
  readonly jobId: string
  readonly attempt: number
  readonly params: Params
}

interface Params {
  readonly requested_by: string
  readonly container_id: string | null
  readonly before: string
  readonly total: number
}

export const emptyTrashJob = defineJob({
  name: 'empty_trash',
  payload: z.object({ tenantId: z.guid(), jobId: z.guid() }),
  // The row decides what is run again, not the queue.
  retryLimit: 0,
  takesLong: true,
  longestSeconds: 23 * 3600,
  async run(installation, { tenantId, jobId }) {
    const claim = await claimJob(installation, tenantId, jobId)
    if (!claim) return
    for (;;) {
      const began = performance.now()
      const outcome = await purgePortion(installation, claim).catch((error: unknown) => {
        if (error instanceof Problem) return error.code
        throw error
      })
      if (outcome === 'over') return
      if (outcome !== 'more') return fail(installation, claim, outcome)
      failpoint('trash.portion')
      await pause(Math.min(performance.now() - began, 100))
    }
  },
})

/** Resumes jobs whose worker was killed, once a minute. */
export const resumeEmptying = defineJob({
  name: 'resume_emptying',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '* * * * *',
  run: (installation) =>
    installation.transaction({ kind: 'SYSTEM', job: 'resume_emptying' }, {}, (ctx) =>
      resumeLost(ctx, kind, emptyTrashJob, mostAttempts),
    ),
})

function claimJob(installation: Installation, tenantId: string, jobId: string): Promise<Claim | undefined> {
  return installation.transaction(worker, { tenantId }, async ({ tx }) => {
    const [row] = await tx<{ attempt: number; params: Params }[]>`
      update job set state = 'RUNNING', attempt = attempt + 1, started_at = least(started_at, now()), beat_at = now()
      where tenant_id = ${tenantId} and id = ${jobId} and state = 'QUEUED' returning attempt, params`
    return row && { tenantId, jobId, ...row }
  })
}

/** One portion, counted. `over`: the job has ended, or another attempt has it. Refuses auth.role_required, tenant_suspended. */
function purgePortion(installation: Installation, claim: Claim): Promise<'more' | 'over'> {
  const { tenantId, jobId, attempt, params } = claim
  return installation.transaction(worker, { tenantId, admits: true }, async (ctx) => {
    const { tx } = ctx
    const [job] = await tx<{ progress: Partial<JobProgress> }[]>`
      select progress from job
      where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING' for update`
    if (!job) return 'over'
    const trash: Trash = {
      holder: await holderNow(ctx, tenantId, params.requested_by),
      role: 'ADMIN',
      containerId: params.container_id ?? undefined,
      before: params.before,
    }
    const purged = await purgeSome(ctx, tenantId, trash, { requested_by: params.requested_by })
    failpoint('trash.marked')
    const done = Number(job.progress.done ?? 0) + purged
    if (purged === 0) {
      const progress = { phase: 'DONE', done, total: done }
      await tx`
        update job set state = 'SUCCEEDED', finished_at = now(), beat_at = now(), progress = ${tx.json(progress)}, result = ${tx.json({ purged: done })}
        where tenant_id = ${tenantId} and id = ${jobId}`
      await ctx.enqueue(removePurged, { tenantId }, { singletonKey: tenantId })
      return 'over'
    }
    const progress = { phase: 'WORKING', done, total: Math.max(params.total, done) }
    void tx`
      update job set beat_at = now(), progress = ${tx.json(progress)} where tenant_id = ${tenantId} and id = ${jobId}`
    return 'more'
  })
}

/** Purges the oldest rows of a trash, and answers how many. */
async function purgeSome(
  ctx: Ctx,
  tenantId: string,
  trash: Trash,
  params: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { tx } = ctx
  const items = await tx<{ id: string; container_id: string }[]>`
    select i.id, i.container_id ${trashedItems(tx, trash)} order by i.deleted_at, i.id limit ${portion} for update of i`
  const whole = await wholeTrees(tx, tenantId, items, portion)
  await markItems(ctx, tenantId, whole.items, params)
  if (items.length > 0) return whole.taken
  const containers = await tx<PurgedContainer[]>`
    select c.id, c.kind, c.parent_id ${trashedContainers(tx, trash)}
    order by c.deleted_at, c.id limit ${containersAtOnce} for update of c`
  await markContainers(ctx, tenantId, containers, params)
  return containers.length
}

/** What whoever asked may do now. Refuses auth.role_required. */
async function holderNow({ tx }: Ctx, tenantId: string, accountId: string): Promise<Holder> {
  const [row] = await tx<{ role: Role | null }[]>`
    select ${roleOnWorkspace(tx)} as role
    from account a where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state = 'ACTIVE'`
  if (!row) refuse('auth.role_required', { role: 'ADMIN' })
  return { tenantId, accountId, role: row.role ?? 'VIEWER', isGuest: row.role === null }
}

async function fail(installation: Installation, { tenantId, jobId, attempt }: Claim, code: string): Promise<void> {
  await installation.transaction(
    worker,
    { tenantId },
    ({ tx }) => tx`
      update job set state = 'FAILED', finished_at = now(), failure = ${code}
      where tenant_id = ${tenantId} and id = ${jobId} and attempt = ${attempt} and state = 'RUNNING'`,
  )
}
