/**
 * What the caller was told.
 *
 * A row holds ids. Whether it is answered is decided now: of an item by the container that it is in now, else by that of
 * the event. Spec: people 3, I9, I10; docs/decisions/0431.
 */
import type { Notification, notificationOperations as ops } from '../../contract/notifications/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuseMember } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lastId, pageOfRows } from '../../kernel/transaction/page.ts'
import { together } from '../../kernel/transaction/together.ts'
import { isSeen } from '../access/access.ts'

/** So many are kept for an account, and counted. */
export const mostKept = 1_000

/** Refuses cursor.invalid. */
export async function listNotifications(
  ctx: Ctx,
  { unread, category, cursor, size }: Received<typeof ops.listNotifications>,
): Promise<Answer<typeof ops.listNotifications>> {
  const { tx } = ctx
  const list = { operation: 'listNotifications', filters: { unread, category } }
  const [at = 'infinity', id = lastId] =
    cursor === undefined ? [] : ctx.cursor.read(list.operation, list.filters, cursor)
  const [[counted], rows] = await together(
    countUnread(ctx),
    tx.last<Notification[]>`
      select p.id, p.category, p.at, p.count, p.event_type, p.actor_id, p.subject, p.place as container_id, p.text, p.read_at from (
        select n.id, n.category, n.at, n.count, n.event_type, n.actor_id, n.subject, n.text, n.read_at, ${placeOf(ctx)} as place
        from ${listed(ctx)} and (n.at, n.id) < (${at}::timestamptz, ${id}::uuid)
          ${unread === undefined ? tx.part`` : unread === 'true' ? tx.part`and n.read_at is null` : tx.part`and n.read_at is not null`}
          ${category === undefined ? tx.part`` : tx.part`and n.category = ${category}`}) p ${shown(ctx)}
      order by p.at desc, p.id desc limit ${size + 1}`,
  )
  const page = pageOfRows(ctx, list, rows, size, (last) => [last.at, last.id])
  return { ...page, unread_count: counted?.count ?? 0 }
}

/** The caller's notifications `n`, each with its item `i`; more conditions may follow. */
function listed(ctx: Ctx): Part {
  const { tenantId, accountId } = ctx.account
  return ctx.tx.part`
    notification n left join item i on i.tenant_id = n.tenant_id and i.id = n.item_id
    where n.tenant_id = ${tenantId} and n.account_id = ${accountId} and n.is_listed`
}

/** The container that a notification is of now. */
const placeOf = ({ tx }: Ctx): Part => tx.part`coalesce(i.container_id, n.container_id)`

/** Behind a relation `p`: joins the container `c` at `p.place`, and its hub `h`, and keeps what the caller is shown. */
function shown(ctx: Ctx): Part {
  const { tenantId } = ctx.account
  return ctx.tx.part`
    left join container c on c.tenant_id = ${tenantId} and c.id = p.place
    left join container h on h.tenant_id = ${tenantId} and h.id = c.parent_id
    where (p.place is null or c.id is not null and c.deleted_at is null and h.deleted_at is null and ${isSeen(ctx)})`
}

/** Those of one item or container are seen or not, so they are counted before it is asked for: in the index alone (0525). */
function countUnread(ctx: Ctx): Promise<{ count: number }[]> {
  const { tenantId, accountId } = ctx.account
  return ctx.tx<{ count: number }[]>`
    select least(coalesce(sum(p.unread), 0), ${mostKept})::int as count from (
      select ${placeOf(ctx)} as place, n.unread from (
        select u.container_id, u.item_id, count(*) as unread from notification u
        where u.tenant_id = ${tenantId} and u.account_id = ${accountId} and u.is_listed and u.read_at is null group by 1, 2) n
      left join item i on i.tenant_id = ${tenantId} and i.id = n.item_id) p ${shown(ctx)}`
}

/** Refuses request.invalid. */
export async function markNotifications(
  ctx: Ctx,
  { body: { ids, until, is_read } }: Received<typeof ops.markNotifications>,
): Promise<Answer<typeof ops.markNotifications>> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  if (ids && until !== undefined) refuseMember('/until', 'member.conflicts', { with: ['ids'] })
  if (!ids && until === undefined) refuseMember('/ids', 'member.required')
  const meant = ids ? tx.part`id in ${tx.list(ids)}` : tx.part`at <= ${until ?? ''}::timestamptz`
  // In the order in which the notifier locks them, so that neither waits for the other in a circle.
  void tx`
    update notification n set read_at = case when ${is_read}::boolean then now() end
    from (
      select event_id, category from notification
      where tenant_id = ${tenantId} and account_id = ${accountId} and ${meant} and (read_at is null) = ${is_read}::boolean
      order by event_id, category for update) m
    where n.tenant_id = ${tenantId} and n.account_id = ${accountId} and n.event_id = m.event_id and n.category = m.category`
  const [counted] = await countUnread(ctx)
  return { unread_count: counted?.count ?? 0 }
}
