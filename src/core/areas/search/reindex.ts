/**
 * `:reindex`: a new generation of a workspace's documents is built beside the one that answers until then (indexing.ts).
 *
 * That a generation is BUILDING is the request: there is one at most, so two requests at once are one job and one entry. A
 * build that nobody asked for, of a new workspace or an upgrade, becomes the job's.
 *
 * Spec: Work on boards, 2, N5; docs/decisions/0231.
 */
import type { JobRef } from '../../contract/jobs/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { searchOperations as ops } from '../../contract/search/operations.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { accountIdOf, actsForInstallation } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { readJob } from '../jobs/show.ts'
import { languageOf } from './indexing.ts'
import { dictionaryOf } from './stems.ts'

/** Refuses not_found. */
export async function reindexSearch(
  ctx: Ctx,
  { body: { tenant_id: tenantId } }: Received<typeof ops.reindexSearch>,
): Promise<JobRef> {
  if (!actsForInstallation(ctx.actor)) {
    if (tenantId !== undefined && tenantId !== ctx.account.tenantId) refuse('not_found')
    return (await reindexWorkspace(ctx, ctx.account.tenantId)).job
  }
  if (tenantId === undefined) return reindexAll(ctx)
  const [tenant] = await ctx.tx<{ slug: string; state: string }[]>`
    select slug, state from tenant where id = ${tenantId} for share`
  if (tenant?.state !== 'ACTIVE') refuse('not_found')
  const { job, isNew } = await ctx.inWorkspace(tenantId, () => reindexWorkspace(ctx, tenantId))
  if (isNew) await ctx.journal('search.reindex_requested', { id: tenantId, slug: tenant.slug }, subjectOf(job))
  return job
}

async function reindexWorkspace(ctx: Ctx, tenantId: string): Promise<{ job: JobRef; isNew: boolean }> {
  const { tx } = ctx
  const jobId = newId()
  const language = await languageOf(tx, tenantId)
  // Of two requests at once the second one waits here for the commit of the first, and finds its job.
  const [building] = await tx<{ job_id: string | null }[]>`
    insert into search_index as s (tenant_id, language, state, job_id) values (${tenantId}, ${language}, 'BUILDING', ${jobId})
    on conflict (tenant_id) where state = 'BUILDING' do update set job_id = coalesce(s.job_id, excluded.job_id)
    returning job_id`
  const isNew = building?.job_id === jobId
  if (isNew) void insertJob(ctx, tenantId, jobId)
  const job = await readJob(tx, tx.part`tenant_id = ${tenantId} and id = ${building?.job_id ?? jobId}`)
  if (!job) throw new Error('a generation that is built names its job')
  if (isNew) await ctx.audit('search.reindex_requested', subjectOf(job))
  return { job, isNew }
}

/**
 * Begins a generation in the dictionary of a workspace's new locale, without a job; one that is being built begins anew in it.
 * Does nothing where the dictionary is the same.
 */
export async function rebuildForLocale(
  { tx }: Ctx,
  { tenantId, before, now }: { tenantId: string; before: string; now: string },
): Promise<void> {
  const language = dictionaryOf(now)
  if (language === dictionaryOf(before)) return
  await beginAnew(tx, tenantId, language)
}

/** Begins a generation in the workspace's language, without a job: its rows were written without events. */
export async function rebuildIndex({ tx }: Ctx, tenantId: string): Promise<void> {
  await beginAnew(tx, tenantId, await languageOf(tx, tenantId))
}

async function beginAnew(tx: Ctx['tx'], tenantId: string, language: string): Promise<void> {
  // Behind the turn under way, which would write the place that it read.
  await tx`select pg_advisory_xact_lock(${lockClasses.searchIndex}, hashtext(${tenantId}))`
  await tx`
    insert into search_index (tenant_id, language, state) values (${tenantId}, ${language}, 'BUILDING')
    on conflict (tenant_id) where state = 'BUILDING'
      do update set language = excluded.language, at_kind = null, after_id = null`
}

/** A job of the installation, which every active workspace's generation names. */
async function reindexAll(ctx: Ctx): Promise<JobRef> {
  const { tx } = ctx
  await tx`select pg_advisory_xact_lock(${lockClasses.searchIndex}, hashtext(${installationScope}))`
  const isOpen = tx.part`tenant_id = ${installationScope} and kind = 'SEARCH_REINDEX' and state in ('QUEUED', 'RUNNING')`
  const open = await readJob(tx, isOpen)
  if (open) return open
  const jobId = newId()
  const tenants = await tx<{ id: string; locale: string }[]>`
    select id, default_locale as locale from tenant where state = 'ACTIVE' order by id`
  for (let at = 0; at < tenants.length; at += rowsAtOnce) {
    const rows = tenants.slice(at, at + rowsAtOnce).map(({ id, locale }) => ({
      ...{ tenant_id: id, language: dictionaryOf(locale), state: 'BUILDING', round_id: jobId },
    }))
    void tx`
      insert into search_index ${tx.rows(rows, 'tenant_id', 'language', 'state', 'round_id')}
      on conflict (tenant_id) where state = 'BUILDING' do update set round_id = excluded.round_id`
  }
  void insertJob(ctx, installationScope, jobId)
  const job = (await readJob(tx, isOpen)) ?? refuse('not_found')
  await ctx.journal('search.reindex_requested', null, subjectOf(job))
  return job
}

const rowsAtOnce = 1_000

const insertJob = ({ tx, actor }: Ctx, tenantId: string, jobId: string): Promise<unknown> => tx`
  insert into job (tenant_id, id, kind, params)
  values (${tenantId}, ${jobId}, 'SEARCH_REINDEX', ${tx.json({ requested_by: accountIdOf(actor) })})`

const subjectOf = ({ job_id }: JobRef) => ({ subject: { kind: 'job', id: job_id } })
