/**
 * The sweep of the trash: what has been in it for the days of its container is purged, and what was purged is removed.
 *
 * Time purges only by a time that two clocks agree on, and have for a while (kernel/values/steady-clock.ts). It purges
 * nothing in a container that is archived, and nothing of a workspace that is not ACTIVE.
 * Spec: items 3; 8; docs/decisions/0204.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { productPolicies } from '../../../contract/containers/policies.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { isNotAdmitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { workspacesThat } from '../../../kernel/transaction/workspaces.ts'
import { trashDaysOf } from '../../access/access.ts'
import { mayGo } from '../../retention-rules/brake.ts'
import { trashedBefore } from '../../retention-rules/doomed.ts'
import { dayOf, noteTaken } from '../../retention-rules/run-row.ts'
import { trustedTime } from '../trusted-time.ts'
import { wholeTrees } from './branch.ts'
import { markContainers, markItems, type PurgedContainer } from './purge.ts'
import { removeAll } from './removal.ts'

const worker = { kind: 'SYSTEM', job: 'sweep_trash' } as const
/** Rows of the trash that one transaction purges. */
const portion = 500
const containersAtOnce = 20
const runMs = 9 * 60_000

export const sweepTrash = defineJob({
  name: 'sweep_trash',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  longestSeconds: 600,
  cron: '*/10 * * * *',
  async run(installation) {
    const until = performance.now() + runMs
    const trusted = await trustedTime(installation, worker)
    if (trusted !== undefined)
      for await (const tenantId of workspacesThat(installation, worker, (ctx, id) => hasOverdue(ctx, id, trusted))) {
        await purgeOverdue(installation, tenantId, trusted, until)
        if (performance.now() > until) return
      }
    for await (const tenantId of workspacesThat(installation, worker, hasPurged)) {
      await removeAll(installation, tenantId)
      if (performance.now() > until) return
    }
  },
})

/** The moment before which what is deleted, and kept, is overdue; null where the trash is kept for ever. */
const dueBefore = (tx: Tx, trusted: Date, days: Part): Part =>
  tx.part`${trusted}::timestamptz - make_interval(days => nullif(${days}, 0))`

/** Whether anything may be overdue, by the shortest time that a container of the workspace keeps its trash. */
async function hasOverdue({ tx }: Ctx, tenantId: string, trusted: Date): Promise<boolean> {
  const shortest = tx.part`(
    select least(nullif(coalesce((select days from retention_rule where tenant_id = ${tenantId} and kind = 'TRASH'), ${productPolicies.trash_days}), 0), min(trash_days))
    from container where tenant_id = ${tenantId} and trash_days > 0)`
  const due = dueBefore(tx, trusted, shortest)
  const [row] = await tx<{ found: boolean }[]>`
    select exists (select from item where tenant_id = ${tenantId} and deleted_at is not null and purged_at is null and deleted_with is null and deleted_at <= ${due})
        or exists (select from container where tenant_id = ${tenantId} and deleted_at is not null and purged_at is null and deleted_at <= ${due}) as found`
  return row?.found === true
}

async function hasPurged({ tx }: Ctx, tenantId: string): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`
    select exists (select from item where tenant_id = ${tenantId} and purged_at is not null)
        or exists (select from container where tenant_id = ${tenantId} and purged_at is not null)
        or exists (select from template where tenant_id = ${tenantId} and deleted_at is not null) as found`
  return row?.found === true
}

async function purgeOverdue(installation: Installation, tenantId: string, trusted: Date, until: number): Promise<void> {
  try {
    const on = await installation.transaction(worker, { tenantId, admits: true }, (ctx) =>
      askBrake(ctx, tenantId, trusted),
    )
    for (let isMore = on !== undefined; on !== undefined && isMore && performance.now() < until; ) {
      const began = performance.now()
      isMore = await installation.transaction(worker, { tenantId, admits: true }, (ctx) =>
        purgePortion(ctx, tenantId, trusted, on),
      )
      await pause(Math.min(performance.now() - began, 100))
    }
  } catch (error) {
    if (!isNotAdmitted(error)) throw error
  }
}

/** The workspace's day; undefined where the brake holds it: nothing is purged. */
async function askBrake(ctx: Ctx, tenantId: string, trusted: Date): Promise<string | undefined> {
  const { tx } = ctx
  const on = await dayOf(ctx, tenantId, trusted)
  const doomed = trashedBefore(tx, tenantId, dueBefore(tx, trusted, trashDaysOf(tx, tenantId)), tx.part`true`)
  return (await mayGo(ctx, tenantId, { kind: 'TRASH', on, doomed })) ? on : undefined
}

async function purgePortion(ctx: Ctx, tenantId: string, trusted: Date, on: string): Promise<boolean> {
  const { tx } = ctx
  const due = dueBefore(tx, trusted, trashDaysOf(tx, tenantId))
  const items = await overdueItems(tx, tenantId, due)
  const whole = (await wholeTrees(tx, tenantId, items, portion)).items
  await markItems(ctx, tenantId, whole, { by: 'time' })
  await noteTaken(ctx, tenantId, { kind: 'TRASH', on, removed: whole.length })
  if (items.length > 0) return true
  const containers = await tx<PurgedContainer[]>`
    select c.id, c.kind, c.parent_id from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and c.deleted_at is not null and c.purged_at is null
      and c.deleted_at <= ${due} and c.kept_since <= ${due} and h.deleted_at is null
    order by c.deleted_at, c.id limit ${containersAtOnce} for update of c`
  await markContainers(ctx, tenantId, containers, { by: 'time' })
  await noteTaken(ctx, tenantId, { kind: 'TRASH', on, removed: containers.length })
  return containers.length > 0
}

interface Overdue {
  readonly id: string
  readonly container_id: string
}

/** The oldest of each container, because each keeps its trash for a time of its own; locked, if nobody has restored them. */
async function overdueItems(tx: Tx, tenantId: string, due: Part): Promise<readonly Overdue[]> {
  const found = await tx<{ id: string; version: number }[]>`
    select d.id, d.version
    from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    cross join lateral (
      select i.id, i.version from item i
      where i.tenant_id = ${tenantId} and i.container_id = c.id and i.deleted_at is not null and i.purged_at is null
        and i.deleted_with is null
        and i.deleted_at <= ${due} and i.kept_since <= ${due}
      order by i.deleted_at, i.id limit ${portion}) d
    where c.tenant_id = ${tenantId} and c.deleted_at is null and h.deleted_at is null
      and c.archived_at is null and h.archived_at is null
    limit ${portion}`
  if (found.length === 0) return []
  const locked = await tx<(Overdue & { version: number })[]>`
    select i.id, i.container_id, i.version from item i
    where i.tenant_id = ${tenantId} and i.id in ${tx.list(found.map(({ id }) => id))}
      and i.deleted_at is not null and i.purged_at is null
    order by i.id for update`
  const versions = new Map(found.map(({ id, version }) => [id, version]))
  return locked.filter(({ id, version }) => versions.get(id) === version)
}
