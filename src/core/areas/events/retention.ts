/**
 * The window of the outbox: events older than it are answered no more, and removed by the month.
 *
 *    1. the watermark of each workspace moves behind its events that are past the window: a pull begins after it
 *    2. a month past the window is dropped whole, unless a delivery waits for an event of it: a paused webhook gets it
 *       after it resumes
 *    3. of a month that stays, all other events are removed, batch by batch
 *
 * No page can miss an event that its cursor would have found: before a month is dropped the watermark is moved behind all its
 * events, and where they are removed one by one it moves in the same transaction.
 *
 * A workspace may decide a narrower window, which its nightly run sees to (areas/retention-runs): row by row.
 *
 * Events are found by their ids, which begin with the time of their creation. Spec: Webhooks and
 * event pull, rule 6 (the window); decisions 5; docs/decisions/0127, 0523.
 */
import { z } from 'zod'
import { asPurgeOf, asTenant } from '../../kernel/database/roles.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { dropMonths, type Month } from '../../kernel/transaction/months.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { firstEventOf } from '../retention-rules/doomed.ts'

const sweeper = { kind: 'SYSTEM', job: 'sweep_outbox' } as const
/** Events removed in one transaction, so that no transaction lasts long. */
const batch = 1000
/** Events passed in one transaction. */
const page = 10_000
/** Workspaces checked in one transaction. */
const lookedAt = 200

export const sweepOutbox = defineJob({
  name: 'sweep_outbox',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '41 */6 * * *',
  async run(installation) {
    // One edge for all steps: a month is dropped only if its end was past the window before the marks were moved.
    const { edge, month } = await edgesNow(installation, sweeper)
    await inEach(installation, edge, (tenantId) => passWindow(installation, tenantId, edge))
    await dropMonths(installation, sweeper, { table: 'outbox_event', below: edge, isNeeded: isAwaited })
    await inEach(installation, month, (tenantId) => removeRest(installation, tenantId, month))
  },
})

/** Whether a delivery waits for an event of the month; reads all that wait. */
async function isAwaited({ tx }: Ctx, { first_id, end_id }: Month): Promise<boolean> {
  const found = await tx`
    select 1 from delivery where finished_at is null and event_id >= ${first_id}::uuid and event_id < ${end_id}::uuid limit 1`
  return found.length > 0
}

/** The smallest id within the window, and that of the month in which the window begins: all months before it are past the window. */
export async function edgesNow(installation: Installation, actor: Actor): Promise<{ edge: string; month: string }> {
  const [row] = await installation.transaction(
    actor,
    { readOnly: true },
    ({ tx, config }) => tx<{ edge: string; month: string }[]>`
      select ${firstEventOf(tx, tx.part`now() - make_interval(days => ${config.outboxDays})`)} as edge,
             first_id_at(date_trunc('month', now() - make_interval(days => ${config.outboxDays}), 'UTC')) as month`,
  )
  if (!row) throw new Error('a select without a table answers one row')
  return row
}

/** Works in each workspace that has an event with an id below the edge. */
async function inEach(
  installation: Installation,
  edge: string,
  work: (tenantId: string) => Promise<void>,
): Promise<void> {
  for (let after: string | undefined = firstId; after !== undefined; ) {
    const { workspaces, last } = await findOld(installation, edge, after)
    for (const tenantId of workspaces) await work(tenantId)
    after = last
  }
}

/** The workspaces of one batch that have events below the edge; `last` is undefined after the last batch. */
function findOld(
  installation: Installation,
  edge: string,
  after: string,
): Promise<{ workspaces: string[]; last: string | undefined }> {
  return installation.transaction(sweeper, { readOnly: true }, async (ctx) => {
    const tenants = await ctx.tx<
      { id: string }[]
    >`select id from tenant where id > ${after}::uuid order by id limit ${lookedAt}`
    const old = new Set<string>()
    await Promise.all(
      tenants.map(({ id }) =>
        ctx.inWorkspaceAtOnce(id, () => [hasOld(ctx, edge, id).then((is) => (is ? old.add(id) : undefined))]),
      ),
    )
    return { workspaces: [...old], last: tenants.length < lookedAt ? undefined : tenants.at(-1)?.id }
  })
}

