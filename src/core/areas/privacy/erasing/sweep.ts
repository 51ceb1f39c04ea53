/**
 * The work of an erasure, behind its begin: rules in batches, files, texts of others, events.
 *
 *    begun ──rules, one after the other, some rows a transaction──▶ files ──▶ mentions ──▶ events ──▶ swept
 *
 * Always true:
 *  - each transaction locks the erasure's row: two daemons do not do the same batch, and one that is killed loses no more;
 *  - each holds the workspace's shared lock, and whoever places a hold takes it exclusively. So a hold that was placed is seen
 *    by the next transaction, and what it covers is copied before it goes;
 *  - a batch takes some hundredths of a second.
 *
 * Nothing is noted besides: a rule that is done finds nothing, so a killed run begins with the first one again.
 * Spec: Keeping, 1 and 2, Erasure of; docs/decisions/0461.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Choices } from '../../../contract/privacy/requests.ts'
import { asPurgeOf } from '../../../kernel/database/roles.ts'
import { demandNotRestoring } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { firstId } from '../../../kernel/transaction/page.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { inBatches, type Rule } from '../../erasure/rules.ts'
import { type Done, statementOfRule } from '../../erasure/statement.ts'
import { removeFiles } from './files.ts'
import { strikeMentions } from './mentions.ts'
import { heldNow, placeOf } from './place.ts'
import type { Named, Sweeping } from './sweeping.ts'

const firstBatch = 200
const largestBatch = 2_000
const shortMs = 15
const longMs = 60
const longestRestMs = 100

interface ErasureRow {
  readonly account_id: string | null
  readonly request_id: string | null
  readonly choices: unknown
  readonly names: readonly string[]
  readonly swept_at: string | null
}

/** Another process has the erasure now. */
export class Busy extends Error {
  override readonly name = 'Busy'
}

/** Removes and changes all that the erasure asks for. Throws Busy. */
export async function sweepErasure(installation: Installation, actor: Actor, named: Named): Promise<void> {
  const { accountId, choices } = await step(installation, actor, named, async (_, sweeping) => sweeping)
  if (accountId !== null) {
    for (const rule of inBatches)
      if (!rule.isOfArchives && rule.asked?.(choices) !== false) await applyRule(installation, actor, named, rule)
    if (choices.files === 'REMOVE')
      await paced((size) => step(installation, actor, named, (ctx, one) => removeFiles(ctx, one, size)))
  }
  for (let at: number | undefined = 0; at !== undefined; ) {
    const from: number = at
    at = await step(installation, actor, named, (ctx, one) => strikeMentions(ctx, one, from))
  }
  if (accountId !== null) {
    await walk(installation, actor, named, removeDeliveries)
    await walk(installation, actor, named, removeEvents)
  }
}

/** Runs one transaction of an erasure, its row locked. Throws Busy. */
export function step<T>(
  installation: Installation,
  actor: Actor,
  { tenantId, id }: Named,
  work: (ctx: Ctx, sweeping: Sweeping) => Promise<T>,
): Promise<T> {
  return installation.transaction(actor, { tenantId }, async (ctx) => {
    await demandNotRestoring(ctx.tx, tenantId)
    const [row] = await ctx.tx<ErasureRow[]>`
      select account_id, request_id, choices, names, swept_at from erasure
      where tenant_id = ${tenantId} and id = ${id} and ended_at is null for update skip locked`
    if (!row) throw new Busy('the erasure is done, or another process has it')
    const { account_id: accountId, request_id: requestId, names, swept_at: sweptAt } = row
    const choices = Choices.parse(row.choices)
    const done = await work(ctx, { tenantId, id, accountId, requestId, names, sweptAt, choices })
    failpoint('erasure.batch')
    return done
  })
}

