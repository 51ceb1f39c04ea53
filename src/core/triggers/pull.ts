/**
 * Pulling events: every one exactly once for whoever goes on from `next_since`.
 *
 * Events are ordered by (tx, seq): the transaction that wrote them, then the order within
 * it. Transactions do not commit in the order of their numbers, so an answer ends below
 * the horizon, the oldest transaction that still writes in this database: whatever is
 * below it is there or never will be. Horizon and rows are of one statement, hence of one
 * snapshot (outbox_horizon, migration 0023); who runs in other databases was read before it.
 *
 *    next_since   of a full page   its last event (full: `limit` events, or about 1 MiB of them)
 *                 of the last one  the horizon: all below was answered, all else lies above; never a place before `since`
 *
 * So a poll that finds nothing moves on as well, and reads nothing twice. A page is a
 * range of one index, however many events there are and however long a change is open.
 *
 * A cursor is refused as gone once events behind it may have been removed (the watermark,
 * sweep.ts), once it is older than the window, and after a recovery (cursor.ts).
 *
 * Not guaranteed: the order of `time`. Spec: Webhooks and event pull, rule 6; decisions 5.
 */
import { account } from '../auth/session.ts'
import type { Ctx } from '../context.ts'
import { knownName } from '../events/catalog.ts'
import { JsonText, writeJson } from '../json.ts'
import type { Received } from '../operation.ts'
import { roomFor, withinPage } from '../page.ts'
import { refuse } from '../problem.ts'
import type { triggerOperations as ops } from './contract.ts'

interface PageRow {
  readonly horizon: string
  readonly at: string
  readonly is_gone: boolean
  /** Null in the one row of an empty page. */
  readonly tx: string | null
  readonly seq: string
  readonly body: string
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
  if (!first) throw new Error('the horizon is always a row')
  if (first.is_gone) refuse('gone')

  const found = rows.filter((row) => row.tx !== null)
  const page = found.slice(
    0,
    roomFor(found, limit, ({ body }) => Buffer.byteLength(body)),
  )
  const isFollowed = found.length > page.length || page.at(-1)?.is_followed === true
  const last = isFollowed ? page.at(-1) : undefined
  const end = last ? [last.tx ?? '', last.seq] : furthest(first.horizon, { tx, seq })
  const next = ctx.cursor.write(...bound, [...end, first.at])
  // The stored texts as they are: a parser in between would be another writer of events.
  const data = page.map(({ body }) => body).join(',')
  return new JsonText(`{"data":[${data}],"next_since":${writeJson(next)},"has_more":${last !== undefined}}`)
}

/**
 * The horizon, or where the poll began if that is further: a transaction of another database that was passed over
 * before holds once it is prepared, being of no session any more. Going back would answer events a second time.
 */
const furthest = (horizon: string, { tx, seq = '0' }: Since): string[] =>
  tx !== undefined && BigInt(tx) >= BigInt(horizon) ? [tx, seq] : [horizon, '0']

interface Since {
  readonly tx?: string | undefined
  readonly seq?: string | undefined
  /** When the cursor was made, as the database told. */
  readonly madeAt?: string | undefined
}

/** A bigint that no event's number reaches: the place behind all of a transaction. */
const behindAll = '9223372036854775807'

/** One row for each event, and one with the horizon alone where there is none. The offset keeps the planner from asking for the horizon twice. */
function readPage(ctx: Ctx, type: string, since: Since, rows: number) {
  const { tenantId } = account(ctx)
  const { tx = null, seq = behindAll, madeAt = null } = since
  const { part } = ctx.tx
  const events = part`
    select o.tx, o.seq, o.body from outbox_event o
    where o.tenant_id = ${tenantId} and o.type = ${type} and not o.is_restored
      and (o.tx, o.seq) > (coalesce(${tx}::xid8, w.tx, '0'::xid8), ${seq}::bigint)
      and o.tx < h.tx
    order by o.tx, o.seq limit ${rows}`
  seeWhoRuns(ctx)
  return ctx.tx.last<PageRow[]>`
    select h.tx::text as horizon, now() as at,
           coalesce(w.tx >= ${tx}::xid8 or ${madeAt}::timestamptz < now() - make_interval(days => ${ctx.config.outboxDays}), false) as is_gone,
           e.tx::text as tx, e.seq::text as seq, e.body, e.is_followed
    from (select outbox_horizon() as tx offset 0) h
    left join outbox_watermark w on w.tenant_id = ${tenantId}
    left join lateral (${withinPage(ctx, events, { order: part`tx, seq`, bytes: part`octet_length(body)` })}) e on true
    order by e.tx, e.seq`
}

/**
 * Has PostgreSQL read the list of the running, which it keeps until the transaction is over: so the list is older
 * than the snapshot of the page. Whoever of another database ends in between is on it and passed over; whoever
 * begins has a number above all that was committed. Read later, one that has just ended would hold this page up.
 */
function seeWhoRuns(ctx: Ctx): void {
  void ctx.tx`select pg_stat_get_backend_dbid(1)`
}
