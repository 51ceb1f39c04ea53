/**
 * The rules of keeping, applied: after a run that was made and verified, and never after one that failed.
 *
 *    verified ──a trusted time──▶ each backup of the schedule says which rules keep it; the rest is REMOVING ──removal.ts──▶ gone
 *
 * The newest good one of the workspace stays, and all stay while a legal hold is in force: then the rules wait for its release.
 * Spec: Keeping, 1 (Clocks) and 3 (Keeping).
 */
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { lockBackups } from '../backups/row.ts'
import { findRules } from '../schedules/row.ts'
import { ruledBy } from './rules.ts'

/** Schedules of one run; the next one goes on. */
const most = 200

interface Due {
  readonly tenant_id: string
  readonly schedule_id: string
}

export async function applyKeepRules(installation: Installation, worker: SystemActor, trusted: Date): Promise<void> {
  const due = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<Due[]>`
      select distinct b.tenant_id, b.schedule_id from backup b
      where b.keeping_due and not exists (select from legal_hold h where h.tenant_id = b.tenant_id and h.released_at is null)
      order by b.tenant_id, b.schedule_id limit ${most}`,
  )
  for (const { tenant_id: tenantId, schedule_id: scheduleId } of due) {
    await installation.transaction(worker, { tenantId }, (ctx) => apply(ctx, tenantId, scheduleId, trusted.getTime()))
    failpoint('keeping.applied')
  }
}

interface Candidate {
  readonly id: string
  readonly target_id: string
  readonly state: string
  readonly at: string
  readonly is_good: boolean
  readonly is_proven: boolean
  readonly is_newest_good: boolean
  readonly ruled_by: readonly string[]
}

async function apply(ctx: Ctx, tenantId: string, scheduleId: string, now: number): Promise<void> {
  const { tx } = ctx
  void lockBackups(ctx, tenantId)
  const schedule = await findRules(ctx, tenantId, scheduleId)
  const [held] = await tx`select from legal_hold where tenant_id = ${tenantId} and released_at is null limit 1`
  if (held) return
  const ended = schedule ? await readEnded(ctx, tenantId, scheduleId) : []
  if (schedule) {
    const candidates = ended.map(({ id, at, is_good, is_proven }) => ({
      id,
      at: Date.parse(at),
      isGood: is_good,
      isProven: is_proven,
    }))
    const rules = ruledBy(candidates, schedule.keep, schedule.time_zone, now)
    for (const backup of ended) await mark(ctx, tenantId, backup, rules.get(backup.id) ?? [])
  }
  await tx`
    update backup set keeping_due = false where tenant_id = ${tenantId} and schedule_id = ${scheduleId} and keeping_due`
  failpoint('keeping.marked')
}

/** Of the schedule; the newest good one is that of all backups of the workspace. */
const readEnded = ({ tx }: Ctx, tenantId: string, scheduleId: string) => tx<Candidate[]>`
  select b.id, b.target_id, b.state, coalesce(b.snapshot_at, b.created_at) as at, b.ruled_by,
    b.state = 'COMPLETE' and not b.is_damaged as is_good,
    b.state = 'COMPLETE' and not b.is_damaged and b.proven_at is not null as is_proven,
    b.id is not distinct from (
      select n.id from backup n where n.tenant_id = b.tenant_id and n.state = 'COMPLETE' and not n.is_damaged
      order by n.id desc limit 1) as is_newest_good
  from backup b
  where b.tenant_id = ${tenantId} and b.schedule_id = ${scheduleId} and not b.is_orphaned
    and b.state in ('COMPLETE', 'FAILED', 'MISSING')`

async function mark(ctx: Ctx, tenantId: string, backup: Candidate, rules: readonly string[]): Promise<void> {
  const { tx } = ctx
  const { id, target_id, is_newest_good, ruled_by } = backup
  if (rules.length === 0 && !is_newest_good) {
    void tx`update backup set state = 'REMOVING', ruled_by = '[]', version = version + 1 where tenant_id = ${tenantId} and id = ${id}`
    await ctx.audit('tenant.backup_removed', { subject: { kind: 'backup', id }, params: { target_id } })
    return
  }
  if (rules.join() !== ruled_by.join())
    void tx`
      update backup set ruled_by = ${tx.json(rules)}, version = version + 1 where tenant_id = ${tenantId} and id = ${id}`
}
