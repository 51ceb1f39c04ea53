/**
 * What a rule would take with so many days, and the hash by which somebody says that it was seen.
 *
 *    <milliseconds of the moment, base 36>.<hash of what was counted at that moment>
 *
 * The plan holds for a quarter of an hour: within it, what was counted is counted again as of its moment. So rows that come of
 * age meanwhile leave it as it is, and rows that come back, or are changed, make it stale. Spec: Keeping, 1, Plans; 4, K11.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { ruleOperations as ops, RetentionPreview, RuleKind } from '../../contract/retention/rules.ts'
import { hashOfPlan } from '../../kernel/request/plan.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { doomedBy } from './doomed.ts'
import { daysInForce, knownKind, readDecided, undecided } from './rule.ts'

const goodMs = 15 * 60_000
const mostContainers = 100

/** Refuses not_found. */
export async function previewRetentionRule(
  ctx: Ctx,
  { kind: named, days }: Received<typeof ops.previewRetentionRule>,
): Promise<Answer<typeof ops.previewRetentionRule>> {
  const kind = knownKind(named)
  const decided = days === undefined ? await readDecided(ctx, ctx.account.tenantId) : []
  const row = decided.find((one) => one.kind === kind) ?? undecided(kind)
  return planAt(ctx, kind, days ?? daysInForce(ctx, row), Date.parse(await ctx.now()))
}

/** Refuses plan.stale unless what is taken with so many days is what was shown. */
export async function demandSeen(ctx: Ctx, kind: RuleKind, days: number, shown: string | undefined): Promise<void> {
  const now = Date.parse(await ctx.now())
  const at = Number.parseInt(shown?.split('.')[0] ?? '', 36)
  const isYoung = at <= now && at > now - goodMs
  if (isYoung && (await planAt(ctx, kind, days, at)).hash === shown) return
  refuse('plan.stale', { hash: (await planAt(ctx, kind, days, now)).hash })
}

async function planAt(ctx: Ctx, kind: RuleKind, days: number, at: number): Promise<RetentionPreview> {
  const counted = days === 0 ? { would_go: 0, oldest: null, per_container: [] } : await countBefore(ctx, kind, days, at)
  const facts = [ctx.account.tenantId, kind, days, at, counted]
  return { ...counted, hash: `${at.toString(36)}.${hashOfPlan(facts)}` }
}

async function countBefore({ tx, account: { tenantId } }: Ctx, kind: RuleKind, days: number, at: number) {
  const before = tx.part`(${new Date(at).toISOString()}::timestamptz - make_interval(days => ${days}))`
  const rows = await tx<{ container_id: string | null; count: number; oldest: string }[]>`
    select d.container_id, count(*)::int as count, min(d.at) as oldest from (${doomedBy(tx, tenantId, kind, before)}) d
    group by d.container_id order by count desc, d.container_id`
  const places = rows.flatMap(({ container_id, count }) => (container_id === null ? [] : [{ container_id, count }]))
  return {
    would_go: rows.reduce((sum, { count }) => sum + count, 0),
    oldest: rows.map(({ oldest }) => oldest).sort()[0] ?? null,
    per_container: places.slice(0, mostContainers),
  }
}
