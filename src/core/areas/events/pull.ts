/**
 * Pulling events: every one exactly once for whoever goes on from `next_since`.
 *
 * Events have the order of their workspace's counter. Whoever writes events holds the counter until the commit is visible
 * (outgoing.ts), so each snapshot has all events up to some number, and none above it. Events of before the counter
 * (migration 0036) lie below: they have the order of their transactions (tx), and all others the same, highest tx.
 *
 *    next_since   of a full page     its last event (full: `limit` events, or about 1 MiB of them)
 *                 of one cut short   the last event that it looked at
 *                 of the last one    the newest event of the workspace, of whatever type; never a place before `since`
 *
 * So a poll that finds nothing moves on as well, and reads nothing twice. Counter and rows come from one statement, hence
 * from one snapshot. A page is a range of one index, however many events there are.
 *
 * Events of private containers are answered to callers who see these by the same snapshot. A page
 * looks at so many events at most; whoever sees few of them gets short pages, and goes on behind them.
 *
 * A cursor is refused as gone once events behind it may have been removed (the watermark,
 * retention.ts), once it is older than the window, and after a recovery (cursor.ts).
 *
 * Not guaranteed: the order of `time`. Spec: Webhooks and event pull, rule 6; decisions 5; decisions 7, Sight of events.
 */

import { knownName } from '../../contract/event-catalog.ts'
import type { triggerOperations as ops } from '../../contract/events/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { roomFor, withinPage } from '../../kernel/transaction/page.ts'
import { JsonText, writeJson } from '../../kernel/values/json.ts'
import { isSeen, seesAll } from '../access/access.ts'

interface PageRow {
  /** The number of the workspace's newest event. */
  readonly newest: string
  readonly at: string
  readonly is_gone: boolean
  /** Null in the one row of an empty page. */
  readonly tx: string | null
  readonly seq: string
  /** Null in the row that says how far a page looked that is not full. */
  readonly body: string | null
  /** Whether another event that is seen lies behind this one. */
  readonly is_followed: boolean | null
}

/** Refuses not_found, cursor.invalid, gone. */
export async function pullEvents(
  ctx: Ctx,
  { eventType, since, limit }: Received<typeof ops.pullEvents>,
): Promise<JsonText> {
  if (knownName(ctx.config.eventNamespace, eventType) === undefined) refuse('not_found')
  const bound = ['pullEvents', { eventType }] as const
  const startsNow = since === 'now'
  const [tx, seq, madeAt] = since === undefined || startsNow ? [] : ctx.cursor.read(...bound, since)

  const rows = await readPage(ctx, eventType, { tx, seq, madeAt }, startsNow ? 0 : limit + 1)
  const [first] = rows
  if (!first) throw new Error('the counter is always a row')
  if (first.is_gone) refuse('gone')

  const found = rows.filter(({ body }) => body !== null)
  const room = roomFor(found, limit, ({ body }) => Buffer.byteLength(body ?? ''))
  const page = found.slice(0, room)
  const isFull = found.length > page.length || page.at(-1)?.is_followed === true
  const last = isFull ? page.at(-1) : rows.find(({ tx: at, body }) => at !== null && body === null)
  const end = last ? [last.tx ?? '', last.seq] : furthest(first.newest, { tx, seq })
  const next = ctx.cursor.write(...bound, [...end, first.at])
  // The stored texts as they are: a parser in between would be another writer of events.
  const data = page.map(({ body }) => body).join(',')
  return new JsonText(`{"data":[${data}],"next_since":${writeJson(next)},"has_more":${last !== undefined}}`)
}

/** The tx of all events that the counter has numbered. */
const counted = '9223372036854775807'

/** The newest event, or where the poll began if that is further: the caller may have come from a daemon whose database has more. */
const furthest = (newest: string, { tx, seq = '0' }: Since): string[] =>
  tx === counted && BigInt(seq) > BigInt(newest) ? [tx, seq] : [counted, newest]

