/**
 * The nightly run of the rules: from 03:00 on the clocks of the workspace, up to an hour later by its id.
 *
 *    due ──begin──▶ a row for each rule in force ──portions──▶ ended
 *                     │ too many: stopped (retention-rules/brake.ts)
 *                     └ a hold on the workspace: ended, nothing taken
 *
 * Always true:
 *  - a day of a rule has one row, whoever sees it, so that two daemons run it once;
 *  - a portion and its numbers are one transaction: killed anywhere, the next daemon that looks goes on;
 *  - what is taken is older than a moment that the row holds, which was past by a time that both clocks agree on;
 *  - whoever keeps something for longer ends the run of it (retention-rules/change.ts);
 *  - a hold on the workspace that was placed is seen by the next portion: it holds the workspace's shared lock.
 *
 * Nothing is kept in memory but what the clocks said. Suspended workspaces are no exception. Spec: Keeping, 1 and 4;
 * docs/decisions/0471.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { RuleKind } from '../../contract/retention/rules.ts'
import { holdOpen } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { trustedTime } from '../items/trusted-time.ts'
import { mayGo } from '../retention-rules/brake.ts'
import { recordRule } from '../retention-rules/change.ts'
import { doomedBy } from '../retention-rules/doomed.ts'
import { daysInForce, type RuleRow, readDecided, undecided } from '../retention-rules/rule.ts'
import { dueDay } from './due.ts'
import { nightlyKinds, takes } from './take.ts'

const worker: SystemActor = { kind: 'SYSTEM', job: 'run_retention_rules' }
/** Workspaces that one transaction looks at. */
const lookedAt = 200
/** Rows of a portion at most; fewer where that takes long. */
const mostAtOnce = 500
const longMs = 80
const runMs = 9 * 60_000
/** As long the rows of runs are kept. */
const keptDays = 400

export const runRulesJob = defineJob({
  name: 'run_retention_rules',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  longestSeconds: 600,
  cron: '3-59/10 * * * *',
  async run(installation) {
    const until = performance.now() + runMs
    const trusted = await trustedTime(installation, worker)
    if (trusted === undefined) return
    for await (const due of workspacesDue(installation, trusted)) {
      await runIn(installation, due, trusted, until)
      if (performance.now() > until) return
    }
  },
})

interface Due {
  readonly tenantId: string
  /** The day whose run is due. */
  readonly on: string
}

/** Those whose day has not begun, that have a run under way, or a decision that takes effect. */
async function* workspacesDue(installation: Installation, trusted: Date): AsyncGenerator<Due> {
  for (let after: string | undefined = firstId; after !== undefined; ) {
    const from: string = after
    const { found, last } = await installation.transaction(worker, { readOnly: true }, async (ctx) => {
      const tenants = await ctx.tx<{ id: string; zone: string }[]>`
        select id, default_time_zone as zone from tenant where id > ${from}::uuid and purge_started_at is null
        order by id limit ${lookedAt}`
      const due: Due[] = []
      await Promise.all(
        tenants.map(({ id: tenantId, zone }) => {
          const on = dueDay(tenantId, zone, trusted.getTime())
          const asked = () =>
            hasWork(ctx, { tenantId, on }, trusted).then((is) => (is ? due.push({ tenantId, on }) : 0))
          return ctx.inWorkspaceAtOnce(tenantId, () => [asked()])
        }),
      )
      return { found: due, last: tenants.length < lookedAt ? undefined : tenants.at(-1)?.id }
    })
    yield* found
    after = last
  }
}

async function hasWork({ tx }: Ctx, { tenantId, on }: Due, trusted: Date): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`
    select not exists (select from retention_run where tenant_id = ${tenantId} and kind = 'RECORDS' and due_on >= ${on}::date)
      or exists (select from retention_run where tenant_id = ${tenantId} and ended_at is null)
      or exists (select from retention_rule where tenant_id = ${tenantId} and takes_effect_at <= ${trusted}::timestamptz) as found`
  return row?.found === true
}

async function runIn(installation: Installation, due: Due, trusted: Date, until: number): Promise<void> {
  const { tenantId } = due
  const inWorkspace = <T>(work: (ctx: Ctx) => Promise<T>) => installation.transaction(worker, { tenantId }, work)
  await inWorkspace((ctx) => takeEffect(ctx, tenantId, trusted))
  await inWorkspace((ctx) => begin(ctx, due, trusted))
  let size = mostAtOnce
  for (let isMore = true; isMore && performance.now() < until; ) {
    const began = performance.now()
    isMore = await inWorkspace((ctx) => takePortion(ctx, tenantId, size))
    const tookMs = performance.now() - began
    size = tookMs > longMs ? Math.max(1, Math.floor(size / 2)) : Math.min(mostAtOnce, size * 2)
    await pause(Math.min(tookMs, 100))
  }
}

