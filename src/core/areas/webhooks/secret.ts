/**
 * Signing secrets: made, rotated, ended.
 *
 *    in force ──rotation──▶ in grace, until ends_at ──▶ swept
 *
 * A rotation adds a secret and gives the one in force an end; it changes no sealed value.
 * Deliveries are signed with the secret in force and with every one in grace, the newest first, so
 * a receiver may change over at any moment of the grace.
 *
 * Spec: Webhooks and event pull, rule 5; decisions 5, Delivery.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { webhookOperations as ops } from '../../contract/webhooks/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { removeSealed, storeSealed } from '../../kernel/transaction/sealed-values.ts'
import { newId } from '../../kernel/values/id.ts'
import { mintSecret } from './signature.ts'
import { answered, lockWebhook, readWebhook } from './webhook-row.ts'

const graceSeconds = 86_400
const graceAtMost = 5

/** Adds a secret to a webhook; from now on it is the one in force. */
export async function addSecret(ctx: Ctx, tenantId: string, webhookId: string): Promise<string> {
  const secret = mintSecret()
  const id = newId()
  await ctx.tx`insert into webhook_secret (tenant_id, id, webhook_id) values (${tenantId}, ${id}, ${webhookId})`
  await storeSealed(ctx, { tenantId, kind: 'webhook.secret', ownerId: id }, secret)
  return secret
}

/** Puts a new secret in force. Refuses not_found, webhook.rotation_limit. */
export async function rotateWebhookSecret(
  ctx: Ctx,
  { webhookId, body }: Received<typeof ops.rotateWebhookSecret>,
): Promise<Answer<typeof ops.rotateWebhookSecret>> {
  const { tenantId } = ctx.account
  await lockWebhook(ctx, tenantId, webhookId)
  const grace = body.grace_seconds ?? graceSeconds
  if (grace === 0) await endSecrets(ctx, tenantId, webhookId)
  else await demoteSecret(ctx, tenantId, webhookId, grace)

  const secret = await addSecret(ctx, tenantId, webhookId)
  await ctx.tx`
    update webhook set secret_rotated_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${webhookId}`
  const webhook = answered(await readWebhook(ctx, tenantId, webhookId))
  await ctx.record('integration.webhook.secret_rotated', webhook, { grace_seconds: grace })

  return { ...webhook, secret }
}

/** Starts the grace of the secret in force. Refuses webhook.rotation_limit. */
async function demoteSecret(ctx: Ctx, tenantId: string, webhookId: string, seconds: number): Promise<void> {
  await endSecrets(ctx, tenantId, webhookId, 'over')
  const [kept] = await ctx.tx<{ count: number }[]>`
    select count(*)::int as count from webhook_secret
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and ends_at is not null`
  if ((kept?.count ?? 0) >= graceAtMost) refuse('webhook.rotation_limit')
  await ctx.tx`
    update webhook_secret set ends_at = now() + make_interval(secs => ${seconds})
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and ends_at is null`
}

/** Removes a webhook's secrets with their sealed values: all of them, or those whose grace has ended. */
export async function endSecrets(
  ctx: Ctx,
  tenantId: string,
  webhookId: string,
  which: 'all' | 'over' = 'all',
): Promise<void> {
  const ended = await ctx.tx<{ id: string }[]>`
    delete from webhook_secret
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and (${which === 'all'} or ends_at <= now()) returning id`
  await Promise.all(ended.map(({ id }) => removeSealed(ctx, { tenantId, kind: 'webhook.secret', ownerId: id })))
}
