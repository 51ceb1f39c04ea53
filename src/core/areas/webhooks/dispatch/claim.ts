/**
 * Claiming: an attempt is recorded in its delivery's row, and committed, before a socket opens.
 *
 * The row of an attempt under way has a lease of 30 s, twice what an attempt can last. If the daemon dies, the lease
 * expires; then the attempt is recorded as interrupted, and the delivery is due again at once. A claim skips rows that
 * another daemon is claiming at the same moment.
 *
 * A claim is refused unless the workspace is ACTIVE, and while the installation's gate is closed.
 *
 * Spec: decisions 5, Delivery; design of the deliveries (at least once).
 */
import type { KeyObject } from 'node:crypto'
import type { DeliveryCause } from '../../../contract/webhooks/operations.ts'
import { attemptsAtMost } from '../../../kernel/config/webhook-settings.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { type Sealed, unseal } from '../../../kernel/sealing/sealing.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { keyOf } from '../signature.ts'
import type { ClaimRequest } from './target.ts'

const leaseSeconds = 30

/** An attempt that is recorded as begun. */
export interface Begun {
  readonly deliveryId: string
  readonly webhookId: string
  readonly eventId: string
  readonly n: number
  readonly cause: DeliveryCause
  readonly targetUrl: string
  /** The event's text; attempts of one claim share it. Undefined if the event is not to be delivered any more. */
  readonly body: Buffer | undefined
  /** The request that the event comes from (kernel/tracing); null unless it was traced. */
  readonly origin: string | null
  /** The keys that sign it, the newest first. */
  readonly keys: readonly KeyObject[]
  /** The last attempt at the webhook failed. A success ends the run of failures. */
  readonly afterFailures: boolean
}

export interface Claim {
  readonly begun: readonly Begun[]
  /** Webhooks for which one attempt was asked, and nothing more is due. */
  readonly drained: ReadonlySet<string>
  /** Webhooks whose secrets cannot be unsealed now. No attempt of theirs was begun. */
  readonly locked: readonly string[]
}

export const nothingClaimed: Claim = { begun: [], drained: new Set(), locked: [] }

interface TargetRow extends Sealed {
  readonly id: string
  readonly target_url: string
  readonly is_failing: boolean
  readonly secret_id: string
  /** The secret is the current one, not one in its grace period. */
  readonly is_in_force: boolean
}

interface Target {
  readonly url: string
  readonly isFailing: boolean
  readonly keys: readonly KeyObject[]
}

interface BegunRow {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly n: number
  readonly cause: DeliveryCause
  /** It is the only delivery that is due at its webhook. Always false where several were asked for. */
  readonly is_only: boolean
}

/** The event of one or more of them; each event is answered once. */
interface EventRow {
  readonly id: null
  readonly event_id: string
  /** Null if the event is not to be delivered any more. */
  readonly body: string | null
  readonly origin: string | null
}

/** Locks webhooks until the commit. A change to one waits, and later statements of the turn see every change that came before. */
export const holdWebhooks = (tx: Tx, webhookIds: readonly string[]): Promise<unknown> =>
  tx`select pg_advisory_xact_lock_shared(${lockClasses.webhook}, key) from (
       select distinct hashtext(id) as key from jsonb_array_elements_text(${tx.json(webhookIds)}) as w(id) order by 1) k`

