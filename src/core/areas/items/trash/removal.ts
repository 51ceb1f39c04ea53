/**
 * The removal of what was purged: its rows go for good, except what a legal hold covers.
 *
 *    purged ──200 a transaction, holds asked for in each──▶ removed
 *       └─ covered by a hold: stays, in no answer; its release queues this job again
 *
 * Always true:
 *  - what belongs to an item goes with it in one transaction: it is whole or gone;
 *  - each transaction holds the workspace's shared lock, and whoever places a hold takes it exclusively. So a hold that was
 *    placed is seen by the next transaction, and one that comes later finds what is left;
 *  - no lock on a table is above ROW EXCLUSIVE.
 *
 * A suspended workspace is let alone. Killed anywhere, the next run goes on: the rows say what is left. Which tables have
 * rows of an item or a container, their foreign keys say (belongings.ts). The trail stays. Spec: items 3; docs/decisions/0203.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { SearchKind } from '../../../contract/search/kinds.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import { isNotAdmitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { firstId } from '../../../kernel/transaction/page.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { readBelongings, removeBelongings } from './belongings.ts'
import { lockFilesOf, loosenFiles, loosenHeldFiles } from './files.ts'
import { isContainerHeld, isItemHeld, isTemplateHeld } from './holds.ts'

const worker = { kind: 'SYSTEM', job: 'remove_purged' } as const
/** Items that one transaction removes at most; fewer where that takes long. */
const mostAtOnce = 200
/** Rows that one transaction looks at: those under a hold are passed over. */
const lookedAt = 500
const longMs = 80
const runMs = 5 * 60_000

export const removePurged = defineJob({
  name: 'remove_purged',
  payload: z.object({ tenantId: z.guid() }),
  // What a run leaves, the sweep of the trash comes to.
  retryLimit: 1,
  longestSeconds: 600,
  run: (installation, { tenantId }) => removeAll(installation, tenantId),
})

/** Removes what no hold covers. */
export async function removeAll(installation: Installation, tenantId: string): Promise<void> {
  const until = performance.now() + runMs
  let size = mostAtOnce
  const round = async (step: (ctx: Ctx) => Promise<string | undefined>): Promise<string | undefined> => {
    const began = performance.now()
    const next = await installation.transaction(worker, { tenantId, admits: true }, step)
    const tookMs = performance.now() - began
    size = tookMs > longMs ? Math.max(1, Math.floor(size / 2)) : Math.min(mostAtOnce, size * 2)
    await pause(Math.min(tookMs, 100))
    return next
  }
  try {
    for (let isMore = true; isMore && performance.now() < until; )
      isMore = (await round((ctx) => removeTemplates(ctx, tenantId, size))) !== undefined
    for (let after: string | undefined = firstId; after !== undefined && performance.now() < until; ) {
      const from: string = after
      after = await round((ctx) => removeItems(ctx, tenantId, from, size))
    }
    for (let after: string | undefined = firstId; after !== undefined && performance.now() < until; ) {
      const from: string = after
      after = await round((ctx) => removeFromContainer(ctx, tenantId, from, size))
    }
  } catch (error) {
    if (!isNotAdmitted(error)) throw error
  }
}

interface Candidate {
  readonly id: string
  readonly is_held: boolean
}

const heldOf = (items: readonly Candidate[]) => items.flatMap(({ id, is_held }) => (is_held ? [id] : []))

/** Removes templates that were deleted under a hold which no longer covers them; undefined after the last ones. */
async function removeTemplates({ tx }: Ctx, tenantId: string, size: number): Promise<string | undefined> {
  const removed = await tx<{ id: string }[]>`
    delete from template where tenant_id = ${tenantId} and id = any (array(
      select t.id from template t
      where t.tenant_id = ${tenantId} and t.deleted_at is not null and not ${isTemplateHeld(tx, tenantId)}
      order by t.id limit ${size}))
    returning id`
  return removed.length < size ? undefined : removed.at(-1)?.id
}

/** Removes purged items behind an id, and answers the last one that it looked at; undefined behind the last. */
async function removeItems(ctx: Ctx, tenantId: string, after: string, size: number): Promise<string | undefined> {
  const { tx } = ctx
  const found = await tx<Candidate[]>`
    select i.id, ${isItemHeld(tx, tenantId)} as is_held from item i
    where i.tenant_id = ${tenantId} and i.purged_at is not null and i.id > ${after}::uuid
    order by i.id limit ${lookedAt} for update of i`
  const free = found.filter(({ is_held }) => !is_held)
  const doomed = free.slice(0, size)
  await loosenHeldFiles(tx, tenantId, heldOf(found))
  await destroyItems(ctx, tenantId, doomed)
  if (doomed.length < free.length) return doomed.at(-1)?.id
  return found.length < lookedAt ? undefined : found.at(-1)?.id
}

