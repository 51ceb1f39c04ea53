/**
 * A comment: how it is read, how it is locked for a change, and what every change records.
 *
 *    there ──DELETE──▶ without text, listed while others reply to it ──the last reply goes──▶ no row
 *                └──nobody replies──▶ no row
 *
 * Whatever is done to a comment holds the lock of its item first. So the comments of an item change one at a time, a count
 * of them is exact, and none is replied to that goes at this moment. The item's own version stays: a comment is no change
 * of it. Spec: items 4, O1 to O5; docs/decisions/0225.
 */
import type { Comment } from '../../contract/comments/operations.ts'
import { refuse } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { EventName } from '../../kernel/outbox/event-row.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { type ContainerRow, writableContainerOf } from '../access/access.ts'

/** The item of a comment, locked, and the container that it is in. */
export interface Thread {
  readonly itemId: string
  readonly container: ContainerRow
  readonly isArchived: boolean
}

/** The columns of an answer, of the comment `k`. One that is deleted shows nothing, also where a hold keeps its text. */
export const columnsOf = ({ tx }: Ctx): Part => tx.part`
  k.id, k.item_id, k.reply_to_id, case when k.deleted_at is null then k.body else '' end as body,
  case when k.deleted_at is null then coalesce((
    select jsonb_agg(n.id order by n.id) from (
      select m.account_id as id from comment_mention m where m.tenant_id = k.tenant_id and m.comment_id = k.id
      union all select g::uuid from jsonb_array_elements_text(k.mentioned_group_ids) g) n
  ), '[]'::jsonb) else '[]'::jsonb end as mention_ids,
  case when k.deleted_at is null then k.media_ids else '[]'::jsonb end as media_ids,
  case when k.deleted_at is null then coalesce((
    select jsonb_agg(jsonb_build_object('reaction', r.reaction, 'account_ids', r.account_ids) order by r.reaction collate "C")
    from (
      select g.reaction, jsonb_agg(g.account_id order by g.account_id) as account_ids from comment_reaction g
      where g.tenant_id = k.tenant_id and g.comment_id = k.id group by g.reaction) r
  ), '[]'::jsonb) else '[]'::jsonb end as reactions,
  k.created_by, k.created_at, k.edited_at, k.deleted_at is not null as is_deleted, k.version`

/** The container of an item, for a statement behind the one that locks the item. */
export const containerOf = ({ tx, account: { tenantId } }: Ctx, itemId: Part): Part =>
  tx.part`(select x.container_id from item x where x.tenant_id = ${tenantId} and x.id = ${itemId})`

/**
 * Locks the item for a change of its comments. The caller refuses an archived one, behind what it refuses itself.
 * Refuses not_found, auth.role_required, container.archived.
 */
export async function lockThread(
  ctx: Ctx,
  itemId: Part,
  role: 'COMMENTER' | 'comment_role' = 'COMMENTER',
): Promise<Thread> {
  const [{ id, is_archived: isArchived }, container] = await together(
    lockItemOf(ctx, itemId),
    writableContainerOf(ctx, containerOf(ctx, itemId), role),
  )
  return { itemId: id, container, isArchived }
}

/** Other changes of the item's comments wait, and changes of the item; readers and what refers to it do not. */
async function lockItemOf({ tx, account: { tenantId } }: Ctx, itemId: Part) {
  const [item] = await tx<{ id: string; is_archived: boolean }[]>`
    select i.id, i.archived_at is not null as is_archived from item i
    where i.tenant_id = ${tenantId} and i.id = ${itemId} and i.deleted_at is null for no key update`
  return item ?? refuse('not_found')
}

export interface LockedComment {
  readonly comment: Comment
  readonly thread: Thread
  /** When the transaction began: `now()` in all its statements. */
  readonly now: string
}

/**
 * The comment, for a change; it is not deleted. The caller calls `refuseChange` behind what it refuses itself.
 * Refuses not_found, auth.role_required, container.archived.
 */
export async function lockComment(ctx: Ctx, commentId: string): Promise<LockedComment> {
  const { tenantId } = ctx.account
  const { tx } = ctx
  const itemId = tx.part`(select y.item_id from comment y where y.tenant_id = ${tenantId} and y.id = ${commentId})`
  // Behind the item's lock, whose holder alone changes the comment.
  const [thread, [row]] = await together(
    lockThread(ctx, itemId),
    tx<(Comment & { now: string })[]>`
      select ${columnsOf(ctx)}, now() from comment k where k.tenant_id = ${tenantId} and k.id = ${commentId} and k.deleted_at is null`,
  )
  if (!row) refuse('not_found')
  const { now, ...comment } = row
  return { comment, thread, now }
}

/** Refuses item.archived. */
export function refuseArchived({ isArchived }: Thread): void {
  if (isArchived) refuse('item.archived')
}

type CommentEvent = Extract<EventName, `work.comment.${string}`>

/** Writes the trail's entry and the event of a change; the entry never holds the text. */
export const recordComment = (
  ctx: Ctx,
  event: CommentEvent,
  comment: Comment,
  { container }: Thread,
  params: { readonly mentioned_ids?: readonly string[] } = {},
) => ctx.record(event, { ...comment, container_id: container.id }, { item_id: comment.item_id, ...params })
