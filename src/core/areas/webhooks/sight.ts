/**
 * Which account decides what a webhook sees, and what happens to an event that this account does
 * not see.
 *
 * A webhook acts for the account that made it, or that last changed its target or its types or set
 * it ACTIVE. The fan-out asks what that account sees (fan-out.ts). This module asks the same in two
 * more cases: an event is sent by hand, or a webhook comes to act for another account. That account
 * must not be told of waiting events that only the account before it sees.
 *
 * Spec: decisions 7, Sight of events; decision 0156.
 */

import { refuse } from '../../contract/problem.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Part } from '../../kernel/database/statement.ts'
import { isLetIn, isOpen, joinContainer } from '../../kernel/outbox/container-sight.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isSeen } from '../access/access.ts'
import { hasRole } from '../access/held-role.ts'

interface SentEvent {
  readonly type: string
  readonly is_restored: boolean
}

/** An event that is to be sent by hand. Refuses not_found where the caller does not see it, webhook.event_unseen where the webhook's account does not. */
export async function readSeenEvent(
  ctx: Ctx,
  { eventId, actsFor }: { readonly eventId: string; readonly actsFor: string | null },
): Promise<SentEvent> {
  const [event] = await ctx.tx<(SentEvent & { is_seen_by_account: boolean })[]>`
    select e.type, e.is_restored, ${isTold(ctx, ctx.tx.part`${actsFor}`)} as is_seen_by_account
    from outbox_event e ${withContainer(ctx)}
    where e.tenant_id = ${ctx.account.tenantId} and e.id = ${eventId} and ${isEventSeen(ctx)}`
  if (!event) refuse('not_found')
  if (!event.is_seen_by_account) refuse('webhook.event_unseen')
  return event
}

/** The events among these that the caller sees now. Only an OWNER sees an event that is no longer stored. */
export async function seenEvents(ctx: Ctx, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { role, isGuest, tenantId } = ctx.account
  if (eventIds.length === 0 || (role === 'OWNER' && !isGuest)) return new Set(eventIds)
  const seen = await ctx.tx<{ id: string }[]>`
    select e.id from outbox_event e ${withContainer(ctx)}
    where e.tenant_id = ${tenantId} and e.id in ${ctx.tx.list(eventIds)} and ${isEventSeen(ctx)}`
  return new Set(seen.map(({ id }) => id))
}

/**
 * Moves the waiting deliveries of a webhook to the dead letter if their events are not seen by the account that it acts
 * for from now on. Returns how many. The caller has locked the webhook. An attempt that is under way is the last one.
 */
export async function withholdUnseen(
  ctx: Ctx,
  { webhookId, actsFor }: { readonly webhookId: string; readonly actsFor: string },
): Promise<number> {
  const { tenantId, role } = ctx.account
  if (role === 'OWNER') return 0
  const withheld = await ctx.tx`
    update delivery set status = 'DEAD_LETTER', due_at = null, started_at = null, leased_until = null, finished_at = now()
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and finished_at is null and event_id in (
      select e.id from outbox_event e ${withContainer(ctx)}
      where e.tenant_id = ${tenantId}
        and e.id in (select event_id from delivery where tenant_id = ${tenantId} and webhook_id = ${webhookId} and finished_at is null)
        and ${isTold(ctx, ctx.tx.part`${actsFor}`)} is not true)`
  return withheld.count
}

/**
 * Locks the workspace's memberships (shared) until the commit. So a removal of the caller's last role comes after it,
 * and finds the webhook (disabling.ts).
 * Refuses auth.role_required where the last role went before.
 */
export async function holdRole(ctx: Ctx): Promise<void> {
  const { tenantId, accountId } = ctx.account
  void ctx.tx`select pg_advisory_xact_lock_shared(${lockClasses.memberships}, hashtext(${tenantId}))`
  const [held] = await ctx.tx`
    select 1 from account a where a.tenant_id = ${tenantId} and a.id = ${accountId} and ${hasRole(ctx.tx)}`
  if (!held) refuse('auth.role_required', { role: 'ADMIN' })
}

const withContainer = ({ tx }: Ctx): Part => joinContainer(tx, tx.part`e.tenant_id`, containerOf(tx))

const containerOf = (tx: Ctx['tx']): Part => tx.part`outbox_container(e.container_id, e.type, e.body)`

const isEventSeen = (ctx: Ctx): Part => ctx.tx.part`(${containerOf(ctx.tx)} is null or ${isSeen(ctx)})`

const isTold = ({ tx }: Ctx, accountId: Part): Part => tx.part`
  (${containerOf(tx)} is null or ${isOpen(tx)} or ${isLetIn(tx, tx.part`e.tenant_id`, tx.part`${accountId}::uuid`)})`