interface Since {
  readonly tx?: string | undefined
  readonly seq?: string | undefined
  /** When the cursor was made, as the database told. */
  readonly madeAt?: string | undefined
}

/**
 * One row for each event, and one with the counter alone where there is none. An event is looked at once the one before
 * it was, and none behind the last that is answered: the order is the index's.
 *
 * A page looks at a thousand events. That limit is a constant, and the page's size a subquery within it: so the plan that
 * PostgreSQL keeps looks no dearer to it than one for this very size, and it does not plan each call anew.
 */
function readPage(ctx: Ctx, type: string, since: Since, rows: number) {
  const { tenantId } = ctx.account
  const { tx = null, seq = null, madeAt = null } = since
  // Both ends are plain columns of a row beside it: a subquery or a coalesce() here is no bound of the index in a plan
  // that is kept, because row-level security lets nothing in front of it that it cannot prove harmless.
  const { part } = ctx.tx
  const next = part`
    (select tx, seq, body, container_id from outbox_event
     where tenant_id = ${tenantId} and type = ${type} and not is_restored
       and (tx, seq) > (g.since_tx, g.since_seq)
     order by tx, seq limit 1000)`
  const found = seesAll(ctx) ? pageOfAll(ctx, next, rows) : pageOfSeen(ctx, type, next, rows)
  return ctx.tx.last<PageRow[]>`
    with edge as materialized (
      select coalesce(c.last, 0) as newest, w.tx as gone_tx, w.seq as gone_seq,
             coalesce(${tx}::xid8, w.tx, '0') as since_tx, coalesce(${seq}::bigint, w.seq, 0) as since_seq
      from (select) nothing
      left join outbox_counter c on c.tenant_id = ${tenantId}
      left join outbox_watermark w on w.tenant_id = ${tenantId})
    select g.newest::text as newest, now() as at,
           coalesce((g.gone_tx, g.gone_seq) > (${tx}::xid8, ${seq}::bigint) or ${madeAt}::timestamptz < now() - make_interval(days => ${ctx.config.outboxDays}), false) as is_gone,
           e.tx::text as tx, e.seq::text as seq, e.body, e.is_followed
    from edge g left join lateral (${found}) e on true
    order by e.tx, e.seq, e.body nulls last`
}

const asPage = (ctx: Ctx, rows: Part): Part =>
  withinPage(ctx, rows, { order: ctx.tx.part`tx, seq`, bytes: ctx.tx.part`octet_length(body)` })

/** For a caller who sees every container: the containers are not read. */
const pageOfAll = (ctx: Ctx, next: Part, rows: number): Part =>
  asPage(ctx, ctx.tx.part`select tx, seq, body from ${next} o order by tx, seq limit (select ${rows}::int)`)

/**
 * Of the next events those that the caller sees; their containers are found by their keys. Where that is no full
 * page, one row with the place of the last event looked at follows.
 *
 * Whether an event is seen is a subquery, for a join could look at all thousand before it answers the first.
 */
function pageOfSeen(ctx: Ctx, type: string, next: Part, rows: number): Part {
  const { part } = ctx.tx
  const { tenantId } = ctx.account
  const seen = part`
    select tx, seq, body
    from (select tx, seq, body, outbox_container(container_id, ${type}, body) as container_id from ${next} n order by tx, seq) o
    where container_id is null or (
      select ${isSeen(ctx)}
      from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
      where c.tenant_id = ${tenantId} and c.id = o.container_id)
    order by tx, seq limit (select ${rows}::int)`
  const isFull = part`
    (select count(*) from page) = ${rows} or coalesce((select is_followed from page order by tx desc, seq desc limit 1), false)`
  return part`
    with page as materialized (${asPage(ctx, seen)})
    select tx, seq, body, is_followed from page
    union all
    (select tx, seq, null, null from ${next} n order by tx, seq offset 999 limit case when ${isFull} then 0 else 1 end)`
}
