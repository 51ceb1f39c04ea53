/**
 * Recording: writes the results of attempts to the deliveries and their webhooks.
 *
 * A result is written only if its attempt's number is still the current one. So a late result of an attempt that was
 * recorded as interrupted changes nothing. The database counts failures, in the statement that writes them. A webhook
 * whose target is gone or has failed for too long is DISABLED in the same transaction, with its audit entry and its event.
 *
 * Spec: States: Webhook subscription, Delivery; decisions 5.
 */

import type { AttemptError } from '../../../contract/webhooks/operations.ts'
import type { Posted } from '../../../kernel/egress/post.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { disableWebhook } from '../disabling.ts'
import { counts, type Ended, isGone, retryAfterSeconds, type Verdict, verdictOn } from '../ladder.ts'
import type { FlightRecord } from '../trace.ts'
import type { Begun } from './claim.ts'

/** The result of an attempt. */
export interface Outcome {
  readonly begun: Begun
  readonly status: number | null
  readonly error: AttemptError | null
  readonly body: string | null
  /** The target's answer was read to its end. */
  readonly isWhole: boolean
  readonly durationMs: number
  readonly trace: FlightRecord | null
  readonly host: string
  readonly ended: Ended
  readonly verdict: Verdict
}

/** Reads a result from what the webhook client answered. */
export function outcomeOf(begun: Begun, posted: Posted, signedSha256: string, ladder: readonly number[]): Outcome {
  const { status, failure, durationMs, trace } = posted
  const ended: Ended = {
    n: begun.n,
    cause: begun.cause,
    succeeded: failure === null,
    status,
    retryAfterSeconds: retryAfterSeconds(status, posted.retryAfter),
    ...(failure === 'interrupted' ? { interrupted: true } : {}),
  }
  return {
    begun,
    status,
    error: failure,
    body: posted.body === null ? null : readable(posted.body),
    isWhole: posted.isWhole,
    durationMs: Math.round(durationMs),
    trace: { ...trace, dns_answers: [...trace.dns_answers], signed_sha256: signedSha256 },
    host: trace.host,
    ended,
    verdict: verdictOn(ended, ladder),
  }
}

/** The result if the event is not kept any more. */
export function withoutEvent(begun: Begun): Outcome {
  const { n, cause } = begun
  return {
    begun,
    status: null,
    error: 'event.gone',
    body: null,
    isWhole: false,
    durationMs: 0,
    trace: null,
    host: '',
    ended: { n, cause, succeeded: false, status: null, interrupted: true, retryAfterSeconds: undefined },
    verdict: { status: 'DEAD_LETTER' },
  }
}

const keptCharacters = 4_096
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/**
 * Bytes as text that no terminal acts on: control characters except line feeds and tabs are written as \uXXXX. That
 * takes six characters for one, so the text is cut afterwards: a target that sends only control characters costs no more
 * than others.
 */
function readable(bytes: Buffer): string {
  if (bytes.length === 0) return ''
  const text = bytes.toString('utf8')
  let spelt = ''
  let from = 0
  for (const { 0: control, index } of text.matchAll(controls)) {
    spelt += `${text.slice(from, index)}\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`
    from = index + 1
    if (spelt.length > keptCharacters) break
  }
  // The cut may have split a surrogate pair, which the database refuses.
  return (spelt + text.slice(from)).slice(0, keptCharacters).toWellFormed()
}

/** The result changes nothing but its delivery: a success, at a webhook that was not failing. */
export const isQuiet = ({ ended, begun }: Outcome) => ended.succeeded && !begun.afterFailures

/** Writes results of one workspace. The webhooks are locked. */
export async function record(
  ctx: Ctx,
  tenantId: string,
  outcomes: readonly Outcome[],
  aheadSeconds: number,
): Promise<void> {
  const settled = await settle(ctx, tenantId, outcomes, aheadSeconds)
  const known = outcomes.filter(({ begun: { deliveryId, n } }) => settled.has(attemptOf(deliveryId, n)))
  await countFailures(ctx, tenantId, known, aheadSeconds)
  for (const webhookId of new Set(known.filter(saysGone).map(({ begun }) => begun.webhookId)))
    await disableWebhook(ctx, tenantId, webhookId, 'target_gone')
}

const saysGone = ({ ended }: Outcome) => isGone(ended) && counts(ended)

