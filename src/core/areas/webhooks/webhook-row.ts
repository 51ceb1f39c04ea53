/** A webhook's row, as rules read, lock and answer it. Spec: decisions 5, Webhook. */

import { refuse } from '../../contract/problem.ts'
import type { DisabledReason, Webhook, WebhookState } from '../../contract/webhooks/operations.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

export interface WebhookRow {
  readonly id: string
  readonly target_url: string
  readonly event_types: string[]
  readonly state: WebhookState
  readonly disabled_reason: DisabledReason | null
  readonly acts_for: string | null
  readonly consecutive_failures: number
  readonly failing_since: string | null
  readonly secret_rotated_at: string | null
  readonly previous_secret_until: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly version: number
}

/**
 * Waits for attempts that are just beginning, and lets none begin before the commit: a change is in force when
 * answered.
 */
export const closeWebhook = ({ tx }: Pick<Ctx, 'tx'>, webhookId: string): Promise<unknown> =>
  tx`select pg_advisory_xact_lock(${lockClasses.webhook}, hashtext(${webhookId}))`

/** The workspace's webhooks, newest first, or only the one with that id. */
export const readWebhooks = ({ tx }: Ctx, tenantId: string, id: string | null = null): Promise<WebhookRow[]> => tx<
  WebhookRow[]
>`
  select id, target_url, event_types, state, disabled_reason, acts_for, consecutive_failures, failing_since, secret_rotated_at,
         (select max(s.ends_at) from webhook_secret s
          where s.tenant_id = w.tenant_id and s.webhook_id = w.id and s.ends_at > now()) as previous_secret_until,
         created_at, updated_at, version
  from webhook w
  where tenant_id = ${tenantId} and (${id}::uuid is null or id = ${id})
  order by id desc`

/** Refuses not_found. */
export async function readWebhook(ctx: Ctx, tenantId: string, id: string): Promise<WebhookRow> {
  const [row] = await readWebhooks(ctx, tenantId, id)
  return row ?? refuse('not_found')
}

/** Locks and reads the webhook; until the commit it does not change, and no attempt begins. Refuses not_found. */
export async function lockWebhook(ctx: Ctx, tenantId: string, id: string): Promise<WebhookRow> {
  await closeWebhook(ctx, id)
  await ctx.tx`select from webhook where tenant_id = ${tenantId} and id = ${id} for update`
  return readWebhook(ctx, tenantId, id)
}

export const answered = (row: WebhookRow): Webhook => ({ ...row, filter: null })
