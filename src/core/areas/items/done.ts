/**
 * The archive of what has been done for long: by time, where a container says after how many days.
 *
 * Time archives only by a time that two clocks agree on, and have for a while (trusted-time.ts). An item waits for what is
 * below it: while that is open, or was completed later, it stays. So does what was changed later. Nothing is archived in a
 * container that is archived itself, nor in a workspace that is not ACTIVE. Spec: items 1, N25; docs/decisions/0343.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Item } from '../../contract/items/operations.ts'
import type { Part } from '../../kernel/database/statement.ts'
import { isNotAdmitted } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { workspacesThat } from '../../kernel/transaction/workspaces.ts'
import { archiveDaysOf } from '../access/access.ts'
import { mayGo } from '../retention-rules/brake.ts'
import { doneBefore } from '../retention-rules/doomed.ts'
import { dayOf, noteTaken } from '../retention-rules/run-row.ts'
import { archiveBranch } from './archive.ts'
import { representation } from './item.ts'
import { trustedTime } from './trusted-time.ts'

const worker = { kind: 'SYSTEM', job: 'archive_done' } as const
/** Items that one transaction archives at most. */
const portion = 100
const runMs = 9 * 60_000

export const archiveDone = defineJob({
  name: 'archive_done',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  longestSeconds: 600,
  cron: '5-59/10 * * * *',
  async run(installation) {
    const until = performance.now() + runMs
    const trusted = await trustedTime(installation, worker)
    if (trusted === undefined) return
    for await (const tenantId of workspacesThat(installation, worker, decides)) {
      await archiveIn(installation, tenantId, trusted, until)
      if (performance.now() > until) return
    }
  },
})

/** Whether the workspace, or a container of it, archives by time. */
async function decides({ tx }: Ctx, tenantId: string): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`
    select exists (select from container where tenant_id = ${tenantId} and archive_done_after_days > 0 and deleted_at is null)
        or exists (select from retention_rule where tenant_id = ${tenantId} and kind = 'DONE_ITEMS' and days > 0) as found`
  return row?.found === true
}

async function archiveIn(installation: Installation, tenantId: string, trusted: Date, until: number): Promise<void> {
  try {
    const on = await installation.transaction(worker, { tenantId, admits: true }, (ctx) =>
      askBrake(ctx, tenantId, trusted),
    )
    if (on === undefined) return
    for (let after: string | undefined = firstId; after !== undefined && performance.now() < until; ) {
      const began = performance.now()
      const from: string = after
      after = await installation.transaction(worker, { tenantId, admits: true }, (ctx) =>
        archivePortion(ctx, tenantId, { trusted, from, on }),
      )
      await pause(Math.min(performance.now() - began, 100))
    }
  } catch (error) {
    if (!isNotAdmitted(error)) throw error
  }
}

/** The workspace's day; undefined where the brake holds it: nothing is archived. */
async function askBrake(ctx: Ctx, tenantId: string, trusted: Date): Promise<string | undefined> {
  const { tx } = ctx
  const on = await dayOf(ctx, tenantId, trusted)
  const due = tx.part`(${trusted}::timestamptz - make_interval(days => nullif(${archiveDaysOf(tx, tenantId)}, 0)))`
  const doomed = doneBefore(tx, tenantId, due, tx.part`true`)
  return (await mayGo(ctx, tenantId, { kind: 'DONE_ITEMS', on, doomed })) ? on : undefined
}

interface Portion {
  readonly trusted: Date
  readonly from: string
  readonly on: string
}

/** Archives items of the containers from an id on, and answers where to go on; undefined behind the last one. */
async function archivePortion(ctx: Ctx, tenantId: string, { trusted, from, on }: Portion): Promise<string | undefined> {
  const { tx } = ctx
  const [container] = await tx<{ id: string; due: string }[]>`
    select c.id, (${trusted}::timestamptz - make_interval(days => ${archiveDaysOf(tx, tenantId)}))::text as due
    from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and c.id >= ${from}::uuid and c.kind = 'COLLECTION' and ${archiveDaysOf(tx, tenantId)} > 0
      and c.deleted_at is null and h.deleted_at is null and c.archived_at is null and h.archived_at is null
    order by c.id limit 1 for share of c`
  if (!container) return undefined
  // What somebody has changed since is let alone as long: it may have just come back from the archive or the trash.
  const isDue = tx.part`
    i.state = 'DONE' and i.completed_at <= ${container.due}::timestamptz and i.updated_at <= ${container.due}::timestamptz`
  // What holds an item up is below it: its children, which wait for theirs and are archived before it.
  const found = await tx<{ id: string }[]>`
    select i.id from item i
    where i.tenant_id = ${tenantId} and i.container_id = ${container.id} and i.deleted_at is null and i.archived_at is null
      and ${isDue} and not exists (
        select from item k where k.tenant_id = ${tenantId} and k.parent_id = i.id and k.deleted_at is null and k.archived_at is null)
    order by i.completed_at, i.id limit ${portion}`
  const items = await lockDue(ctx, tenantId, found, isDue)
  const [row] = await tx<{ now: string }[]>`select now()`
  for (const item of items) await archiveBranch(ctx, tenantId, { item, now: row?.now ?? '' }, [], { by: 'time' })
  await noteTaken(ctx, tenantId, { kind: 'DONE_ITEMS', on, removed: items.length })
  // Those that somebody changed meanwhile are come to by the next run.
  return items.length > 0 ? container.id : behind(container.id)
}

/** Those that are still as they were found, locked. */
async function lockDue(ctx: Ctx, tenantId: string, found: readonly { id: string }[], isDue: Part) {
  if (found.length === 0) return []
  const { tx } = ctx
  const ids = tx.list(found.map(({ id }) => id))
  const locked = await tx<{ id: string }[]>`
    select i.id from item i
    where i.tenant_id = ${tenantId} and i.id in ${ids} and i.deleted_at is null and i.archived_at is null and ${isDue}
    order by i.id for update`
  if (locked.length === 0) return []
  return tx<Item[]>`
    select ${representation(ctx)} from item i
    where i.tenant_id = ${tenantId} and i.id in ${tx.list(locked.map(({ id }) => id))} and not exists (
      select from item k where k.tenant_id = ${tenantId} and k.parent_id = i.id and k.deleted_at is null and k.archived_at is null)
    order by i.id`
}

/** The least id behind this one. */
function behind(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
