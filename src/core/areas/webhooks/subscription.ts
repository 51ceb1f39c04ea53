/**
 * Subscriptions: made, changed, removed.
 *
 *    ACTIVE ◀──PATCH──▶ PAUSED
 *      │  ▲
 *      │  └──PATCH: the count starts afresh──┐
 *      └──gone, failing for too long, or its account left──▶ DISABLED     (disabling.ts)
 *
 * A change is in force when it is answered: it waits for attempts that are just beginning (webhook-row.ts), and no
 * attempt begins with the old values after that.
 *
 * A webhook acts for the account that made it or last changed what it does (sight.ts).
 *
 * Spec: Webhook subscription; Webhooks and event pull, rules 1 and 2; decisions 5; decisions 7, Sight of events.
 */

import { knownName } from '../../contract/event-catalog.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { webhookOperations as ops, Webhook } from '../../contract/webhooks/operations.ts'
import { beforeNewAudience } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { newId } from '../../kernel/values/id.ts'
import { type QuotaCounts, spend } from '../settings/quotas.ts'
import { removeDeliveries } from './jobs.ts'
import { addSecret, endSecrets } from './secret.ts'
import { holdRole, withholdUnseen } from './sight.ts'
import { hostOf, type VettedTarget } from './target.ts'
import { answered, lockWebhook, readWebhook, readWebhooks, type WebhookRow } from './webhook-row.ts'

/** All webhooks, newest first; a quota limits their number. */
export async function listWebhooks(ctx: Ctx): Promise<Answer<typeof ops.listWebhooks>> {
  return { data: (await readWebhooks(ctx, ctx.account.tenantId)).map(answered) }
}

/** Refuses not_found. */
export async function getWebhook(ctx: Ctx, { webhookId }: Received<typeof ops.getWebhook>): Promise<Webhook> {
  return answered(await readWebhook(ctx, ctx.account.tenantId, webhookId))
}

/** Subscribes a target. Refuses webhook.filter_unsupported, webhook.target_forbidden, request.invalid, quota.exceeded. */
export async function createWebhook(
  ctx: Ctx,
  { body: { target_url, event_types, filter } }: Received<typeof ops.createWebhook>,
  vetted: VettedTarget,
): Promise<Answer<typeof ops.createWebhook>> {
  const { tenantId, accountId } = ctx.account
  // What needs no lock comes first, because the workspace's changes wait behind this one.
  if (typeof filter === 'string') refuse('webhook.filter_unsupported')
  const host = hostOf(vetted)
  checkTypes(ctx, event_types)
  await beforeNewAudience(ctx.tx, tenantId)
  await holdRole(ctx)
  await spend(ctx, webhookQuotas, 'webhook_targets', { tenantId })

  const id = newId()
  await ctx.tx`
    insert into webhook (tenant_id, id, target_url, host, event_types, acts_for)
    values (${tenantId}, ${id}, ${target_url}, ${host}, ${ctx.tx.json(event_types)}, ${accountId})`
  const secret = await addSecret(ctx, tenantId, id)
  const webhook = answered(await readWebhook(ctx, tenantId, id))
  await ctx.record('integration.webhook.created', webhook, { host, event_types })

  return { ...webhook, secret }
}

/** Refuses not_found, precondition.failed, webhook.not_active, and what createWebhook refuses of the same members. */
export async function changeWebhook(
  ctx: Ctx,
  { webhookId, body }: Received<typeof ops.changeWebhook>,
  vetted: VettedTarget,
): Promise<Webhook> {
  const { tenantId, accountId } = ctx.account
  await holdRole(ctx)
  const before = await lockWebhook(ctx, tenantId, webhookId)
  ctx.unchanged(before.version)
  if (typeof body.filter === 'string') refuse('webhook.filter_unsupported')
  if (body.target_url !== undefined) hostOf(vetted)
  if (body.event_types) checkTypes(ctx, body.event_types)
  if (before.state === 'DISABLED' && body.state === 'PAUSED') refuse('webhook.not_active')
  const changed = changesOf(before, body)
  if (changed.length === 0) return answered(before)

  const { target_url = before.target_url, event_types = before.event_types, state = before.state } = body
  const host = changed.includes('target_url') ? hostOf(vetted) : null
  const startsAfresh = before.state === 'DISABLED' && state === 'ACTIVE'
  const changesHands = before.acts_for !== accountId && isWhatItDoes(changed, state)
  await ctx.tx`
    update webhook
    set target_url = ${target_url}, host = coalesce(${host}, host),
        event_types = ${ctx.tx.json(event_types)}, state = ${state}, acts_for = ${changesHands ? accountId : before.acts_for},
        disabled_reason = case when ${startsAfresh} then null else disabled_reason end,
        consecutive_failures = case when ${startsAfresh} then 0 else consecutive_failures end,
        failing_since = case when ${startsAfresh} then null else failing_since end,
        updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${webhookId}`
  const withheld = changesHands ? await withholdUnseen(ctx, { webhookId, actsFor: accountId }) : 0
  if (state === 'ACTIVE') ctx.ring(webhookId)
  const webhook = answered(await readWebhook(ctx, tenantId, webhookId))
  const evidence = {
    ...{ changed, state_before: before.state, state },
    ...(changesHands && { acts_for: accountId, acted_for: before.acts_for, withheld }),
  }
  if (startsAfresh) await ctx.record('integration.webhook.enabled', webhook, evidence)
  else await ctx.record('integration.webhook.changed', webhook, evidence)

  return webhook
}

/**
 * Removes a webhook and its secrets. Its deliveries are out of reach at once; a job removes them. Refuses not_found.
 */
export async function deleteWebhook(ctx: Ctx, { webhookId }: Received<typeof ops.deleteWebhook>): Promise<void> {
  const { tenantId } = ctx.account
  const webhook = answered(await lockWebhook(ctx, tenantId, webhookId))

  await endSecrets(ctx, tenantId, webhookId)
  await ctx.tx`delete from webhook where tenant_id = ${tenantId} and id = ${webhookId}`
  await ctx.enqueue(removeDeliveries, { tenantId, webhookId })
  await ctx.record('integration.webhook.deleted', webhook)
}

/** Whether a change concerns the target or the types, or activates the webhook. A pause does not count. */
const isWhatItDoes = (changed: readonly string[], state: string) =>
  changed.some((member) => member !== 'state' || state === 'ACTIVE')

type Change = Received<typeof ops.changeWebhook>['body']

/** The members that would be different. */
function changesOf(before: WebhookRow, { target_url, event_types, state }: Change): string[] {
  return [
    ...(target_url !== undefined && target_url !== before.target_url ? ['target_url'] : []),
    ...(event_types && JSON.stringify(event_types) !== JSON.stringify(before.event_types) ? ['event_types'] : []),
    ...(state !== undefined && state !== before.state ? ['state'] : []),
  ]
}

/** Refuses request.invalid for a type that nothing writes, or that is named twice. */
function checkTypes({ config }: Ctx, types: readonly string[]): void {
  for (const [at, type] of types.entries()) {
    if (knownName(config.eventNamespace, type) === undefined) refuseMember(`/event_types/${at}`, 'reference.unknown')
    if (types.indexOf(type) !== at) refuseMember(`/event_types/${at}`, 'list.unique')
  }
}

export const webhookQuotas = {
  webhook_targets: {
    async used({ tx }, tenantId) {
      // Counts a column that the installation may read as well.
      const [row] = await tx<{ count: number }[]>`
        select count(id)::int as count from webhook where tenant_id = ${tenantId}`
      return row?.count ?? 0
    },
  },
} satisfies Partial<QuotaCounts>