/** Decisions whose notice is over. */
async function takeEffect(ctx: Ctx, tenantId: string, trusted: Date): Promise<void> {
  const rows = await ctx.tx<RuleRow[]>`
    update retention_rule set days = next_days, next_days = null, takes_effect_at = null, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and takes_effect_at <= ${trusted}::timestamptz
    returning kind, days, next_days, takes_effect_at, stopped_at, is_released, version`
  for (const row of rows) await recordRule(ctx, tenantId, row)
}

/** Writes the rows of the day. The first one decides who does: two kinds of a day are begun by one daemon. */
async function begin(ctx: Ctx, due: Due, trusted: Date): Promise<void> {
  const { tx } = ctx
  const { tenantId, on } = due
  const decided = new Map((await readDecided(ctx, tenantId)).map((row) => [row.kind, row]))
  for (const kind of nightlyKinds) {
    const days = daysInForce(ctx, decided.get(kind) ?? undecided(kind))
    // The product's own window of events has its own sweep (areas/events/retention.ts).
    if (days === 0 || (kind === 'EVENTS' && days >= ctx.config.outboxDays)) continue
    const before = new Date(trusted.getTime() - days * 86_400_000).toISOString()
    const [begun] = await tx<{ id: string }[]>`
      insert into retention_run (tenant_id, id, kind, due_on, before) values (${tenantId}, ${newId()}, ${kind}, ${on}, ${before})
      on conflict do nothing returning id`
    if (!begun) continue
    const doomed = doomedBy(tx, tenantId, kind, tx.part`${before}::timestamptz`)
    if (await mayGo(ctx, tenantId, { kind, on, doomed })) continue
    void tx`
      update retention_run set ended_at = now(), stopped = true where tenant_id = ${tenantId} and id = ${begun.id}`
  }
  void tx`
    delete from retention_run where tenant_id = ${tenantId} and ended_at is not null and (
      at < now() - make_interval(days => ${keptDays})
      or due_on < ${on}::date and removed = 0 and held = 0 and not stopped)`
}

interface OpenRun {
  readonly id: string
  readonly kind: RuleKind
  readonly before: string
}

/** A portion of a run that is under way; whether there may be more. Another daemon's run is passed over. */
async function takePortion(ctx: Ctx, tenantId: string, size: number): Promise<boolean> {
  const { tx } = ctx
  void holdOpen(tx, tenantId)
  const [run] = await tx<OpenRun[]>`
    select id, kind, before from retention_run
    where tenant_id = ${tenantId} and ended_at is null and before is not null order by id limit 1 for update skip locked`
  if (!run) return false
  const [hold] = await tx`
    select from legal_hold where tenant_id = ${tenantId} and scope_kind = 'TENANT' and released_at is null limit 1`
  const taken = hold
    ? { removed: 0, held: await countDue(ctx, tenantId, run), isMore: false }
    : await take(ctx, tenantId, run, size)
  const [row] = await tx<{ removed: number }[]>`
    update retention_run set removed = removed + ${taken.removed}, held = ${taken.held},
      ended_at = case when ${taken.isMore} then null else now() end
    where tenant_id = ${tenantId} and id = ${run.id} returning removed`
  // The brake lets a run go, not the rule.
  if (!taken.isMore && !hold)
    void tx`
      update retention_rule set is_released = false where tenant_id = ${tenantId} and kind = ${run.kind} and is_released`
  if (!taken.isMore && row && row.removed > 0) {
    const params = { kind: run.kind, removed: row.removed, held: taken.held }
    await ctx.audit('retention.run', { subject: { kind: 'tenant', id: tenantId }, params })
  }
  return true
}

const take = (ctx: Ctx, tenantId: string, { kind, before }: OpenRun, size: number) =>
  takes[kind]?.(ctx, tenantId, before, size) ?? Promise.resolve({ removed: 0, held: 0, isMore: false })

async function countDue({ tx }: Ctx, tenantId: string, { kind, before }: OpenRun): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from (${doomedBy(tx, tenantId, kind, tx.part`${before}::timestamptz`)}) d`
  return row?.count ?? 0
}
