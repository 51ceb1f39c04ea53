/**
 * The brake: a run that would take more than 1,000 rows, and more than a fifth of its kind, takes none.
 *
 *    free ──too many──▶ stopped: OWNERs are mailed ──the same days, with the hash of a new preview──▶ released
 *      ▲                                                                                                │
 *      └──────────────────────────────────no longer too many────────────────────────────────────────────┘
 *
 * So a rule that somebody shortened, or a clock that all clocks followed, does not empty a workspace in a night. A rule that was
 * released takes what is due until that is little again. Spec: Keeping, 4, Brake.
 */
import type { RuleKind } from '../../contract/retention/rules.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { newId } from '../../kernel/values/id.ts'
import { tellOwners } from '../mail/jobs.ts'
import { allOf } from './doomed.ts'
import type { RuleRow } from './rule.ts'

/** As many go without a question. */
const fewRows = 1000
const shareOfAll = 0.2

interface Run {
  readonly kind: RuleKind
  /** The day of the run. */
  readonly on: string
  /** What it would take: a query (doomed.ts). */
  readonly doomed: Part
}

/** Whether the run may take what is due; where not, it is stopped from now on. The workspace's role is in force. */
export async function mayGo(ctx: Ctx, tenantId: string, run: Run): Promise<boolean> {
  const { tx } = ctx
  const { kind } = run
  const [rule] = await tx<Pick<RuleRow, 'stopped_at' | 'is_released'>[]>`
    select stopped_at, is_released from retention_rule where tenant_id = ${tenantId} and kind = ${kind} for no key update`
  if (rule !== undefined && rule.stopped_at !== null) return false
  const wouldGo = await countMany(ctx, tenantId, run)
  if (wouldGo !== undefined && rule?.is_released !== true) {
    await stop(ctx, tenantId, run, wouldGo)
    return false
  }
  if (wouldGo === undefined && rule?.is_released === true)
    void tx`update retention_rule set is_released = false where tenant_id = ${tenantId} and kind = ${kind}`
  return true
}

/** How many would go, if these are too many. */
async function countMany({ tx }: Ctx, tenantId: string, { kind, doomed }: Run): Promise<number | undefined> {
  const [some] = await tx<{ count: number }[]>`
    select count(*)::int as count from (select 1 from (${doomed}) d limit ${fewRows + 1}) looked`
  if ((some?.count ?? 0) <= fewRows) return undefined
  const [counted] = await tx<{ doomed: number; total: number }[]>`
    select (select count(*) from (${doomed}) d)::int as doomed, (${allOf(tx, tenantId, kind)})::int as total`
  if (!counted) throw new Error('a count is always a row')
  return counted.doomed > counted.total * shareOfAll ? counted.doomed : undefined
}

async function stop(ctx: Ctx, tenantId: string, { kind, on }: Run, wouldGo: number): Promise<void> {
  const { tx } = ctx
  void tx`
    insert into retention_rule (tenant_id, kind, stopped_at) values (${tenantId}, ${kind}, now())
    on conflict (tenant_id, kind) do update set stopped_at = excluded.stopped_at, is_released = false`
  void tx`
    insert into retention_run (tenant_id, id, kind, due_on, stopped, ended_at)
    values (${tenantId}, ${newId()}, ${kind}, ${on}, true, now())
    on conflict (tenant_id, kind, due_on) do update set stopped = true, ended_at = excluded.ended_at`
  const noticeId = await ctx.audit('retention.stopped', {
    subject: { kind: 'tenant', id: tenantId },
    params: { kind, would_go: wouldGo },
  })
  await tellOwners(ctx, { tenantId, noticeId, name: 'retention_stopped', at: await ctx.now() })
}
