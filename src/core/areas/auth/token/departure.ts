/**
 * The end of accounts that have no role left, one or thousands at once: a group that loses its role may have been all that
 * its members had. Spec: decisions 7, Removed means out; people 1, Removal; docs/decisions/0151.
 */

import type { Ctx } from '../../../kernel/transaction/context.ts'
import { portionsOf } from '../../../kernel/values/portions.ts'
import { hasRole } from '../../access/held-role.ts'
import { disableWebhooksOf } from '../../webhooks/disabling.ts'
import { endCredentialsOf } from './ending.ts'

/** How many accounts a statement names: more parameters would be planned longer than they are worked on. */
const atOnce = 500

/**
 * Those of the accounts that have no role left. They are locked, the oldest first, so that a container which one of them
 * creates at this moment counts.
 */
export async function lockWithoutRole(ctx: Ctx, tenantId: string, accountIds: readonly string[]): Promise<string[]> {
  const { tx } = ctx
  const found: string[] = []
  for (const ids of portionsOf([...accountIds].sort(), atOnce)) {
    const locked = await withoutRole(ctx, tenantId, ids)
    if (locked.length === 0) continue
    void tx`select 1 from account where tenant_id = ${tenantId} and id in ${tx.list(locked)} order by id for update`
    // A separate statement sees what was committed while that one waited for the locks.
    found.push(...(await withoutRole(ctx, tenantId, locked)))
  }
  return found
}

async function withoutRole({ tx }: Ctx, tenantId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select a.id from account a where a.tenant_id = ${tenantId} and a.id in ${tx.list(ids)} and not ${hasRole(tx)} order by a.id`
  return rows.map(({ id }) => id)
}

/** Ends what the accounts, which are locked and have no role left, could still act with. A rewind must not undo it. */
export async function endAccess(ctx: Ctx, tenantId: string, accountIds: readonly string[]): Promise<void> {
  const { tx } = ctx
  for (const ids of portionsOf(accountIds, atOnce)) {
    await endCredentialsOf(ctx, tenantId, ids, 'role_lost')
    const acted = await tx<{ acts_for: string | null }[]>`
      select distinct acts_for from webhook where tenant_id = ${tenantId} and acts_for in ${tx.list(ids)} and state <> 'DISABLED'`
    for (const { acts_for } of acted) if (acts_for !== null) await disableWebhooksOf(ctx, tenantId, acts_for)
    ctx.recordObligation(...ids.map((id) => ({ act: 'account.left' as const, tenant_id: tenantId, account_id: id })))
  }
}
