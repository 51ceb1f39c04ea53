/**
 * The plan of a deletion: what would be removed, and a hash of the facts for the decision.
 *
 * The hash covers the workspace's id, names and state, the number of rows that its people made,
 * the number of its operators, the holds in force and the archives that stay behind. It omits
 * what changes without a decision (the deadline, the trail, events, sessions, counters):
 * otherwise no plan could ever be applied.
 *
 * Spec: Plans before destruction.
 */

import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { DeletionPlan, purgeOperations as ops } from '../../../contract/retention/operations.ts'
import { workspaceTables } from '../../../contract/tables.ts'
import { graceDays } from '../../../contract/tenants/grace.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import { asInstallation } from '../../../kernel/database/roles.ts'
import { hashOfPlan } from '../../../kernel/request/plan.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { countJobs } from '../purge/purge-queue.ts'
import { countRows } from '../purge/purge-tables.ts'

interface PlannedRow {
  readonly slug: string
  readonly display_name: string
  readonly state: string
  readonly purge_after: string
  readonly operators: number
}

/** Plans the deletion; changes nothing. Refuses not_found. */
export async function getDeletionPlan(
  ctx: Ctx,
  { tenantId }: Received<typeof ops.getDeletionPlan>,
): Promise<DeletionPlan> {
  const [tenant] = await ctx.tx<PlannedRow[]>`
    select slug, display_name, state, coalesce(purge_after, now() + make_interval(days => ${graceDays})) as purge_after,
           (select count(*)::int from operator where workspace_id = t.id) as operators
    from tenant t where id = ${tenantId}`
  if (!tenant) refuse('not_found')
  const holds = await ctx.tx<{ id: string }[]>`
    select id from legal_hold where tenant_id = ${tenantId} and released_at is null order by id`
  const rows = await ctx.inWorkspace(tenantId, () => countRows(ctx.tx, tenantId))
  const backups = await findBackups(ctx, tenantId)
  const queuedJobs = await countJobs(ctx, tenantId)
  await ctx.tx.switch(asInstallation)

  const facts = {
    tenant_id: tenantId,
    slug: tenant.slug,
    display_name: tenant.display_name,
    state: tenant.state,
    operators: tenant.operators,
    holds_in_force: holds.map(({ id }) => id),
    backups,
  }
  const made = [...rows].filter(([table]) => isMadeByPeople(table))
  return {
    ...facts,
    grace_days: graceDays,
    purge_after: tenant.purge_after,
    counts: Object.fromEntries([...rows].map(([table, count]) => [entityOf(table), count])),
    queued_jobs: queuedJobs,
    slug_blocked_days: ctx.config.slugBlockDays,
    hash: hashOfPlan([facts, made]),
  }
}

/** More than a person reads; the newest come first. */
const mostBackups = 1000

/**
 * The archives that exports of this workspace wrote, from their jobs: a plan calls no target. A
 * target of the workspace's own and a removed target are named only by id: their archives are
 * still there.
 */
const findBackups = (ctx: Ctx, tenantId: string): Promise<DeletionPlan['backups']> =>
  ctx.tx<DeletionPlan['backups']>`
    select j.result ->> 'target_id' as target_id, t.name as target_name, j.result ->> 'path' as path, j.finished_at as created_at
    from job j
    left join backup_target t on t.tenant_id = ${installationScope} and t.id::text = j.result ->> 'target_id'
    where j.tenant_id = ${tenantId} and j.kind = 'TENANT_EXPORT' and j.state = 'SUCCEEDED'
    order by j.finished_at desc, j.id limit ${mostBackups}`

const exportOf = (table: string) => workspaceTables[table]?.export

/** The entity's name in an archive; for a table that no archive contains, the table's name. */
function entityOf(table: string): string {
  const entity = exportOf(table)
  return typeof entity === 'string' ? entity : table
}

const isMadeByPeople = (table: string) => typeof exportOf(table) === 'string' && table !== 'audit_entry'
