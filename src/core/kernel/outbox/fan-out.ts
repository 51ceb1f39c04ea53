/**
 * Fan-out: the statement that writes an event also writes its deliveries.
 *
 * So a committed event has its deliveries, whatever fails afterwards, and a rolled-back event
 * has none (decision 0115). The statement answers for which webhooks the bell is rung after
 * the commit (bell.ts).
 *
 * In a workspace without webhooks there is nothing to fan out, and no webhook appears before the commit (decision 0184).
 *
 * An event of a private container goes only to webhooks whose account can see the container
 * now (decision 0156). Events of other containers and of the workspace go to all webhooks; of a container that stays open
 * until the commit nobody's sight is asked for (decision 0184).
 *
 * Spec: Events, rule 3; Webhooks and event pull, rule 4 (restored events); decisions 7, Sight of events.
 */

import type { Part } from '../database/statement.ts'
import type { Tx } from '../database/transaction.ts'
import { originNow } from '../tracing/tracing.ts'
import { isLetIn, isOpen, joinContainer } from './container-sight.ts'
import type { EventRow } from './event-row.ts'
import { insertNotices, type Notice } from './notice.ts'
import { insertSearchPending, type SearchPending } from './search-pending.ts'
import { insertEntries, type TrailEntry } from './trail-entry.ts'

/** A webhook for which something became due: the bell rings for it. */
export interface Due {
  readonly webhook_id: string
}

/** What the statement of the events writes beside them: entries in the trail, what is to be indexed, and what is to be told. */
export interface Beside {
  readonly entries: readonly TrailEntry[]
  readonly pending: readonly SearchPending[]
  readonly notices: readonly Notice[]
}

/** `waitSeconds`: the ladder's first rung. `open`: containers that everybody with a role on the workspace sees until the commit. */
export interface FanOut {
  readonly waitSeconds: number
  readonly open: ReadonlySet<string>
}

/**
 * Writes events of the workspace in force in their order, with deliveries for its webhooks, and what is beside them.
 * Answers what became due.
 */
export function writeEvents(
  tx: Tx,
  rows: readonly EventRow[],
  beside: Beside,
  { waitSeconds, open }: FanOut,
): Promise<readonly Due[]> {
  return tx<Due[]>`
    with ${writtenBeside(tx, beside)} written as (
      ${insertEvents(tx, rows)}
      returning tenant_id, id, type, container_id),
    fanned as (
      insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, due_at)
      select e.tenant_id, new_id(), w.id, e.id, e.type, 'EVENT', now() + make_interval(secs => ${waitSeconds}::float8)
      from written e join webhook w on w.tenant_id = e.tenant_id and w.state = 'ACTIVE' and w.event_types ? e.type
      ${rows.some(({ container_id: id }) => id !== null && !open.has(id)) ? whereSeen(tx) : tx.part``}
      returning webhook_id)
    select ${rows.length === 1 ? tx.part`` : tx.part`distinct`} webhook_id from fanned`
}

/** Keeps the webhooks `w` that see the event `e`. Not asked for events that all of them see. */
function whereSeen(tx: Tx): Part {
  const tenantId = tx.part`e.tenant_id`
  return tx.part`
      ${joinContainer(tx, tenantId, tx.part`e.container_id`)}
      where e.container_id is null or ${isOpen(tx)} or ${isLetIn(tx, tenantId, tx.part`w.acts_for`)}`
}

/** The same for a workspace that has no webhook before the commit: looking for them is most of the other statement's cost. */
export function writeUnheard(tx: Tx, rows: readonly EventRow[], beside: Beside): Promise<unknown> {
  return tx`with ${writtenBeside(tx, beside)} written as (${insertEvents(tx, rows)}) select`
}

/** Each ends with a comma. */
function writtenBeside(tx: Tx, { entries, pending, notices }: Beside): Part {
  const entered = entries.length > 0 ? tx.part`entered as (${insertEntries(tx, entries)}),` : tx.part``
  const noticed = notices.length > 0 ? tx.part`${entered} noticed as (${insertNotices(tx, notices)}),` : entered
  return pending.length > 0 ? tx.part`${noticed} queued as (${insertSearchPending(tx, pending)}),` : noticed
}

/**
 * Each row takes the next number of the workspace in force, by its column's default: the counter is locked until the
 * commit (docs/decisions/0126).
 */
function insertEvents(tx: Tx, rows: readonly EventRow[]): Part {
  const origin = originNow()
  if (origin === null)
    return tx.part`insert into outbox_event ${tx.rows(rows, 'tenant_id', 'id', 'type', 'occurred_at', 'container_id', 'body')}`
  const traced = rows.map((row) => ({ ...row, origin }))
  return tx.part`insert into outbox_event ${tx.rows(traced, 'tenant_id', 'id', 'type', 'occurred_at', 'container_id', 'body', 'origin')}`
}
