/** The row of a day's run of a rule. Spec: Keeping, 4, K12; docs/decisions/0471. */
import type { Answer, Received } from '../../contract/operation.ts'
import type { ruleOperations as ops, RetentionRun, RuleKind } from '../../contract/retention/rules.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lastId, pageOfRows, pageStart } from '../../kernel/transaction/page.ts'
import { localTime } from '../../kernel/values/day.ts'
import { newId } from '../../kernel/values/id.ts'

/** Newest first: ids rise with the moment. Refuses cursor.invalid. */
export async function listRetentionRuns(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listRetentionRuns>,
): Promise<Answer<typeof ops.listRetentionRuns>> {
  const list = { operation: 'listRetentionRuns' }
  const before = pageStart(ctx, list, cursor) ?? lastId
  const rows = await ctx.tx.last<RetentionRun[]>`
    select id, kind, at, removed, held, stopped from retention_run
    where tenant_id = ${ctx.account.tenantId} and id < ${before}::uuid order by id desc limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size)
}

/** The day that the clocks of a zone show at a moment, `YYYY-MM-DD`. */
const dayIn = (zone: string, at: number): string => new Date(localTime(at, zone)).toISOString().slice(0, 10)

/** The day of the workspace in force. */
export async function dayOf({ tx }: Pick<Ctx, 'tx'>, tenantId: string, at: Date): Promise<string> {
  const [tenant] = await tx<{ zone: string }[]>`select default_time_zone as zone from tenant where id = ${tenantId}`
  return dayIn(tenant?.zone ?? 'UTC', at.getTime())
}

/** Adds what a sweep took to the day's row, and writes the trail's entry. Of nothing there is neither. */
export async function noteTaken(
  ctx: Ctx,
  tenantId: string,
  { kind, on, removed }: { readonly kind: RuleKind; readonly on: string; readonly removed: number },
): Promise<void> {
  if (removed === 0) return
  void ctx.tx`
    insert into retention_run (tenant_id, id, kind, due_on, removed, ended_at)
    values (${tenantId}, ${newId()}, ${kind}, ${on}, ${removed}, now())
    on conflict (tenant_id, kind, due_on) do update set removed = retention_run.removed + excluded.removed`
  await ctx.audit('retention.run', { subject: { kind: 'tenant', id: tenantId }, params: { kind, removed } })
}
