/**
 * `:export`: queues a workspace's archive to a backup target.
 *
 * It works in every state, except while a purge is under way: the archive would be incomplete.
 * The trail and the journal name the target, never the content of the archive.
 *
 * Spec: Admin: workspaces, rule 4; Quota semantics (export_jobs: running at once); decisions 4.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { tenantOperations as ops } from '../../contract/tenants/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Actor, isAccount } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { exportTenantJob } from '../backup/export-job.ts'
import { exportQuotas } from '../backup/export-quota.ts'
import { servesWorkspace } from '../backup/target.ts'
import { readJob } from '../jobs/show.ts'
import { spend } from '../settings/quotas.ts'

interface TenantRow {
  readonly slug: string
  readonly purge_started_at: string | null
}

/** Refuses not_found, admin.tenant_deletion_underway, request.invalid for a target that does not serve it, quota.exceeded. */
export async function exportTenant(
  ctx: Ctx,
  { tenantId, body }: Received<typeof ops.exportTenant>,
): Promise<Answer<typeof ops.exportTenant>> {
  const [tenant] = await ctx.tx<TenantRow[]>`
    select slug, purge_started_at from tenant where id = ${tenantId} for update`
  if (!tenant) refuse('not_found')
  if (tenant.purge_started_at !== null) refuse('admin.tenant_deletion_underway')
  if (!(await servesWorkspace(ctx, tenantId, body.target_id))) refuseMember('/target_id', 'reference.unknown')
  await spend(ctx, exportQuotas, 'export_jobs', { tenantId })

  const jobId = newId()
  await ctx.tx`
    insert into job (tenant_id, id, kind, params)
    values (${tenantId}, ${jobId}, 'TENANT_EXPORT', ${ctx.tx.json({ target_id: body.target_id, requested_by: requester(ctx.actor) })})`
  await ctx.enqueue(exportTenantJob, { tenantId, jobId })
  const evidence = { subject: { kind: 'job', id: jobId }, params: { target_id: body.target_id } }
  await ctx.journal('tenant.export_requested', { id: tenantId, slug: tenant.slug }, evidence)
  await ctx.inWorkspace(tenantId, () => ctx.audit('tenant.export_requested', evidence))
  return (await readJob(ctx.tx, ctx.tx.part`tenant_id = ${tenantId} and id = ${jobId}`)) ?? refuse('not_found')
}

const requester = (actor: Actor) => (isAccount(actor) ? actor.accountId : null)
