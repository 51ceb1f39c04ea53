/**
 * Password opening: for some hours, every account of a workspace that has a password may sign in
 * with it, even if the workspace's switch or the installation's lock forbids it.
 *
 *    none ──:open-password──▶ in force ──until, or :close-password──▶ none
 *                              ▲   └─:open-password (replaces)─┐
 *                              └───────────────────────────────┘
 *
 * In force means `opened_at <= now() < until` by the database's clock. A job removes the row at
 * its end, so that a clock that falls back cannot reopen it. The workspace's administrators get a
 * mail each time (areas/mail/).
 *
 * Spec: Password opening; Admin: workspaces, rule 2; decisions 4.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { tenantOperations as ops } from '../../contract/tenants/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lockTenant } from '../../kernel/transaction/workspace-row.ts'
import { accountIdOf } from '../../kernel/values/actor.ts'
import { tellAdministrators } from '../mail/jobs.ts'
import { endPasswordOpening } from './jobs.ts'
import { readTenant } from './list.ts'

/** Opens, or replaces the opening in force. Refuses not_found, admin.password_opening_suspended, admin.tenant_leaving. */
export async function openPassword(
  ctx: Ctx,
  { tenantId, body }: Received<typeof ops.openPassword>,
): Promise<Answer<typeof ops.openPassword>> {
  const tenant = await lockTenant(ctx, tenantId)
  switch (tenant.state) {
    case 'SUSPENDED':
      return refuse('admin.password_opening_suspended')
    case 'PENDING_DELETION':
      return refuse('admin.tenant_leaving')
    case 'ACTIVE':
  }

  const until = await writeOpening(ctx, tenantId, body)
  await touch(ctx, tenantId)
  await ctx.journal('tenant.password_opened', tenant, { params: { hours: body.hours, until } })
  const { hours, requester, reason } = body
  const noticeId = await ctx.inWorkspace(tenantId, () =>
    ctx.record(
      'work.tenant.password_opened',
      { id: tenantId, slug: tenant.slug, until },
      { hours, until, requester, reason },
    ),
  )
  await ctx.enqueue(endPasswordOpening, { tenantId }, { startAfter: new Date(until) })
  await ctx.enqueue(tellAdministrators, { tenantId, noticeId, name: 'password_opened', at: until })

  return readTenant(ctx.tx, tenant.slug)
}

async function writeOpening(
  ctx: Ctx,
  tenantId: string,
  { hours, requester, reason }: Received<typeof ops.openPassword>['body'],
): Promise<string> {
  const [opening] = await ctx.tx<{ until: string }[]>`
    insert into password_opening (tenant_id, until, opened_at, opened_by, requester, reason)
    values (${tenantId}, now() + make_interval(hours => ${hours}), now(), ${accountIdOf(ctx.actor)}, ${requester}, ${reason})
    on conflict (tenant_id) do update
    set until = excluded.until, opened_at = excluded.opened_at, opened_by = excluded.opened_by, requester = excluded.requester, reason = excluded.reason
    returning until`
  if (!opening) throw new Error('an opening that was written is gone')
  return opening.until
}

/** Closes the opening in force; without one, nothing changes and nothing is recorded. Refuses not_found. */
export async function closePassword(
  ctx: Ctx,
  { tenantId }: Received<typeof ops.closePassword>,
): Promise<Answer<typeof ops.closePassword>> {
  const tenant = await lockTenant(ctx, tenantId)
  const [closed] = await ctx.tx<{ was_in_force: boolean; at: string }[]>`
    with gone as (delete from password_opening where tenant_id = ${tenantId} returning opened_at, until)
    select now() >= opened_at and now() < until as was_in_force, now() as at from gone`
  if (!closed?.was_in_force) return readTenant(ctx.tx, tenant.slug)

  await touch(ctx, tenantId)
  await ctx.journal('tenant.password_closed', tenant)
  const noticeId = await ctx.inWorkspace(tenantId, () =>
    ctx.record('work.tenant.password_closed', { id: tenantId, slug: tenant.slug }),
  )
  await ctx.enqueue(tellAdministrators, { tenantId, noticeId, name: 'password_closed', at: closed.at })

  return readTenant(ctx.tx, tenant.slug)
}

const touch = (ctx: Ctx, tenantId: string) => ctx.tx`update tenant set version = version + 1 where id = ${tenantId}`
