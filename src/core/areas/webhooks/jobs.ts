/**
 * The area's clean-up. It removes deliveries of removed webhooks, deliveries that ended before the window of the
 * outbox, and secrets whose grace has ended. A waiting delivery is never removed, and neither is its event
 * (areas/events/retention.ts).
 *
 * Deliveries and attempts lie in a partition for each month. A month of deliveries is dropped whole when all of them ended
 * before the window; what is past the window stays until then. Only in a month that has to stay are they removed one by one.
 * A month of attempts is dropped when no delivery of that month is left in any workspace. Those of a removed webhook are
 * removed at once (docs/decisions/0321, 0523).
 * Spec: decisions 5.
 */
import { z } from 'zod'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { dropMonths, type Month, makeMonths } from '../../kernel/transaction/months.ts'
import { firstId, lastId } from '../../kernel/transaction/page.ts'
import { defineJob, type RunnableJob } from '../../kernel/transaction/runnable-job.ts'
import { removeSealed } from '../../kernel/transaction/sealed-values.ts'
import { edgesNow } from '../events/retention.ts'

/** How many rows one transaction removes, so that each stays short. */
const batch = 1000

/** Removes the deliveries of a removed webhook. */
export const removeDeliveries = defineJob({
  name: 'remove_deliveries',
  payload: z.object({ tenantId: z.guid(), webhookId: z.guid() }),
  retryLimit: 5,
  retryDelaySeconds: 10,
  run: (installation, { tenantId, webhookId }) =>
    inBatches(installation, 'remove_deliveries', tenantId, (ctx) =>
      removeRows(
        ctx,
        tenantId,
        ctx.tx.part`webhook_id = ${webhookId} and not exists (
        select from webhook w where w.tenant_id = ${tenantId} and w.id = ${webhookId})`,
        true,
      ),
    ),
})

/** Drops months of ended deliveries, removes those of months that stay and ended secrets, and then drops the months of attempts that nobody can read. */
export const sweepDeliveries = defineJob({
  name: 'sweep_deliveries',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '41 * * * *',
  async run(installation) {
    const job = 'sweep_deliveries'
    const actor = { kind: 'SYSTEM', job } as const
    await makeMonths(installation, actor)
    const { edge, month } = await edgesNow(installation, actor)
    await dropMonths(installation, actor, { table: 'delivery', below: edge, isNeeded: hasUnended })
    let oldest = lastId
    for (let after: string | undefined = firstId; after !== undefined; ) {
      const tenantId = await nextWorkspace(installation, job, after)
      if (tenantId !== undefined) {
        await sweepWorkspace(installation, job, tenantId, month)
        const left = await oldestDelivery(installation, job, tenantId)
        if (left !== undefined && left < oldest) oldest = left
      }
      after = tenantId
    }
    await dropMonths(installation, actor, {
      table: 'delivery_attempt',
      below: oldest,
      isNeeded: async () => false,
    })
  },
})

/** Whether a delivery of the month waits, or ended within the window: it was replayed. Reads the month whole, once it is over. */
async function hasUnended({ tx, config }: Ctx, { first_id, end_id }: Month): Promise<boolean> {
  const found = await tx`
    select 1 from delivery
    where id >= ${first_id}::uuid and id < ${end_id}::uuid
      and (finished_at is null or finished_at >= now() - make_interval(days => ${config.outboxDays})) limit 1`
  return found.length > 0
}

/** The oldest delivery that a workspace has; a look-up by key. */
function oldestDelivery(installation: Installation, job: string, tenantId: string): Promise<string | undefined> {
  return installation.transaction({ kind: 'SYSTEM', job }, { tenantId, readOnly: true }, async ({ tx }) => {
    const [row] = await tx<{ id: string }[]>`
      select id from delivery where tenant_id = ${tenantId} order by id limit 1`
    return row?.id
  })
}

