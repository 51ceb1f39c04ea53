/**
 * The window of the outbox: events older than it are removed, batch by batch.
 *
 * An event with an unfinished delivery stays, however old it is: a paused webhook gets it after it
 * resumes. The watermark moves in the transaction that removes the events, so no page can miss an
 * event that its cursor would have found. A pull begins after the watermark: it no longer answers
 * events that stay only for a delivery.
 *
 * A workspace may decide a narrower window, which its nightly run sees to (areas/retention-runs).
 *
 * Events are found by their ids, which begin with the time of their creation. Spec: Webhooks and
 * event pull, rule 6 (the window); decisions 5.
 */
import { z } from 'zod'
import { asPurgeOf, asTenant } from '../../kernel/database/roles.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { firstEventOf } from '../retention-rules/doomed.ts'

const sweeper = { kind: 'SYSTEM', job: 'sweep_outbox' } as const
/** Events removed in one transaction, so that no transaction lasts long. */
const batch = 1000
/** Workspaces checked in one transaction. */
const lookedAt = 200

export const sweepOutbox = defineJob({
  name: 'sweep_outbox',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '41 */6 * * *',
  async run(installation) {
    for (let after: string | undefined = firstId; after !== undefined; ) {
      const { workspaces, last } = await findOld(installation, after)
      for (const tenantId of workspaces) await sweepWorkspace(installation, tenantId)
      after = last
    }
  },
})

/** The workspaces of one batch that have events older than the window; `last` is undefined after the last batch. */
function findOld(
  installation: Installation,
  after: string,
): Promise<{ workspaces: string[]; last: string | undefined }> {
  return installation.transaction(sweeper, { readOnly: true }, async (ctx) => {
    const tenants = await ctx.tx<
      { id: string }[]
    >`select id from tenant where id > ${after}::uuid order by id limit ${lookedAt}`
    const old = new Set<string>()
    await Promise.all(
      tenants.map(({ id }) =>
        ctx.inWorkspaceAtOnce(id, () => [hasOld(ctx, id).then((is) => (is ? old.add(id) : undefined))]),
      ),
    )
    return { workspaces: [...old], last: tenants.length < lookedAt ? undefined : tenants.at(-1)?.id }
  })
}

async function hasOld({ tx, config }: Ctx, tenantId: string): Promise<boolean> {
  const found = await tx`
    select 1 from outbox_event where tenant_id = ${tenantId} and id < ${oldestKept({ tx, config })} limit 1`
  return found.length > 0
}

/** The smallest id within the window: the UUIDv7 of the window's start, with all other bits 0. */
export const oldestKept = ({ tx, config }: Pick<Ctx, 'tx' | 'config'>) =>
  firstEventOf(tx, tx.part`now() - make_interval(days => ${config.outboxDays})`)

async function sweepWorkspace(installation: Installation, tenantId: string): Promise<void> {
  let removed = batch
  while (removed === batch)
    removed = await installation.transaction(sweeper, { tenantId }, (ctx) =>
      removeOld(ctx, tenantId, oldestKept(ctx), batch),
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
    moved as (
      insert into outbox_watermark (tenant_id, tx, seq)
      select ${tenantId}, tx, seq from removed order by tx desc, seq desc limit 1
      on conflict (tenant_id) do update set tx = excluded.tx, seq = excluded.seq, moved_at = excluded.moved_at
      where (outbox_watermark.tx, outbox_watermark.seq) < (excluded.tx, excluded.seq))
    select count(*)::int as count from removed`
  return row?.count ?? 0
}
