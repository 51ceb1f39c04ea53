/**
 * The plan of a deletion: what would go, and a hash of all that a person decides by.
 *
 * The hash covers who the workspace is, its state, what its people made, who of them is an
 * operator, which holds are in force and which archives stay behind. It leaves out what moves by itself (the deadline,
 * the trail, events, sessions, counters), or no plan could ever be applied.
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

/** Plans; changes nothing. Refuses not_found. */
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

/** More than anybody reads; the newest come first. */
const mostBackups = 1000

/**
 * The archives that exports of this workspace wrote, as their jobs tell: nobody is called for a
 * plan. A target of the workspace's own, and one that was removed, is named by its id alone:
 * its archives are still there.
 */
const findBackups = (ctx: Ctx, tenantId: string): Promise<DeletionPlan['backups']> =>
  ctx.tx<DeletionPlan['backups']>`
    select j.result ->> 'target_id' as target_id, t.name as target_name, j.result ->> 'path' as path, j.finished_at as created_at
    from job j
    left join backup_target t on t.tenant_id = ${installationScope} and t.id::text = j.result ->> 'target_id'
    where j.tenant_id = ${tenantId} and j.kind = 'TENANT_EXPORT' and j.state = 'SUCCEEDED'
    order by j.finished_at desc, j.id limit ${mostBackups}`

const exportOf = (table: string) => workspaceTables[table]?.export

/** An entity by its name in an archive; what no archive has, by its table. */
function entityOf(table: string): string {
  const entity = exportOf(table)
  return typeof entity === 'string' ? entity : table
}

const isMadeByPeople = (table: string) => typeof exportOf(table) === 'string' && table !== 'audit_entry'