/**
 * Removes items of the first purged container behind an id, or the container once it is empty. Answers where the next call
 * begins; undefined behind the last one.
 */
async function removeFromContainer(
  ctx: Ctx,
  tenantId: string,
  after: string,
  size: number,
): Promise<string | undefined> {
  const { tx } = ctx
  // Collections before their hub.
  const [container] = await tx<(Candidate & { place: string; has_children: boolean })[]>`
    select c.id, ${isContainerHeld(tx, tenantId)} as is_held,
           exists (select from container k where k.tenant_id = c.tenant_id and k.parent_id = c.id) as has_children,
           (case c.kind when 'HUB' then '1' else '0' end) || c.id as place
    from container c where c.tenant_id = ${tenantId} and c.purged_at is not null
      and (case c.kind when 'HUB' then '1' else '0' end) || c.id > ${after === firstId ? '' : after}
    order by place limit 1`
  if (!container) return undefined
  if (container.is_held || container.has_children) return container.place
  const shelf = (shelf: ReturnType<typeof tx.part>) => tx.part`
    (select i.id, ${isItemHeld(tx, tenantId)} as is_held from item i
     where i.tenant_id = ${tenantId} and i.container_id = ${container.id} and ${shelf} limit ${lookedAt})`
  const items = await tx<Candidate[]>`
    ${shelf(tx.part`i.deleted_at is null and i.archived_at is null`)}
    union all ${shelf(tx.part`i.deleted_at is null and i.archived_at is not null`)}
    union all ${shelf(tx.part`i.deleted_at is not null and i.purged_at is null`)}
    union all ${shelf(tx.part`i.purged_at is not null`)}`
  const doomed = items.filter(({ is_held }) => !is_held).slice(0, size)
  await loosenHeldFiles(tx, tenantId, heldOf(items))
  if (doomed.length > 0) {
    await destroyItems(ctx, tenantId, doomed)
    return after
  }
  if (items.length === 0) await destroyContainer(ctx, tenantId, container.id)
  return container.place
}

async function destroyItems(ctx: Ctx, tenantId: string, items: readonly Candidate[]): Promise<void> {
  if (items.length === 0) return
  const { tx } = ctx
  const ids = items.map(({ id }) => id)
  const files = await lockFilesOf(tx, tenantId, ids)
  const attached = tx.part`(
    select r.id from media_reference r where r.tenant_id = ${tenantId} and r.item_id in ${tx.list(ids)})`
  void removeDocuments(ctx, tenantId, 'MEDIA', attached)
  await removeBelongings(tx, await readBelongings(tx, 'item'), tenantId, ids)
  loosenFiles(tx, tenantId, files)
  void removeDocuments(ctx, tenantId, 'ITEM', tx.list(ids))
  const comments = tx.part`(select k.id from comment k where k.tenant_id = ${tenantId} and k.item_id in ${tx.list(ids)})`
  void removeDocuments(ctx, tenantId, 'COMMENT', comments)
  await tx`delete from item where tenant_id = ${tenantId} and id in ${tx.list(ids)}`
  failpoint('trash.removed')
}

async function destroyContainer(ctx: Ctx, tenantId: string, id: string): Promise<void> {
  const { tx } = ctx
  // Keys of values in its fields: of items that had been moved elsewhere before. They have no foreign key to the field.
  void tx`
    delete from item_field_key where tenant_id = ${tenantId} and field_id in (
      select f.id from custom_field f where f.tenant_id = ${tenantId} and f.collection_id = ${id})`
  await removeBelongings(tx, await readBelongings(tx, 'container'), tenantId, [id])
  void removeDocuments(ctx, tenantId, 'CONTAINER', tx.list([id]))
  await tx`delete from container where tenant_id = ${tenantId} and id = ${id}`
}

/**
 * The words by which they were found: of items that went with their container, too. They have no foreign key to what they name.
 * The index's lock first: a turn of the indexer that has read them may still write their words (areas/search/indexing.ts).
 */
function removeDocuments({ tx }: Ctx, tenantId: string, kind: SearchKind, ids: Part) {
  void tx`select pg_advisory_xact_lock(${lockClasses.searchIndex}, hashtext(${tenantId}))`
  return tx`
    delete from search_document where tenant_id = ${tenantId} and kind = ${kind} and id in ${ids}
      and generation in (select generation from search_index where tenant_id = ${tenantId})`
}