async function applyRule(installation: Installation, actor: Actor, named: Named, rule: Rule): Promise<void> {
  let after: string | undefined = rule.isWalked ? firstId : undefined
  await paced(async (size) => {
    const { count, last } = await step(installation, actor, named, async ({ tx }, sweeping) => {
      const held = await heldNow(tx, sweeping)
      const asked = { erasureId: named.id, held, limit: size, ...(after ? { after } : {}) }
      const [done] = await tx<Done[]>`${statementOfRule(rule, placeOf(sweeping), asked)}`
      return done ?? { count: 0, last: null }
    })
    if (!rule.isWalked) return count === size
    after = last ?? undefined
    return last !== null
  })
}

/** Goes on while there is more, in batches that take some hundredths of a second, and rests as long as each took. */
async function paced(batch: (size: number) => Promise<boolean>): Promise<void> {
  let size = firstBatch
  for (let isMore = true; isMore; ) {
    const began = performance.now()
    isMore = await batch(size)
    const tookMs = performance.now() - began
    if (!isMore) return
    await pause(Math.min(tookMs, longestRestMs))
    size =
      tookMs > longMs ? Math.max(10, Math.trunc(size / 2)) : tookMs < shortMs ? Math.min(largestBatch, size * 2) : size
  }
}

type Walking = (ctx: Ctx, sweeping: Sweeping, after: string, size: number) => Promise<string | null>

async function walk(installation: Installation, actor: Actor, named: Named, portion: Walking): Promise<void> {
  let after: string = firstId
  await paced(async (size) => {
    const last = await step(installation, actor, named, (ctx, one) => portion(ctx, one, after, size))
    after = last ?? after
    return last !== null
  })
}

/**
 * A condition on the event `e`: it is about the account; where words of the account go, what it did as well. Its end is told to
 * everybody who listens.
 */
const concerns = ({ tx }: Ctx, { accountId, choices }: Sweeping) => tx.part`
  strpos(e.body, ${accountId}::text) > 0 and e.type not like '%.work.account.erased.v1' and (
    e.body::jsonb ->> 'subject' like '%/' || ${accountId}::text or e.body::jsonb ->> 'subject' like '/accounts/' || ${accountId}::text || '%'
    or e.body::jsonb #>> '{data,account_id}' = ${accountId}::text
    or ${choices.texts !== 'KEEP'} and ${accountId}::text in (e.body::jsonb ->> 'actor', e.body::jsonb #>> '{data,created_by}'))`

/** Deliveries before their events, by which they are found. */
async function removeDeliveries(ctx: Ctx, sweeping: Sweeping, after: string, size: number): Promise<string | null> {
  const { tenantId } = sweeping
  const [row] = await ctx.tx<{ last: string | null }[]>`
    with seen as (
      select d.id, d.event_id from delivery d where d.tenant_id = ${tenantId} and d.id > ${after}::uuid order by d.id limit ${size}),
    doomed as (
      select s.id from seen s join outbox_event e on e.tenant_id = ${tenantId} and e.id = s.event_id where ${concerns(ctx, sweeping)}),
    attempts as (
      delete from delivery_attempt t using doomed where t.tenant_id = ${tenantId} and t.delivery_id = doomed.id),
    gone as (delete from delivery d using doomed where d.tenant_id = ${tenantId} and d.id = doomed.id)
    select (select id from seen order by id desc limit 1) as last`
  return row?.last ?? null
}

async function removeEvents(ctx: Ctx, sweeping: Sweeping, after: string, size: number): Promise<string | null> {
  const { tenantId } = sweeping
  // The only role that may remove what is append-only; row-level security still admits one workspace.
  void ctx.tx.switch(asPurgeOf(tenantId))
  const [row] = await ctx.tx<{ last: string | null }[]>`
    with seen as (
      select e.id, e.type, e.body from outbox_event e where e.tenant_id = ${tenantId} and e.id > ${after}::uuid order by e.id limit ${size}),
    gone as (
      delete from outbox_event o using seen e where o.tenant_id = ${tenantId} and o.id = e.id and ${concerns(ctx, sweeping)}
        and not exists (select from delivery d where d.tenant_id = ${tenantId} and d.event_id = e.id))
    select (select id from seen order by id desc limit 1) as last`
  return row?.last ?? null
}