/** The next workspace with a delivery or a webhook; a look-up by key. */
async function nextWorkspace(installation: Installation, job: string, after: string): Promise<string | undefined> {
  return installation.transaction({ kind: 'SYSTEM', job }, { readOnly: true }, async ({ tx }) => {
    const [row] = await tx<{ tenant_id: string | null }[]>`
      select least(
        (select tenant_id from delivery where tenant_id > ${after}::uuid order by tenant_id limit 1),
        (select tenant_id from webhook where tenant_id > ${after}::uuid order by tenant_id limit 1)) as tenant_id`
    return row?.tenant_id ?? undefined
  })
}

async function sweepWorkspace(installation: Installation, job: string, tenantId: string, month: string): Promise<void> {
  for (let after: string | undefined = firstId; after !== undefined; ) {
    const webhook = await nextWebhook(installation, job, tenantId, after)
    if (webhook)
      await inBatches(installation, job, tenantId, (ctx) =>
        removeRows(ctx, tenantId, sweptOf(ctx, webhook, month), webhook.isRemoved),
      )
    after = webhook?.id
  }
  await inBatches(installation, job, tenantId, async (ctx) => {
    const over = await ctx.tx<{ id: string }[]>`
      delete from webhook_secret where tenant_id = ${tenantId} and id = any (array(
        select id from webhook_secret where tenant_id = ${tenantId} and ends_at < now() - interval '1 hour' limit ${batch}))
      returning id`
    await Promise.all(over.map(({ id }) => removeSealed(ctx, { tenantId, kind: 'webhook.secret', ownerId: id })))
    return over.count
  })
}

interface Webhook {
  readonly id: string
  readonly isRemoved: boolean
}

/** The next webhook with deliveries, even if it was removed; a look-up by key. */
async function nextWebhook(
  installation: Installation,
  job: string,
  tenantId: string,
  after: string,
): Promise<Webhook | undefined> {
  const reading = { tenantId, readOnly: true }
  const [row] = await installation.transaction(
    { kind: 'SYSTEM', job },
    reading,
    ({ tx }) =>
      tx.last<{ id: string; is_removed: boolean }[]>`
      select d.webhook_id as id,
             not exists (select from webhook w where w.tenant_id = ${tenantId} and w.id = d.webhook_id) as is_removed
      from delivery d where d.tenant_id = ${tenantId} and d.webhook_id > ${after}::uuid order by d.webhook_id limit 1`,
  )
  return row && { id: row.id, isRemoved: row.is_removed }
}

/**
 * All deliveries of a removed webhook. Of another webhook, those that ended before the window and lie in a month that is past
 * it: that month was not dropped. Ids are in the order of time, so an index finds them.
 */
const sweptOf = (ctx: Ctx, { id, isRemoved }: Webhook, month: string): Part =>
  isRemoved
    ? ctx.tx.part`webhook_id = ${id}`
    : ctx.tx.part`webhook_id = ${id} and id < ${month}::uuid
        and finished_at < now() - make_interval(days => ${ctx.config.outboxDays})`

async function inBatches(
  installation: Installation,
  job: string,
  tenantId: string,
  remove: (ctx: Ctx) => Promise<number>,
): Promise<void> {
  const once = () => installation.transaction({ kind: 'SYSTEM', job }, { tenantId }, remove)
  for (let removed = batch; removed >= batch; ) removed = await once()
}

/** Removes a batch of deliveries, and their attempts at once where these must not wait for the end of their month. */
async function removeRows({ tx }: Ctx, tenantId: string, which: Part, withAttempts: boolean): Promise<number> {
  const [gone] = await tx<{ count: number }[]>`
    with old as (
      select webhook_id, id from delivery d where tenant_id = ${tenantId} and ${which} limit ${batch} for update skip locked),
    attempts as (
      delete from delivery_attempt where ${withAttempts} and tenant_id = ${tenantId} and delivery_id in (select id from old)),
    deliveries as (
      delete from delivery where tenant_id = ${tenantId} and (webhook_id, id) in (select webhook_id, id from old) returning 1)
    select count(*)::int as count from deliveries`
  return gone?.count ?? 0
}

/** The jobs of this area. */
export const webhooksJobs: readonly RunnableJob[] = [removeDeliveries, sweepDeliveries]