/** Begins attempts that are due, as many as are wanted at most. The webhooks are locked. `aheadSeconds`: see dispatcher.ts. */
export async function claim(
  ctx: Ctx,
  tenantId: string,
  wanted: readonly ClaimRequest[],
  aheadSeconds: number,
): Promise<Claim> {
  const expired = wanted.filter(({ hasExpired }) => hasExpired).map(({ webhookId }) => webhookId)
  if (expired.length > 0) await settleInterrupted(ctx, tenantId, expired, aheadSeconds)
  const [{ targets, locked }, { all, events }] = await Promise.all([
    readTargets(ctx, tenantId, wanted),
    begin(ctx, tenantId, wanted, aheadSeconds),
  ])
  const unsigned = all.filter(({ webhook_id }) => !targets.has(webhook_id))
  if (unsigned.length > 0) await takeBack(ctx, tenantId, unsigned)
  const rows = all.filter(({ webhook_id }) => targets.has(webhook_id))
  return {
    locked,
    drained: new Set(rows.filter(({ is_only }) => is_only).map(({ webhook_id }) => webhook_id)),
    begun: rows.map((row) => ({
      deliveryId: row.id,
      webhookId: row.webhook_id,
      eventId: row.event_id,
      n: row.n,
      cause: row.cause,
      targetUrl: targets.get(row.webhook_id)?.url ?? '',
      body: events.get(row.event_id)?.body,
      origin: events.get(row.event_id)?.origin ?? null,
      keys: targets.get(row.webhook_id)?.keys ?? [],
      afterFailures: targets.get(row.webhook_id)?.isFailing ?? true,
    })),
  }
}

/**
 * Begins attempts for the deliveries that are due first at each ACTIVE webhook. Where one is asked for, the statement
 * also sees whether another is due; if none is, no further claim is needed. It answers the texts of the events too, null
 * for those that are not to be delivered any more. That is no condition of the look-up: with it the planner would read an
 * index of all events that are answered from its beginning, to find a few by their keys.
 */
async function begin({ tx }: Ctx, tenantId: string, wanted: readonly ClaimRequest[], aheadSeconds: number) {
  const asked = wanted.map(({ webhookId, slots }) => ({ webhook_id: webhookId, slots }))
  const rows = await tx<(BegunRow | EventRow)[]>`
    with due as materialized (
      select d.id, d.webhook_id, d.event_id, d.attempt + 1 as n, d.cause,
             w.slots = 1 and not exists (
               select from delivery
               where tenant_id = ${tenantId} and webhook_id = h.id and finished_at is null
                 and due_at <= now() + make_interval(secs => ${aheadSeconds}::float8) and leased_until is null
               order by due_at offset 1) as is_only
      from jsonb_to_recordset(${tx.json(asked)}) as w(webhook_id uuid, slots integer)
      join webhook h on h.tenant_id = ${tenantId} and h.id = w.webhook_id and h.state = 'ACTIVE'
      cross join lateral (
        select id, webhook_id, event_id, attempt, cause from delivery
        where tenant_id = ${tenantId} and webhook_id = h.id and finished_at is null
          and due_at <= now() + make_interval(secs => ${aheadSeconds}::float8) and leased_until is null
        order by due_at limit w.slots for update skip locked) d),
    begun as (
      update delivery
      set attempt = attempt + 1, started_at = now() + make_interval(secs => ${aheadSeconds}::float8),
          leased_until = now() + make_interval(secs => ${aheadSeconds + leaseSeconds}::float8)
      where tenant_id = ${tenantId} and id = any(array(select id from due)))
    select id, webhook_id, event_id, n, cause, is_only, null as body, null as origin from due
    union all
    select null, null, id, null, null, null, case when not is_restored then body end, origin from outbox_event
    where tenant_id = ${tenantId} and id = any(array(select event_id from due))`
  return {
    all: rows.filter((row) => row.id !== null),
    events: new Map(
      rows.flatMap((row) =>
        row.id === null && row.body !== null
          ? [[row.event_id, { body: Buffer.from(row.body), origin: row.origin }]]
          : [],
      ),
    ),
  }
}

/** Undoes attempts that this transaction began: a delivery that cannot be signed uses up no attempt. */
const takeBack = ({ tx }: Ctx, tenantId: string, rows: readonly BegunRow[]): Promise<unknown> =>
  tx`
    update delivery set attempt = attempt - 1, started_at = null, leased_until = null
    where tenant_id = ${tenantId} and id = any(array(select jsonb_array_elements_text(${tx.json(rows.map(({ id }) => id))})::uuid))`