async function hasOld(ctx: Ctx, edge: string, tenantId: string): Promise<boolean> {
  const found = await ctx.tx`
    select 1 from outbox_event where tenant_id = ${tenantId} and id < ${edge}::uuid limit 1`
  return found.length > 0
}

/**
 * Moves the watermark behind the events that are past the window, page by page. All of them are read, once: the order of their
 * numbers is not quite that of their ids.
 */
async function passWindow(installation: Installation, tenantId: string, edge: string): Promise<void> {
  for (let passed = page; passed === page; )
    passed = await installation.transaction(sweeper, { tenantId }, async (ctx) => {
      void ctx.tx.switch(asPurgeOf(tenantId))
      const [mark] = await ctx.tx<{ passed_id: string | null }[]>`
        select passed_id from outbox_watermark where tenant_id = ${tenantId}`
      const [row] = await ctx.tx<{ last: string | null; count: number }[]>`
        with passed as materialized (
          select id, tx, seq from outbox_event
          where tenant_id = ${tenantId} and id > ${mark?.passed_id ?? firstId}::uuid and id < ${edge}::uuid order by id limit ${page}),
        moved as (${moveMark(ctx, tenantId, ctx.tx.part`passed`)})
        select (select id from passed order by id desc limit 1) as last, count(*)::int as count from passed`
      if (!row?.last) return 0
      await ctx.tx`update outbox_watermark set passed_id = ${row.last} where tenant_id = ${tenantId}`
      return row.count
    })
}

/** The watermark moves behind the last of these events, and never back. */
const moveMark = ({ tx }: Ctx, tenantId: string, passed: Part): Part => tx.part`
  insert into outbox_watermark (tenant_id, tx, seq)
  select ${tenantId}, tx, seq from ${passed} order by tx desc, seq desc limit 1
  on conflict (tenant_id) do update set tx = excluded.tx, seq = excluded.seq, moved_at = excluded.moved_at
  where (outbox_watermark.tx, outbox_watermark.seq) < (excluded.tx, excluded.seq)`

async function removeRest(installation: Installation, tenantId: string, month: string): Promise<void> {
  let removed = batch
  while (removed === batch)
    removed = await installation.transaction(sweeper, { tenantId }, (ctx) =>
      removeOld(ctx, tenantId, ctx.tx.part`${month}::uuid`, batch),
    )
}

/**
 * Removes at most `size` events of before a moment, which is an expression, and answers how many: for a workspace whose window is
 * narrower. It acts as the workspace before and behind.
 */
export async function removeEventsBefore(ctx: Ctx, tenantId: string, moment: Part, size: number): Promise<number> {
  const removed = await removeOld(ctx, tenantId, firstEventOf(ctx.tx, moment), size)
  void ctx.tx.switch(asTenant(tenantId))
  return removed
}

/** Removes events with ids below this one, moves the watermark, and answers how many were removed. As the purge. */
async function removeOld(ctx: Ctx, tenantId: string, edge: Part, size: number): Promise<number> {
  void ctx.tx.switch(asPurgeOf(tenantId))
  const [row] = await ctx.tx<{ count: number }[]>`
    with old as (
      select e.id from outbox_event e
      where e.tenant_id = ${tenantId} and e.id < ${edge}
        and not exists (select from delivery d where d.tenant_id = ${tenantId} and d.event_id = e.id and d.finished_at is null)
      order by e.id limit ${size}),
    removed as (delete from outbox_event e using old where e.tenant_id = ${tenantId} and e.id = old.id returning e.tx, e.seq),
    moved as (${moveMark(ctx, tenantId, ctx.tx.part`removed`)})
    select count(*)::int as count from removed`
  return row?.count ?? 0
}
