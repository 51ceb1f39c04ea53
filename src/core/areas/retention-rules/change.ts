/**
 * How long a workspace keeps something is decided: longer at once, shorter after a notice, so that whoever finds out has days to
 * take it back. A token that was stolen shortens nothing by itself: shortening takes a step-up, and the hash of what was shown to
 * go. Spec: Keeping, 4, K10; Abuse, 16; docs/decisions/0470.
 */
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { ruleOperations as ops, RuleKind } from '../../contract/retention/rules.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { tellAdministrators } from '../mail/jobs.ts'
import { demandSeen } from './preview.ts'
import { daysInForce, isShorter, knownKind, type RuleRow, ruleOf, undecided } from './rule.ts'

/** Refuses not_found, auth.role_required, request.invalid, precondition.failed, plan.stale. */
export async function setRetentionRule(
  ctx: Ctx,
  { kind: named, body: { days, plan_hash } }: Received<typeof ops.setRetentionRule>,
): Promise<Answer<typeof ops.setRetentionRule>> {
  const kind = knownKind(named)
  if (kind !== 'DONE_ITEMS' && ctx.account.role !== 'OWNER') refuse('auth.role_required', { role: 'OWNER' })
  checkDays(ctx, kind, days)
  const held = await lockRule(ctx, kind)
  ctx.unchanged(held.version)
  const inForce = daysInForce(ctx, held)
  const isShortened = isShorter(days, inForce)
  // What the brake stopped goes on once somebody has seen how much it is.
  const isReleased = held.stopped_at !== null && days === inForce && plan_hash !== undefined
  const isKept = isShortened ? days === held.next_days : days === inForce && held.next_days === null && !isReleased
  if (isKept) return ruleOf(ctx, held, await lastRunOf(ctx, ctx.account.tenantId, kind))

  if (isShortened || isReleased) await demandSeen(ctx, kind, days, plan_hash)
  return isShortened
    ? shorten(ctx, kind, days)
    : lengthen(ctx, kind, { days: days === inForce ? held.days : days, isReleased })
}

/** Refuses request.invalid: what no rule of the kind may say. */
function checkDays({ config }: Ctx, kind: RuleKind, days: number): void {
  const { least, most, mayBeNever } = rangeOf(kind, config)
  if (days === 0 && mayBeNever) return
  if (days < least) refuseMember('/days', 'value.minimum', { minimum: least })
  if (days > most) refuseMember('/days', 'value.maximum', { maximum: most })
}

function rangeOf(kind: RuleKind, { outboxDays, retention }: Ctx['config']) {
  const never = { mayBeNever: true, most: 3650 }
  switch (kind) {
    case 'DONE_ITEMS':
    case 'TRASH':
      return { ...never, least: 1 }
    case 'TRAIL':
      return { mayBeNever: true, least: retention.trailMinDays, most: 36_500 }
    case 'EVENTS':
      return { mayBeNever: false, least: 1, most: outboxDays }
    case 'RECORDS':
      return { mayBeNever: false, least: 7, most: 365 }
    case 'ACCOUNTS':
      return { ...never, least: 30 }
    case 'REQUESTS':
      return { mayBeNever: false, least: 365, most: 3650 }
  }
}

/** The rule, locked; a row without a decision where there was none. */
async function lockRule({ tx, account: { tenantId } }: Ctx, kind: RuleKind): Promise<RuleRow> {
  void tx`insert into retention_rule (tenant_id, kind) values (${tenantId}, ${kind}) on conflict do nothing`
  const [row] = await tx<RuleRow[]>`
    select kind, days, next_days, takes_effect_at, stopped_at, is_released, version from retention_rule
    where tenant_id = ${tenantId} and kind = ${kind} for update`
  return row ?? undecided(kind)
}

async function lastRunOf({ tx }: Ctx, tenantId: string, kind: RuleKind): Promise<string | null> {
  const [row] = await tx<{ at: string | null }[]>`
    select max(at) as at from retention_run where tenant_id = ${tenantId} and kind = ${kind}`
  return row?.at ?? null
}

type Changed = Promise<Answer<typeof ops.setRetentionRule>>

async function shorten(ctx: Ctx, kind: RuleKind, days: number): Changed {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const [row] = await tx<RuleRow[]>`
    update retention_rule set next_days = ${days}, takes_effect_at = now() + make_interval(days => ${ctx.config.retention.noticeDays}),
      updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and kind = ${kind}
    returning kind, days, next_days, takes_effect_at, stopped_at, is_released, version`
  const { rule, noticeId } = await recordRule(ctx, tenantId, row)
  const at = rule.takes_effect_at ?? (await ctx.now())
  await ctx.enqueue(tellAdministrators, { tenantId, noticeId, name: 'retention_shortened', at })
  return rule
}

/** Longer, or as it was: what was to come is taken back, and what is under way stops. */
async function lengthen(
  ctx: Ctx,
  kind: RuleKind,
  { days, isReleased }: { readonly days: number | null; readonly isReleased: boolean },
): Changed {
  const { tx } = ctx
  const { tenantId } = ctx.account
  void tx`
    update retention_run set ended_at = now() where tenant_id = ${tenantId} and kind = ${kind} and ended_at is null`
  const [row] = await tx<RuleRow[]>`
    update retention_rule set days = ${days}, next_days = null, takes_effect_at = null, stopped_at = null,
      is_released = ${isReleased}, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and kind = ${kind}
    returning kind, days, next_days, takes_effect_at, stopped_at, is_released, version`
  return (await recordRule(ctx, tenantId, row)).rule
}

/** Writes the trail's entry and the event of a rule as it is now. */
export async function recordRule(ctx: Ctx, tenantId: string, row: RuleRow | undefined) {
  if (!row) throw new Error('a rule that is locked is there')
  const rule = ruleOf(ctx, row, await lastRunOf(ctx, tenantId, row.kind))
  const { last_run_at: _, version: __, ...data } = rule
  const { kind, days, next_days } = rule
  const params = { kind, days, next_days }
  const noticeId = await ctx.record('work.retention_rule.changed', { tenant_id: tenantId, ...data }, params)
  return { rule, noticeId }
}