/** A turn may record two attempts of a delivery: one that was interrupted, and the one made since. */
const attemptOf = (deliveryId: string, n: number) => `${deliveryId} ${n}`

/**
 * Writes deliveries and attempts, and answers those attempts that were still under way. All results are one parameter:
 * with parameters for each, every number of results would be a statement of its own to prepare.
 */
async function settle(
  { tx }: Ctx,
  tenantId: string,
  outcomes: readonly Outcome[],
  ahead: number,
): Promise<Set<string>> {
  const rows = outcomes.map(({ begun: { deliveryId, n }, verdict, host, durationMs, status, error, body, trace }) => ({
    ...{ id: deliveryId, n, became: verdict.status },
    // What is absent is null in the statement, too, and is not written and read as text.
    due_in: verdict.status === 'FAILED' ? ahead + verdict.waitSeconds : undefined,
    ...{ began: ahead - durationMs / 1000, host, duration_ms: durationMs, trace },
    ...{ status: status ?? undefined, error: error ?? undefined, body: body ?? undefined },
  }))
  const settled = await tx<{ id: string; n: number }[]>`
    with outcome as (
      select * from jsonb_to_recordset(${tx.json(rows)}) as o(id uuid, n integer, became text, due_in float8, began float8,
        host text, duration_ms integer, status integer, error text, body text, trace jsonb)),
    settled as (
      update delivery d
      set status = o.became, started_at = null, leased_until = null,
          due_at = now() + make_interval(secs => o.due_in),
          finished_at = case when o.due_in is null then now() + make_interval(secs => ${ahead}::float8) end
      from outcome o
      where d.tenant_id = ${tenantId} and d.id = any(array(select id from outcome)) and d.id = o.id
        and d.attempt = o.n and d.started_at is not null
      returning d.id, d.attempt)
    insert into delivery_attempt (tenant_id, delivery_id, n, at, ended_at, host, duration_ms, status, error, body, trace)
    select ${tenantId}::uuid, id, n, now() + make_interval(secs => began), now() + make_interval(secs => ${ahead}::float8),
           host, duration_ms, status, error, body, trace
    from outcome where (id, n) in (select id, attempt from settled)
    returning delivery_id as id, n`
  return new Set(settled.map(({ id, n }) => attemptOf(id, n)))
}

interface FailingRow {
  readonly id: string
  readonly is_over: boolean
}

/** A success ends a run of failures, and a failure prolongs it. Only failures after the last success of the batch count. */
async function countFailures(
  ctx: Ctx,
  tenantId: string,
  outcomes: readonly Outcome[],
  aheadSeconds: number,
): Promise<void> {
  const runs = [
    ...Map.groupBy(
      outcomes.filter(({ ended }) => counts(ended)),
      ({ begun }) => begun.webhookId,
    ),
  ]
    // A success at a webhook that was not failing changes nothing.
    .filter(([, all]) => all.some(({ ended, begun }) => !ended.succeeded || begun.afterFailures))
    .map(([id, all]) => {
      const last = all.findLastIndex(({ ended }) => ended.succeeded)
      return { id, starts_afresh: last !== -1, failures: all.length - 1 - last }
    })
  if (runs.length === 0) return
  const { failures, seconds } = ctx.config.webhookDisableAfter
  const failing = await ctx.tx<FailingRow[]>`
    with moment as (select now() + make_interval(secs => ${aheadSeconds}::float8) as at),
    run as (select * from jsonb_to_recordset(${ctx.tx.json(runs)}) as r(id uuid, starts_afresh boolean, failures integer))
    update webhook w
    set consecutive_failures = case when r.starts_afresh then 0 else w.consecutive_failures end + r.failures,
        failing_since = case when r.starts_afresh and r.failures = 0 then null
                             when r.starts_afresh then (select at from moment)
                             else coalesce(w.failing_since, (select at from moment)) end
    from run r
    where w.tenant_id = ${tenantId} and w.id = r.id and (r.failures > 0 or w.consecutive_failures > 0)
    returning w.id, w.state = 'ACTIVE' and w.consecutive_failures >= ${failures}
      and w.failing_since <= (select at from moment) - make_interval(secs => ${seconds}) as is_over`
  for (const { id, is_over } of failing) if (is_over) await disableWebhook(ctx, tenantId, id, 'unreachable')
}