/** Target URLs and signing keys of those wanted webhooks that are ACTIVE. */
async function readTargets({ tx, keyring }: Ctx, tenantId: string, wanted: readonly ClaimRequest[]) {
  // Step by step, by key: `offset 0` keeps the planner, which may have no statistics of these tables yet, from another order.
  const rows = await tx<TargetRow[]>`
    select w.id, w.target_url, w.consecutive_failures > 0 as is_failing, s.id as secret_id, s.ends_at is null as is_in_force,
           v.key_id, v.wrap, v.ciphertext
    from webhook w
    cross join lateral (
      select id, ends_at from webhook_secret
      where tenant_id = ${tenantId} and webhook_id = w.id and (ends_at is null or ends_at > now()) offset 0) s
    cross join lateral (
      select key_id, wrap, ciphertext from sealed_value
      where tenant_id = ${tenantId} and kind = 'webhook.secret' and owner_id = s.id offset 0) v
    where w.tenant_id = ${tenantId} and w.state = 'ACTIVE'
      and w.id = any(array(select jsonb_array_elements_text(${tx.json(wanted.map(({ webhookId }) => webhookId))})::uuid))`
  const targets = new Map<string, Target>()
  const locked: string[] = []
  // Daemons make the ids, and their clocks may differ: ids do not decide which secret is in force.
  const newestFirst = rows.toSorted(
    (a, b) => Number(b.is_in_force) - Number(a.is_in_force) || (a.secret_id < b.secret_id ? 1 : -1),
  )
  for (const [id, [first, ...rest]] of Map.groupBy(newestFirst, (row) => row.id)) {
    if (!first) continue
    const open = (row: TargetRow) =>
      keyOf(unseal(keyring, { tenantId, kind: 'webhook.secret', ownerId: row.secret_id }, row))
    try {
      targets.set(id, { url: first.target_url, isFailing: first.is_failing, keys: [first, ...rest].map(open) })
    } catch {
      locked.push(id) // its key is missing from the keyring
    }
  }
  return { targets, locked }
}

interface LostRow {
  readonly id: string
  readonly attempt: number
  readonly started_at: string
  readonly host: string
  readonly cause: DeliveryCause
}

/** Records attempts whose daemon died as interrupted, and makes their deliveries due again at once. */
async function settleInterrupted(
  { tx }: Ctx,
  tenantId: string,
  webhookIds: readonly string[],
  aheadSeconds: number,
): Promise<void> {
  const moment = () => tx.part`now() + make_interval(secs => ${aheadSeconds}::float8)`
  const lost = await tx<LostRow[]>`
    select d.id, d.attempt, d.started_at, w.host, d.cause
    from webhook w join delivery d on d.tenant_id = ${tenantId} and d.webhook_id = w.id and d.finished_at is null and d.leased_until <= ${moment()}
    where w.tenant_id = ${tenantId} and w.id in (select jsonb_array_elements_text(${tx.json(webhookIds)})::uuid)
    limit 500 for update of d skip locked`
  if (lost.length === 0) return
  const isLast = ({ cause, attempt }: LostRow) => cause === 'REPLAY' || attempt >= attemptsAtMost
  const idsOf = (rows: readonly LostRow[]) => tx.json(rows.map(({ id }) => id))
  const rows = lost.map(({ id, attempt, started_at, host }) => ({
    ...{ tenant_id: tenantId, delivery_id: id, n: attempt, at: started_at, ended_at: moment() },
    ...{ host, error: 'interrupted' },
  }))
  void tx`
    insert into delivery_attempt ${tx.rows(rows, 'tenant_id', 'delivery_id', 'n', 'at', 'ended_at', 'host', 'error')}`
  void tx`
    update delivery set started_at = null, leased_until = null, status = 'DEAD_LETTER', due_at = null, finished_at = ${moment()}
    where tenant_id = ${tenantId} and id = any(array(select jsonb_array_elements_text(${idsOf(lost.filter(isLast))})::uuid))`
  await tx`
    update delivery set started_at = null, leased_until = null, status = 'FAILED', due_at = ${moment()}
    where tenant_id = ${tenantId} and id = any(array(select jsonb_array_elements_text(${idsOf(lost.filter((row) => !isLast(row)))})::uuid))`
}
