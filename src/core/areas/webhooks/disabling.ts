/**
 * How the service itself disables a webhook: its target is gone or fails, or the account that it
 * acts for left.
 * Spec: States: Webhook subscription; decisions 5; decisions 7, Sight of events.
 */

import type { DisabledReason } from '../../contract/webhooks/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { hasRole } from '../access/held-role.ts'
import { answered, closeWebhook, readWebhook } from './webhook-row.ts'

/** Disables a webhook that is not disabled yet. A paused one makes no attempts, so only `owner_left` disables it. */
export async function disableWebhook(
  ctx: Ctx,
  tenantId: string,
  webhookId: string,
  reason: DisabledReason,
): Promise<void> {
  const isPausedToo = reason === 'owner_left'
  const changed = await ctx.tx`
    update webhook set state = 'DISABLED', disabled_reason = ${reason}, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${webhookId} and (state = 'ACTIVE' or state = 'PAUSED' and ${isPausedToo})`
  if (changed.count === 0) return
  const webhook = answered(await readWebhook(ctx, tenantId, webhookId))
  await ctx.record('integration.webhook.disabled', webhook, { reason })
}

/** Disables the webhooks that act for an account that has left: without a role, or disabled. The caller holds the roles' lock. */
export async function disableWebhooksOf(ctx: Ctx, tenantId: string, accountId: string): Promise<void> {
  const left = await ctx.tx<{ id: string }[]>`
    select w.id from webhook w join account a on a.tenant_id = w.tenant_id and a.id = w.acts_for
    where w.tenant_id = ${tenantId} and w.acts_for = ${accountId} and w.state <> 'DISABLED'
      and (a.state = 'DISABLED' or not ${hasRole(ctx.tx)})
    order by w.id`
  for (const { id } of left) {
    await closeWebhook(ctx, id)
    await disableWebhook(ctx, tenantId, id, 'owner_left')
  }
}
